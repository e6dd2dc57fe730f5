"""torch.optim.lr_scheduler (layer 8): the schedulers; those with phases and restarts live in `_schedules.py`."""

from __future__ import annotations

import functools
import math
import types
import weakref
from bisect import bisect_right
from collections import Counter

from .._core.saying import warn
from .._tensor import Tensor
from .optimizer import Optimizer, _to_scalar

__all__ = ["ChainedScheduler", "ConstantLR", "CosineAnnealingLR", "CosineAnnealingWarmRestarts", "CyclicLR", "ExponentialLR", "LRScheduler", "LambdaLR",
           "LinearLR", "MultiStepLR", "MultiplicativeLR", "OneCycleLR", "PolynomialLR", "ReduceLROnPlateau", "SequentialLR", "StepLR"]

EPOCH_DEPRECATION_WARNING = (
    "The epoch parameter in `scheduler.step()` was not necessary and is being deprecated where possible. Please use `scheduler.step()` to step the "
    "scheduler. During the deprecation, if epoch is different from None, the closed form is used instead of the new chainable form, where available. Please "
    "open an issue if you are unable to replicate your use case: https://github.com/pytorch/pytorch/issues/new/choose.")
_SEE = "See more details at https://pytorch.org/docs/stable/optim.html#how-to-adjust-learning-rate"


def _own(x):
    return x.clone() if isinstance(x, Tensor) else x


def _param_groups_val_list(optimizer, key):
    """That option of every group; tensors as copies."""
    return [_own(group[key]) for group in optimizer.param_groups]


def _update_param_group_val(param_group, key, val):
    """Change an option; a tensor is filled."""
    if isinstance(param_group[key], Tensor):
        from ..autograd.grad_mode import no_grad

        with no_grad():
            param_group[key].fill_(_to_scalar(val))
    else:
        param_group[key] = val


def _format_param(name, optimizer, param):
    """A value for every group, from one or from a list of them."""
    if not isinstance(param, (list, tuple)):
        return [_own(param)] * len(optimizer.param_groups)
    if len(param) != len(optimizer.param_groups):
        raise ValueError(f"{name} must have the same length as optimizer.param_groups. {name} has {len(param)} values, param_groups has "
                         f"{len(optimizer.param_groups)}.")
    return [_own(x) for x in param]


def _check_optimizer(optimizer):
    if not isinstance(optimizer, Optimizer):
        raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")


def _watch_step(optimizer):
    """Let an optimizer remember that it has been stepped; its step does not hold it, so that it dies with its last name."""
    if hasattr(optimizer.step, "_wrapped_by_lr_sched"):
        return
    inner, watched = optimizer.step.__func__, weakref.ref(optimizer)

    @functools.wraps(inner)
    def step(*args, **kwargs):
        stepped = watched()
        stepped._opt_called = True
        return inner.__get__(stepped, type(stepped))(*args, **kwargs)

    step._wrapped_by_lr_sched = True
    optimizer.step = step


class _While:
    """An attribute of a scheduler is True inside the context."""

    name = ""

    def __init__(self, o):
        self.o = o

    def __enter__(self):
        setattr(self.o, self.name, True)

    def __exit__(self, *raised):
        setattr(self.o, self.name, False)


class _enable_get_lr_call(_While):
    """Inside it `get_lr` is asked by a step."""

    name = "_get_lr_called_within_step"

    def __enter__(self):
        super().__enter__()
        return self


class _initial_mode(_While):
    """Inside it a scheduler makes its first step."""

    name = "_is_initial"


def _warn_get_lr_called_within_step(lr_scheduler):
    """Warn somebody who calls `get_lr` from outside a step."""
    if not lr_scheduler._get_lr_called_within_step:
        warn("To get the last learning rate computed by the scheduler, please use `get_last_lr()`.")


def _scaled(scheduler, factor):
    """The current rates, times a factor (None: as they are)."""
    _warn_get_lr_called_within_step(scheduler)
    lrs = _param_groups_val_list(scheduler.optimizer, "lr")
    return lrs if factor is None else [lr * factor for lr in lrs]


def _write(scheduler, rates):
    """Ask for the rates of every group and write them."""
    with _enable_get_lr_call(scheduler):
        values = rates()
    for group, lr in zip(scheduler.optimizer.param_groups, values, strict=True):
        _update_param_group_val(group, "lr", lr)
    scheduler._last_lr = _param_groups_val_list(scheduler.optimizer, "lr")


def _check_order(optimizer):
    """Warn of a scheduler that is stepped before its optimizer."""
    if not hasattr(optimizer.step, "_wrapped_by_lr_sched"):
        warn(f"Seems like `optimizer.step()` has been overridden after learning rate scheduler initialization. Please, make sure to call `optimizer.step()` "
             f"before `lr_scheduler.step()`. {_SEE}")
    elif not getattr(optimizer, "_opt_called", False):
        warn(f"Detected call of `lr_scheduler.step()` before `optimizer.step()`. In PyTorch 1.1.0 and later, you should call them in the opposite order: "
             f"`optimizer.step()` before `lr_scheduler.step()`.  Failure to do this will result in PyTorch skipping the first value of the learning rate "
             f"schedule. {_SEE}")


