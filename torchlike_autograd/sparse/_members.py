"""What a sparse tensor says of itself, and its other forms (layer 8): properties, sizes, parts, copies, text."""

from __future__ import annotations

import numpy as np

from .. import _tensor_str
from .._core import config, dtypes, layouts
from .._core.composite import named
from .._core.shapes import wrap_dim
from .._tensor import Tensor
from ..autograd import backward
from ..autograd import grad as grad_of
from ..autograd.grad_mode import is_grad_enabled
from ..autograd.graph import increment_version
from . import _places
from ._checking import says_young
from ._roots import reaches_beyond
from ._tensor import CALLS, dense_of, host, is_sparse, like, made, merge, places

_SAME = ("requires_grad", "dtype", "device", "is_leaf", "grad_fn", "retains_grad", "is_cuda", "is_cpu", "is_meta", "is_mps", "is_xpu", "is_quantized",
         "is_nested", "is_mkldnn", "is_xla", "_version", "output_nr", "itemsize", "names")
_SAME_CALLS = ("is_floating_point", "is_complex", "is_signed", "requires_grad_", "retain_grad", "is_inference", "element_size", "get_device")


def _attribute(name):
    return Tensor.__dict__.get(name) or getattr(Tensor, name)


def reads(name):
    """Decorator: how a property of a sparse tensor is read."""
    def put(f):
        CALLS[_attribute(name).__get__] = f
        return f

    return put


def answers(*names):
    """Decorator: methods of a sparse tensor."""
    def put(f):
        for name in names:
            CALLS[getattr(Tensor, name)] = f
        return f

    return put


def _through(get):
    return lambda s, *rest: get(s)


for _name in _SAME:
    if hasattr(Tensor, _name):
        CALLS[_attribute(_name).__get__] = _through(_attribute(_name).__get__)
for _name in _SAME_CALLS:
    CALLS[getattr(Tensor, _name)] = getattr(Tensor, _name)
CALLS[_attribute("requires_grad").__set__] = _attribute("requires_grad").__set__


# Sizes

reads("shape")(lambda s: places(s).size)
reads("ndim")(lambda s: len(places(s).size))
reads("layout")(lambda s: getattr(layouts, places(s).layout))
reads("is_sparse")(lambda s: places(s).layout == "sparse_coo")
reads("is_sparse_csr")(lambda s: places(s).layout == "sparse_csr")
answers("dim", "ndimension")(lambda s: len(places(s).size))
answers("numel", "nelement")(lambda s: int(np.prod(places(s).size, dtype=np.int64)))
answers("sparse_dim")(lambda s: places(s).indices.shape[0])
answers("dense_dim")(lambda s: len(places(s).size) - places(s).indices.shape[0])
answers("stride")(lambda s, *dim: (0,) * len(places(s).size) if not dim else 0)
answers("is_contiguous")(lambda s, *args, **kwargs: False)


@answers("size")
def _size(s, dim=None):
    size = places(s).size
    return size if dim is None else size[wrap_dim(dim, len(size), scalar_ok=False)]


@answers("__len__")
def _len(s):
    if not places(s).size:
        raise TypeError("len() of a 0-d tensor")
    return places(s).size[0]


@answers("__bool__")
def _bool(s):
    raise RuntimeError("Boolean value of Tensor with more than one value is ambiguous")


@answers("item")
def _item(s):
    n = _numel(s)
    if n != 1:
        raise RuntimeError(f"a Tensor with {n} elements cannot be converted to Scalar")
    return dense_of(s).item()


def _numel(s):
    return int(np.prod(places(s).size, dtype=np.int64))


@answers("__dlpack__")
def _dlpack(s, **kwargs):
    raise BufferError("Can't export tensors with layout other than torch.strided")


@answers("numpy")
def _numpy(s, **kwargs):
    raise TypeError(f"can't convert {'Sparse' if places(s).layout == 'sparse_coo' else 'SparseCsr'} layout tensor to numpy. Use Tensor.to_dense() first.")


@answers("storage", "untyped_storage")
def _storage(s):
    raise NotImplementedError("Cannot access storage of SparseTensorImpl")


@answers("data_ptr", "tolist")
def _data_ptr(s):
    raise RuntimeError("Cannot access data pointer of Tensor that doesn't have storage")


