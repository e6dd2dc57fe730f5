"""torch.masked (layer 7): reductions and normalizations that leave elements out.

The elements where `mask` (bool, broadcastable to the input) is False are replaced by what the operation does not notice (0 in a sum, -inf in a maximum);
where a whole row is left out, the result is that identity, and NaN where torch divides by the count.  A masked tensor (`torch.masked.MaskedTensor`) brings its
own mask, which is used in the place of the one that is given; counts are still taken of the given one, as in torch.
"""

from __future__ import annotations

import math

from .._core import config, dtypes
from .._core.composite import composite, named
from .._core.shapes import wrap_dim
from .._tensor import Tensor
from .activation import log_softmax, softmax
from .convert import cast
from .create import full

_choose, _sum, _prod, _vector_norm = named("where"), named("sum"), named("prod"), named("linalg_vector_norm")
_div, _sub, _mul, _neg = named("div"), named("sub"), named("mul"), named("neg")
_INTEGERS = {"sum", "prod"}  # computed in int64


@composite("torch.masked._canonical_dim")
def _dims(dim, ndim):
    """The dims meant, sorted; all of them for None and (), but none for []."""
    if dim is None or dim == ():
        return tuple(range(ndim))
    dims = []
    for d in (dim,) if isinstance(dim, int) else dim:
        d = wrap_dim(d, ndim)
        if d in dims:
            raise RuntimeError(f"dim={d} appears multiple times in the list of dims")
        dims.append(d)
    return tuple(sorted(dims))


def _bounds(name, own, low):
    if own is dtypes.bool_:
        raise NotImplementedError(f"identity of {name} on torch.bool input")
    if own.category == dtypes.FLOAT:
        return -math.inf if low else math.inf
    if own.is_complex:
        raise TypeError("torch.iinfo() requires an integer input type. Use torch.finfo to handle 'torch.iinfo'")
    return dtypes.iinfo(own).min if low else dtypes.iinfo(own).max


def _identity(name, own, order=None):
    """What the operation does not notice, for a dtype."""
    if name in ("sum", "cumsum", "normalize"):
        return 0
    if name in ("prod", "cumprod"):
        return 1
    if name == "norm":
        return math.inf if order == -math.inf else 0
    if name == "logsumexp" and own.is_complex:
        return -math.inf
    return _bounds(name, own, name not in ("amin", "argmin"))


@composite("torch.masked._reduction_identity")
def reduction_identity(op_name, input, *args):
    """A tensor without dims of what a masked reduction does not notice; None where there is nothing of the kind."""
    name, own = op_name.rpartition(".")[-1], input.dtype
    if name in ("mean", "var", "std"):
        return None
    if name == "median":
        return full((), math.nan, dtype=own if own.category == dtypes.FLOAT else config.default_dtype(), device=input.device)
    if name not in ("sum", "cumsum", "prod", "cumprod", "norm", "amax", "amin", "argmax", "argmin", "logsumexp", "logaddexp"):
        raise NotImplementedError(f"identity of {name} on {own} input")
    order = args[0] if name == "norm" and args else None
    if order == -math.inf and own.category != dtypes.FLOAT:
        raise AssertionError(f"input must be floating point, got {own}")
    return full((), _identity(name, own, order), dtype=own, device=input.device)


def _full_mask(input, mask):
    if len(mask.shape) > input.ndim:
        raise IndexError("_input_mask expected broadcastable mask (got mask dimensionality higher than of the input)")
    mask = cast(mask, dtypes.bool_)
    return mask if mask.shape == input.shape else mask.broadcast_to(input.shape)


def _own_mask(input):
    """The mask that a masked tensor brings; None for other tensors."""
    return None if type(input) is Tensor else input.__dict__.get("_masked_mask")


def _filled(name, input, mask, order=None):
    """The input with the identity where its own mask, or the given one, is False."""
    own = _own_mask(input)
    if own is None and mask is None:
        return input
    value = full((), _identity(name, input.dtype, order), dtype=input.dtype, device=input.device)
    return _choose(_full_mask(input, mask), input, value) if own is None else named("_masked_filled")(input, own, value)


@composite("torch.masked._combine_input_and_mask")
def combine(op, input, mask, *args):
    """The input of a masked operation with what the operation does not notice where the mask is False."""
    if not callable(op):
        raise ValueError(f"_combine_input_and_mask expected masked operation (got {type(op).__name__} object)")
    return _filled(op.__name__, input, mask, *args)


def _dtype_of(name, input, dtype):
    if dtype is not None:
        return dtype
    return dtypes.int64 if name in _INTEGERS and input.dtype.category < dtypes.FLOAT else input.dtype


def _strided(input):
    return input.layout


