"""torch.amp.grad_scaler (layer 8): losses scaled up before backward, so that small gradients survive in half precision.

Like PyTorch's, a step looks at whether a gradient is infinite, so that each training step ends there.
"""

from __future__ import annotations

import inspect
from collections import abc, defaultdict
from enum import Enum

from .._core.devices import device as _device
from .._core.devices import devices_of
from .._core.dtypes import float16, float32, int32
from .._core.saying import warn
from .._functions.create import full
from .._functions.parts_of_others import _amp_foreach_non_finite_check_and_unscale_, _amp_update_scale_
from .._tensor import Tensor
from ..autograd.grad_mode import no_grad

__all__ = ["GradScaler", "OptState"]


class _MultiDeviceReplicator:
    """A tensor, and its copies on other devices as they are asked for."""

    def __init__(self, master_tensor):
        self.master, self._per_device_tensors = master_tensor, {}

    def get(self, device):
        """The copy on a device."""
        device = _device(device)
        if device not in self._per_device_tensors:
            self._per_device_tensors[device] = self.master.to(device=device, copy=True)
        return self._per_device_tensors[device]


class OptState(Enum):
    """What has happened to an optimizer since the last update."""

    READY, UNSCALED, STEPPED = 0, 1, 2


def _refresh_per_optimizer_state():
    return {"stage": OptState.READY, "found_inf_per_device": {}}


