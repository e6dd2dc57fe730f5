"""A Tensor's values as Python's and NumPy's (layer 5): numbers, lists, arrays, text; copies and pickles."""

from __future__ import annotations

import copy
import itertools

import numpy as np

from ._core import belonging, devices, dtypes, errors, levels, mixed, placed, sharing
from ._core.nothing import Nothing, no_data, no_item, not_numpy
from ._core.numeric import say_once
from ._core.record import Counter, InferenceCounter, data, mark_seen, thread
from ._core.state import copy_state, user_fields
from ._core.state import new as _new
from ._core.storage import Cell, View, another, as_detached, peek
from ._ops.spec import LeveledAval
from ._tensor_members import Members


def _derived():
    """Whether the innermost of torch.func's transforms that run is a derivative."""
    return thread.state.extra.get("derivative") == len(levels.running())


_numbers = itertools.count(1)


class Values(Members):
    """The part of Tensor that looks at values, and so runs what is pending."""

    @property
    def _cdata(self):
        """A number of what the tensor is, which `swap_tensors` exchanges and `data` keeps."""
        return self.__dict__.setdefault("_tl_cdata", next(_numbers))

    def item(self, *extra):
        """The Python number in a tensor of one element."""
        if extra:
            raise TypeError(f"TensorBase.item() takes no arguments ({len(extra)} given)")
        if self.numel() != 1:
            raise RuntimeError(f"a Tensor with {self.numel()} elements cannot be converted to Scalar")
        if type(self._tl_v.aval) is LeveledAval and levels.hidden(self._tl_value()):
            raise errors.mapped_item(_derived())
        try:
            return self._tl_numpy().reshape(()).item() if self.dtype is not dtypes.bfloat16 else float(self._tl_numpy().reshape(()))
        except NotImplementedError as e:
            raise no_item() if self.is_meta else e from None

    def tolist(self):
        """Nested Python lists (a number for 0 dims)."""
        a = self._tl_numpy()
        return (a.astype(np.float32) if self.dtype is dtypes.bfloat16 else a).tolist()

    def numpy(self, *, force=False):
        """A NumPy array over the memory of the tensor, or of more than 256 KiB a copy that lies there as the tensor does (`_core/sharing.py`)."""
        if not force and devices.is_accelerator(self._tl_v.aval.device):
            raise TypeError(f"can't convert {self.device} device type tensor to numpy. Use Tensor.cpu() to copy the tensor to host memory first.")
        if not force and self.requires_grad and thread.state.grad:
            raise RuntimeError("Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.")
        if not force and self._tl_view is not None and self.is_conj():
            raise RuntimeError("Can't call numpy() on Tensor that has conjugate bit set. Use tensor.resolve_conj().numpy() instead.")
        if not force and self._tl_view is not None and self.is_neg():
            raise RuntimeError("Can't call numpy() on Tensor that has negative bit set. Use tensor.resolve_neg().numpy() instead.")
        belonging.refuse_pointer(self._tl_value())
        if self.is_meta:
            raise no_data() if force else not_numpy()
        if self.dtype is dtypes.bfloat16:
            raise TypeError("Got unsupported ScalarType BFloat16")
        from ._core.laying import order_of

        values = self._tl_numpy()
        out = sharing.shown(self, values)
        if out is not None:
            return out
        order = order_of(self)
        if order is None:
            return np.array(values)
        return np.array(values.transpose(order), order="C").transpose(np.argsort(order))

    def __array__(self, dtype=None, copy=None):
        a = self.numpy()
        return a if dtype is None else a.astype(dtype, copy=False)

    def __array_wrap__(self, array, context=None, return_scalar=False):
        from ._functions.data import from_numpy

        array = np.asarray(array)
        return from_numpy(array.astype(np.uint8) if array.dtype == bool else array)

    __array_priority__ = 1000

    def __bool__(self):
        n = self.numel()
        if n != 1:
            if n == 0:
                raise RuntimeError("Boolean value of Tensor with no values is ambiguous")
            raise RuntimeError("Boolean value of Tensor with more than one value is ambiguous")
        if type(self._tl_v.aval) is LeveledAval and levels.hidden(self._tl_value()):
            raise errors.mapped_truth(_derived())
        return bool(self.item())

    def __float__(self):
        return float(self._tl_scalar("double"))

    def __int__(self):
        return int(self._tl_scalar("int64_t"))

    def __complex__(self):
        return complex(self._tl_scalar())

    def _tl_scalar(self, real=None):
        """The number in a tensor of one element, for a conversion to a real C++ type or to complex."""
        if real != "int64_t":
            self._tl_warn_scalar()
        if self.numel() != 1:
            raise ValueError("only one element tensors can be converted to Python scalars")
        x = self.item()
        if real is not None and type(x) is complex:
            if x.imag:
                raise RuntimeError(f"value cannot be converted to type {real} without overflow")
            return x.real
        return x

    def _tl_warn_scalar(self):
        if self.requires_grad:
            say_once(
                "Converting a tensor with requires_grad=True to a scalar may lead to unexpected behavior.\nConsider using tensor.detach() first. (Triggered "
                "internally at /pytorch/torch/csrc/autograd/generated/python_variable_methods.cpp:836.)")

    def __index__(self):
        if self.dtype.category > dtypes.INT or self.numel() != 1:
            raise TypeError("only integer tensors of a single element can be converted to an index")
        return int(self.item())

    def __len__(self):
        if self.ndim == 0:
            raise TypeError("len() of a 0-d tensor")
        return self.shape[0]

    def __iter__(self):
        if self.dim() == 0:
            raise TypeError("iteration over a 0-d tensor")
        return iter(self.unbind(0))

    def __contains__(self, element):
        if isinstance(element, (Values, int, float, complex, bool)):
            return bool(((element == self) if isinstance(element, Values) else (self == element)).any().item())
        raise RuntimeError(
            f"Tensor.__contains__ only supports Tensor or scalar, but you passed in a {type(element)}.")

    def __hash__(self):
        return id(self)

    def __repr__(self, *, tensor_contents=None):
        from ._core.printing import tensor_text

        return tensor_text(self)

    def __reversed__(self):
        return self if self.ndim == 0 else self.flip(0)

    # Copies

    def _tl_new_like(self):
        """(a new tensor of the same class, whether it has the contents already): a clone of what has no memory.

        torch's RuntimeError where the method of a subclass that torch makes copies of gives no tensor of it.
        """
        from ._core.hot import PLAIN  # cycle: made of tensors
        from ._core.overriding import Off  # cycle: made of tensors

        if type(self) in PLAIN:
            return _new(type(self)), False
        empty = self.is_meta or not self.numel()
        kind, method, how = ("wrapper", "clone", "cloning") if empty else ("non-wrapper", "new_empty", "that function")
        before, thread.state.grad = thread.state.grad, False
        try:
            with Off():
                made = self.clone() if empty else self.new_empty([])
        finally:
            thread.state.grad = before
        if type(made) is not type(self):
            raise RuntimeError(
                f"The default implementation of __deepcopy__() for {kind} subclasses only works for subclass types that implement {method}() and for "
                f"which {how} returns another instance of the same subclass. You should either properly implement {method}() for your subclass or "
                f"override __deepcopy__() if it is intended behavior for {method}() to return an instance of a different type.")
        return (made, True) if empty else (_new(type(self)), False)

    def __deepcopy__(self, memo):
        if not self.is_leaf:
            raise RuntimeError(
                "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at the moment.  If you were attempting to "
                "deepcopy a module, this may be because of a torch.nn.utils.weight_norm usage, see https://github.com/pytorch/pytorch/pull/103001")
        if id(self) in memo:
            return memo[id(self)]
        belonging.refuse_memory(self._tl_value())
        out, whole = self._tl_new_like()
        if whole:
            pass
        elif type(self._tl_v.aval) is LeveledAval:  # the copy of a dual tensor has no tangent
            out._tl_v = another(levels.primal(self._tl_value()))
        elif self._tl_cell is None:
            out._tl_v = as_detached(self._tl_v)
            if out._tl_v is self._tl_v:
                out._tl_v = _same(self._tl_v)
            if thread.state.inference:
                out._tl_counter = InferenceCounter()
            elif out._tl_v.needs is False:  # torch fills the copy, which counts
                out._tl_counter = Counter(1)
                mark_seen(out._tl_v, out._tl_counter)
        else:
            self._tl_share_copy(out, memo)
        if self.requires_grad:
            out.requires_grad_()
        memo[id(self)] = out
        if self._grad is not None:
            out._tl_leaf_point().grad = copy.deepcopy(self._grad, memo)
        for k, x in user_fields(self).items():
            out.__dict__[k] = copy.deepcopy(x, memo)
        return out

    def _tl_share_copy(self, out, memo):
        """Let `out` show a copy of this tensor's cell, one copy for all that share it."""
        own = self._tl_cell
        cell = memo.get(id(own))
        if cell is None:
            cell = memo[id(own)] = Cell(another(own.value), InferenceCounter() if thread.state.inference else Counter(1), own.layout)
        out._tl_cell, out._tl_at, out._tl_counter, out._tl_laid = cell, cell.n, cell.counter, self._tl_laid
        if self._tl_view is not None and self._tl_view.chain:
            out._tl_view = View(None, self._tl_view.chain, "default")
        out._tl_v = another(peek(self))
        mark_seen(out._tl_v, cell.counter)

    def __reduce_ex__(self, protocol):
        writer = thread.state.extra.get("writer")
        if writer is not None:
            return writer.parts_of(self)
        if self._backward_hooks:
            from .utils.hooks import warn_if_has_hooks  # cycle: hooks of modules are Functions

            warn_if_has_hooks(self)
        belonging.refuse_memory(self._tl_value())
        array = Nothing(self.shape, self.dtype.np) if self.is_meta else self._tl_numpy()
        place = self._tl_v.aval.device
        return _rebuild, (type(self), array, self.dtype.name, self.requires_grad, self._tl_geometry() if not self.is_contiguous() else None,
                          mixed.with_places(self, user_fields(self)), place if devices.is_accelerator(place) else "cpu")

    def __copy__(self):
        belonging.refuse_memory(self._tl_value())
        kind = type(self)
        out = _plain() if kind.__reduce_ex__ is Values.__reduce_ex__ else _new(kind)  # a Parameter is made again as one
        copy_state(self.data, out)
        out = _in_class(out, kind, self.requires_grad)
        out.__dict__.update(user_fields(self))
        return out


def _same(v):
    """Another Value with the same array."""
    out = data(v.array, v.aval.dtype, device=v.aval.device) if v.array is not None else None
    if out is None:
        v.tape.resolve(v)
        out = data(v.array, v.aval.dtype, device=v.aval.device)
    return out


def _rebuild(cls, array, dtype, requires_grad, geometry, extra, place="cpu"):
    out = _plain()
    place = "meta" if type(array) is Nothing else devices.key_of(place)
    out._tl_v = data(array if place == "cpu" else placed.adopt(array, place), dtypes.DTYPES[dtype], device=place)
    out._tl_laid = geometry
    out = mixed.placed_again(_in_class(out, cls, requires_grad), extra)
    out.__dict__.update(extra)
    return out


def _plain():
    from ._tensor import Tensor  # made of this class

    return _new(Tensor)


def _in_class(t, cls, requires_grad):
    """A fresh tensor in a class: as in torch a view of the leaf where that asks for gradients."""
    if requires_grad:
        t.requires_grad_()
    return t if cls is type(t) else t.as_subclass(cls)
