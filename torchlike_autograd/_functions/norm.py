"""Norms by name and order, made of vector norms and singular values; distances, means without NaN (layer 7)."""

from __future__ import annotations

import math

from .._core import dtypes, errors
from .._core.composite import COMPOSITES, composite, named
from .._core.dispatch import write_result
from .._core.record import thread
from .._core.shapes import wrap_dim
from .._core.words import no_tensor, type_name
from .._ops import norm as _norm_ops
from .._ops import out_types as _out_types
from .._tensor import Tensor
from .arguments import handed
from .index import checked

_vector = named("linalg_vector_norm")


def into(name, out, result, *inputs):
    """Write a result into `out`, if there is one."""
    if out is None:
        return result
    if not isinstance(out, Tensor):
        raise no_tensor(name, out)
    if thread.state.grad and any(t._tl_needs for t in (out, *inputs)):
        raise errors.out_requires_grad(name)
    check_out(name, out, result)
    write_laid(out, result)
    return out


def write_laid(out, result):
    """Make a result the contents of `out`, which lies in memory as the result does where it is resized."""
    resized = out.shape != result.shape
    write_result(out, result._tl_value())
    if resized and out._tl_cell is None:
        out._tl_laid = result._tl_laid


def check_out(name, out, result, index=0):
    """Refuse an output of a dtype that torch does not cast the result of a function to; index: which result it is."""
    have, got = result._tl_v.aval.dtype, out._tl_v.aval.dtype
    if have is not got:
        _out_types.refuse_as(name, name, have, got, dtypes.can_cast(have, got), {}, index=index, fits=result.shape == out.shape)


@composite("torch.norm")
def norm(input, p="fro", dim=None, keepdim=False, out=None, dtype=None):
    """The norm of all elements, or over dims; "nuc" is the sum of the singular values."""
    input.layout  # noqa: B018  asked first: AttributeError of what is no tensor
    dims = [dim] if isinstance(dim, int) else dim
    if not isinstance(p, str):
        handed("torch.linalg.vector_norm", input, 2.0 if p is None else p, dims, keepdim)
        return into("norm", out, _vector(input, 2.0 if p is None else p, dims, keepdim, dtype=dtype), input)
    if p == "fro" and (dims is None or len(dims) <= 2):
        handed("torch.linalg.vector_norm", input, 2, dims, keepdim)
        return into("norm", out, _vector(input, 2, dims, keepdim, dtype=dtype), input)
    return matrix_norm(input, p, list(range(input.ndim)) if dims is None else dims, keepdim, out=out, dtype=dtype)


@composite("Tensor.norm")
def tensor_norm(self, p="fro", dim=None, keepdim=False, dtype=None):
    """The norm of all elements, or over dims."""
    return norm(self, p, dim, keepdim, dtype=dtype)


@composite("torch.linalg.norm")
def linalg_norm(input, ord=None, dim=None, keepdim=False, *, out=None, dtype=None):
    """A vector norm, or a matrix norm where there are two dims and an order."""
    A = input
    if dim is not None:
        dims = [dim] if isinstance(dim, int) else list(dim)
        if len(dims) not in (1, 2):
            raise RuntimeError(f"linalg.norm: If dim is specified, it must be of length 1 or 2. Got {dims}")
    else:
        dims = None
        if ord is not None and A.ndim not in (1, 2):
            raise RuntimeError(f"linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got {A.ndim}D.")
    if isinstance(ord, str) or (ord is not None and (len(dims) if dims is not None else A.ndim) == 2):
        return into("linalg_norm", out, matrix_norm(A, ord, [0, 1] if dims is None else dims, keepdim, dtype=dtype), A)
    return into("linalg_norm", out, _vector(A, 2.0 if ord is None else ord, dims, keepdim, dtype=dtype), A)


def _matrix_dims(A, dim):
    own = A.dtype
    if A.ndim < 2:
        raise RuntimeError("linalg.matrix_norm: The input tensor A must have at least 2 dimensions.")
    if own.category < dtypes.FLOAT:
        raise RuntimeError(f"linalg.matrix_norm: Expected a floating point or complex tensor as input. Got {own.char_name}")
    if len(dim) != 2:
        raise RuntimeError(f"linalg.matrix_norm: dim must be a 2-tuple. Got {' '.join(map(str, dim))}")
    first, second = (wrap_dim(d, A.ndim) for d in dim)
    if first == second:
        raise RuntimeError(f"linalg.matrix_norm: dims must be different. Got ({dim[0]}, {dim[1]})")
    return first, second


def _singular(A, order, dims, keepdim, dtype):
    """Norms made of singular values: 2, -2 and "nuc"."""
    if A.dtype in (dtypes.float16, dtypes.bfloat16):
        raise RuntimeError(f"linalg.matrix_norm: Low precision dtypes not supported. Got {A.dtype.char_name}")
    if dtype is not None:
        _norm_ops.check_norm_type("linalg.matrix_norm", A.dtype, dtype)
        A = A.to(dtype)
    rest = [d for d in range(A.ndim) if d not in dims]
    if (*rest, *dims) != tuple(range(A.ndim)):
        A = named("permute")(A, (*rest, *dims))
    values = COMPOSITES.get("torch.linalg.svdvals", named("linalg_svdvals"))(A)
    if order == "nuc":
        out = named("sum")(values, -1, keepdim)
    else:
        out = _extreme(values, order, values.ndim - 1, keepdim)
    if not keepdim:
        return out
    out = named("unsqueeze")(out, -1)
    back = [0] * out.ndim
    for i, d in enumerate((*rest, *dims)):
        back[d] = i
    return named("permute")(out, tuple(back))


