"""torch.nn.functional's normalization (layer 7): running statistics written in place, instances, root mean squares, neighbours."""

from __future__ import annotations

import math

import numpy as np

from .._core import dtypes, errors, layouts, levels
from .._core.composite import composite, named
from .._core.dispatch import write_result
from .._core.laying import bent, keep_order
from .._core.numeric import say_once
from .._core.record import thread
from .._core.shapes import wrap_dim
from .._core.storage import write
from .._core.words import type_name
from .._ops import normalize as _normalize_ops
from .._ops.conventions import cxx_of
from .._ops.memory import channels_order
from .._tensor import Tensor, from_array, wrap
from ..autograd.grad_mode import no_grad
from .arguments import handed
from .convert import cast
from .norm import check_out

_layer, _batch, _group = named("native_layer_norm"), named("native_batch_norm"), named("native_group_norm")
_legit, _legit_alone = named("_native_batch_norm_legit"), named("_native_batch_norm_alone")
_running = named("_running")


def _shape(name, x):
    if not isinstance(x, (tuple, list)):
        raise TypeError(f"{name}(): argument 'normalized_shape' (position 2) must be tuple of ints, not {type(x).__name__}")
    return tuple(int(i) for i in x)


def _tensor(name, x):
    if not isinstance(x, Tensor):
        raise TypeError(f"{name}(): argument 'input' (position 1) must be Tensor, not {type_name(x)}")


@composite("torch.layer_norm")
def layer_norm(input, normalized_shape, weight=None, bias=None, eps=1e-05, cudnn_enable=True):
    """The input less its mean over the last dims, divided by its deviation, scaled and shifted."""
    return f_layer_norm(input, normalized_shape, weight, bias, eps)


@composite("torch.nn.functional.layer_norm")
def f_layer_norm(input, normalized_shape, weight=None, bias=None, eps=1e-05):
    """The input less its mean over the last dims, divided by its deviation, scaled and shifted."""
    handed("torch.layer_norm", input, normalized_shape, weight, bias, eps)
    return _layer(input, _shape("layer_norm", normalized_shape), weight, bias, eps)[0]


@composite("torch.rms_norm", "torch.nn.functional.rms_norm")
def rms_norm(input, normalized_shape, weight=None, eps=None):
    """The input divided by the root of its mean square over the last dims; eps is the type's own unless given."""
    handed("torch.rms_norm", input, normalized_shape, weight, eps)
    shape = _shape("rms_norm", normalized_shape)
    if input.ndim < len(shape) and (weight is None or tuple(weight.shape) == shape):
        raise ValueError(f"Input tensor must have at least {len(shape)} dimensions, but got {input.ndim}")
    _normalize_ops.check_layer(input, shape, weight, None, "")
    own = input.dtype
    if own.category < dtypes.FLOAT:
        raise NotImplementedError(f"\"rms_norm\" not implemented for '{own.char_name}'")
    low = own in (dtypes.float16, dtypes.bfloat16)
    if weight is not None and weight.dtype is not own:
        say_once(f"Mismatch dtype between input and weight: input dtype = {cxx_of(own)}, weight dtype = {cxx_of(weight.dtype)}, "
                 "Cannot dispatch to fused implementation. (Triggered internally at /pytorch/aten/src/ATen/native/layer_norm.cpp:346.)", "rms_norm")
    x = cast(input, dtypes.float32) if low else input
    if eps is None:
        eps = float(np.finfo(np.float32 if low else own.np).eps)
    dims = tuple(range(input.ndim - len(shape), input.ndim))
    mean = named("mean")(named("pow")(x, 2), dims, True)
    out = named("mul")(x, named("rsqrt")(named("add")(mean, eps)))
    if weight is not None:
        out = named("mul")(out, weight)
    out = out if out.dtype is own else cast(out, own)
    if bent(input) and channels_order(tuple(input.shape), input.stride()) is None:  # PyTorch's kernel reads and writes rows, but for images with channels last
        out._tl_laid = None
        if input.is_contiguous():
            keep_order(out, input)
    return out


