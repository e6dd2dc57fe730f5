"""Convolutions by rank (layer 7): inputs without a batch, padding by name, complex numbers."""

from __future__ import annotations

from operator import index

from .._core.composite import composite, named
from .._core.dispatch import run
from .._core.numeric import say_once
from .._ops import conv as _conv_ops
from .._ops.conventions import cxx_of
from .._ops.registry import OPS
from .._ops.spec import spec_of
from .._tensor import Tensor
from .arguments import no_tensor

_unsqueeze, _squeeze, _pad = named("unsqueeze"), named("squeeze"), named("constant_pad_nd")
_specs: dict = {}
_ops = _conv_ops


def _ints(name, word, x, n):
    """A tuple of ints; one number stands for n."""
    if isinstance(x, str):
        raise TypeError(f"{name}(): argument '{word}' must be tuple of ints, not str")
    return tuple([index(i) for i in x]) if isinstance(x, (tuple, list)) else (index(x),) * n


def _spec(key):
    n, is_complex, biased, stride, padding, dilation, transposed, output_padding, groups = key
    statics = {"stride": stride, "padding": padding, "dilation": dilation, "transposed": transposed, "output_padding": output_padding, "groups": groups}
    for k in ("stride", "padding", "dilation", "output_padding"):
        statics[k] = _conv_ops.spread(k, statics[k], n)
    entry = OPS["_convolution_complex" if is_complex else "convolution"]
    return spec_of(entry, tuple(statics.items()), ("T", "T", "T" if biased else "N"))


def _convolve(input, weight, bias, *structure):
    if not (isinstance(input, Tensor) and isinstance(weight, Tensor) and (bias is None or isinstance(bias, Tensor))):
        raise TypeError("convolution takes tensors")
    key = (weight.ndim - 2, input.dtype.is_complex, bias is not None, *structure)
    spec = _specs.get(key)
    if spec is None:
        if len(_specs) > 4096:
            _specs.clear()
        spec = _specs[key] = _spec(key)
    return run(spec, (input, weight) if bias is None else (input, weight, bias))


def _batched(name, n, input, f):
    """f of the input with a batch dim; the result without one where the input had none."""
    rank = input.ndim
    if rank == n + 2:
        return f(input)
    if rank != n + 1:
        raise RuntimeError(f"Expected {n + 1}D (unbatched) or {n + 2}D (batched) input to {name}, but got input of size: {list(input.shape)}")
    return _squeeze(f(_unsqueeze(input, 0)), 0)


def _same(input, weight, stride, dilation, n):
    """(input, padding) such that the result has the input's size; where the two ends differ the input is padded at its end first."""
    if any(s != 1 for s in stride):
        raise RuntimeError("padding='same' is not supported for strided convolutions")
    dilation = _conv_ops.spread("dilation", dilation, n)
    totals = [d * (k - 1) for d, k in zip(dilation, weight.shape[2:])]
    if any(t % 2 for t in totals):
        say_once("Using padding='same' with even kernel lengths and odd dilation may require a zero-padded copy of the input be created "
                 "(Triggered internally at /__w/pytorch/pytorch/aten/src/ATen/native/Convolution.cpp:1101.)")
        input = _pad(input, tuple(p for t in reversed(totals) for p in (0, t % 2)))
    return input, tuple(t // 2 for t in totals)


def _plain(n):
    name = f"conv{n}d"

    def function(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
        stride, dilation, groups = _ints(name, "stride", stride, n), _ints(name, "dilation", dilation, n), index(groups)
        if isinstance(bias, Tensor) and isinstance(input, Tensor) and bias.dtype is not input.dtype:
            raise RuntimeError(f"Input type ({cxx_of(input.dtype)}) and bias type ({cxx_of(bias.dtype)}) should be the same")
        if isinstance(padding, str):
            if padding not in ("same", "valid"):
                raise RuntimeError(f"Invalid padding string: '{padding}'")

            def by_name(x):
                if padding == "same" and x.ndim != weight.ndim:
                    raise RuntimeError(f"Expected {weight.ndim}-dimensional input for {weight.ndim}-dimensional weight{list(weight.shape)}, but got "
                                       f"{x.ndim}-dimensional input of size {list(x.shape)} instead")
                y, pads = _same(x, weight, stride, dilation, n) if padding == "same" else (x, (0,) * n)
                return _convolve(y, weight, bias, stride, pads, dilation, False, (0,), groups)

            return _batched(name, n, input, by_name)
        padding = _ints(name, "padding", padding, n)
        return _batched(name, n, input, lambda x: _convolve(x, weight, bias, stride, padding, dilation, False, (0,), groups))

    _publish(name, function, f"The convolution of (N, C, *) or (C, *), {n} dims, with (out, C / groups, *).")


def _transposed(n):
    name = f"conv_transpose{n}d"

    def function(input, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1):
        stride, padding, dilation = _ints(name, "stride", stride, n), _ints(name, "padding", padding, n), _ints(name, "dilation", dilation, n)
        if not (isinstance(input, Tensor) and isinstance(weight, Tensor) and (bias is None or isinstance(bias, Tensor))):
            raise no_tensor(name, input=input, weight=weight, **({} if bias is None else {"bias": bias}))
        structure = stride, padding, dilation, True, _ints(name, "output_padding", output_padding, n), index(groups)
        return _batched(name, n, input, lambda x: _convolve(x, weight, bias, *structure))

    _publish(name, function, f"The transpose of the convolution over {n} dims with (C, out / groups, *).")


def _publish(name, function, doc):
    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    composite(f"torch.{name}", f"torch.nn.functional.{name}")(function)


for _n in (1, 2, 3):
    _plain(_n)
    _transposed(_n)