def _absolute_sums(A, order, dims, keepdim, dtype):
    """Norms made of sums of absolute values: 1, -1, inf and -inf."""
    first, second = dims[::-1] if math.isinf(order) else dims
    sums = _vector(A, 1, (first,), keepdim, dtype=dtype)
    if not keepdim and second > first:
        second -= 1
    return _extreme(sums, order, second, keepdim)


def _extreme(values, order, dim, keepdim):
    """The greatest or the smallest along a dim; the greatest of nothing is a constant 0, the smallest is refused."""
    if order < 0 or values.shape[dim]:
        return named("amax" if order > 0 else "amin")(values, (dim,), keepdim)
    return values.new_zeros((*values.shape[:dim], *([1] if keepdim else []), *values.shape[dim + 1:]))


@composite("torch.linalg.matrix_norm")
def matrix_norm(input, ord="fro", dim=(-2, -1), keepdim=False, *, dtype=None, out=None):
    """The norm of matrices in two dims."""
    A = input
    if isinstance(ord, complex):
        raise RuntimeError("linalg.matrix_norm: Expected a non-complex scalar as the order of norm.")
    if ord not in ("fro", "nuc") if isinstance(ord, str) else abs(ord) not in (1, 2, math.inf):
        raise RuntimeError(f"linalg.matrix_norm: Order {ord if isinstance(ord, str) else format(ord, 'g')} not supported.")
    dims = _matrix_dims(A, [dim] if isinstance(dim, int) else list(dim))
    if isinstance(ord, str):
        result = _vector(A, 2, dims, keepdim, dtype=dtype) if ord == "fro" else _singular(A, ord, dims, keepdim, dtype)
    else:
        result = (_singular if abs(ord) == 2 else _absolute_sums)(A, ord, dims, keepdim, dtype)
    return into("linalg_matrix_norm", out, result, A)


@composite("torch.nanmean", "Tensor.nanmean")
def nanmean(input, dim=None, keepdim=False, *, dtype=None, out=None):
    """The mean of what is not NaN; with `out`, the sum and then the quotient are written there."""
    own = input.dtype
    if own.category < dtypes.FLOAT:
        if out is not None:
            raise RuntimeError("nanmean(): integral types and 'Bool' are not supported for nanmean, even for empty tensors.")
        raise RuntimeError(f"nanmean(): expected input to have floating point or complex dtype but got {own.char_name}")
    if dtype is not None and dtype.category < dtypes.FLOAT:
        raise RuntimeError(
            f"nanmean(): could not infer output dtype. Optional dtype must be either a floating point or complex dtype. Got: {dtype.char_name}")
    count = input.isnan().logical_not().sum(dim, keepdim)
    if out is None:
        return named("div")(named("nansum")(input, dim, keepdim, dtype=dtype), count)
    return named("nansum")(input, dim, keepdim, dtype=dtype, out=out).div_(count)


@composite("torch.nn.functional.pdist", "torch.pdist")
def pdist(input, p=2.0):
    """The distances of all pairs of different rows."""
    if input.ndim != 2:
        raise RuntimeError(f"pdist only supports 2D tensors, got: {input.ndim}D")
    return named("_pdist_forward")(input.contiguous(), float(p))


@composite("torch.cdist")
def cdist(x1, x2, p=2.0, compute_mode="use_mm_for_euclid_dist_if_necessary"):
    """The distances of all pairs of rows."""
    modes = {"use_mm_for_euclid_dist_if_necessary": None, "use_mm_for_euclid_dist": 1, "donot_use_mm_for_euclid_dist": 2}
    if compute_mode not in modes:
        raise ValueError(f"{compute_mode} is not a valid value for compute_mode")
    mode = modes[compute_mode]
    for x, label in ((x1, "x1"), (x2, "x2")):
        if not isinstance(x, Tensor):
            raise TypeError(f"cdist(): argument '{label}' must be Tensor, not {type_name(x)}")
    rows = max(x1.shape[-2] if x1.ndim > 1 else 0, x2.shape[-2] if x2.ndim > 1 else 0)
    if p == 2 and x1.numel() and x2.numel() and (mode == 1 or (mode is None and rows > 25)):
        return named("_euclidean_dist")(x1, x2)
    return named("_cdist_forward")(x1, x2, p, mode)


def _settle_maxnorm(spec, flat):
    most = flat[-1]
    if type(most) is complex:
        raise RuntimeError("renorm: maxnorm must be real-valued")
    if type(most) in (int, float) and not most >= 0 and spec.statics["p"] > 0:  # what is wrong with p is said first
        raise RuntimeError(f"renorm: expected maxnorm to be >= 0 but got {most:g}")
    return spec


checked("renorm", True, _settle_maxnorm)
