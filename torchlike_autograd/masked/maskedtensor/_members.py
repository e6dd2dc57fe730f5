"""What a masked tensor says of itself, copies of it, and its gradients (layer 8)."""

from __future__ import annotations

from ..._core.state import copy_state
from ..._core.state import new as blank
from ..._tensor import Tensor
from ...autograd import backward
from ...autograd import grad as grad_of
from ...sparse._tensor import CALLS as SPARSE
from ...sparse._tensor import places
from ._tables import functions, packets
from .core import CALLS, MaskedTensor, calls, copied, has_places, is_masked_tensor, over, plain, rebuilt, refused

_SAID = [
    "requires_grad", "dtype", "device", "is_leaf", "grad_fn", "retains_grad", "is_cuda", "is_cpu", "is_meta", "is_mps", "is_xpu", "is_quantized",
    "is_nested", "is_mkldnn", "is_xla", "_version", "output_nr", "itemsize", "names", "shape", "ndim", "layout", "is_sparse", "is_sparse_csr",
    "_backward_hooks", "nbytes", "_base"]
_SAID_BY_CALLS = [
    "is_floating_point", "is_complex", "is_signed", "requires_grad_", "retain_grad", "is_inference", "element_size", "get_device", "dim", "ndimension",
    "numel", "nelement", "size", "stride", "dim_order", "storage_offset", "__len__", "is_conj", "is_neg", "is_shared", "data_ptr", "is_same_size",
    "result_type", "_is_view", "is_distributed"]


def _attribute(name):
    return Tensor.__dict__.get(name) or getattr(Tensor, name)


def _told(f):
    """A function that looks at the data."""
    def call(*args, **kwargs):
        x = args[0]
        return SPARSE.get(f, f)(*args, **kwargs) if is_masked_tensor(x) and has_places(x) else f(*args, **kwargs)

    return call


for _name in _SAID:
    if hasattr(Tensor, _name):
        calls(_attribute(_name).__get__)(_told(_attribute(_name).__get__))
for _name in _SAID_BY_CALLS:
    for _f in functions(_name):
        calls(_f)(_told(_f))
CALLS[_attribute("requires_grad").__set__] = _attribute("requires_grad").__set__


@calls(Tensor.is_contiguous)
def _is_contiguous(x, *args, **kwargs):
    if has_places(x):
        if places(x).layout == "sparse_csr":
            raise RuntimeError("Sparse CSR tensors do not have is_contiguous")
        raise ValueError("MaskedTensors with sparse data do not have is_contiguous")
    return Tensor.is_contiguous(x, *args, **kwargs)


@calls(Tensor.__format__)
def _format(x, spec):
    return Tensor.__format__(x, spec) if spec else repr(x)


# Numbers

def _number(f):
    def call(x):
        if Tensor.numel(x) == 1 and not x._masked_mask.any():
            raise ValueError("__torch_dispatch__, aten._local_scalar_dense: expected a mask tensor")
        return f(x)

    return call


for _name in ("item", "__bool__", "__int__", "__float__", "__complex__", "__index__"):
    calls(getattr(Tensor, _name))(_number(getattr(Tensor, _name)))


@calls(Tensor.tolist)
def _tolist(x):
    raise RuntimeError(".tolist() is not supported for tensor subclasses, got MaskedTensor")


@calls(Tensor.numpy, Tensor.__array__)
def _numpy(x, *args, **kwargs):
    raise RuntimeError(".numpy() is not supported for tensor subclasses.")


# Copies

def _kept(f):
    def call(x, *args, **kwargs):
        out = SPARSE[f](x, *args, **kwargs) if has_places(x) else f(x, *args, **kwargs)
        if out is x or not isinstance(out, Tensor):
            return out
        mask = x._masked_mask
        return over(out, mask if mask.device == out.device else mask.to(out.device), x)

    return call


for _name in ("bool", "char", "clone", "cpu", "cuda", "detach", "double", "float", "half", "int", "long", "ones_like", "short", "to", "type", "type_as"):
    for _f in functions(_name) | set(packets([_name])):
        calls(_f)(_kept(_f))
