"""torch.ao.quantization.fake_quantize (layer 9): modules that round as quantization would, with the gradient of the identity inside the range."""

from __future__ import annotations

from abc import ABC, abstractmethod

import torchlike_autograd as torch

from ..._core import publish as _publish
from ...nn import Module
from .observer import MovingAverageMinMaxObserver, MovingAveragePerChannelMinMaxObserver, _with_args
from .utils import is_per_channel, is_per_tensor

__all__ = ["FakeQuantize", "FakeQuantizeBase", "FixedQParamsFakeQuantize", "FusedMovingAvgObsFakeQuantize", "default_dynamic_fake_quant",
           "default_embedding_fake_quant", "default_fake_quant", "default_per_channel_weight_fake_quant", "default_weight_fake_quant", "disable_fake_quant",
           "disable_observer", "enable_fake_quant", "enable_observer"]


class FakeQuantizeBase(ABC, Module):
    """Two switches: whether it rounds, and whether it observes."""

    def __init__(self):
        super().__init__()
        self.register_buffer("fake_quant_enabled", torch.tensor([1], dtype=torch.uint8))
        self.register_buffer("observer_enabled", torch.tensor([1], dtype=torch.uint8))

    @abstractmethod
    def forward(self, x):
        """The rounded input."""

    @abstractmethod
    def calculate_qparams(self, **kwargs):
        """(scale, zero point)."""

    def enable_fake_quant(self, enabled=True):
        """Round from now on, or not."""
        self.fake_quant_enabled[0] = 1 if enabled else 0

    def disable_fake_quant(self):
        """Round no more."""
        self.enable_fake_quant(False)

    def enable_observer(self, enabled=True):
        """Observe from now on, or not."""
        self.observer_enabled[0] = 1 if enabled else 0

    def disable_observer(self):
        """Keep the scale."""
        self.enable_observer(False)

    @classmethod
    def with_args(cls, **kwargs):
        """A class with some of its arguments."""
        made = _with_args(cls, **kwargs)
        made.__module__ = "torch.ao.quantization.fake_quantize"
        return made


class FakeQuantize(FakeQuantizeBase):
    """An observer, and rounding with the scale that it says; observer_kwargs: the observer's arguments."""

    def __init__(self, observer=MovingAverageMinMaxObserver, quant_min=None, quant_max=None, is_dynamic=False, **observer_kwargs):
        super().__init__()
        if quant_min is not None and quant_max is not None:
            if quant_min > quant_max:
                raise AssertionError("quant_min must be less than or equal to quant_max")
            dtype = observer_kwargs.get("dtype", torch.quint8)
            dtype = getattr(getattr(observer, "p", None), "keywords", {}).get("dtype", dtype)
            if torch.iinfo(dtype).min > quant_min:
                raise AssertionError("quant_min out of bound")
            if quant_max > torch.iinfo(dtype).max:
                raise AssertionError("quant_max out of bound")
            observer_kwargs.update({"quant_min": quant_min, "quant_max": quant_max})
        self.activation_post_process = watch = observer(**observer_kwargs, is_dynamic=is_dynamic)
        self.quant_min, self.quant_max, self.is_dynamic = watch.quant_min, watch.quant_max, watch.is_dynamic
        kind = torch.float if watch.qscheme == torch.per_channel_affine_float_qparams else torch.int
        self.register_buffer("scale", torch.tensor([1.0], dtype=torch.float))
        self.register_buffer("zero_point", torch.tensor([0], dtype=kind))
        self.dtype, self.qscheme, self.ch_axis = watch.dtype, watch.qscheme, getattr(watch, "ch_axis", -1)
        if not (is_per_channel(self.qscheme) or is_per_tensor(self.qscheme)):
            raise AssertionError(f"Only per channel and per tensor quantization are supported in fake quantize got qscheme: {self.qscheme}")
        self.is_per_channel = is_per_channel(self.qscheme)

    def calculate_qparams(self):
        """What the observer says."""
        return self.activation_post_process.calculate_qparams()

    def forward(self, X):
        """Observe and round, as the switches say."""
        watch = self.activation_post_process
        if self.observer_enabled[0] == 1:
            watch(X.detach())
            for held, new in zip((self.scale, self.zero_point), self.calculate_qparams(), strict=True):
                if held.shape != new.shape:
                    held.resize_(new.shape)
                held.copy_(new)
        if self.fake_quant_enabled[0] == 1:
            if self.is_per_channel:
                return torch.fake_quantize_per_channel_affine(X, self.scale, self.zero_point, self.ch_axis, watch.quant_min, watch.quant_max)
            return torch.fake_quantize_per_tensor_affine(X, self.scale, self.zero_point, watch.quant_min, watch.quant_max)
        return X

    def extra_repr(self):
        watch = self.activation_post_process
        return (f"fake_quant_enabled={self.fake_quant_enabled}, observer_enabled={self.observer_enabled}, quant_min={watch.quant_min}, "
                f"quant_max={watch.quant_max}, dtype={self.dtype}, qscheme={self.qscheme}, ch_axis={self.ch_axis}, scale={self.scale}, "
                f"zero_point={self.zero_point}")

    def _save_to_state_dict(self, destination, prefix, keep_vars):
        super()._save_to_state_dict(destination, prefix, keep_vars)
        destination[prefix + "scale"] = self.scale
        destination[prefix + "zero_point"] = self.zero_point

    def _load_from_state_dict(self, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs):
        for name in ("scale", "zero_point"):
            if prefix + name in state_dict:
                getattr(self, name).resize_(state_dict[prefix + name].shape)
            elif strict:
                missing_keys.append(prefix + name)
        super()._load_from_state_dict(state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)


