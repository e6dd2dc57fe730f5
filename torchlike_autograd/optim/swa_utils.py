"""torch.optim.swa_utils (layer 8): averages of models, and the scheduler that goes with them."""

from __future__ import annotations

import math

from ..autograd.grad_mode import no_grad
from ..utils._foreach_utils import _group_tensors_by_device_and_dtype  # noqa: F401  (programs import it from here)
from .lr_scheduler import LRScheduler, _format_param, _warn_get_lr_called_within_step

# `__getattr__` makes two of them
__all__ = ["SWALR", "AveragedModel", "get_ema_avg_fn", "get_ema_multi_avg_fn", "get_swa_avg_fn", "get_swa_multi_avg_fn", "update_bn"]  # noqa: F822


def _check_decay(decay):
    if decay < 0.0 or decay > 1.0:
        raise ValueError(f"Invalid decay value {decay} provided. Please provide a value in [0,1] range.")


def _is_float(t):
    return t.is_floating_point() or t.is_complex()


def get_ema_multi_avg_fn(decay=0.999):
    """A function that moves lists of averages towards lists of parameters, by 1 - decay."""
    _check_decay(decay)

    @no_grad()
    def ema_update(ema_param_list, current_param_list, _):
        for ema, now in zip(ema_param_list, current_param_list):
            ema.lerp_(now, 1 - decay) if _is_float(ema) else ema.copy_(ema * decay + now * (1 - decay))

    return ema_update


def get_swa_multi_avg_fn():
    """A function that takes lists of parameters into lists of equal averages."""

    @no_grad()
    def swa_update(averaged_param_list, current_param_list, num_averaged):
        for mean, now in zip(averaged_param_list, current_param_list):
            mean.lerp_(now, 1 / (float(num_averaged) + 1)) if _is_float(mean) else mean.addcdiv_(now - mean, num_averaged + 1)

    return swa_update


def get_ema_avg_fn(decay=0.999):
    """The function of one average and one parameter with weights decay and 1 - decay."""
    _check_decay(decay)

    @no_grad()
    def ema_update(ema_param, current_param, num_averaged):
        return decay * ema_param + (1 - decay) * current_param

    return ema_update


def get_swa_avg_fn():
    """The function of one average and one parameter with equal weights for all parameters so far."""

    @no_grad()
    def swa_update(averaged_param, current_param, num_averaged):
        return averaged_param + (current_param - averaged_param) / (num_averaged + 1)

    return swa_update


class SWALR(LRScheduler):
    """From the current rate to `swa_lr` over `anneal_epochs`."""

    def __init__(self, optimizer, swa_lr, anneal_epochs=10, anneal_strategy="cos", last_epoch=-1):
        for lr, group in zip(_format_param("swa_lr", optimizer, swa_lr), optimizer.param_groups):
            group["swa_lr"] = lr
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}")
        self._set_anneal_func(anneal_strategy)
        if not isinstance(anneal_epochs, int) or anneal_epochs < 0:
            raise ValueError(f"anneal_epochs must be equal or greater than 0, got {anneal_epochs}")
        self.anneal_epochs = anneal_epochs
        super().__init__(optimizer, last_epoch)

    def state_dict(self):
        """Everything but the optimizer and the function, which follows from its name."""
        return {k: v for k, v in self.__dict__.items() if k not in ("optimizer", "anneal_func")}

    def load_state_dict(self, state_dict):
        """Take over what `state_dict` returned."""
        self.__dict__.update(state_dict)
        self._set_anneal_func(self._anneal_strategy)

    def _set_anneal_func(self, anneal_strategy):
        self._anneal_strategy = anneal_strategy
        self.anneal_func = self._cosine_anneal if anneal_strategy == "cos" else self._linear_anneal

    @staticmethod
    def _linear_anneal(t):
        return t

    @staticmethod
    def _cosine_anneal(t):
        return (1 - math.cos(math.pi * t)) / 2

    @staticmethod
    def _get_initial_lr(lr, swa_lr, alpha):
        return swa_lr if alpha == 1 else (lr - alpha * swa_lr) / (1 - alpha)

    def get_lr(self):
        """The rates of this epoch, from those of the last one."""
        _warn_get_lr_called_within_step(self)
        step = self._step_count - 1
        if self.anneal_epochs == 0:
            step = max(1, step)
        before, now = [max(0, min(1, t / max(1, self.anneal_epochs))) for t in (step - 1, step)]
        part = self.anneal_func(before)
        groups = self.optimizer.param_groups
        starts = [self._get_initial_lr(group["lr"], group["swa_lr"], part) for group in groups]
        part = self.anneal_func(now)
        return [group["swa_lr"] * part + lr * (1 - part) for group, lr in zip(groups, starts, strict=True)]


def __getattr__(name):
    if name in ("AveragedModel", "update_bn"):
        from . import _averaged

        globals().update(AveragedModel=_averaged.AveragedModel, update_bn=_averaged.update_bn)
        return globals()[name]
    raise AttributeError(f"module 'torch.optim.swa_utils' has no attribute '{name}'")
