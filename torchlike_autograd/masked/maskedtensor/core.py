"""torch.masked.maskedtensor.core (layer 8): a tensor of which a mask says what is there, as a class that answers `__torch_function__`.

A `MaskedTensor` *is* the tensor of its data, with its mask beside it: that gives it dtype, device, history, leaves and versions as any tensor has them.  With
sparse data it is the tensor of their values, and has their places too (as `sparse/_tensor.py` has them).  Whatever is done to it comes to
`__torch_function__`, where `CALLS` has a function of the table for it, which records the operator for the data and, where it moves elements, for the mask.
What has no entry is refused, as torch refuses what its masked tensors do not know: nothing falls through to the data.

Unlike PyTorch: `.grad` has the mask of its tensor, where PyTorch leaves out what no gradient came to through an index or `where` too (it is 0 here), and adds
up gradients whatever their masks; ordinary tensors get ordinary gradients, 0 for what is left out; sums of sparse data differentiate.  The words about the
prototype are said where a program makes a masked tensor, not for every result.
"""

from __future__ import annotations

from ..._core import dtypes, layouts
from ..._core.composite import named
from ..._core.layouts import lay_as
from ..._core.overriding import Off, On, name_of
from ..._core.saying import warn
from ..._core.sparse_gradients import is_sparse as has_places
from ..._core.state import new as blank
from ..._tensor import Tensor
from ...autograd.grad_mode import is_grad_enabled
from ...sparse import is_sparse
from ...sparse._tensor import made as sparse_over
from ...sparse._tensor import merge, places

__all__ = ["MaskedTensor", "is_masked_tensor"]

CALLS: dict = {}  # function -> what it does where one of its arguments is a MaskedTensor
_DTYPES = (dtypes.float16, dtypes.float32, dtypes.float64, dtypes.bool_, dtypes.int8, dtypes.int16, dtypes.int32, dtypes.int64)
_SPARSE = (layouts.sparse_coo, layouts.sparse_csr)


class MaskedTensor(Tensor):
    """Data and a mask of their shape, True where they are there: ``MaskedTensor(data, mask, requires_grad=False)`` copies both.

    There are the elementwise functions, reductions and functions of shapes that torch's has, `where` and softmax, for data that are strided, COO or CSR; the
    others are refused as torch's refuses them.  Not there, each a NotImplementedError: dropout, `kl_div`, `l1_loss`, `poisson_nll_loss`,
    `gaussian_nll_loss`, `isclose`, `kron`, `vecdot`, `sum_to_size`, `new_tensor`, DLPack, `where` with a masked condition or of sparse data, softmax of sparse
    data, writes to parts.
    """

    _tl_asked = True

    def __new__(cls, data, mask, requires_grad=False):
        with Off():
            data, mask = checked(data, mask)
            says_prototype(data)
            if requires_grad and data.dtype.category < dtypes.FLOAT:
                raise RuntimeError("Only Tensors of floating point and complex dtype can require gradients")
            out = over(data.detach().clone(), copied(mask), data, cls)
            return out._tl_ask(True) if requires_grad else out

    def __init__(self, data, mask, requires_grad=False):
        pass

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        handler = CALLS.get(func) or CALLS.get(getattr(func, "overloadpacket", None))
        if handler is None:
            raise refused(_aten_name(func))
        with Off():
            return handler(*args, **(kwargs or {}))

    @staticmethod
    def _from_values(data, mask):
        from .creation import as_masked_tensor  # cycle: which makes instances of this class

        return as_masked_tensor(data, mask)

    @classmethod
    def unary(cls, fn, data, mask):
        """A masked tensor of a function of data."""
        return MaskedTensor(fn(data), mask)

    def get_data(self):
        """The data as an ordinary tensor, which shares their memory where no gradient is recorded."""
        with Off():
            return plain(self) if Tensor.requires_grad.__get__(self) and is_grad_enabled() else self._masked_data

    @property
    def _masked_data(self):
        with Off():
            data = Tensor.detach(self)
            return sparse_over(data, places(self)) if has_places(self) else data

    def get_mask(self):
        """The mask itself."""
        return self._masked_mask

    def to_tensor(self, value):
        """The data with a value where the mask is False."""
        return self.get_data().masked_fill(~self.get_mask(), value)

    def is_sparse_coo(self):
        """Whether the data are sparse, of layout COO."""
        return self.layout == layouts.sparse_coo

    def is_sparse_csr(self):
        """Whether the data are sparse, of layout CSR."""
        return self.layout == layouts.sparse_csr

    @property
    def is_sparse(self):
        """Whether the data are sparse."""
        return self.layout in _SPARSE

    def _is_any_true(self):
        with Off():
            if Tensor.dtype.__get__(self) is not dtypes.bool_:
                raise ValueError("__torch_dispatch__, aten._is_any_true: expected a boolean tensor")
            if has_places(self):
                raise ValueError("MaskedTensors with sparse data do not have aten._is_any_true")
            out = (self & self._masked_mask).any()
            return over(out, out | ~out, out)

    def __lt__(self, other):
        with Off():
            return over(Tensor.lt(self, other), self._masked_mask, self)

    def __iter__(self):
        raise refused("unbind")

    def __repr__(self, *, tensor_contents=None):
        from ._text import shown  # cycle: which asks what is a masked tensor

        return shown(self)

    def __reduce_ex__(self, protocol):
        with Off():
            return rebuilt, (self._masked_data, self._masked_mask, Tensor.requires_grad.__get__(self))


