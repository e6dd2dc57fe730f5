"""Members of a Tensor that few programs use (layer 5): the dtype of its gradient, views made again from another base, names of PyTorch's early days."""

from __future__ import annotations

import weakref
from collections import OrderedDict

from ._core import dtypes, shapes
from ._core.layouts import stretch
from ._core.nodes import Leaf, changes
from ._core.record import GRAD, mark_seen
from ._core.saying import warn
from ._core.state import new as _new
from ._core.storage import ReplayedView, View, cell_of, history, replayed
from ._ops.conventions import cxx_of

_grad_dtypes: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()  # Leaf -> dtype or None, where it was set


class _Cast:
    """The first hook of a leaf whose gradient has another dtype, or any (None)."""

    any_type = True

    def __init__(self, dtype):
        self.dtype = dtype

    def __call__(self, g):
        return None if self.dtype is None or g is None else g.to(self.dtype)


def grad_dtype_of(t):
    """What a gradient of `t` must have: a dtype, or None for any."""
    return _grad_dtypes.get(t._tl_leaf, t.dtype) if t._tl_leaf is not None else t.dtype


def laid_as(g, t):
    """Let a gradient that a pass has made lie in memory as its leaf does, as torch makes it; row by row where that has gaps or shows memory twice."""
    if g._tl_laid is None and g._tl_view is None and stretch(t) is not None:
        strides = t.stride()
        if strides != shapes.contiguous_strides(g._tl_v.aval.shape):
            _lay(g, strides)


def pin_layout(g):
    """Let a gradient that was assigned keep its own layout."""
    if g._tl_laid is None and g._tl_view is None:
        _lay(g, shapes.contiguous_strides(g._tl_v.aval.shape))


def _lay(g, strides):
    g._tl_laid = strides, 0
    if g._tl_cell is not None and g._tl_cell.layout is None:
        g._tl_cell.layout = g._tl_laid


class Members:
    """The part of Tensor that few programs use."""

    @property
    def grad_dtype(self):
        """The dtype of the gradient that arrives at this leaf; None: any."""
        if not self.is_leaf:
            raise RuntimeError("grad_dtype can only be accessed on leaf tensors.")
        return grad_dtype_of(self)

    @grad_dtype.setter
    def grad_dtype(self, value):
        if not self.is_leaf:
            raise RuntimeError("grad_dtype can only be set on leaf tensors.")
        if value is not None and not isinstance(value, dtypes.dtype):
            raise RuntimeError(f"grad_dtype must be a torch.dtype or None, but got {type(value).__name__}")
        leaf = self._tl_leaf_point()
        if leaf.grad is not None and value is not None and leaf.grad.dtype is not value:
            raise RuntimeError(f"Cannot set grad_dtype to '{value.char_name}' because there is already a gradient with dtype '{cxx_of(leaf.grad.dtype)}'. "
                               "Please clear the gradient (.grad = None) before changing grad_dtype, or ensure the new grad_dtype matches the existing "
                               "gradient's dtype.")
        _grad_dtypes[leaf] = value
        hooks = OrderedDict() if leaf.hooks is None else leaf.hooks
        hooks.pop("grad_dtype", None)
        if value is not self.dtype:
            hooks["grad_dtype"] = _Cast(value)
            hooks.move_to_end("grad_dtype", last=False)
        leaf.hooks = hooks or None
        Leaf.watched[0] = True
        changes[0] += 1

    def _view_func(self, new_base, symint_visitor_fn=None, tensor_visitor_fn=None):
        """This view made again from `new_base`; None where that is not like the base."""
        base = self._base
        if not isinstance(new_base, Members):
            raise TypeError(f"_view_func(): argument 'new_base' (position 1) must be Tensor, not {type(new_base).__name__}")
        if base is None or (new_base.shape, new_base.stride(), new_base.storage_offset()) != (base.shape, base.stride(), base.storage_offset()):
            return None
        return self._view_func_unsafe(new_base, symint_visitor_fn, tensor_visitor_fn)

    def _view_func_unsafe(self, new_base, symint_visitor_fn=None, tensor_visitor_fn=None):
        """This view made again from `new_base`, whatever that is: as its sizes and strides say where that is enough.  No visitor is asked then, as in torch;
        otherwise NotImplementedError where there is one."""
        base, view = self._base, self._tl_view
        if not isinstance(new_base, Members):
            raise TypeError(f"_view_func(): argument 'new_base' (position 1) must be Tensor, not {type(new_base).__name__}")
        if base is None:
            return None
        if not isinstance(view, ReplayedView) and self.dtype == base.dtype and not self.dtype.is_complex:
            return new_base.as_strided(self.shape, self.stride(), self.storage_offset())
        if symint_visitor_fn is not None or tensor_visitor_fn is not None:
            raise NotImplementedError("_view_func with visitors, of a view that is made again operator by operator")
        chain = view.chain if view.under is None else view.chain[len(view.under.chain):]
        cell, old = cell_of(new_base), new_base._tl_view
        out = _new(type(new_base))
        out._tl_v = v = replayed(chain, history(new_base), GRAD)
        out._tl_cell, out._tl_at, out._tl_counter = cell, cell.n, new_base._tl_counter
        mark_seen(v, out._tl_counter)
        root, under = (new_base, old) if old is None or old.base is None else (old.base, old.under)
        out._tl_view = View(root, (*(() if old is None else old.chain), *chain), "default", under)
        return out

    def _rev_view_func_unsafe(self, new_view):
        """None for what is no view; RuntimeError otherwise: there is none."""
        if self._base is None:
            return None
        raise RuntimeError("No _rev_view_func() found")

    def __dir__(self):
        return sorted({*object.__dir__(self)} - {"volatile"})

    @property
    def volatile(self):
        """False."""
        warn("volatile was removed (Variable.volatile is always False)")
        return False

    @volatile.setter
    def volatile(self, value):
        warn("volatile was removed and now has no effect. Use `with torch.no_grad():` instead.")

    @property
    def _grad_fn(self):
        """The node, as `grad_fn`."""
        return self.grad_fn

    @_grad_fn.setter
    def _grad_fn(self, value):
        if value is not None:
            raise RuntimeError("_grad_fn can be only set to None")
        self.detach_()

    @_grad_fn.deleter
    def _grad_fn(self):
        raise RuntimeError("Deletion of _grad_fn not allowed. Detach tensor instead!")


__all__ = ["Members", "grad_dtype_of", "laid_as", "pin_layout"]


def _has_compatible_shallow_copy_type(input, source) -> bool:
    """Whether `input.data = source` may take what `source` holds: not on device "meta", where there is nothing to hold, unless both are."""
    return input.layout == source.layout and input.is_meta == source.is_meta