for _name in ("conj", "resolve_conj", "resolve_neg", "real"):
    for _f in functions(_name):
        calls(_f)(lambda x: x)
calls(_attribute("real").__get__)(lambda x: x)
calls(_attribute("data").__get__)(lambda x: CALLS[Tensor.detach](x))


@calls(*functions("detach_"))
def _detach_(x):
    Tensor.detach_(x)
    return x


def _dense(*tensors):
    if any(isinstance(x, Tensor) and has_places(x) for x in tensors):
        raise NotImplementedError("torchlike_autograd: writing to and from MaskedTensors of sparse data")


@calls(Tensor.copy_)
def _copy_(x, src, non_blocking=False):
    _dense(x, src)
    return Tensor.copy_(x, src, non_blocking)  # the data, whatever the masks are, as torch


@calls(Tensor.__setitem__)
def _setitem(x, index, value):
    _dense(x, value)
    if any(isinstance(i, (Tensor, list)) for i in (index if isinstance(index, tuple) else (index,))):
        raise refused("index_put_")
    if is_masked_tensor(x):
        if not isinstance(value, Tensor):
            raise refused("fill_")
        raise NotImplementedError("torchlike_autograd: writing to a part of a MaskedTensor, which is a copy (where PyTorch loses what is written)")
    Tensor.__setitem__(x, index, value)


@calls(Tensor.__deepcopy__)
def _deepcopy(x, memo):
    if id(x) not in memo:
        if not Tensor.is_leaf.__get__(x):
            Tensor.__deepcopy__(x, memo)  # refuses
        memo[id(x)] = rebuilt(copied(x._masked_data), copied(x._masked_mask), Tensor.requires_grad.__get__(x))
    return memo[id(x)]


# Gradients

def wrapped(g, x):
    """The gradient of a masked tensor: it has its mask, and shares the memory of g."""
    if g is None or is_masked_tensor(g):
        return g
    out = blank(MaskedTensor)
    copy_state(g, out)
    out.__dict__.update({name: x.__dict__[name] for name in ("_places", "_masked_mask") if name in x.__dict__})
    return out


@calls(_attribute("grad").__get__, _attribute("_grad").__get__)
def _grad(x):
    g = _attribute("grad").__get__(x)
    out = wrapped(g, x)
    if out is not g and not has_places(x):
        _attribute("grad").__set__(x, out)  # the next one that is asked for is the same
    return out


@calls(_attribute("grad").__set__, _attribute("_grad").__set__)
def _set_grad(x, value):
    _attribute("grad").__set__(x, value if value is None or not has_places(x) else Tensor.detach(value))


@calls(Tensor.register_hook)
def _register_hook(x, hook):
    def called(g):
        out = hook(wrapped(g, x))
        return plain_of(out) if is_masked_tensor(out) else out

    return Tensor.register_hook(x, called)


def plain_of(g):
    """The data (of sparse ones, their values) of a gradient."""
    return plain(g) if not has_places(g) else Tensor.detach(g)


@calls(grad_of)
def _autograd_grad(outputs, inputs, *args, **kwargs):
    asked = (inputs,) if isinstance(inputs, Tensor) else tuple(inputs)
    return tuple(wrapped(g, x) if is_masked_tensor(x) else g for g, x in zip(grad_of(outputs, inputs, *args, **kwargs), asked, strict=True))


CALLS[Tensor.backward], CALLS[backward] = Tensor.backward, backward


# What torch's masked tensors can do, as functions of others, and these cannot

_NOT_HERE = [
    "__dlpack__", "adaptive_avg_pool2d", "alpha_dropout", "chain_matmul", "cosine_embedding_loss", "dropout", "dropout1d", "dropout2d", "dropout3d",
    "feature_alpha_dropout", "gaussian_nll_loss", "index", "isclose", "kl_div", "kron", "l1_loss", "new", "new_tensor", "poisson_nll_loss", "sum_to_size",
    "vecdot"]


def _not_here(name):
    def refuse(*args, **kwargs):
        raise NotImplementedError(f"torchlike_autograd: {name} of a MaskedTensor")

    return refuse


for _name in _NOT_HERE:
    calls(*functions(_name))(_not_here(_name))