class GradScaler:
    """Scales losses by a factor that shrinks when gradients overflow and grows after `growth_interval` steps without."""

    def __init__(self, device="cuda", init_scale=2.0**16, growth_factor=2.0, backoff_factor=0.5, growth_interval=2000, enabled=True):
        self._device, self._enabled = device, enabled
        if device == "cuda" and enabled and not devices_of("cuda"):
            warn("torch.cuda.amp.GradScaler is enabled, but CUDA is not available.  Disabling.")
            self._enabled = False
        if self._enabled:
            if growth_factor <= 1.0:
                raise AssertionError("The growth factor must be > 1.0.")
            if backoff_factor >= 1.0:
                raise AssertionError("The backoff factor must be < 1.0.")
            self._init_scale, self._growth_factor, self._backoff_factor, self._growth_interval = init_scale, growth_factor, backoff_factor, growth_interval
            self._scale = self._growth_tracker = None
            self._init_growth_tracker = 0
            self._per_optimizer_states = defaultdict(_refresh_per_optimizer_state)

    def _check_scale_growth_tracker(self, funcname):
        words = "This may indicate your script did not use scaler.scale(loss or outputs) earlier in the iteration."
        for name in ("_scale", "_growth_tracker"):
            if getattr(self, name) is None:
                raise AssertionError(f"Attempted {funcname} but {name} is None.  {words}")
        return self._scale, self._growth_tracker

    def _lazy_init_scale_growth_tracker(self, dev):
        if self._growth_tracker is not None:
            raise AssertionError("_growth_tracker initialized before _scale")
        self._scale = full((), self._init_scale, dtype=float32, device=dev)
        self._growth_tracker = full((), self._init_growth_tracker, dtype=int32, device=dev)

    def scale(self, outputs):
        """`outputs` (a Tensor, or an iterable of them) times the scale."""
        if not self._enabled:
            return outputs
        scales: list = []

        def scaled(x):
            if isinstance(x, Tensor):
                if not scales:
                    if self._scale is None:
                        self._lazy_init_scale_growth_tracker(x.device)
                    scales.append(_MultiDeviceReplicator(self._scale))
                return x * scales[0].get(x.device)
            if isinstance(x, abc.Iterable):
                parts = map(scaled, x)
                return type(x)(parts) if isinstance(x, (list, tuple)) else parts
            raise ValueError("outputs must be a Tensor or an iterable of Tensors")

        return scaled(outputs)

    def _unscale_grads_(self, optimizer, inv_scale, found_inf, allow_fp16):
        """Multiply the gradients by `inv_scale`; {device: 1.0 where one of them is not finite, else 0.0}."""
        inverse, found, grads = _MultiDeviceReplicator(inv_scale), _MultiDeviceReplicator(found_inf), defaultdict(list)
        with no_grad():
            for group in optimizer.param_groups:
                for p in group["params"]:
                    if p.grad is None:
                        continue
                    if not allow_fp16 and p.grad.dtype is float16:
                        raise ValueError("Attempting to unscale FP16 gradients.")
                    grads[p.grad.device].append(p.grad._values() if p.grad.is_sparse else p.grad)
            for device, of_device in grads.items():
                _amp_foreach_non_finite_check_and_unscale_(of_device, found.get(device), inverse.get(device))
        return found._per_device_tensors

    def unscale_(self, optimizer):
        """Divide the gradients of an optimizer's parameters by the scale."""
        if not self._enabled:
            return
        self._check_scale_growth_tracker("unscale_")
        state = self._per_optimizer_states[id(optimizer)]
        if state["stage"] is OptState.UNSCALED:
            raise RuntimeError("unscale_() has already been called on this optimizer since the last update().")
        if state["stage"] is OptState.STEPPED:
            raise RuntimeError("unscale_() is being called after step().")
        inverse = self._scale.double().reciprocal().float()
        state["found_inf_per_device"] = self._unscale_grads_(optimizer, inverse, full((), 0.0, dtype=float32, device=self._scale.device), False)
        state["stage"] = OptState.UNSCALED

    def _maybe_opt_step(self, optimizer, optimizer_state, *args, **kwargs):
        if sum(v.item() for v in optimizer_state["found_inf_per_device"].values()):
            return None
        return optimizer.step(*args, **kwargs)

    def step(self, optimizer, *args, **kwargs):
        """The optimizer's step, unless a gradient is infinite or nan."""
        if not self._enabled:
            return optimizer.step(*args, **kwargs)
        if "closure" in kwargs:
            raise RuntimeError("Closure use is not currently supported if GradScaler is enabled.")
        self._check_scale_growth_tracker("step")
        state = self._per_optimizer_states[id(optimizer)]
        if state["stage"] is OptState.STEPPED:
            raise RuntimeError("step() has already been called since the last update().")
        if getattr(optimizer, "_step_supports_amp_scaling", False):
            return _step_by_itself(self, optimizer, state, args, kwargs)
        if state["stage"] is OptState.READY:
            self.unscale_(optimizer)
        if not state["found_inf_per_device"]:
            raise AssertionError("No inf checks were recorded for this optimizer.")
        out = self._maybe_opt_step(optimizer, state, *args, **kwargs)
        state["stage"] = OptState.STEPPED
        return out

    def update(self, new_scale=None):
        """The scale of the next step: by what was found, or as given."""
        if not self._enabled:
            return
        scale, tracker = self._check_scale_growth_tracker("update")
        if new_scale is not None:
            _set_scale(scale, new_scale)
        else:
            found = [v.to(device=scale.device) for s in self._per_optimizer_states.values() for v in s["found_inf_per_device"].values()]
            if not found:
                raise AssertionError("No inf checks were recorded prior to update.")
            with no_grad():
                _amp_update_scale_(scale, tracker, sum(found[1:], found[0]), self._growth_factor, self._backoff_factor, self._growth_interval)
        self._per_optimizer_states = defaultdict(_refresh_per_optimizer_state)

    def _get_scale_async(self):
        return self._scale

    def get_scale(self):
        """The scale as a Python number."""
        if not self._enabled:
            return 1.0
        scale = self._get_scale_async()
        return self._init_scale if scale is None else scale.item()

    def _get_growth_tracker(self):
        if not self._enabled:
            return 0
        return self._init_growth_tracker if self._growth_tracker is None else self._growth_tracker.item()

    def is_enabled(self):
        """Whether it does anything."""
        return self._enabled

    def get_growth_factor(self):
        return self._growth_factor

    def set_growth_factor(self, new_factor):
        self._growth_factor = new_factor

    def get_backoff_factor(self):
        return self._backoff_factor

    def set_backoff_factor(self, new_factor):
        self._backoff_factor = new_factor

    def get_growth_interval(self):
        return self._growth_interval

    def set_growth_interval(self, new_interval):
        self._growth_interval = new_interval

    def state_dict(self):
        """Plain numbers; empty where it is disabled."""
        if not self._enabled:
            return {}
        return {"scale": self.get_scale(), "growth_factor": self._growth_factor, "backoff_factor": self._backoff_factor,
                "growth_interval": self._growth_interval, "_growth_tracker": self._get_growth_tracker()}

    def load_state_dict(self, state_dict):
        """Take over what `state_dict` returned."""
        if not self._enabled:
            return
        if len(state_dict) == 0:
            raise RuntimeError("The source state dict is empty, possibly because it was saved from a disabled instance of GradScaler.")
        self._init_scale = state_dict["scale"]
        if self._scale is not None:
            self._scale.fill_(state_dict["scale"])
        self._growth_factor, self._backoff_factor = state_dict["growth_factor"], state_dict["backoff_factor"]
        self._growth_interval = state_dict["growth_interval"]
        self._init_growth_tracker = state_dict["_growth_tracker"]
        if self._growth_tracker is not None:
            self._growth_tracker.fill_(state_dict["_growth_tracker"])

    def __getstate__(self):
        state = self.__dict__.copy()
        if self._enabled:
            if self._per_optimizer_states:
                raise AssertionError("A GradScaler instance may only be pickled at the beginning of an iteration, or at the end after scaler.update().")
            state.update(_init_scale=self.get_scale(), _init_growth_tracker=self._get_growth_tracker(), _scale=None, _growth_tracker=None)
        return state

    def __setstate__(self, state):
        self.__dict__.update(state)

    def _check_inf_per_device(self, optimizer):
        scale, _ = self._check_scale_growth_tracker("_check_inf_per_device")
        one, none = [full((), x, dtype=float32, device=scale.device) for x in (1.0, 0.0)]
        found = self._per_optimizer_states[id(optimizer)]["found_inf_per_device"] = self._unscale_grads_(optimizer, one, none, True)
        return found

    def _found_inf_per_device(self, optimizer):
        return self._per_optimizer_states[id(optimizer)]["found_inf_per_device"]


