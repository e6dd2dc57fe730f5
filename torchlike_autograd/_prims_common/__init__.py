"""torch._prims_common (layer 12): questions about dtypes, shapes and strides that libraries ask below the public names."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from enum import Enum
from functools import reduce

from .. import _api as torch
from .._core import publish as _publish
from .._tensor import Tensor

DeviceLikeType = str | torch.device | int
ShapeType = torch.Size | list[int] | tuple[int, ...]
StrideType = DimsSequenceType = list[int] | tuple[int, ...]
DimsType = int | list[int] | tuple[int, ...]
NumberType = bool | int | float | complex
RealNumberType = bool | int | float
NumberTypeType = type[bool] | type[int] | type[float] | type[complex]
Number, Dim = (bool, int, float, complex), int
IntLike, FloatLike, BoolLike = (int,), (float,), (bool,)
TensorLike = TensorLikeType = Tensor
TensorSequenceType = list[Tensor] | tuple[Tensor, ...]
TensorOrNumberLikeType = Tensor | bool | int | float | complex


class ELEMENTWISE_TYPE_PROMOTION_KIND(Enum):
    """How a pointwise function chooses the dtype that it computes in, and that of its result."""

    DEFAULT = (0,)
    NO_OPMATH = (1,)
    INT_TO_FLOAT = (2,)
    ALWAYS_BOOL = (3,)
    COMPLEX_TO_FLOAT = (4,)
    BOOL_TO_LONG = (5,)


class REDUCTION_OUTPUT_TYPE_KIND(Enum):
    """What becomes of the dtype of a reduction's result."""

    SAME = (0,)
    COMPLEX_TO_FLOAT = (1,)
    KEEP_PROMOTED_TYPE = (2,)
    ALWAYS_BOOL = (3,)


_ORDERED = (bool, int, float, complex)
_REAL = {torch.complex32: torch.float16, torch.complex64: torch.float32, torch.complex128: torch.float64}
_COMPLEX = {**{real: both for both, real in _REAL.items()}, torch.bfloat16: torch.complex64}
_COMPUTED = {torch.float16: torch.float32, torch.bfloat16: torch.float32, torch.complex32: torch.complex64}


def is_boolean_dtype(dtype) -> bool:
    """Whether it is bool."""
    return dtype is torch.bool


def is_integer_dtype(dtype) -> bool:
    """Whether it is of integers; bool is not."""
    return not (dtype.is_floating_point or dtype.is_complex or dtype is torch.bool)


def is_float_dtype(dtype) -> bool:
    """Whether it is of real floating numbers."""
    return dtype.is_floating_point


def is_complex_dtype(dtype) -> bool:
    """Whether it is complex."""
    return dtype.is_complex


def is_grad_dtype(dtype) -> bool:
    """Whether tensors of it may require grad."""
    return dtype.is_floating_point or dtype.is_complex


def is_low_precision_dtype(dtype) -> bool:
    """Whether it is computed with in a wider one."""
    return dtype in _COMPUTED


def corresponding_real_dtype(dtype):
    """The dtype of the parts of a complex one; KeyError for another."""
    return _REAL[dtype]


def corresponding_complex_dtype(dtype):
    """The complex dtype with parts of this one; KeyError where there is none."""
    return _COMPLEX[dtype]


def get_computation_dtype(dtype):
    """The dtype that pointwise functions compute in: float32 for halves."""
    return _COMPUTED.get(dtype, dtype)


def dtype_to_type(dtype):
    """bool, int, float or complex."""
    if not isinstance(dtype, torch.dtype):
        raise AssertionError(f"Expected torch.dtype, got {type(dtype)}")
    return bool if dtype is torch.bool else complex if dtype.is_complex else float if dtype.is_floating_point else int


def type_to_dtype(typ):
    """The dtype that numbers of a Python type get; ValueError for another type."""
    if typ not in _ORDERED:
        raise ValueError(f"Invalid type {typ}!")
    default = torch.get_default_dtype()
    return (torch.bool, torch.int64, default, _COMPLEX[default])[_ORDERED.index(typ)]


def get_dtype(x):
    """The dtype of a tensor, or that a number would get."""
    return x.dtype if isinstance(x, Tensor) else type_to_dtype(type(x))


def number_type(x) -> type:
    """The type of a number."""
    return type(x)


def is_weakly_lesser_type(a, b) -> bool:
    """Whether `a` comes no later than `b` among bool, int, float, complex."""
    for kind in (a, b):
        if kind not in _ORDERED:
            raise RuntimeError(f"Expected builtin numeric types, found {a}, {b}")
    return _ORDERED.index(a) <= _ORDERED.index(b)