def rebuilt(data, mask, requires_grad):
    """The MaskedTensor of a file."""
    out = over(data, mask, data)
    return out._tl_ask(True) if requires_grad else out


def is_masked_tensor(obj, /) -> bool:
    """Whether something is a MaskedTensor."""
    return isinstance(obj, MaskedTensor)


def calls(*functions):
    """Decorator: what functions do to masked tensors."""
    def put(f):
        for function in functions:
            CALLS[function] = f
        return f

    return put


ASK_FOR_IT = ("If you would like this operator to be supported, please file an issue for a feature request at "
              "https://github.com/pytorch/maskedtensor/issues with a minimal reproducible code snippet.\nIn the case that the semantics for the operator are "
              "not trivial, it would be appreciated to also include a proposal for the semantics.")
_ATEN = {"_numpy_T": "permute", "__matmul__": "mm", "__rsub__": "rsub", "log_softmax": "_log_softmax", "matmul": "mm"}


def _aten_name(func):
    """How torch names the operator that a function comes to, as far as it is another name."""
    read = getattr(getattr(func, "__self__", None), "fget", None)  # of a property
    name = read.__name__ if read is not None else name_of(func).rpartition(".")[2]
    return _ATEN.get(name, name)


def refused(name):
    """torch's warning and error for an operator that its masked tensors do not know."""
    warn(f"{name} is not implemented in __torch_dispatch__ for MaskedTensor.\n{ASK_FOR_IT}")
    return TypeError(f"Multiple dispatch failed for 'torch._ops.aten.{name}.default'; all __torch_dispatch__ handlers returned NotImplemented:\n\n"
                     f"  - tensor subclass {MaskedTensor}\n\nFor more information, try re-running with TORCH_LOGS=not_implemented")


def says_prototype(data):
    """torch's warnings of whoever makes a masked tensor."""
    warn("The PyTorch API of MaskedTensors is in prototype stage and will change in the near future. Please open a Github issue for features requests and see "
         "our documentation on the torch.masked module for further information about the project.")
    if data.requires_grad:
        warn("It is not recommended to create a MaskedTensor with a tensor that requires_grad. To avoid this, you can use data.detach().clone()")


# Parts and wholes

def over(data, mask, at, cls=None):
    """A MaskedTensor of a tensor of data (of sparse ones, their values) with their history and memory of its own; `at` has the places, if there are any."""
    if mask.dtype is not dtypes.bool_:
        raise TypeError("mask must have dtype bool.")
    if data.dtype not in _DTYPES:
        raise TypeError(f"{data.dtype} is not supported in MaskedTensor.")
    out = wrap_as(cls or MaskedTensor, data)
    if has_places(at):
        out.__dict__["_places"] = places(at)
    out.__dict__["_masked_mask"] = sparse_over(wrap_as(Tensor, mask), places(mask)) if has_places(mask) else wrap_as(Tensor, mask)
    return out


def wrap_as(cls, x):
    """A fresh tensor of a class with the Value of another one, and with its strides."""
    out = blank(cls)
    out._tl_v = x._tl_value()
    return lay_as(out, Tensor.stride(x)) if x._tl_laid is not None or x._tl_view is not None else out


def copied(x):
    """A copy of an ordinary tensor, dense or sparse."""
    out = x.clone()
    return sparse_over(out, places(x)) if has_places(x) else out


def plain(x):
    """The data of a MaskedTensor as an ordinary tensor that shares its history."""
    data = named("_masked_data")(x)
    return sparse_over(data, places(x)) if has_places(x) else data