class LRScheduler:
    """Counts epochs and writes to each group's "lr" what `get_lr` says."""

    _get_lr_called_within_step = False
    _is_initial = False

    def __init__(self, optimizer, last_epoch=-1):
        _check_optimizer(optimizer)
        self.optimizer = optimizer
        for i, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                group.setdefault("initial_lr", _own(group["lr"]))
            elif "initial_lr" not in group:
                raise KeyError(
                    f"param 'initial_lr' is not specified in param_groups[{i}] when resuming scheduler with last_epoch >= 0.\nThis typically happens when:\n1. "
                    "You're trying to resume training from a checkpoint but haven't properly loaded the optimizer state\n2. You're using last_epoch >= 0 for a "
                    "fresh training run (not recommended)")
        self.base_lrs = _param_groups_val_list(optimizer, "initial_lr")
        self.last_epoch = last_epoch
        _watch_step(optimizer)
        self._initial_step()

    def _initial_step(self):
        self._step_count = 0
        with _initial_mode(self):
            self.step()

    def state_dict(self):
        """Everything but the optimizer."""
        return {k: v for k, v in self.__dict__.items() if k != "optimizer"}

    def load_state_dict(self, state_dict):
        """Take over what `state_dict` returned."""
        self.__dict__.update(state_dict)

    def get_last_lr(self):
        """The rates that the last step has set."""
        return self._last_lr

    def get_lr(self):
        """The rates of the current epoch; a subclass says them."""
        raise NotImplementedError

    def step(self, epoch=None):
        """Go to the next epoch (or to `epoch`, which is deprecated)."""
        if self._step_count == 1:
            _check_order(self.optimizer)
        self._step_count += 1
        if epoch is not None:
            warn(EPOCH_DEPRECATION_WARNING)
        self._update_lr(epoch)

    def _update_lr(self, epoch=None):
        if epoch is None:
            self.last_epoch += 1
            closed = False
        else:
            self.last_epoch = epoch
            closed = hasattr(self, "_get_closed_form_lr")
        _write(self, self._get_closed_form_lr if closed else self.get_lr)


class _LRScheduler(LRScheduler):
    """The name of old, from which programs still derive; the schedulers here do not, as in torch."""


def _functions(optimizer, lr_lambda):
    """A function for every group, from one or from a list of them."""
    if not isinstance(lr_lambda, (list, tuple)):
        return [lr_lambda] * len(optimizer.param_groups)
    if len(lr_lambda) != len(optimizer.param_groups):
        raise ValueError(f"Expected {len(optimizer.param_groups)} lr_lambdas, but got {len(lr_lambda)}")
    return list(lr_lambda)


class _ByFunctions:
    """What stands before LRScheduler where each group has a function."""

    def __init__(self, optimizer, lr_lambda, last_epoch=-1):
        self.optimizer = optimizer
        self.lr_lambdas = _functions(optimizer, lr_lambda)
        super().__init__(optimizer, last_epoch)

    def state_dict(self):
        """Everything but the optimizer; of functions nothing, of callable objects their attributes."""
        out = {k: v for k, v in self.__dict__.items() if k not in ("optimizer", "lr_lambdas")}
        out["lr_lambdas"] = [None if isinstance(f, types.FunctionType) else f.__dict__.copy() for f in self.lr_lambdas]
        return out

    def load_state_dict(self, state_dict):
        """Take over what `state_dict` returned; functions stay."""
        self.__dict__.update({k: v for k, v in state_dict.items() if k != "lr_lambdas"})
        for f, saved in zip(self.lr_lambdas, state_dict["lr_lambdas"]):
            if saved is not None:
                f.__dict__.update(saved)


class LambdaLR(_ByFunctions, LRScheduler):
    """The initial rate times a function of the epoch."""

    def get_lr(self):
        """The rates of this epoch."""
        _warn_get_lr_called_within_step(self)
        return [base * f(self.last_epoch) for f, base in zip(self.lr_lambdas, self.base_lrs, strict=True)]


class MultiplicativeLR(_ByFunctions, LRScheduler):
    """The last rate times a function of the epoch."""

    def __init__(self, optimizer, lr_lambda, last_epoch=-1):
        for f in _functions(optimizer, lr_lambda):
            if not callable(f):
                raise TypeError(f"lr_lambda should be a function, but got {type(f).__name__}")
        super().__init__(optimizer, lr_lambda, last_epoch)

    def get_lr(self):
        """The rates of this epoch."""
        lrs = _scaled(self, None)
        return lrs if self._is_initial else [lr * f(self.last_epoch) for f, lr in zip(self.lr_lambdas, lrs, strict=True)]