# By batch

def _verify_batch_size(size):
    """ValueError where there is one value to take the mean of."""
    if math.prod(size[:1]) * math.prod(size[2:]) == 1:
        raise ValueError(f"Expected more than 1 value per channel when training, got input size {_shown(size)}")


def _shown(size):
    return f"torch.Size({list(size)})" if isinstance(size, tuple) else str(size)


def _not_differentiable(function, **inputs):
    if thread.state.grad:
        for name, x in inputs.items():
            if x is not None and x._tl_needs:
                raise RuntimeError(f"The function '{function}' is not differentiable with respect to argument '{name}'. This input cannot have requires_grad "
                                   "True.")


def _shared(running, value):
    """What a batch had, for running statistics that are not mapped over: of a dual number the primal; None for what is mapped where they are not."""
    v = value._tl_v
    if not levels.levels_of(v.aval):
        return value
    v = levels.shared_primal(v, levels.levels_of(running._tl_v.aval))
    return None if v is None else wrap(v)


def _apart(running, input):
    """What a batch had by itself: beside a weight or other statistics that are mapped over, all that comes of it together is."""
    alone = _shared(running, input)
    if alone is None:
        raise errors.mapped_statistics()
    return _batch(alone.detach(), None, None, None, None, True, 1e-5)


def _float(name, word, place, x):
    if isinstance(x, (int, float, np.floating, np.integer)):
        return float(x)
    if isinstance(x, Tensor) and x.ndim == 0:
        return x.item()
    raise TypeError(f"{name}(): argument '{word}' (position {place}) must be float, not {type(x).__name__}")


def _normalized(input, weight, bias, mean, var, training, momentum, eps, batch=_batch):
    """(result, mean, inverse deviation, mean and variance in double precision); running statistics are updated."""
    _not_differentiable("native_batch_norm", running_mean=mean, running_var=var)
    if not training and levels.dual(input._tl_v) and any(x is not None and levels.dual(x._tl_v) for x in (mean, var)):
        raise RuntimeError("batch_norm is not differentiable wrt running_mean and running_var, they cannot have forward grad defined")
    looked_at = training and mean is not None and var is not None and thread.state.saved_hooks  # a hook that ends a second run early comes after torch's update
    if looked_at:
        with no_grad():
            _follow(input, mean, var, momentum, batch(input, weight, bias, mean, var, training, eps))
    out = batch(input, weight, bias, mean, var, training, eps)
    if training and (mean is None) != (var is None):
        raise ValueError("running_mean and running_var must either both be None or neither be None")
    if training and not looked_at:
        _follow(input, mean, var, momentum, out)
    return out


def _follow(input, mean, var, momentum, out):
    """Move the running statistics by what a batch had."""
    count = input.numel() // input.shape[1]
    for running, other, value, variance in ((mean, var, out[3], False), (var, mean, out[4], True)):
        if running is not None:
            own = _shared(running, value)
            if own is None:
                own = _apart(running, input)[3 + variance]
                if other is not None and levels.mapped(other._tl_v) != levels.mapped(running._tl_v):  # torch moves a copy of it for each example
                    continue
            write(running._tl_uncounted(), _running(running, own, momentum, count, variance)._tl_v)  # no version is counted, as in torch
            if (watching := thread.state.extra.get("statistics")) is not None:  # torch.func
                watching.add(id(running._tl_cell))


@composite("torch.batch_norm")
def torch_batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps, cudnn_enabled):
    """The input less the mean of its channel, divided by its deviation."""
    _tensor("batch_norm", input)
    momentum = _float("batch_norm", "momentum", 7, momentum)
    if not input.numel():
        return _nothing(input, weight, bias)
    return _normalized(input, weight, bias, running_mean, running_var, training, momentum, eps)[0]


def _nothing(input, weight, bias):
    """What torch makes of an input without elements."""
    out = named("clone")(input)
    out = out if weight is None else named("mul")(out, weight[0])
    return out if bias is None else named("add")(out, bias[0])


