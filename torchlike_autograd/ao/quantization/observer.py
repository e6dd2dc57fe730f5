"""torch.ao.quantization.observer (layer 9): modules that watch what passes and say with which scale it would be quantized."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from functools import partial

import torchlike_autograd as torch

from ... import nn
from .utils import calculate_qmin_qmax, check_min_max_valid, is_per_channel, is_per_tensor, validate_qmin_qmax

__all__ = ["HistogramObserver", "MinMaxObserver", "MovingAverageMinMaxObserver", "MovingAveragePerChannelMinMaxObserver", "NoopObserver", "ObserverBase",
           "PerChannelMinMaxObserver", "PlaceholderObserver", "UniformQuantizationObserverBase", "default_dynamic_quant_observer",
           "default_float_qparams_observer", "default_observer", "default_per_channel_weight_observer", "default_placeholder_observer",
           "default_weight_observer", "per_channel_weight_observer_range_neg_127_to_127", "weight_observer_range_neg_127_to_127"]

_EPS = torch.finfo(torch.float32).eps
_DTYPES = (torch.qint8, torch.quint8, torch.quint4x2, torch.qint32, torch.int8, torch.uint8, torch.int16, torch.int32, torch.float8_e5m2, torch.float8_e4m3fn,
           torch.uint16)


class _PartialWrapper:
    """A class with some of its arguments; callable_args: those that are made anew for each instance."""

    def __init__(self, p):
        self.p, self.callable_args = p, {}

    def __call__(self, *args, **keywords):
        return self.p(*args, **{**{k: f() for k, f in self.callable_args.items() if k not in keywords}, **keywords})

    def __repr__(self):
        return repr(self.p) + repr(self.callable_args)

    def with_args(self, **kwargs):
        """The same with more arguments."""
        return _with_args(self, **kwargs)

    def with_callable_args(self, **kwargs):
        """The same with more arguments that are made anew."""
        result = _PartialWrapper(self.p)
        result.callable_args = {**self.callable_args, **kwargs}
        return result


def _with_args(cls_or_self, **kwargs):
    return _PartialWrapper(partial(cls_or_self, **kwargs))


def _with_callable_args(cls_or_self, **kwargs):
    return _PartialWrapper(partial(cls_or_self)).with_callable_args(**kwargs)


class ObserverBase(ABC, nn.Module):
    """What observers have in common: they pass their input on."""

    def __init__(self, dtype, is_dynamic=False):
        super().__init__()
        self.dtype, self.is_dynamic = dtype, is_dynamic

    @abstractmethod
    def forward(self, x):
        """Watch, and give back."""

    @abstractmethod
    def calculate_qparams(self, **kwargs):
        """(scale, zero point)."""

    with_args = classmethod(_with_args)
    with_callable_args = classmethod(_with_callable_args)


class UniformQuantizationObserverBase(ObserverBase):
    """Observers of smallest and largest numbers."""

    _version = 3

    def __init__(self, dtype=torch.quint8, qscheme=torch.per_tensor_affine, reduce_range=False, quant_min=None, quant_max=None, factory_kwargs=None, eps=_EPS,
                 is_dynamic=False, **kwargs):
        super().__init__(dtype=dtype, is_dynamic=is_dynamic, **kwargs)
        self.qscheme = qscheme
        if reduce_range:
            warnings.warn("Please use quant_min and quant_max to specify the range for observers.                     "
                          "reduce_range will be deprecated in a future release of PyTorch.", stacklevel=2)
        self.reduce_range = reduce_range
        self.register_buffer("eps", torch.tensor([eps], **(factory_kwargs or {})))
        if not (is_per_tensor(qscheme) or is_per_channel(qscheme)):
            raise AssertionError("Default Observer only works for per_tensor_affine, per_tensor_symmetric, per_channel_affine, per_channel_symmetric and "
                                 "per_channel_float_qparams quantization scheme")
        if dtype not in _DTYPES:
            raise AssertionError(f"Default Observer only works for {_DTYPES} data type")
        self.has_customized_qrange = quant_min is not None and quant_max is not None
        if self.has_customized_qrange:
            validate_qmin_qmax(quant_min, quant_max)
        self.quant_min, self.quant_max = calculate_qmin_qmax(quant_min, quant_max, self.has_customized_qrange, dtype, reduce_range)
        if reduce_range and dtype == torch.quint8 and qscheme in (torch.per_tensor_symmetric, torch.per_channel_symmetric):
            space = " " * 39 if qscheme == torch.per_tensor_symmetric else ""
            raise NotImplementedError(f"Cannot reduce range for symmetric {space}quantization for quint8")

    def _symmetric(self, low, high, zeros):
        scale = torch.max(torch.max(-low, high) / (float(self.quant_max - self.quant_min) / 2), self.eps)
        if self.dtype in (torch.quint8, torch.uint8):
            middle = (self.quant_min + self.quant_max) // 2 if self.has_customized_qrange else 128
        else:
            middle = 2**15 if self.dtype == torch.uint16 else 0
        return scale, zeros.new_full(zeros.size(), middle)

    def _calculate_qparams(self, min_val, max_val):
        if not check_min_max_valid(min_val, max_val):
            return torch.tensor([1.0], device=min_val.device.type), torch.tensor([0], device=min_val.device.type)
        low, high = torch.min(min_val, torch.zeros_like(min_val)), torch.max(max_val, torch.zeros_like(max_val))
        steps = float(self.quant_max - self.quant_min)
        if self.qscheme in (torch.per_tensor_symmetric, torch.per_channel_symmetric):
            scale, zero_point = self._symmetric(low, high, torch.zeros(low.size(), dtype=torch.int64, device=low.device))
        elif self.qscheme == torch.per_channel_affine_float_qparams:
            scale = (max_val - min_val) / steps
            scale = torch.where(scale > self.eps, scale, torch.ones_like(scale))
            zero_point = -1 * min_val / scale
        else:
            scale = torch.max((high - low) / steps, self.eps)
            zero_point = torch.clamp(self.quant_min - torch.round(low / scale).to(torch.int), self.quant_min, self.quant_max)
        return (t.reshape(1) if t.dim() == 0 else t for t in (scale, zero_point))

    def calculate_qparams(self):
        """(scale, zero point) of what was watched."""
        scale, zero_point = self._calculate_qparams(self.min_val, self.max_val)
        return scale, zero_point

    def extra_repr(self):
        return f"min_val={self.min_val}, max_val={self.max_val}"

    def reset_min_max_vals(self):
        """Forget what was watched."""
        raise NotImplementedError("Cannot reset min/max values in the given observer.")


_ObserverBase = UniformQuantizationObserverBase


class MinMaxObserver(UniformQuantizationObserverBase):
    """The smallest and largest number that has passed."""

    def __init__(self, dtype=torch.quint8, qscheme=torch.per_tensor_affine, reduce_range=False, quant_min=None, quant_max=None, factory_kwargs=None, eps=_EPS,
                 is_dynamic=False, **kwargs):
        if not is_per_tensor(qscheme):
            raise NotImplementedError("MinMaxObserver's qscheme only support torch.per_tensor_symmetric                     and torch.per_tensor_affine.")
        super().__init__(dtype, qscheme, reduce_range, quant_min, quant_max, factory_kwargs, eps, is_dynamic, **kwargs)
        self.register_buffer("min_val", torch.tensor(float("inf"), **(factory_kwargs or {})))
        self.register_buffer("max_val", torch.tensor(float("-inf"), **(factory_kwargs or {})))

    def _merged(self, low, high):
        return torch.min(low, self.min_val), torch.max(high, self.max_val)

    def forward(self, x_orig):
        """Watch, and give back."""
        if x_orig.numel():
            low, high = self._merged(*torch.aminmax(x_orig.detach().to(self.min_val.dtype)))
            self.min_val.copy_(low)
            self.max_val.copy_(high)
        return x_orig

    def reset_min_max_vals(self):
        """Forget what was watched."""
        self.min_val.copy_(torch.tensor(float("inf")))
        self.max_val.copy_(torch.tensor(float("-inf")))


class MovingAverageMinMaxObserver(MinMaxObserver):
    """Moving averages of the smallest and largest numbers."""

    def __init__(self, averaging_constant=0.01, dtype=torch.quint8, qscheme=torch.per_tensor_affine, reduce_range=False, quant_min=None, quant_max=None,
                 eps=_EPS, is_dynamic=False, **kwargs):
        if not is_per_tensor(qscheme):
            raise NotImplementedError("MovingAverageMinMaxObserver's qscheme only support                 torch.per_tensor_symmetric and "
                                      f"torch.per_tensor_affine.                 but got: {qscheme}")
        if is_dynamic and averaging_constant != 1:
            raise NotImplementedError(f"MovingAverageMinMaxObserver doesn't support dynamic quantization for averaging constant of {averaging_constant}")
        super().__init__(dtype=dtype, qscheme=qscheme, reduce_range=reduce_range, quant_min=quant_min, quant_max=quant_max, eps=eps, is_dynamic=is_dynamic,
                         **kwargs)
        self.averaging_constant = averaging_constant

    def _merged(self, low, high):
        if self.min_val == float("inf") and self.max_val == float("-inf"):
            return low, high
        return self.min_val + self.averaging_constant * (low - self.min_val), self.max_val + self.averaging_constant * (high - self.max_val)


class PerChannelMinMaxObserver(UniformQuantizationObserverBase):
    """The smallest and largest number of each channel."""

    def __init__(self, ch_axis=0, dtype=torch.quint8, qscheme=torch.per_channel_affine, reduce_range=False, quant_min=None, quant_max=None,
                 factory_kwargs=None, eps=_EPS, is_dynamic=False, **kwargs):
        name = "MovingAveragePerChannelMinMaxObserver" if isinstance(self, MovingAveragePerChannelMinMaxObserver) else "PerChannelMinMaxObserver"
        if not is_per_channel(qscheme):
            raise NotImplementedError(f"{name}'s qscheme only support                     torch.per_channel_symmetric, torch.per_channel_affine and "
                                      "torch.per_channel_affine_float_qparams.")
        if is_dynamic:
            raise NotImplementedError(f"{name} doesn't support dynamic quantization")
        super().__init__(dtype, qscheme, reduce_range, quant_min, quant_max, factory_kwargs, eps, is_dynamic, **kwargs)
        self.ch_axis = ch_axis
        self.register_buffer("min_val", torch.tensor([], **(factory_kwargs or {})))
        self.register_buffer("max_val", torch.tensor([], **(factory_kwargs or {})))

    def _merged(self, low, high):
        return torch.min(low, self.min_val), torch.max(high, self.max_val)

    def _keep(self, low, high):
        for held, new in ((self.min_val, low), (self.max_val, high)):
            held.resize_(new.shape)
            held.copy_(new)

    def forward(self, x_orig):
        """Watch, and give back."""
        if x_orig.numel():
            x = x_orig.detach().transpose(0, self.ch_axis).to(self.min_val.dtype)
            low, high = torch.aminmax(torch.flatten(x, start_dim=1), dim=1)
            seen = self.min_val.numel() and self.max_val.numel()
            self._keep(*(self._merged(low, high) if seen else (low, high)))
        return x_orig

    def _load_from_state_dict(self, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs):
        for name in ("min_val", "max_val"):
            if prefix + name in state_dict:
                getattr(self, name).resize_(state_dict[prefix + name].shape)
            elif strict:
                missing_keys.append(prefix + name)
        super()._load_from_state_dict(state_dict, prefix, local_metadata, False, missing_keys, unexpected_keys, error_msgs)

    def reset_min_max_vals(self):
        """Forget what was watched."""
        self.min_val, self.max_val = torch.rand(0), torch.rand(0)


class MovingAveragePerChannelMinMaxObserver(PerChannelMinMaxObserver):
    """Moving averages of the smallest and largest number of each channel."""

    def __init__(self, averaging_constant=0.01, ch_axis=0, dtype=torch.quint8, qscheme=torch.per_channel_affine, reduce_range=False, quant_min=None,
                 quant_max=None, eps=_EPS, is_dynamic=False, **kwargs):
        super().__init__(ch_axis=ch_axis, dtype=dtype, qscheme=qscheme, reduce_range=reduce_range, quant_min=quant_min, quant_max=quant_max, eps=eps,
                         is_dynamic=is_dynamic, **kwargs)
        self.averaging_constant = averaging_constant

    def _merged(self, low, high):
        return self.min_val + self.averaging_constant * (low - self.min_val), self.max_val + self.averaging_constant * (high - self.max_val)


class PlaceholderObserver(ObserverBase):
    """Watches nothing; says which dtype is meant."""

    def __init__(self, dtype=torch.float32, custom_op_name="", compute_dtype=None, quant_min=None, quant_max=None, qscheme=None, eps=None, is_dynamic=False):
        super().__init__(dtype=dtype, is_dynamic=is_dynamic)
        self.qscheme = torch.per_tensor_affine if qscheme is None else qscheme
        self.quant_min, self.quant_max, self.eps, self.custom_op = quant_min, quant_max, eps, custom_op_name
        if compute_dtype:
            is_dynamic = True
            warnings.warn("Please use `is_dynamic` instead of `compute_dtype`.                     "
                          "`compute_dtype` will be deprecated in a future release                     of PyTorch.", stacklevel=2)

    def forward(self, x):
        """Give back."""
        return x

    def extra_repr(self):
        return f"dtype={self.dtype}, is_dynamic={self.is_dynamic}"

    def calculate_qparams(self):
        """Exception."""
        raise Exception("calculate_qparams should not be called for PlaceholderObserver")


class NoopObserver(ObserverBase):
    """Watches nothing."""

    def __init__(self, dtype=torch.float16, custom_op_name=""):
        super().__init__(dtype=dtype, is_dynamic=False)
        self.dtype, self.custom_op = dtype, custom_op_name

    def forward(self, x):
        """Give back."""
        return x

    def calculate_qparams(self):
        """Exception."""
        raise Exception("calculate_qparams should not be called for NoopObserver")


class HistogramObserver(UniformQuantizationObserverBase):
    """NotImplementedError when one is made: files can name it, and say with which arguments they would."""

    def __init__(self, *args, **kwargs):
        raise NotImplementedError("torch.ao.quantization.HistogramObserver: the search of its ends in a histogram is not here")


_WEIGHT = {"dtype": torch.qint8, "qscheme": torch.per_tensor_symmetric}
_CHANNELS = {"dtype": torch.qint8, "qscheme": torch.per_channel_symmetric}
_NARROW = {"quant_min": -127, "quant_max": 127, "eps": 2**-12}
default_observer = MinMaxObserver.with_args(quant_min=0, quant_max=127)
default_placeholder_observer = PlaceholderObserver
default_weight_observer = MinMaxObserver.with_args(**_WEIGHT)
weight_observer_range_neg_127_to_127 = MinMaxObserver.with_args(**_WEIGHT, **_NARROW)
default_per_channel_weight_observer = PerChannelMinMaxObserver.with_args(**_CHANNELS)
per_channel_weight_observer_range_neg_127_to_127 = PerChannelMinMaxObserver.with_args(**_CHANNELS, **_NARROW)
default_dynamic_quant_observer = PlaceholderObserver.with_args(dtype=torch.quint8, quant_min=0, quant_max=255, is_dynamic=True)
default_float_qparams_observer = PerChannelMinMaxObserver.with_args(dtype=torch.quint8, qscheme=torch.per_channel_affine_float_qparams, ch_axis=0)
