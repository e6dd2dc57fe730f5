"""Strides as metadata (layer 4): `torch.strided`, memory formats, geometry of view chains."""

from __future__ import annotations

import weakref
from itertools import islice

import numpy as np

from . import shapes
from .shown import Shown


class layout(metaclass=Shown):
    """A memory layout; only strided tensors exist here."""

    def __new__(cls, *args, **kwargs):
        raise TypeError(f"cannot create 'torch.{cls.__name__}' instances")

    def __repr__(self):
        return f"torch.{self.name}"

    def __reduce__(self):
        return self.name


class memory_format(metaclass=Shown):
    """A memory format; arrays are row-major, others are accepted as hints."""

    __new__, __repr__, __reduce__ = layout.__new__, layout.__repr__, layout.__reduce__


class qscheme(metaclass=Shown):
    """How numbers are quantized: what observers and fake quantization are told."""

    __new__, __repr__, __reduce__ = layout.__new__, layout.__repr__, layout.__reduce__


def _made(cls, *names):
    """The instances of these names."""
    found = [object.__new__(cls) for _ in names]
    for one, name in zip(found, names):
        one.name = name
    return found


strided, sparse_coo, sparse_csr, sparse_csc, sparse_bsr, sparse_bsc, jagged, _mkldnn = _made(
    layout, "strided", "sparse_coo", "sparse_csr", "sparse_csc", "sparse_bsr", "sparse_bsc", "jagged", "_mkldnn")
contiguous_format, preserve_format, channels_last, channels_last_3d = _made(
    memory_format, "contiguous_format", "preserve_format", "channels_last", "channels_last_3d")

per_tensor_affine, per_channel_affine, per_tensor_symmetric, per_channel_symmetric, per_channel_affine_float_qparams = _made(
    qscheme, "per_tensor_affine", "per_channel_affine", "per_tensor_symmetric", "per_channel_symmetric", "per_channel_affine_float_qparams")


LAST = {4: channels_last, 5: channels_last_3d}  # the format with channels last of tensors of so many dims
_CHANNELS = {"channels_last": (4, "channels_last format"), "channels_last_3d": (5, "channels_last_3d format")}


def channels_strides(shape, form):
    """The strides of a tensor of this shape with its channels last; torch's error for another rank; None for a format that says nothing of it."""
    rank, words = _CHANNELS.get(form.name, (None, None))
    if rank is None:
        return None
    if len(shape) != rank:
        raise RuntimeError(f"required rank {rank} tensor to use {words}")
    found, step = [0] * rank, 1
    for d in (1, *range(rank - 1, 1, -1), 0):
        found[d] = step
        step *= shape[d]  # torch 2.13: a size of 0 counts as 0 here
    return tuple(found)


def asked_format(t, args, form):
    """`t.is_contiguous(*args, memory_format=form)` where something is given; torch's errors."""
    if args:
        raise TypeError(f"is_contiguous() takes 0 positional arguments but {len(args)} {'was' if len(args) == 1 else 'were'} given")
    if not isinstance(form, memory_format):
        raise TypeError(f"is_contiguous(): argument 'memory_format' must be torch.memory_format, not {type(form).__name__}")
    shape, strides = tuple(t.shape), t.stride()
    rank, _ = _CHANNELS.get(form.name, (None, None))
    if rank is None:
        return shapes.is_contiguous(shape, strides)
    if len(shape) != rank:
        return False
    step = 1
    for d in (1, *range(rank - 1, 1, -1), 0):
        if shape[d] != 1:
            if strides[d] != step:
                return False
            step *= shape[d]
    return True


def laid(out, form):
    """A fresh tensor, its strides those of a memory format (metadata: the array stays as it is)."""
    wanted = channels_strides(tuple(out.shape), form)
    return lay_as(out, wanted or shapes.contiguous_strides(out.shape))


def lay_as(out, strides):
    """A fresh tensor with these strides, which its operator does not tell; the tape keeps them for what is saved of it."""
    if strides == shapes.contiguous_strides(out._tl_v.aval.shape):
        out._tl_laid = None
        return out
    out._tl_laid = strides, 0
    tape = out._tl_v.tape
    if tape is not None:
        TOLD.setdefault(tape, {})[out._tl_v.slot] = strides
    return out