def _mask_of(input, kwargs):
    """The mask of a call, in the shape of the input; ValueError for one without."""
    if kwargs.get("mask") is None:
        raise ValueError("_input_mask requires explicit mask")
    return _full_mask(input, kwargs["mask"])


@composite("torch.masked._input_mask")
def input_mask(input, *args, **kwargs):
    """What the mask of a masked operation lets through of its input."""
    return _mask_of(input, kwargs)


_REDUCTIONS = frozenset(("sum", "prod", "amax", "amin", "argmax", "argmin", "mean", "median", "norm", "var", "std", "logsumexp"))
_NORMALIZATIONS = frozenset(("softmax", "log_softmax", "softmin", "normalize", "cumsum", "cumprod"))


@composite("torch.masked._output_mask")
def output_mask(op, input, *args, **kwargs):
    """Which elements of the result of a masked operation come of any that its mask lets through."""
    name = getattr(op, "__name__", None)
    if name not in _REDUCTIONS | _NORMALIZATIONS:
        raise ValueError(f"_output_mask expected masked operation (got callable {getattr(op, '__module__', None)}.{name})" if callable(op) else
                         f"_output_mask expected masked operation (got {type(op).__name__} object)")
    out = _mask_of(input, kwargs)
    if name in _NORMALIZATIONS:
        return out
    dim = args[int(name == "norm")] if len(args) > int(name == "norm") else kwargs.get("dim")
    for d in reversed(_dims(dim, input.ndim)):
        out = out.any(dim=d, keepdim=bool(kwargs.get("keepdim", False)))
    return out


@composite("torch.masked._where")
def where(mask, input, fill_value):
    """The input where the mask is True, `fill_value` elsewhere."""
    return _choose(mask, input, fill_value)