def run(f, args, kwargs):
    """A function of arguments of which none is a MaskedTensor with places: as usual where one is sparse."""
    if any(is_sparse(x) for x in (*args, *kwargs.values())):
        with On():
            return f(*args, **kwargs)
    return f(*args, **kwargs)


def mapped(x, f):
    """An argument with f of the masked tensors in it."""
    if is_masked_tensor(x):
        return f(x)
    return type(x)(mapped(y, f) for y in x) if type(x) in (list, tuple) else x


def data_in(x):
    """The data of a MaskedTensor as an argument of `run`."""
    return plain(x) if has_places(x) else x


def pair(data, mask):
    """The MaskedTensor of what a function gave for data and for masks, or several."""
    if isinstance(data, (list, tuple)):
        return type(data)(pair(*both) for both in zip(data, mask, strict=True))
    return over(data, mask, data)


# Checks

def checked(data, mask):
    """(data, mask) as a MaskedTensor can have them; torch's errors."""
    for x, name in ((data, "data"), (mask, "mask")):
        if not isinstance(x, Tensor) or is_masked_tensor(x):
            raise TypeError(f"{name} must be a Tensor")
    layout, sparse = _layout(data), has_places(data)
    if layout is not _layout(mask):
        raise TypeError("data and mask must have the same layout.")
    if layout not in (layouts.strided, *_SPARSE):
        raise TypeError(f"data layout of {layout} is not supported.")
    if sparse:
        data, mask = merge(data), merge(mask)
        if places(data).indices.shape[1] != places(mask).indices.shape[1]:
            data = _at_places_of(data, mask)
        if not _same(places(data).indices, places(mask).indices):
            raise ValueError("data and mask are both sparse COO tensors but do not have the same indices." if layout is layouts.sparse_coo else
                             "data and mask are both sparse CSR tensors but do not share either crow or col indices.")
    if mask.dtype is not dtypes.bool_:
        raise TypeError("mask must have dtype bool.")
    if data.dtype not in _DTYPES:
        raise TypeError(f"{data.dtype} is not supported in MaskedTensor.")
    a, b = (places(x).size if sparse else x.shape for x in (data, mask))
    if len(a) != len(b):
        raise ValueError("data.dim() must equal mask.dim()")
    if a != b:
        raise ValueError("data.size() must equal mask.size()")
    return data, mask


def _layout(x):
    return getattr(layouts, places(x).layout) if has_places(x) else layouts.strided


def _at_places_of(data, mask):
    """Sparse data at the places at which a mask says True; 0 where they have nothing."""
    with On():
        there = mask.to_dense().to_sparse() if mask.layout is layouts.sparse_coo else mask.to_dense().to_sparse_csr()
        return data.to_dense().sparse_mask(there)


def _same(a, b):
    return a is b or (a.ndim == b.ndim and bool(a.eq(b).all()))


def _tensors_match(a, b, exact=True, rtol=1e-05, atol=1e-08):
    """Whether two ordinary tensors are equal, or close; torch's errors."""
    if is_masked_tensor(a) or is_masked_tensor(b):
        raise ValueError("Neither `a` nor `b` can be a MaskedTensor.")
    if a.layout is not b.layout:
        raise ValueError(f"`a` and `b` must have the same layout. Got {a.layout} and {b.layout}")
    if a.dtype is not b.dtype:
        b = b.type(a.dtype)
    if a.layout in _SPARSE:
        parts = ("values", "indices") if a.layout is layouts.sparse_coo else ("crow_indices", "col_indices", "values")
        return all(_tensors_match(getattr(a, name)(), getattr(b, name)(), exact) for name in parts)
    if a.ndim != b.ndim:
        return False
    return a.eq(b).all().item() if exact else a.allclose(b, rtol=rtol, atol=atol)


def _masks_match(a, b):
    """Whether two things have the same mask; True unless both are masked tensors.  Masks that are one by their history are not looked at."""
    if not (is_masked_tensor(a) and is_masked_tensor(b)):
        return True
    one, other = a._masked_mask, b._masked_mask
    if one is other or (one._tl_value() is other._tl_value() and has_places(one) is has_places(other) is False):
        return True
    with On():
        return _tensors_match(one, other)


def _get_data(a):
    return a._masked_data if is_masked_tensor(a) else a


def _maybe_get_mask(a):
    return a._masked_mask if is_masked_tensor(a) else None