@composite("torch.native_batch_norm")
def native_batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps, *, out=None):
    """The input less the mean of its channel, divided by its deviation; the mean and the inverse of the deviation."""
    return _into("native_batch_norm", out, _normalized(input, weight, bias, running_mean, running_var, training, momentum, eps, _batch))


@composite("torch._native_batch_norm_legit")
def native_batch_norm_legit(input, weight, bias, *rest, out=None):
    """`native_batch_norm` with running statistics that it writes to, or without any: (running_mean, running_var,) training, momentum, eps."""
    if len(rest) not in (3, 5):
        raise TypeError(f"_native_batch_norm_legit() takes 6 or 8 positional arguments, {len(rest) + 3} were given")
    stats = len(rest) == 5
    mean, var, training, momentum, eps = rest if stats else (None, None, *rest)
    for place, (word, p) in enumerate((("running_mean", mean), ("running_var", var)) if stats else (), 4):
        if not isinstance(p, Tensor):
            raise TypeError(f"_native_batch_norm_legit(): argument '{word}' (position {place}) must be Tensor, not {type_name(p)}")
    return _into("_native_batch_norm_legit", out, _normalized(input, weight, bias, mean, var, training, momentum, eps, _legit if stats else _legit_alone))


@composite("torch.ops.aten._batch_norm_with_update")
def batch_norm_with_update(input, weight, bias, running_mean, running_var, momentum, eps):
    """`native_batch_norm` in training, and what a kernel keeps for itself: nothing."""
    found = _normalized(input, weight, bias, running_mean, running_var, True, momentum, eps, named("_batch_norm_updating"))
    return *found[:3], from_array(np.zeros(0, np.uint8), dtypes.uint8, like=input)


def _into(name, out, found):
    """The three results of PyTorch, in `out` where it is given."""
    found = tuple(found[:3])
    for o, r in zip(out or (), found):
        check_out(name, o, r)
        write_result(o, r._tl_value())
    return found if out is None else tuple(out)


@composite("torch.nn.functional.batch_norm")
def batch_norm(input, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-5):
    """The input less the mean of its channel, divided by its deviation; in training these are the batch's, and the running ones are updated."""
    if training:
        _verify_batch_size(tuple(input.shape))
    if training and eps <= 0:
        raise ValueError(f"batch_norm eps must be positive during training, but got {eps}")
    if eps < 0:
        raise ValueError(f"batch_norm eps must be non-negative, but got {eps}")
    handed("torch.batch_norm", input, weight, bias, running_mean, running_var, training, momentum, eps, True)
    return torch_batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps, True)


# By instance

@composite("torch.instance_norm")
def torch_instance_norm(input, weight, bias, running_mean, running_var, use_input_stats, momentum, eps, cudnn_enabled):
    """`batch_norm` of every instance by itself."""
    if not use_input_stats and (running_mean is None or running_var is None):
        raise RuntimeError("Expected running_mean and running_var to be defined when use_input_stats is false")
    wrap_dim(1, input.ndim, scalar_ok=False)
    n, c = input.shape[:2]

    def repeated(x):
        return None if x is None else named("repeat")(x, (n,))

    mean, var = (repeated(x if x is None else cast(x, input.dtype)) for x in (running_mean, running_var))
    x = named("view")(input.contiguous(), (1, n * c, *input.shape[2:]))
    out = torch_batch_norm(x, repeated(weight), repeated(bias), mean, var, use_input_stats, momentum, eps, cudnn_enabled)
    for running, updated in ((running_mean, mean), (running_var, var)):
        if running is not None and use_input_stats:
            _write_mean(running, updated, n, c)
    return named("view")(out, tuple(input.shape))


def _write_mean(running, updated, n, c):
    running.detach().copy_(named("mean")(named("view")(updated, (n, c)), (0,), False))


def _verify_spatial_size(size):
    """ValueError where an instance is one value."""
    if math.prod(size[2:]) == 1:
        raise ValueError(f"Expected more than 1 spatial element when training, got input size {_shown(size)}")