def _switch(name):
    def switch(mod):
        if isinstance(mod, FakeQuantizeBase):
            getattr(mod, name)()

    switch.__name__ = switch.__qualname__ = name
    switch.__doc__ = f"`{name}` of a module that has it: for `model.apply`."
    return switch


disable_fake_quant, enable_fake_quant = _switch("disable_fake_quant"), _switch("enable_fake_quant")
disable_observer, enable_observer = _switch("disable_observer"), _switch("enable_observer")

_WEIGHT = {"quant_min": -128, "quant_max": 127, "dtype": torch.qint8}
_UNSIGNED = {"quant_min": 0, "quant_max": 255}
_WHOLE, _EACH = MovingAverageMinMaxObserver, MovingAveragePerChannelMinMaxObserver
default_fake_quant = FakeQuantize.with_args(observer=_WHOLE, **_UNSIGNED, dtype=torch.quint8, qscheme=torch.per_tensor_affine, reduce_range=True)
default_weight_fake_quant = FakeQuantize.with_args(observer=_WHOLE, **_WEIGHT, qscheme=torch.per_tensor_symmetric, reduce_range=False)
default_dynamic_fake_quant = FakeQuantize.with_args(observer=_WHOLE, **_UNSIGNED, is_dynamic=True, dtype=torch.quint8, averaging_constant=1)
default_per_channel_weight_fake_quant = FakeQuantize.with_args(observer=_EACH, **_WEIGHT, qscheme=torch.per_channel_symmetric, reduce_range=False, ch_axis=0)
default_embedding_fake_quant = FakeQuantize.with_args(observer=_EACH, qscheme=torch.per_channel_affine_float_qparams, dtype=torch.quint8, **_UNSIGNED,
                                                      ch_axis=0, averaging_constant=1)
FixedQParamsFakeQuantize = _publish.refused_class(__name__.replace("torchlike_autograd", "torch"), "FixedQParamsFakeQuantize")
FusedMovingAvgObsFakeQuantize = _publish.refused_class(__name__.replace("torchlike_autograd", "torch"), "FusedMovingAvgObsFakeQuantize")