TOLD = weakref.WeakKeyDictionary()  # {tape: {slot: strides that are not row by row}}


def chain_geometry(cell, chain):
    """(strides, offset) of what a chain of views shows of a cell."""
    shape = cell.value.aval.shape
    key = shape, cell.layout, chain
    out = _geometries.get(key)
    if out is None:
        strides, offset = cell.layout or (shapes.contiguous_strides(shape), 0)
        for spec, numbers in chain:
            shape, strides, offset = geometry(spec, numbers, shape, strides, offset)
        if len(_geometries) > 4096:
            _geometries.clear()
        out = _geometries[key] = tuple(strides), offset
    return out


_geometries: dict = {}


def geometry(spec, numbers, shape, strides, offset):
    """(shape, strides, offset) of one view of what has these."""
    op = spec.op
    kwargs = dict(spec.statics)
    lifted = [p.name for p in op.params if p.name in op.lift]
    kwargs.update(zip(lifted, numbers))
    if op.layout is None:
        raise NotImplementedError(f"the strides of a view made by {op.key} are not known")
    out = op.layout(shape, strides, offset, **kwargs)
    if hasattr(spec, "output"):
        out = out[spec.output]
    return out


def read_again(links, numbers, shape, strides):
    """(shape, strides, offset) of a view that links, each with so many of the numbers, read from what begins its memory."""
    out, numbers = (shape, strides, 0), iter(numbers)
    for spec, n in links:
        out = geometry(spec, list(islice(numbers, n)), *out)
    return out


def check_overlap(t, src):
    """torch's error where two tensors share part of their memory, but not all of it in the same way."""
    a, b = stretch(t), stretch(src)
    if a is None or b is None or (a == b and t._tl_geometry() == src._tl_geometry()):
        return
    if a[0] < b[1] and b[0] < a[1]:
        raise _overlap()


def shares(t, src):
    """torch's error where two tensors without gaps share any memory."""
    a, b = stretch(t), stretch(src)
    if a is not None and b is not None and a[0] < b[1] and b[0] < a[1]:
        raise _overlap()


def _overlap():
    return RuntimeError("unsupported operation: some elements of the input tensor and the written-to tensor refer to a single memory location. Please "
                        "clone() the tensor before performing the operation.")


def stretch(t):
    """[first, last) storage position of a tensor without gaps; None for others."""
    strides, offset = t._tl_geometry()
    step = 1
    for n, s in sorted(zip(t._tl_v.aval.shape, strides), key=lambda p: p[1]):
        if n == 0:
            return None
        if n != 1:
            if s != step:
                return None
            step *= n
    return offset, offset + step


def memory_order(shape, strides):
    """The dims from the slowest to the fastest in memory; None where they lie row by row, or an element is repeated."""
    order = sorted(range(len(shape)), key=lambda d: -strides[d])
    return None if order == list(range(len(shape))) or any(n > 1 and not step for n, step in zip(shape, strides)) else order


def in_memory_order(t, draw, *along):
    """The array draw(shape, *along) for a tensor of the shape and layout of `t`: its numbers in the order of the memory, as torch's generator fills it.

    along: arrays of the shape of `t` that are read in the same order.
    """
    shape = t._tl_v.aval.shape
    if t._tl_laid is None and (t._tl_view is None or not t._tl_view.chain):
        return draw(shape, *along)
    order = memory_order(shape, t.stride())
    if order is None:
        return draw(shape, *along)
    drawn = draw(tuple(shape[d] for d in order), *(a.transpose(order) for a in along))
    return np.ascontiguousarray(drawn.transpose(np.argsort(order)))


__all__ = [
    "asked_format",
    "chain_geometry",
    "channels_last",
    "channels_strides",
    "check_overlap",
    "contiguous_format",
    "in_memory_order",
    "laid",
    "layout",
    "memory_format",
    "memory_order",
    "preserve_format",
    "shares",
    "stretch",
    "strided",
]
