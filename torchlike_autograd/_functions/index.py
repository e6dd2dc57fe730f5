"""Indexing functions by name (layer 7): index values that are there are checked at the call, others by the program."""

from __future__ import annotations

import numpy as np

from .._core import bind, dtypes, levels
from .._core.composite import COMPOSITES, composite
from .._core.dispatch import check_inplace, inplace, into, run
from .._core.indexing import check_number, found, put_plan
from .._core.nothing import no_item, wanting
from .._core.numeric import cannot_hold, overflows, say_once
from .._core.ranges import known, settle, unguarded
from .._core.saying import warn
from .._core.shapes import broadcast, wrap_dim
from .._core.words import type_name
from .._ops import index as _index_ops
from .._ops import mask as _mask_ops
from .._ops import scatter as _scatter_ops
from .._ops import segments as _segment_ops
from .._ops.conventions import cxx_of
from .._ops.registry import BY_NAME, OPS
from .._ops.spec import spec_of
from .._tensor import Tensor, from_array
from ..autograd.grad_mode import is_grad_enabled, no_grad
from .arguments import handed
from .shape import broadcasted, view_of, viewed
from .typed import published

_ops = (_index_ops, _mask_ops, _scatter_ops, _segment_ops)


# Operators with an index, published with their check

def checked(name, twin, settled, fits=None):
    """Publish torch.name, Tensor.name and Tensor.name_: calls are bound as usual and pass through `settled(spec, flat) -> spec`;
    fits: ``fits(self, second)`` raises what torch says in place of sizes."""
    ops = BY_NAME[name]
    plain, method, inner = (bind.Recipes(n, ops, m) for n, m in ((name, False), (name, True), (f"{name}_", True)))

    def publish(path, recipes):
        takes_out = ops[0].out and not recipes.method

        def function(*args, **kwargs):
            out = kwargs.pop("out", None) if kwargs and takes_out else None
            spec, flat = recipes.find(args, kwargs)
            spec = settled(spec, flat)
            if out is None:
                return run(spec, flat)
            if not spec.op.out:
                raise bind.no_match(name, ops, args, {**kwargs, "out": out}, recipes is method)
            return into(name, spec, flat, out)

        function.__name__ = function.__qualname__ = name
        function.__doc__ = ops[0].doc
        composite(path)(function)

    publish(f"torch.{name}", plain)
    publish(f"Tensor.{name}", method)
    if not twin:
        return

    def inplace_twin(self, *args, **kwargs):
        spec, flat = inner.find((self, *args), kwargs)
        check_inplace(self, flat)
        if fits is not None:
            fits(*flat[:2])
        return inplace(settled(spec, flat), flat, self)

    inplace_twin.__name__ = inplace_twin.__qualname__ = f"{name}_"
    composite(f"Tensor.{name}_", f"torch.{name}_")(inplace_twin)


_NUMBERS = (int, float, complex)


def _settle_number(spec, flat):
    """`settle`, and a check that a number fits the dtype."""
    value = flat[-1]
    if spec.op.name == "index_fill" and not flat[0].dtype.is_complex and (value.dtype.is_complex if isinstance(value, Tensor) else type(value) is complex):
        raise RuntimeError("index_fill_(): Converting complex Scalar to non-complex type is not supported")
    if type(flat[-1]) in _NUMBERS:
        check_number(flat[-1], flat[0].dtype)
    return settle(spec, flat)


for _name in ("gather", "index_select", "take"):
    checked(_name, False, settle)
def _settle_beta(spec, flat):
    """`_settle_number` for an operator that torch may change."""
    say_once("index_reduce() is in beta and the API may change at any time. (Triggered internally at /pytorch/aten/src/ATen/native/"
             "TensorAdvancedIndexing.cpp:1523.)")
    return _settle_number(spec, flat)


def _settle_scatter(spec, flat):
    """`_settle_number`; a tensor that is reduced is another operator's by now."""
    if spec.op.key == "scatter.reduce":
        say_once("The reduce argument of torch.scatter with Tensor src is deprecated and will be removed in a future PyTorch release. Use torch.scatter_reduce "
                 "instead for more reduction options. (Triggered internally at /pytorch/aten/src/ATen/native/TensorAdvancedIndexing.cpp:225.)")
    return _settle_number(spec, flat)


for _name in ("scatter_add", "index_add", "index_copy", "index_fill", "put"):
    checked(_name, True, _settle_number)
checked("scatter", True, _settle_scatter)
checked("index_reduce", True, _settle_beta)


def _settle_real(spec, flat):
    """`_settle_number` for an operator that torch does not differentiate for complex numbers."""
    out = _settle_number(spec, flat)
    refuse_complex(spec.op.name, flat)
    return out


def refuse_complex(name, flat):
    """torch's error where a complex result would need a gradient."""
    if flat[0].dtype.is_complex and is_grad_enabled() and any(isinstance(t, Tensor) and t._tl_needs for t in flat):
        raise RuntimeError(f"{name} does not support automatic differentiation for outputs with complex dtype.")