def _step_by_itself(scaler, optimizer, state, args, kwargs):
    """A step of an optimizer that unscales its gradients, or leaves the step out, as its attributes `grad_scale` and `found_inf` say."""
    told = "grad_scaler" in inspect.signature(optimizer.step).parameters
    if told:
        warn("GradScaler is going to stop passing itself as a keyword argument to the passed optimizer. In the near future GradScaler registers `grad_scale: "
             "Tensor` and `found_inf: Tensor` to the passed optimizer and let the optimizer use them directly.", FutureWarning)
        kwargs = {**kwargs, "grad_scaler": scaler}
    else:
        if state["stage"] is OptState.READY:
            scaler._check_inf_per_device(optimizer)
        scale = scaler._get_scale_async()
        found = sum(t.to(scale.device) for t in state["found_inf_per_device"].values())
        optimizer.grad_scale = None if state["stage"] is OptState.UNSCALED else scale * getattr(optimizer, "grad_scale", 1)
        optimizer.found_inf = found
    out = optimizer.step(*args, **kwargs)
    state["stage"] = OptState.STEPPED
    if not told:
        del optimizer.grad_scale, optimizer.found_inf
    return out


def _set_scale(scale, new):
    if isinstance(new, float):
        scale.fill_(new)
        return
    if new.device.type != scale.device.type or new.numel() != 1 or new.requires_grad is not False:
        raise AssertionError("new_scale should be a float or a 1-element torch.cuda.FloatTensor or torch.FloatTensor with requires_grad=False.")
    scale.copy_(new)