@composite("torch.nn.functional.instance_norm")
def instance_norm(input, running_mean=None, running_var=None, weight=None, bias=None, use_input_stats=True, momentum=0.1, eps=1e-5):
    """Every channel of every instance less its mean, divided by its deviation."""
    if use_input_stats:
        _verify_spatial_size(tuple(input.shape))
    handed("torch.instance_norm", input, weight, bias, running_mean, running_var, use_input_stats, momentum, eps, True)
    return torch_instance_norm(input, weight, bias, running_mean, running_var, use_input_stats, momentum, eps, True)


# By group

@composite("torch.group_norm")
def torch_group_norm(input, num_groups, weight=None, bias=None, eps=1e-05, cudnn_enabled=True):
    """The input less the mean of its group of channels, divided by its deviation."""
    wrap_dim(1, input.ndim, scalar_ok=False)
    _normalize_ops.check_group(input, weight, bias, num_groups)
    order = channels_order(tuple(input.shape), input.stride())
    input = input.contiguous(memory_format=layouts.contiguous_format if order is None else layouts.LAST[input.ndim])
    n, c = input.shape[:2]
    return _group(input, weight, bias, n, c, math.prod(input.shape[2:]), num_groups, eps)[0]


@composite("torch.nn.functional.group_norm")
def group_norm(input, num_groups, weight=None, bias=None, eps=1e-5):
    """The input less the mean of its group of channels, divided by its deviation."""
    if input.dim() < 2:
        raise RuntimeError(f"Expected at least 2 dimensions for input tensor but received {input.dim()}")
    _verify_batch_size([input.shape[0] * input.shape[1] // num_groups, num_groups, *input.shape[2:]])
    handed("torch.group_norm", input, num_groups, weight, bias, eps)
    return torch_group_norm(input, num_groups, weight, bias, eps)


# By neighbours

@composite("torch.nn.functional.local_response_norm")
def local_response_norm(input, size, alpha=1e-4, beta=0.75, k=1.0):
    """The input divided by a power of the mean square over neighbouring channels."""
    dim = input.dim()
    if dim < 3:
        raise ValueError(f"Expected 3D or higher dimensionality                          input (got {dim} dimensions)")
    if input.numel() == 0:
        return input
    squares = named("mul")(input, input)
    pads = (size // 2, (size - 1) // 2)
    if dim == 3:
        squares = named("constant_pad_nd")(named("unsqueeze")(squares, 1), (0, 0, *pads))
        mean = named("squeeze")(named("avg_pool2d")(squares, (size, 1), 1), 1)
    else:
        shape = tuple(input.shape)
        squares = named("view")(squares, (shape[0], 1, shape[1], shape[2], -1))
        squares = named("constant_pad_nd")(squares, (0, 0, 0, 0, *pads))
        mean = named("view")(named("squeeze")(named("avg_pool3d")(squares, (size, 1, 1), 1), 1), shape)
    return named("div")(input, named("pow")(named("add")(named("mul")(mean, alpha), k), beta))


# Weights

@composite("torch.norm_except_dim")
def norm_except_dim(v, pow=2, dim=0):
    """The norm over all dims but one, of which the others keep size 1."""
    if dim == -1:
        return named("norm")(v, pow)
    if dim == 0:
        return named("norm")(named("view")(v.contiguous(), (v.shape[0], -1)), pow, (1,)).view([v.shape[0]] + [1] * (v.ndim - 1))
    if dim == v.ndim - 1:
        return named("norm")(named("view")(v.contiguous(), (-1, v.shape[-1])), pow, (0,)).view([1] * (v.ndim - 1) + [v.shape[-1]])
    return named("transpose")(norm_except_dim(named("transpose")(v, 0, dim), pow, 0), 0, dim)


@composite("torch._weight_norm")
def weight_norm(v, g, dim=0):
    """v with the lengths g along a dim."""
    if dim in (0, v.ndim - 1):
        return named("_weight_norm_interface")(v, g, dim)[0]
    return named("mul")(v, named("div")(g, norm_except_dim(v, 2, dim)))