# Parts

def _only(s, name, layout, kind):
    if places(s).layout != layout:
        said = {"sparse_coo": "Sparse", "sparse_csr": "SparseCsr"}[places(s).layout]
        raise RuntimeError(f"{name} expected {kind} layout but got {said}")


def _ready(s, what):
    _only(s, what, "sparse_coo", "sparse coordinate tensor")
    if not places(s).merged:
        raise RuntimeError(f"Cannot get {what} on an uncoalesced tensor, please call .coalesce() first")


def _detached(s):
    return Tensor.detach(s)


@answers("indices")
def _indices(s):
    _ready(s, "indices")
    return places(s).indices.detach()


@answers("values")
def _values(s):
    if places(s).layout == "sparse_coo":
        _ready(s, "values")
    if not (s.requires_grad and is_grad_enabled()):
        return s._values()  # what is written there is seen in s
    return named("_coo_values")(s)


@answers("coalesce")
def _coalesce(s):
    _only(s, "coalesce", "sparse_coo", "sparse coordinate tensor")
    return merge(s)


@answers("is_coalesced")
def _is_coalesced(s):
    _only(s, "is_coalesced", "sparse_coo", "sparse coordinate tensor")
    return places(s).merged


@answers("_coalesced_")
def _say_coalesced(s, coalesced):
    s.__dict__["_places"] = places(s)._replace(merged=bool(coalesced))
    increment_version(s)
    return s


@answers("crow_indices")
def _crow_indices(s):
    _only(s, "crow_indices", "sparse_csr", "sparse row compressed tensor")
    at = places(s)
    return host(_places.compressed(at.at[0], at.size[0]), at.told)


@answers("col_indices")
def _col_indices(s):
    _only(s, "col_indices", "sparse_csr", "sparse row compressed tensor")
    at = places(s)
    return at.indices[1].detach() if at.told == "int64" else host(at.at[1], at.told)


# Gradients

def wrapped(g, s):
    """The gradient of a sparse tensor: at its places."""
    if g is None or is_sparse(g):
        return g
    at = places(s)
    if at.merged:
        return like(g, s)
    found = at.at       # each of the values at one place got the gradient of that place
    once, group = _places.merged(found, at.own)
    first = np.unique(group, return_index=True)[1]
    return made(named("index_select")(g, 0, host(first)), at._replace(indices=host(once), merged=True))


@reads("grad")
def _grad(s):
    g = _attribute("grad").__get__(s)
    if g is not None and not is_sparse(g) and places(s).merged and not g.requires_grad:
        return made(g.detach(), places(s))  # what is written there is seen in `.grad`
    return wrapped(g, s)


CALLS[_attribute("_grad").__get__] = _grad


def _set_grad(s, value):
    if value is not None and not (is_sparse(value) and np.array_equal(places(value).at, places(s).at)):
        raise NotImplementedError("torchlike_autograd: a gradient at other places than those of its sparse tensor")
    _attribute("grad").__set__(s, None if value is None else _detached(value))


CALLS[_attribute("grad").__set__] = CALLS[_attribute("_grad").__set__] = _set_grad


@answers("register_hook")
def _register_hook(s, hook):
    def called(g):
        out = hook(wrapped(g, s))
        return _detached(out) if is_sparse(out) else out

    return Tensor.register_hook(s, called)


CALLS[_attribute("_backward_hooks").__get__] = _through(_attribute("_backward_hooks").__get__)


def _autograd_grad(outputs, inputs, *args, **kwargs):
    asked = (inputs,) if isinstance(inputs, Tensor) else tuple(inputs)
    return tuple(wrapped(g, x) if is_sparse(x) else g for g, x in zip(grad_of(outputs, inputs, *args, **kwargs), asked, strict=True))


CALLS[grad_of] = _autograd_grad
CALLS[Tensor.backward], CALLS[backward] = Tensor.backward, backward


# Copies

def _kept(method):
    def call(s, *args, **kwargs):
        out = method(s, *args, **kwargs)
        return s if out is s else like(out, s)

    return call


for _name in ("detach", "clone", "to", "cpu", "cuda", "double", "float", "half", "bfloat16", "int", "long", "short", "char", "byte", "bool", "cfloat",
              "cdouble", "pin_memory", "type_as"):
    answers(_name)(_kept(getattr(Tensor, _name)))