def get_higher_type(a, b) -> type:
    """The later of two types among bool, int, float, complex."""
    return b if is_weakly_lesser_type(a, b) else a


def get_higher_dtype(a, b):
    """The dtype that two dtypes, tensors or numbers promote to, None counting as nothing."""
    a, b = (x if x is None or isinstance(x, torch.dtype) else get_dtype(x) for x in (a, b))
    return b if a is None else a if b is None else torch.promote_types(a, b)


def dtype_or_default(dtype):
    """`dtype`, or the default one for None."""
    return torch.get_default_dtype() if dtype is None else dtype


def device_or_default(device):
    """`device`, or the CPU for None."""
    return torch.device("cpu") if device is None else device


def elementwise_dtypes(*_args, type_promotion_kind):
    """(dtype of the computation, dtype of the result) of a pointwise function of tensors and numbers, None left out."""
    kind, kinds = type_promotion_kind, ELEMENTWISE_TYPE_PROMOTION_KIND
    args = [a for a in _args if a is not None]
    result = _together(args)
    if kind is kinds.INT_TO_FLOAT and not is_grad_dtype(result):
        result = torch.get_default_dtype()
    if kind is kinds.BOOL_TO_LONG and result is torch.bool:
        return torch.int64, torch.int64
    computed = result if kind is kinds.NO_OPMATH else get_computation_dtype(result)
    if kind is kinds.ALWAYS_BOOL:
        return computed, torch.bool
    if kind is kinds.COMPLEX_TO_FLOAT and result.is_complex:
        return computed, corresponding_real_dtype(result)
    return computed, result


def _together(args):
    """The dtype that tensors and numbers promote to: tensors with dims come before those without, these before numbers, within a kind of numbers."""
    groups = [[a.dtype for a in args if isinstance(a, Tensor) and a.dim() > 0], [a.dtype for a in args if isinstance(a, Tensor) and a.dim() == 0],
              [type_to_dtype(type(a)) for a in args if not isinstance(a, Tensor)]]
    out = None
    for group in groups:
        for dtype in group:
            if out is None:
                out = dtype
            elif group is groups[0]:
                out = torch.promote_types(out, dtype)
            elif not is_weakly_lesser_type(dtype_to_type(dtype), dtype_to_type(out)):  # a scalar brings its kind; a complex one keeps the width of floats
                out = _COMPLEX[out] if dtype.is_complex and out.is_floating_point else dtype
    return out


def canonicalize_dim(rank: int, idx: int, wrap_scalar: bool = True) -> int:
    """A dim counted from the front; IndexError out of range."""
    if rank < 0:
        raise IndexError(f"Rank cannot be negative but got {rank}")
    if rank == 0:
        if not wrap_scalar:
            raise IndexError(f"Dimension specified as {idx} but tensor has no dimensions")
        rank = 1
    if 0 <= idx < rank:
        return idx
    if not -rank <= idx < 0:
        raise IndexError(f"Dimension out of range (expected to be in range of [{-rank}, {rank - 1}], but got {idx})")
    return idx + rank


def canonicalize_dims(rank, indices, wrap_scalar=True):
    """One dim, or a tuple of several, counted from the front."""
    if isinstance(indices, int):
        return canonicalize_dim(rank, indices, wrap_scalar)
    return tuple(canonicalize_dim(rank, i, wrap_scalar) for i in indices)


def is_valid_permutation(rank: int, perm) -> bool:
    """Whether `perm` has each dim once."""
    return isinstance(perm, Sequence) and sorted(perm) == list(range(rank))


def apply_perm(inp, perm):
    """The entries of a sequence in the order of a permutation."""
    return [inp[i] for i in perm]


def invert_perm(perm):
    """The permutation that undoes one."""
    out = [-1] * len(perm)
    for i, p in enumerate(perm):
        out[p] = i
    return out


def is_same_shape(a: Sequence, b: Sequence) -> bool:
    """Whether two shapes are equal."""
    return tuple(a) == tuple(b)


def same_shape(a, b, *, allow_rhs_unbacked=False) -> bool:
    """Whether two shapes are equal."""
    return is_same_shape(a, b)


def is_expandable_to(shape, desired) -> bool:
    """Whether `shape` broadcasts to `desired` as it is."""
    return len(shape) <= len(desired) and all(s in (1, d) for s, d in zip(reversed(shape), reversed(desired), strict=False))