class StepLR(LRScheduler):
    """Times `gamma` every `step_size` epochs."""

    def __init__(self, optimizer, step_size, gamma=0.1, last_epoch=-1):
        self.step_size, self.gamma = step_size, gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        """The rates of this epoch."""
        return _scaled(self, None if self.last_epoch == 0 or self.last_epoch % self.step_size else self.gamma)

    def _get_closed_form_lr(self):
        return [base * self.gamma ** (self.last_epoch // self.step_size) for base in self.base_lrs]


class MultiStepLR(LRScheduler):
    """Times `gamma` at each milestone."""

    def __init__(self, optimizer, milestones, gamma=0.1, last_epoch=-1):
        self.milestones, self.gamma = Counter(milestones), gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        """The rates of this epoch."""
        return _scaled(self, self.gamma ** self.milestones[self.last_epoch] if self.last_epoch in self.milestones else None)

    def _get_closed_form_lr(self):
        return [base * self.gamma ** bisect_right(sorted(self.milestones.elements()), self.last_epoch) for base in self.base_lrs]


class ConstantLR(LRScheduler):
    """Times `factor` until `total_iters`."""

    def __init__(self, optimizer, factor=1.0 / 3, total_iters=5, last_epoch=-1):
        if factor > 1.0 or factor < 0:
            raise ValueError("Constant multiplicative factor expected to be between 0 and 1.")
        self.factor, self.total_iters = factor, total_iters
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        """The rates of this epoch."""
        return _scaled(self, self.factor if self.last_epoch == 0 else 1.0 / self.factor if self.last_epoch == self.total_iters else None)

    def _get_closed_form_lr(self):
        return [base * (self.factor + (self.last_epoch >= self.total_iters) * (1 - self.factor)) for base in self.base_lrs]


class LinearLR(LRScheduler):
    """From `start_factor` to `end_factor` over `total_iters` epochs."""

    def __init__(self, optimizer, start_factor=1.0 / 3, end_factor=1.0, total_iters=5, last_epoch=-1):
        if start_factor > 1.0 or start_factor <= 0:
            raise ValueError("Starting multiplicative factor expected to be greater than 0 and less or equal to 1.")
        if end_factor > 1.0 or end_factor < 0:
            raise ValueError("Ending multiplicative factor expected to be between 0 and 1.")
        self.start_factor, self.end_factor, self.total_iters = start_factor, end_factor, total_iters
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        """The rates of this epoch."""
        if self.last_epoch == 0:
            return _scaled(self, self.start_factor)
        if self._is_initial or self.last_epoch > self.total_iters:
            return _scaled(self, None)
        rise = self.end_factor - self.start_factor
        return _scaled(self, 1.0 + rise / (self.total_iters * self.start_factor + (self.last_epoch - 1) * rise))

    def _get_closed_form_lr(self):
        part = min(self.total_iters, self.last_epoch) / self.total_iters
        return [base * (self.start_factor + (self.end_factor - self.start_factor) * part) for base in self.base_lrs]


class ExponentialLR(LRScheduler):
    """Times `gamma` every epoch."""

    def __init__(self, optimizer, gamma, last_epoch=-1):
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        """The rates of this epoch."""
        return _scaled(self, None if self._is_initial else self.gamma)

    def _get_closed_form_lr(self):
        return [base * self.gamma**self.last_epoch for base in self.base_lrs]


class PolynomialLR(LRScheduler):
    """Down to zero at `total_iters`, as a power of what is left."""

    def __init__(self, optimizer, total_iters=5, power=1.0, last_epoch=-1):
        self.total_iters, self.power = total_iters, power
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        """The rates of this epoch."""
        if self._is_initial or self.last_epoch > self.total_iters:
            return _scaled(self, None)
        return _scaled(self, ((1.0 - self.last_epoch / self.total_iters) / (1.0 - (self.last_epoch - 1) / self.total_iters)) ** self.power)

    def _get_closed_form_lr(self):
        return [base * (1.0 - min(self.total_iters, self.last_epoch) / self.total_iters) ** self.power for base in self.base_lrs]


class CosineAnnealingLR(LRScheduler):
    """Half a cosine from the initial rate to `eta_min` and back, `T_max` epochs each way."""

    def __init__(self, optimizer, T_max, eta_min=0.0, last_epoch=-1):
        self.T_max, self.eta_min = T_max, eta_min
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        """The rates of this epoch, from those of the last one."""
        lrs = _scaled(self, None)
        t, low = self.last_epoch, self.eta_min
        if self._is_initial:
            return lrs
        if self._step_count == 1 and t > 0:
            return [low + (base - low) * (1 + math.cos(t * math.pi / self.T_max)) / 2 for base in self.base_lrs]
        if (t - 1 - self.T_max) % (2 * self.T_max) == 0:
            return [lr + (base - low) * (1 - math.cos(math.pi / self.T_max)) / 2 for base, lr in zip(self.base_lrs, lrs, strict=True)]
        turn = (1 + math.cos(math.pi * t / self.T_max)) / (1 + math.cos(math.pi * (t - 1) / self.T_max))
        return [turn * (lr - low) + low for lr in lrs]

    def _get_closed_form_lr(self):
        return [self.eta_min + (base - self.eta_min) * (1 + math.cos(math.pi * self.last_epoch / self.T_max)) / 2 for base in self.base_lrs]


# They build on the classes above.
from ._schedules import ChainedScheduler, CosineAnnealingWarmRestarts, CyclicLR, OneCycleLR, ReduceLROnPlateau, SequentialLR  # noqa: E402
