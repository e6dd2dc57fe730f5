"""torch.amp.grad_scaler (layer 8): losses scaled up before backward, so that small gradients survive in half precision.

Like PyTorch's, a step looks at whether a gradient is infinite, so that each training step ends there.
"""

from __future__ import annotations

from collections.abc import Iterable

from .._core.composite import named
from .._core.devices import devices_of
from .._core.dtypes import float16, float32
from .._core.saying import warn
from .._functions.data import tensor
from .._tensor import Tensor
from ..autograd.grad_mode import no_grad

__all__ = ["GradScaler", "OptState"]

_isfinite = named("isfinite")


class OptState:
    """What has happened to an optimizer since the last update."""

    READY, UNSCALED, STEPPED = 0, 1, 2


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
            self._scale = None
            self._init_growth_tracker = self._growth_tracker_value = 0
            self._per_optimizer_states = {}

    def _state(self, optimizer):
        return self._per_optimizer_states.setdefault(id(optimizer), {"stage": OptState.READY, "found_inf": None})

    def _check(self, what):
        if self._scale is None:
            raise AssertionError(f"Attempted {what} but _scale is None.  This may indicate your script did not use scaler.scale(loss or outputs) earlier in "
                                 "the iteration.")

    def scale(self, outputs):
        """`outputs` (a Tensor, or lists of them) times the scale."""
        if not self._enabled:
            return outputs
        if isinstance(outputs, Tensor):
            if self._scale is None:
                self._scale = tensor(self._init_scale, dtype=float32, device=outputs.device)
            return outputs * self._scale.to(device=outputs.device)
        if isinstance(outputs, Iterable):
            parts = [self.scale(x) for x in outputs]
            return parts if isinstance(outputs, list) else tuple(parts) if isinstance(outputs, tuple) else iter(parts)
        raise ValueError("outputs must be a Tensor or an iterable of Tensors")

    @no_grad()
    def unscale_(self, optimizer):
        """Divide the gradients of an optimizer's parameters by the scale."""
        if not self._enabled:
            return
        self._check("unscale_")
        state = self._state(optimizer)
        if state["stage"] is OptState.UNSCALED:
            raise RuntimeError("unscale_() has already been called on this optimizer since the last update().")
        if state["stage"] is OptState.STEPPED:
            raise RuntimeError("unscale_() is being called after step().")
        back = self._scale.double().reciprocal().float()
        finite = None
        for group in optimizer.param_groups:
            for p in group["params"]:
                if p.grad is not None:
                    if p.grad.dtype is float16:
                        raise ValueError("Attempting to unscale FP16 gradients.")
                    here = _isfinite(p.grad).all()
                    finite = here if finite is None else finite.logical_and(here)
                    p.grad.mul_(back.to(p.grad.dtype))
        state["found_inf"] = finite
        state["stage"] = OptState.UNSCALED

    def step(self, optimizer, *args, **kwargs):
        """The optimizer's step, unless a gradient is infinite or nan."""
        if not self._enabled:
            return optimizer.step(*args, **kwargs)
        if "closure" in kwargs:
            raise RuntimeError("Closure use is not currently supported if GradScaler is enabled.")
        self._check("step")
        state = self._state(optimizer)
        if state["stage"] is OptState.STEPPED:
            raise RuntimeError("step() has already been called since the last update().")
        if state["stage"] is OptState.READY:
            self.unscale_(optimizer)
        if state["found_inf"] is None:
            raise AssertionError("No inf checks were recorded for this optimizer.")
        out = optimizer.step(*args, **kwargs) if state["found_inf"].item() else None
        state["stage"] = OptState.STEPPED
        return out

    def update(self, new_scale=None):
        """The scale of the next step: by what was found, or as given."""
        if not self._enabled:
            return
        self._check("update")
        if new_scale is not None:
            self._scale.fill_(float(new_scale))
        else:
            found = [s["found_inf"] for s in self._per_optimizer_states.values() if s["found_inf"] is not None]
            if not found:
                raise AssertionError("No inf checks were recorded prior to update.")
            if not all(f.item() for f in found):
                self._scale.mul_(self._backoff_factor)
                self._growth_tracker_value = 0
            else:
                self._growth_tracker_value += 1
                if self._growth_tracker_value == self._growth_interval:
                    self._scale.mul_(self._growth_factor)
                    self._growth_tracker_value = 0
        self._per_optimizer_states = {}

    def get_scale(self):
        """The scale as a Python number."""
        if not self._enabled:
            return 1.0
        return self._init_scale if self._scale is None else self._scale.item()

    def _get_growth_tracker(self):
        return self._growth_tracker_value if self._enabled else 0

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
                "growth_interval": self._growth_interval, "_growth_tracker": self._growth_tracker_value}

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
        self._init_growth_tracker = self._growth_tracker_value = state_dict["_growth_tracker"]