_STORED = {"float32": "float", "float64": "double", "int32": "int", "float16": "at::Half", "bfloat16": "at::BFloat16",
           **{n: f"{n}_t" for n in ("uint8", "int8", "int16", "int64")}}


def _fits_mask(t, mask):
    if mask.dtype is not dtypes.bool_:
        raise RuntimeError(f"masked_fill_ only supports boolean masks, but got mask with dtype {cxx_of(mask.dtype)}")
    broadcast(tuple(t.shape), tuple(mask.shape))


def _settle_mask(spec, flat):
    own, value = flat[0].dtype, flat[-1]
    if not isinstance(value, Tensor):
        wrong = cannot_hold(own) if overflows(value, own) else None
    elif value.dtype.is_complex and not own.is_complex and own is not dtypes.bool_ and not value.ndim and value.item().imag:
        wrong = RuntimeError(f"value cannot be converted to type {_STORED.get(own.name, own.name)} without overflow")
    else:
        wrong = None
    if wrong is None:
        return spec
    if not flat[0].is_meta:  # sizes are said before; without data torch says it in other words
        broadcast(tuple(flat[1].shape), tuple(flat[0].shape))
    raise wrong


checked("scatter_reduce", True, _settle_real)
checked("masked_fill", True, _settle_mask, _fits_mask)


def _settle_source(spec, flat):
    if flat[1].dtype is dtypes.uint8 and flat[0].dtype is flat[2].dtype:
        warn("masked_scatter_ received a mask with dtype torch.uint8, this behavior is now deprecated,please use a mask with dtype torch.bool instead. "
             "(Triggered internally at /pytorch/aten/src/ATen/native/TensorAdvancedIndexing.cpp:3130.)")
    mask = known(flat[1]) if flat[1].dtype is dtypes.bool_ and flat[0].dtype is flat[2].dtype else None
    if mask is None:
        return spec
    shape = broadcast(tuple(mask.shape), tuple(flat[0].shape))
    if np.broadcast_to(mask, shape).sum() > flat[2].numel():
        raise RuntimeError("Number of elements of source < number of ones in mask")
    return unguarded(spec)


checked("masked_scatter", True, _settle_source, lambda t, mask: mask.expand(tuple(t.shape)))


@published("take_along_dim(Tensor self, Tensor indices, int? dim=None)")
def take_along_dim(input, indices, dim=None, *, out=None):
    """`gather` with broadcasting, or from the flattened tensor."""
    if dim is not None and indices.dtype is not dtypes.int64:
        raise RuntimeError(f"torch.take_along_dim(): dtype of indices should be Long but got {indices.dtype.char_name}")
    if dim is None:
        return COMPOSITES["torch.gather"](viewed(input, (-1,)), 0, viewed(indices, (-1,)), out=out)
    if input.ndim != indices.ndim:
        raise RuntimeError("torch.take_along_dim(): input and indices should have the same number of dimensions, "
                           f"but got {input.ndim} dimensions for input, and {indices.ndim} dimensions for indices")
    d = wrap_dim(dim, input.ndim)
    a, b = input._tl_v.aval.shape, indices._tl_v.aval.shape
    if not a:
        raise IndexError("Dimension specified as 0 but tensor has no dimensions")
    one = lambda s, n: (*s[:d], n, *s[d + 1:])  # noqa: E731
    source = broadcast(one(a, a[d]), one(b, a[d]))
    places = broadcast(one(a, b[d]), b)
    return _gather(view_of(input, "expand", size=source, implicit=False), d, broadcasted(indices, places), out=out)


def _gather(t, dim, index, out=None):
    n = t.shape[dim] if t.ndim else 1
    a = known(index)
    if n == 0:
        return COMPOSITES["torch.gather"](t, dim, index, out=out)
    if a is None:
        index = index.remainder(n)
    elif a.size and n and (a.min() < 0 or a.max() >= n):
        index = from_array(a % n, dtypes.int64, like=t)
    return COMPOSITES["torch.gather"](t, dim, index, out=out)


# Masks

@published("masked_select(Tensor self, Tensor mask)")
def masked_select(input, mask, *, out=None):
    """The elements where the mask is true; the mask's values are needed at once."""
    if mask.dtype is not dtypes.bool_:
        raise RuntimeError("masked_select: expected BoolTensor for mask")
    wanting("masked_select", input, mask)
    if levels.hidden_among((mask,)):
        raise RuntimeError("vmap: Attempted to vmap over `mask` in torch.masked_select(self, mask) We cannot support this because for each batch this would "
                           "return a differently shaped Tensor. Please file an issue at https://github.com/pytorch/pytorch/issues if you need this feature.")
    from .._core.shapes import broadcast

    shape = broadcast(mask._tl_v.aval.shape, input._tl_v.aval.shape)
    places = np.flatnonzero(np.broadcast_to(mask._tl_numpy(), shape))
    flat = (input, mask, from_array(places.astype(np.int64), dtypes.int64, like=input))
    spec = spec_of(OPS["_masked_select"], (), ("T", "T", "T"))
    return run(spec, flat) if out is None else into("masked_select", spec, flat, out)


# index_put