def infer_size(shape, numel: int) -> tuple:
    """`shape` with its -1 replaced, for so many elements; RuntimeError where that does not fit."""
    known, unknown = 1, None
    for i, d in enumerate(shape):
        if d == -1:
            if unknown is not None:
                raise RuntimeError("only one dimension can be inferred")
            unknown = i
        elif d >= 0:
            known *= d
        else:
            raise RuntimeError(f"invalid shape dimension {d}")
    if not (numel == known if unknown is None else known > 0 and numel % known == 0):
        raise RuntimeError(f"shape '{list(shape)}' is invalid for input of size {numel}")
    return tuple(numel // known if i == unknown else d for i, d in enumerate(shape))


def reduction_dims(shape, dims) -> tuple:
    """All dims for None, otherwise these, counted from the front; RuntimeError for one given twice."""
    if dims is None:
        return tuple(range(len(shape)))
    out = tuple(canonicalize_dim(len(shape), d) for d in dims)
    if len(out) != len(set(out)):
        raise RuntimeError("duplicate value in the list of dims")
    return out


def set_correction(unbiased=None, correction=None) -> float:
    """What is taken from the number of elements in a variance; RuntimeError for both or a negative one."""
    if correction is not None and unbiased is not None:
        raise RuntimeError("cannot specify both correction and unbiased arguments")
    out = (1.0 if unbiased in (None, True) else 0.0) if correction is None else correction
    if not isinstance(out, (int, float)):
        raise ValueError("correction argument should be integer or float")
    return float(out)


def make_contiguous_strides_for(shape, row_major: bool = True) -> tuple:
    """The strides of a contiguous tensor; of one whose last two dims are stored by columns unless `row_major`."""
    strides, step = [], 1
    for d in reversed(shape):
        strides.append(step)
        step *= max(d, 1)
    out = tuple(reversed(strides))
    if row_major or len(shape) < 2:
        return out
    return (*out[:-2], 1, max(shape[-2], 1))


def _channels_last(shape, rank):
    if len(shape) != rank:
        raise RuntimeError(f"Only tensors of rank {rank} can use the channels_last{'_3d' if rank == 5 else ''} memory format")
    order, out, step = (1, *range(rank - 1, 1, -1), 0), [0] * rank, 1
    for d in order:
        out[d] = step
        step *= max(shape[d], 1)
    return tuple(out)


def make_channels_last_2d_strides_for(shape) -> tuple:
    """The strides of images with channels last."""
    return _channels_last(shape, 4)


def make_channels_last_3d_strides_for(shape) -> tuple:
    """The strides of volumes with channels last."""
    return _channels_last(shape, 5)


def suggest_memory_format(x):
    """The memory format that a tensor is in."""
    if x.layout is not torch.strided or x.dim() not in (4, 5) or x.is_contiguous():
        return torch.contiguous_format
    last = torch.channels_last if x.dim() == 4 else torch.channels_last_3d
    return last if x.is_contiguous(memory_format=last) else torch.contiguous_format


def compute_required_storage_length(shape, strides, storage_offset: int) -> int:
    """How many elements a storage needs."""
    return 0 if math.prod(shape) == 0 else 1 + storage_offset + sum((d - 1) * s for d, s in zip(shape, strides, strict=True))


def is_cpu_scalar_tensor(a) -> bool:
    """Whether it is a tensor without dims on the CPU."""
    return isinstance(a, Tensor) and a.ndim == 0 and a.device.type == "cpu"


def extract_shape_from_varargs(shape, validate=True) -> tuple:
    """The shape of ``f(2, 3)`` and ``f((2, 3))`` alike."""
    if len(shape) == 1 and isinstance(shape[0], Sequence):
        shape = shape[0]
    if validate and any(d < 0 for d in shape):
        raise ValueError(f"All dimensions must be non-negative: {shape}")
    return tuple(shape)


def check_same_dtype(*args) -> None:
    """RuntimeError unless tensors have one dtype; numbers may be of any type."""
    dtype = None
    for a in args:
        if isinstance(a, Tensor):
            dtype = a.dtype if dtype is None else dtype
            if a.dtype is not dtype:
                raise RuntimeError(f"Tensor with dtype {a.dtype} is not the expected dtype of {dtype}!")
        elif not isinstance(a, Number):
            raise RuntimeError(f"Unexpected type when checking for same dtype, {type(a)}!")


def prod(xs) -> int:
    """The product of numbers."""
    return reduce(operator.mul, xs, 1)


def check(b: bool, s, exc_type: type[Exception] = RuntimeError) -> None:
    """An exception with the words that `s` gives, unless `b`."""
    if not b:
        raise exc_type(s())


__getattr__ = _publish.missing("torch._prims_common")
