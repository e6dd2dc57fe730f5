"""torch.gradient (layer 7): finite differences along dims; and some old norms."""

from __future__ import annotations

from .._core import dtypes
from .._core.composite import COMPOSITES, composite, named
from .._core.numeric import say_once
from .._core.shapes import sized_dim
from .._tensor import Tensor
from .norm import into

_AT = "Triggered internally at /__w/pytorch/pytorch/aten/src/ATen/native/LinearAlgebra.cpp:"


def _dims(input, dim, spacing):
    """The dims to go along."""
    if dim is not None:
        dims = [dim] if isinstance(dim, int) else list(dim)
    elif isinstance(spacing, (tuple, list)) and len(spacing) != input.ndim:
        raise RuntimeError(f"torch.gradient expected spacing to be unspecified, a scalar, or a list of length equal to 'self.dim() = {input.ndim}', since dim "
                           f"argument was not given, but got a list of length {len(spacing)}")
    else:
        dims = list(range(input.ndim))
    return dims


def _check(input, dims, edge_order):
    if edge_order not in (1, 2):
        raise RuntimeError("torch.gradient only supports edge_order=1 and edge_order=2.")
    wrapped = [sized_dim(d, input.shape) for d in dims]
    if len(set(wrapped)) != len(wrapped):
        raise RuntimeError(f"dim {next(d for i, d in enumerate(wrapped) if d in wrapped[:i])} appears multiple times in the list of dims")
    for d in wrapped:
        if input.shape[d] <= edge_order:
            raise RuntimeError("torch.gradient expected each dimension size to be at least edge_order+1")
    return wrapped


def _even(x, d, h, edge_order):
    """Differences at a fixed distance."""
    n = x.shape[d]

    def part(start, end):
        return x.narrow(d, start, end - start)

    inner = (part(2, n) - part(0, n - 2)) / (2 * h)
    if edge_order == 1:
        ends = (part(1, 2) - part(0, 1)) / h, (part(n - 1, n) - part(n - 2, n - 1)) / h
    else:
        ends = ((part(0, 1) * -1.5 + part(1, 2) * 2 - part(2, 3) * 0.5) / h, (part(n - 1, n) * 1.5 - part(n - 2, n - 1) * 2 + part(n - 3, n - 2) * 0.5) / h)
    return named("cat")([ends[0], inner, ends[1]], d)


def _uneven(x, d, places, edge_order):
    """Differences at given places."""
    n = x.shape[d]
    steps = places[1:] - places[:-1]

    def part(start, end):
        return x.narrow(d, start, end - start)

    def laid(t):
        return t.reshape([-1 if i == d else 1 for i in range(x.ndim)])

    left, right = laid(steps[:-1]), laid(steps[1:])
    inner = (part(0, n - 2) * (-right / (left * (left + right))) + part(1, n - 1) * ((right - left) / (left * right))
             + part(2, n) * (left / (right * (left + right))))
    if edge_order == 1:
        ends = (part(1, 2) - part(0, 1)) / laid(steps[:1]), (part(n - 1, n) - part(n - 2, n - 1)) / laid(steps[-1:])
    else:
        a, b, y, z = (laid(t) for t in (steps[:1], steps[1:2], steps[-2:-1], steps[-1:]))
        ends = (part(0, 1) * (-(2 * a + b) / (a * (a + b))) + part(1, 2) * ((a + b) / (a * b)) + part(2, 3) * (-a / (b * (a + b))),
                part(n - 3, n - 2) * (z / (y * (y + z))) + part(n - 2, n - 1) * (-(z + y) / (y * z)) + part(n - 1, n) * ((2 * z + y) / (z * (y + z))))
    return named("cat")([ends[0], inner, ends[1]], d)


@composite("torch.gradient")
def gradient(input, *, spacing=None, dim=None, edge_order=1):
    """Second-order differences along each dim, one-sided at its ends; spacing is a number, one a dim, or places along each dim."""
    if input.dtype is dtypes.uint8:
        raise RuntimeError("torch.gradient does not support uint8 input.")
    dims = _check(input, _dims(input, dim, spacing), edge_order)
    values = list(spacing) if isinstance(spacing, (tuple, list)) else [1.0 if spacing is None else spacing] * len(dims)
    if len(values) != len(dims):
        raise RuntimeError(f"torch.gradient expected spacing to be unspecified, a scalar or it's spacing and dim arguments to have the same length, but got a "
                           f"spacing argument of length {len(values)} and a dim argument of length {len(dims)}.")
    out = []
    for d, h in zip(dims, values):
        if isinstance(h, Tensor) and h.ndim:
            if h.ndim != 1:
                raise RuntimeError(f"torch.gradient expected each element of spacing to have one dimension, but got an element with {h.ndim} dimensions!")
            out.append(_uneven(input, d, h, edge_order))
        else:
            out.append(_even(input, d, h, edge_order))
    return tuple(out)


@composite("torch.frobenius_norm")
def frobenius_norm(input, dim, keepdim=False, *, out=None):
    """The root of the sum of squares over one or two dims."""
    say_once("at::frobenius_norm is deprecated and it is just left for JIT compatibility. It will be removed in a future PyTorch release. Please use "
             f"`linalg.vector_norm(A, 2., dim, keepdim)` instead ({_AT}{3175 if out is None else 3195}.)")
    dims = (dim,) if isinstance(dim, int) else tuple(dim)
    if len(dims) > 2:
        raise RuntimeError(f"Expected at most 2 dimensions, but got {len(dims)} dimensions instead.")
    return into("frobenius_norm", out, named("norm")(input, 2.0, dims, keepdim), input)


@composite("torch.nuclear_norm")
def nuclear_norm(input, *args, **kwargs):
    """The sum of the singular values: (input, keepdim=False) of a matrix, (input, dim, keepdim=False) of matrices in two dims."""
    if "dim" not in kwargs and (not args or isinstance(args[0], bool)):
        return _nuclear(input, (-2, -1), *args, **kwargs)
    return _nuclear(input, *args, **kwargs)


def _nuclear(input, dim, keepdim=False, *, out=None):
    say_once("at::nuclear_norm is deprecated and it is just left for JIT compatibility. It will be removed in a future PyTorch release. Please use "
             f"`linalg.matrix_norm(A, 'nuc', dim, keepdim)` instead ({_AT}{3229 if out is None else 3217}.)")
    return COMPOSITES["torch.linalg.matrix_norm"](input, "nuc", dim, keepdim, out=out)


@composite("torch.is_signed", "Tensor.is_signed")
def is_signed(input):
    """Whether the type has a sign."""
    return input.dtype is not dtypes.bool_ and not input.dtype.name.startswith("uint")