reads("data")(_kept(_attribute("data").__get__))


@answers("type")
def _type(s, dtype=None, non_blocking=False, **kwargs):
    said = Tensor.type(s, *(() if dtype is None else (dtype,)))
    return said.replace("torch.", "torch.sparse.") if dtype is None else like(said, s)


@answers("__deepcopy__")
def _deepcopy(s, memo):
    if id(s) not in memo:
        if not Tensor.is_leaf.__get__(s):
            Tensor.__deepcopy__(s, memo)    # refuses
        memo[id(s)] = like(_detached(s).clone(), s, Tensor.requires_grad.__get__(s))
    return memo[id(s)]


# Other forms

@answers("to_dense")
def _to_dense(s, dtype=None, *, masked_grad=True):
    if masked_grad is False and is_grad_enabled() and reaches_beyond(s):
        raise NotImplementedError("torchlike_autograd: to_dense(masked_grad=False) of a sparse tensor with gradients at places at which it has no value")
    out = dense_of(s)
    return out if dtype is None else out.to(dtype)


@answers("to_sparse", "to_sparse_coo")
def _to_sparse(s, sparse_dim=None, *, layout=None, **kwargs):
    if sparse_dim is not None and sparse_dim != places(s).indices.shape[0]:
        raise RuntimeError("to_sparse: conversion from Sparse to Sparse with sparse_dim argument !=self.sparse_dim() is not supported")
    if layout is layouts.sparse_csr:
        return _to_sparse_csr(s)
    if layout not in (None, layouts.sparse_coo):
        raise NotImplementedError(f"torchlike_autograd: Tensor.to_sparse with layout={layout}")
    if places(s).layout == "sparse_coo":
        return s
    return made(named("_coo_values")(s), places(s)._replace(layout="sparse_coo"))


@answers("to_sparse_csr")
def _to_sparse_csr(s, dense_dim=None):
    at = places(s)
    if at.layout == "sparse_csr":
        return s
    if at.indices.shape[0] != 2:
        raise RuntimeError("to_sparse_csr: conversion from Sparse to SparseCsr for input tensors with "
                           f"sparse_dim()={at.indices.shape[0]} is not supported")
    whole = merge(s)
    says_young()
    return made(named("_coo_csr")(whole), places(whole)._replace(layout="sparse_csr", told="int64"))


# Text

@answers("__format__")
def _format(s, spec):
    if spec:
        raise TypeError("unsupported format string passed to Tensor.__format__")
    return _repr(s)


@answers("__repr__")
def _repr(s, *, tensor_contents=None):
    at, values = places(s), _detached(s)
    parts = [("indices", at.indices)] if at.layout == "sparse_coo" else [("crow_indices", _crow_indices(s)), ("col_indices", _col_indices(s))]
    shown = [f"{name}=tensor({_numbers(x, len(f'tensor({name}=tensor('))})" for name, x in (*parts, ("values", values))]
    notes = [f"size={tuple(at.size)}", f"nnz={values.shape[0]}"]
    if str(Tensor.device.__get__(s)) != "cpu":
        notes.insert(0, f"device='{Tensor.device.__get__(s)}'")
    if values.dtype not in (config.default_dtype(), config.default_dtype().complex_here(), *_UNSAID):
        notes.append(f"dtype={values.dtype}")
    notes.append(f"layout=torch.{at.layout}")
    fn = Tensor.grad_fn.__get__(s)
    if fn is not None:
        notes.append(f"grad_fn=<{fn.name().rsplit('::', 1)[-1]}>")
    elif Tensor.requires_grad.__get__(s):
        notes.append("requires_grad=True")
    head = "Parameter containing:\n" if getattr(s, "_is_param", False) else ""
    body = "tensor(" + (",\n" + " " * 7).join(shown)
    return head + _tensor_str._append_notes(body, iter(notes), 7, at.layout == "sparse_coo") + ")"


_UNSAID = (dtypes.int64, dtypes.bool_)


def _numbers(x, indent):
    text = _tensor_str._tensor_str(x, indent)
    return f"{text}, size={tuple(x.shape)}" if not x.numel() else text