@composite("torch.masked.sum")
def sum(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """The sum of what the mask lets through; 0 where that is nothing."""
    _strided(input)
    dtype = _dtype_of("sum", input, dtype)
    return _sum(_filled("sum", input, mask), _dims(dim, input.ndim), keepdim, dtype=dtype)


@composite("torch.masked.prod")
def prod(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """The product of what the mask lets through; 1 where that is nothing."""
    _strided(input)
    dtype = _dtype_of("prod", input, dtype)
    dims = _dims(dim, input.ndim)
    out = _filled("prod", input, mask)
    out = cast(out, dtype)
    for d in reversed(dims):
        out = _prod(out, d, keepdim)
    return out


def _extreme(name):
    f = named(name)

    def extreme(input, dim=None, *, keepdim=False, dtype=None, mask=None):
        _strided(input)
        dims = _dims(dim, input.ndim)
        return cast(f(_filled(name, input, mask), dims, keepdim), _dtype_of(name, input, dtype))

    extreme.__name__ = name
    extreme.__doc__ = f"{name} over what the mask lets through; the bound of the dtype where that is nothing."
    composite(f"torch.masked.{name}")(extreme)


def _place(name):
    f = named(name)

    def place(input, dim=None, *, keepdim=False, dtype=None, mask=None):
        _strided(input)
        return cast(f(_filled(name, input, mask), dim, bool(keepdim)), _dtype_of(name, input, dtype))

    place.__name__ = name
    place.__doc__ = f"{name} over what the mask lets through, in the dtype of the input."
    composite(f"torch.masked.{name}")(place)


def _running(name):
    f = named(name)

    def running(input, dim, *, dtype=None, mask=None):
        _strided(input)
        d = _dims(dim, input.ndim)[0]
        return f(_filled(name, input, mask), d, dtype=_dtype_of(name, input, dtype))

    running.__name__ = name
    running.__doc__ = f"{name} that passes over what the mask leaves out."
    composite(f"torch.masked.{name}")(running)


for _name in ("amax", "amin", "logsumexp"):
    _extreme(_name)
for _name in ("argmax", "argmin"):
    _place(_name)
for _name in ("cumsum", "cumprod"):
    _running(_name)


def _soft(name, identity, negated=False):
    def soft(input, dim, *, dtype=None, mask=None):
        _strided(input)
        d = _dims(dim, input.ndim)[0]
        x = _filled(identity, input, mask)
        x = _neg(x) if negated else x
        return (log_softmax if name == "log_softmax" else softmax)(x, d, dtype=_dtype_of(name, input, dtype))

    soft.__name__ = name
    soft.__doc__ = f"{name} in which what the mask leaves out has no weight; NaN where nothing is let through."
    composite(f"torch.masked.{name}")(soft)


_soft("softmax", "amax")
_soft("log_softmax", "amax")
_soft("softmin", "amin", negated=True)


# Means

def _count(input, dim, keepdim, mask):
    if mask is None:
        dim = _dims(dim, input.ndim)
    ones = full((), 1, dtype=dtypes.int64, device=input.device).expand(input.shape)
    return _sum(ones if mask is None else _choose(_full_mask(input, mask), ones, full((), 0, dtype=dtypes.int64, device=input.device)), dim, keepdim)


def _given(dim, ndim):
    """The dims as `sum` takes them: with a mask torch lets it complain of them here."""
    return tuple(range(ndim)) if dim is None or (not isinstance(dim, int) and not tuple(dim)) else dim


@composite("torch.masked.mean")
def mean(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """The mean of what the mask lets through; NaN where that is nothing.  Integers need a floating dtype."""
    own = input.dtype
    if dtype is None:
        if own.category < dtypes.FLOAT:
            raise ValueError(f"mean(): Could not infer output dtype. Input dtype must be either a floating point or complex dtype. Got: {own}")
        dtype = own
    count = _count(input, _given(dim, input.ndim), keepdim, mask)
    total = sum(input, dim, keepdim=keepdim, dtype=dtype, mask=mask)
    return _div(total, count)


def _spread(input, dim, unbiased, correction, keepdim, dtype, mask, root):
    if unbiased is not None and correction is not None:
        raise AssertionError("Only one of unbiased and correction may be given")
    correction = (1 if unbiased in (None, True) else 0) if correction is None else correction
    own = input.dtype
    dtype = (own if own.category >= dtypes.FLOAT else dtypes.float32) if dtype is None else dtype
    dims = _given(dim, input.ndim)
    count = _count(input, dims, True, mask)
    middle = _div(sum(input, dim, keepdim=True, dtype=dtype, mask=mask), count)
    x = _sub(input, middle)
    own = _own_mask(input)
    total = sum(_mul(x, x.conj()), dim, keepdim=keepdim, dtype=dtype, mask=mask if own is None else own)
    if not keepdim:
        count = count.reshape(total.shape)
    if correction != 0:
        count = _sub(count, correction).clamp(min=0)
    out = cast(_div(total, count), dtype)
    return out.sqrt() if root else out


@composite("torch.masked.var")
def var(input, dim=None, unbiased=None, *, correction=None, keepdim=False, dtype=None, mask=None):
    """The variance of what the mask lets through, with torch's correction of the count (which ends at 0)."""
    return _spread(input, dim, unbiased, correction, keepdim, dtype, mask, False)


@composite("torch.masked.std")
def std(input, dim=None, unbiased=None, *, correction=None, keepdim=False, dtype=None, mask=None):
    """The root of `var`."""
    return _spread(input, dim, unbiased, correction, keepdim, dtype, mask, True)


@composite("torch.masked.median")
def median(input, dim=-1, *, keepdim=False, dtype=None, mask=None):
    """The lower median of what the mask lets through; integers and complex numbers go through float32, as in torch."""
    dtype = _dtype_of("median", input, dtype)
    d = _dims(dim, input.ndim)[0]
    floating = input.dtype.category == dtypes.FLOAT
    own = _own_mask(input)
    mask = mask if own is None else own
    x = input if floating else cast(input, dtypes.float32)
    if mask is not None:
        x = _choose(_full_mask(x, mask), x, full((), math.nan, dtype=x.dtype, device=x.device))
    out = named("nanmedian")(x, d, keepdim).values
    if floating:
        return out
    if out.isnan().any().item():
        raise ValueError("masked median expects no fully masked out rows if dtype is not floating point")
    return cast(out, dtype)


# Norms

@composite("torch.masked.norm")
def norm(input, ord=2.0, dim=None, *, keepdim=False, dtype=None, mask=None):
    """The vector norm of what the mask lets through."""
    _strided(input)
    dtype = _dtype_of("norm", input, dtype)
    return _vector_norm(_filled("norm", input, mask, ord), ord, _dims(dim, input.ndim), bool(keepdim), dtype=dtype)


@composite("torch.masked.normalize")
def normalize(input, ord, dim, *, eps=1e-12, dtype=None, mask=None):
    """The input, 0 where the mask is False, divided by its norm over `dim` (at least `eps`)."""
    dtype = _dtype_of("normalize", input, dtype)
    below = norm(input, ord, dim, keepdim=True, dtype=dtype, mask=mask)
    below = named("maximum")(below, full((), eps, dtype=below.dtype, device=below.device))
    return _div(_filled("normalize", input, mask), below)


@composite("torch.masked.logaddexp")
def logaddexp(input, other, *, dtype=None, input_mask=None, other_mask=None):
    """log(exp(input) + exp(other)), each without what its mask leaves out."""
    _strided(input)
    dtype = _dtype_of("logaddexp", input, dtype)
    return cast(named("logaddexp")(_filled("logaddexp", input, input_mask), _filled("logaddexp", other, other_mask)), dtype)


__all__ = ["logaddexp", "mean", "median", "norm", "normalize", "prod", "std", "sum", "var"]