def _check_indices(name, indices, method):
    if not isinstance(indices, (tuple, list)):
        raise TypeError(f"{name}(): argument 'indices' (position {1 if method else 2}) must be tuple of Tensors, not {type(indices).__name__}")
    for k, i in enumerate(indices):
        if not isinstance(i, Tensor):
            raise TypeError(f"expected Tensor as element {k} in argument 0, but got {type_name(i)}")


@composite("torch.index_put", "Tensor.index_put")
def index_put(input, indices, values, accumulate=False):
    """A copy with values written (or added) at index tensors."""
    _check_indices("index_put", indices, False)
    return run(*put_plan(input, found(indices), values, accumulate))


@composite("torch.index_put_", "Tensor.index_put_")
def index_put_(input, indices, values, accumulate=False):
    """Values written (or added) at index tensors."""
    _check_indices("index_put_", indices, True)
    if not isinstance(values, Tensor):
        raise TypeError(f"index_put_(): argument 'values' (position 2) must be Tensor, not {type_name(values)}")
    check_inplace(input, (values,))
    return inplace(*put_plan(input, found(indices), values, accumulate), input)


# Rows of a table

@published("embedding(Tensor weight, Tensor indices, int padding_idx=-1, bool scale_grad_by_freq=False, bool sparse=False)", paths=("torch.embedding",))
def embedding_rows(weight, indices, padding_idx=-1, scale_grad_by_freq=False, sparse=False):
    """Rows of `weight`."""
    statics = (("padding_idx", int(padding_idx)), ("scale_grad_by_freq", bool(scale_grad_by_freq)), ("sparse", bool(sparse)))
    flat = (weight, indices)
    refuse_complex("embedding", flat)
    return run(settle(spec_of(OPS["embedding"], statics, ("T", "T")), flat), flat)


embedding_rows.__name__ = embedding_rows.__qualname__ = "embedding"


@composite("torch.nn.functional.embedding")
def embedding(input, weight, padding_idx=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False, sparse=False):
    """Rows of `weight`; with max_norm the rows named are scaled down in place first."""
    if padding_idx is None:
        padding_idx = -1
    else:
        rows = weight.shape[0]
        if not -rows <= padding_idx < rows:
            raise AssertionError("Padding_idx must be within num_embeddings")
        padding_idx %= rows
    if max_norm is not None:
        input = input.contiguous()
        handed("torch.embedding_renorm_", weight.detach(), input, max_norm, norm_type)
        with no_grad():
            _renorm(weight, input, float(max_norm), float(norm_type))
    handed("torch.embedding", weight, input, padding_idx, scale_grad_by_freq, sparse)
    return COMPOSITES["torch.embedding"](weight, input, padding_idx, scale_grad_by_freq, sparse)


def _renorm(weight, indices, max_norm, norm_type):
    if weight.ndim != 2:
        raise RuntimeError(f"Expected 2-dimensional tensor, but got {weight.ndim}-dimensional tensor for argument #1 'self' (while checking arguments for "
                           "embedding_renorm_)")
    if weight.dtype.category < dtypes.FLOAT:
        raise RuntimeError(f"norm(): input dtype should be either floating point or complex. Got {weight.dtype.char_name} instead.")
    spec = spec_of(OPS["_renormed"], (("max_norm", max_norm), ("norm_type", norm_type)), ("T", "T"))
    inplace(spec, (weight, indices), weight)


@composite("torch.embedding_renorm_")
def embedding_renorm_(input, indices, max_norm, norm_type):
    """The rows named by `indices` scaled down to max_norm, in place."""
    _renorm(input, indices, float(max_norm), float(norm_type))
    return input


@composite("torch.nn.functional.one_hot")
def one_hot(input, num_classes=-1):
    """Ones at the class numbers along a new last dim."""
    tensor = input
    if tensor.dtype is not dtypes.int64:
        raise RuntimeError("one_hot is only applicable to index tensor of type LongTensor.")
    if tensor.numel() == 0:
        if num_classes <= 0:
            raise RuntimeError("Can not infer total number of classes from empty tensor.")
        return from_array(np.zeros((*tensor.shape, num_classes), np.int64), dtypes.int64, like=tensor)
    if num_classes == -1 and tensor.is_meta:
        raise no_item()
    if num_classes == -1 and levels.hidden_among((tensor,)):
        raise RuntimeError("When vmap-ing torch.nn.functional.one_hot, please provide an explicit positive num_classes argument.")
    a = tensor._tl_numpy() if num_classes == -1 else known(tensor)
    spec = spec_of(OPS["_one_hot"], (("num_classes", num_classes),), ("T",))
    if a is not None:
        if a.min() < 0:
            raise RuntimeError("Class values must be non-negative.")
        if num_classes != -1 and a.max() >= num_classes:
            raise RuntimeError("Class values must be smaller than num_classes.")
        spec = unguarded(spec_of(OPS["_one_hot"], (("num_classes", int(a.max()) + 1 if num_classes == -1 else num_classes),), ("T",)))
    return run(spec, (tensor,))


__all__ = ["embedding", "index_put", "masked_select", "one_hot", "take_along_dim"]
