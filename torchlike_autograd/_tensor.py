"""The Tensor facade: state and properties (layer 5); operators are attached from the op table by `_core/bind.py`.

A Tensor is a mutable name for a Value; its own fields are those of `_core/state.py`, of which a fresh tensor sets one.
"""

from __future__ import annotations

import functools
import weakref
from collections import OrderedDict

import numpy as np

from ._core import belonging, devices, dtypes, errors, guards, levels, lifetimes, placed, shapes, written_views
from ._core.nodes import Leaf, Nowhere, add_hook, changes, node_at, observed, place_and_step, step_of
from ._core.record import INFERENCE, Counter, DataCounter, InferenceCounter, Value, counter_of, data, mark_as, mark_seen, thread
from ._core.saying import warn
from ._core.shown import TensorMeta
from ._core.size import Size
from ._core.state import State
from ._core.state import new as _new
from ._core.storage import View, another, as_detached, as_leaf, cell_of, history, is_inference, own_value, peek, read, retained_behind, with_history
from ._core.versions import detached
from ._ops.spec import LeveledAval
from ._tensor_members import _has_compatible_shallow_copy_type, grad_dtype_of, laid_as, pin_layout
from ._tensor_values import Values


class Tensor(State, Values, metaclass=TensorMeta):
    """An n-dimensional array that records what is done to it."""

    def __new__(cls, *args, **kwargs):
        from ._functions.legacy import construct

        return construct(cls, args, kwargs)

    def __init__(self, *args, **kwargs):
        pass

    # Reading

    def _tl_value(self) -> Value:
        return self._tl_v if self._tl_cell is None else read(self)

    def _tl_array(self):
        """The concrete array (JAX or NumPy); runs what is pending."""
        v = self._tl_v if self._tl_cell is None else peek(self)
        if type(v.aval) is LeveledAval:
            v = levels.looked_at(v)
        if v.array is None:
            v.tape.resolve(v)
        return v.array

    def _tl_numpy(self) -> np.ndarray:
        out = np.asarray(self._tl_array())
        guards.check()
        return out

    # Types

    @property
    def shape(self):
        return tuple.__new__(Size, self._tl_v.aval.shape)

    def size(self, dim=None, *, axis=None):
        """The shape, or the size of one dim."""
        if dim is None:
            if axis is None:
                return tuple.__new__(Size, self._tl_v.aval.shape)
            dim = axis
        if type(dim) is not int:
            dim = _words().int_dim("size", dim)
        shape = self._tl_v.aval.shape
        return shape[shapes.wrap_dim(dim, len(shape), scalar_ok=False)]

    @property
    def dtype(self):
        return self._tl_v.aval.dtype

    @property
    def device(self):
        return devices.of_key(self._tl_v.aval.device)

    @property
    def ndim(self):
        return self._tl_v.aval.ndim

    def dim(self):
        """The number of dims."""
        return self._tl_v.aval.ndim

    ndimension = dim

    def numel(self):
        """The number of elements."""
        return shapes.numel(self._tl_v.aval.shape)

    nelement = numel

    def element_size(self):
        """Bytes of one element."""
        return self._tl_v.aval.dtype.itemsize

    @property
    def itemsize(self):
        return self._tl_v.aval.dtype.itemsize

    @property
    def nbytes(self):
        return self.numel() * self.itemsize

    def is_floating_point(self):
        return self.dtype.is_floating_point

    def is_complex(self):
        return self.dtype.is_complex

    def is_signed(self):
        return self.dtype.is_signed

    is_cpu = property(lambda self: self.device.type == "cpu")
    is_cuda = property(lambda self: self._tl_v.aval.device.startswith("cuda"))
    name = property(lambda self: None)
    is_meta = property(lambda self: self._tl_v.aval.device == "meta")
    is_sparse, is_sparse_csr, is_quantized, is_mkldnn, is_mps, is_nested, is_xpu, is_xla, is_ipu, is_maia, is_mtia, is_vulkan = (
        property(lambda self: False) for _ in range(12))  # one each, as modes tell them by what they are

    @property
    def layout(self):
        from ._core.layouts import strided

        return strided

    # Geometry (metadata: arrays are immutable)

    def _tl_geometry(self):
        if self._tl_laid is not None:
            return self._tl_laid
        view = self._tl_view
        if view is not None and view.chain:
            if view.geometry is None:
                from ._core.layouts import chain_geometry

                view.geometry = chain_geometry(self._tl_cell, view.chain)
            return view.geometry
        return shapes.row_strides(self._tl_v.aval.shape), 0

    def stride(self, dim=None, *, axis=None):
        """Strides in elements, or one of them."""
        strides, dim = self._tl_geometry()[0], axis if dim is None else dim
        return strides if dim is None else strides[shapes.wrap_dim(_words().int_dim("stride", dim), self.ndim, scalar_ok=False)]

    def storage_offset(self):
        return self._tl_geometry()[1]

    def is_contiguous(self, *args, memory_format=None):
        """Whether the elements lie row by row without gaps, or as `memory_format` says."""
        if args or memory_format is not None:
            from ._core.layouts import asked_format, contiguous_format

            if memory_format is not contiguous_format:
                levels.refuse_format(self, "querying is_contiguous inside of vmap for memory_format other than torch.contiguous_format")
            return asked_format(self, args, memory_format)
        if self._tl_laid is None and (self._tl_view is None or not self._tl_view.chain):
            return True
        return shapes.is_contiguous(self._tl_v.aval.shape, self._tl_geometry()[0])

    # Autograd state

    @property
    def requires_grad(self):
        v = self._tl_v if self._tl_cell is None else peek(self)
        return bool(v.needs) if type(v.aval) is not LeveledAval else belonging.requires_grad(v)

    @property
    def _tl_needs(self):
        """Whether gradient flows to it, also where a transformation shows its user nothing of that."""
        v = self._tl_v if self._tl_cell is None else peek(self)
        return bool(v.needs) if type(v.aval) is not LeveledAval else levels.requires_grad(v)

    @requires_grad.setter
    def requires_grad(self, value):
        if not isinstance(value, bool):
            raise RuntimeError("requires_grad must be a bool")
        if value and self.dtype.category < dtypes.FLOAT:
            raise RuntimeError("only Tensors of floating point and complex dtype can require gradients")
        if value and not self.is_leaf and not levels.transforming():
            raise RuntimeError("you can only change requires_grad flags of leaf variables.")
        self.requires_grad_(value)

    @requires_grad.deleter
    def requires_grad(self):
        raise RuntimeError("requires_grad must be a bool")

    def requires_grad_(self, requires_grad=True):
        """Ask for gradients of this leaf (or stop asking); returns self."""
        if requires_grad is not True and requires_grad is not False:
            raise _words().explained("Tensor.requires_grad_", (self, requires_grad), {})
        if levels.transforming():
            raise errors.no_requires_grad_in_transforms()
        return self._tl_ask(requires_grad)

    def _tl_ask(self, requires_grad):
        """`requires_grad_`, also of a fresh tensor inside a transformation."""
        v = peek(self)
        if is_inference(self) and requires_grad:
            if not thread.state.inference:
                raise RuntimeError("Setting requires_grad=True on inference tensor outside InferenceMode is not allowed.")
            cell_of(self)
        if type(v.leaf) is Nowhere and self._tl_at != self._tl_cell.n:  # its history is lost: nothing to ask for
            return self
        if v.needs and v.leaf is None:
            if not requires_grad and v is self._tl_v:
                raise RuntimeError("you can only change requires_grad flags of leaf variables. If you want to use a computed variable in a subgraph that "
                                   "doesn't require differentiation use var_no_grad = var.detach().")
            return self
        if bool(requires_grad) == (v.needs and type(v.leaf) is not Nowhere):
            return self
        if self._tl_leaf is not None:
            self._tl_leaf.off = not requires_grad
        written_views.changed(self, v)
        if requires_grad:
            if v.aval.dtype.category < dtypes.FLOAT:
                raise RuntimeError("only Tensors of floating point dtype can require gradients")
            v = as_leaf(v, self._tl_leaf_point())
            if levels.running():
                levels.made_inside(v.leaf)
            if is_inference(self):
                v.needs = INFERENCE | True
        else:
            v = as_detached(v)
        self._tl_set_value(v)
        return self

    def _tl_set_value(self, v):
        """Replace the Value without a write: same contents, other autograd state."""
        if self._tl_v.needs and self._tl_v.seen is None:  # saved by somebody, perhaps, whom later writes are to be told to
            if self._tl_counter is None:
                self._tl_counter = counter_of(self._tl_v)
            mark_seen(self._tl_v, self._tl_counter)
        v.seen = seen = self._tl_v.seen
        if seen is not None and v.tape is not None:
            v.tape.seen[v.slot] = seen  # a version is counted already: what saves `v` is checked by it
        self._tl_v = v
        if self._tl_cell is not None:
            if self._tl_view is None:
                self._tl_cell.value = v
                self._tl_cell.n += 1  # views read again: they require grad with their base
            self._tl_at = self._tl_cell.n
            if self._tl_view is not None and self._tl_view.of_two:
                self._tl_view.value, self._tl_at = v, None  # it is asked about writes to both of its parts

    def _tl_leaf_point(self) -> Leaf:
        leaf = self._tl_leaf
        if leaf is None:
            leaf = self._tl_leaf = Leaf(self)
        return leaf

    def _tl_renew_leaf(self):
        """Another accumulation point for other contents: graphs made before lead to the old one, whose gradients come here all the same."""
        old, self._tl_leaf = self._tl_leaf, None
        old.off = True
        new = self._tl_leaf_point()
        new.grad, new.hooks, new.post, new.behind = old.grad, old.hooks, old.post, old.behind
        return new

    @property
    def is_leaf(self):
        v = history(self)
        return not v.needs or v.leaf is not None or levels.entered(v) or (type(v.aval) is LeveledAval and not belonging.requires_grad(v))

    @property
    def grad_fn(self):
        v = history(self)
        if not v.needs or v.leaf is not None or levels.entered(v) or (type(v.aval) is LeveledAval and not belonging.requires_grad(v)):
            return None
        lifetimes.watch(self)
        return node_at(v.tape, v.slot)[0]

    @property
    def output_nr(self):
        v = peek(self)
        if type(v.leaf) is Nowhere:
            v = self._tl_v
        if not v.needs or v.leaf is not None:
            return 0
        return node_at(v.tape, v.slot)[1]

    @property
    def grad(self):
        leaf = self._tl_leaf
        out = leaf.grad if leaf is not None else None
        if out is not None and (self._tl_laid is not None or self._tl_view is not None):
            laid_as(out, self)
        try:
            elsewhere = out is None and not self.is_leaf and not self.retains_grad
        except RuntimeError:  # a view that a write to its base has made invalid
            elsewhere = True
        if elsewhere:
            warn(
                "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its .grad attribute won't be populated during "
                "autograd.backward(). If you indeed want the .grad field to be populated for a non-leaf Tensor, use .retain_grad() on the non-leaf "
                "Tensor. If you access the non-leaf Tensor by mistake, make sure you access the leaf Tensor instead. See "
                "github.com/pytorch/pytorch/pull/30531 for more information.")
        return out

    @grad.setter
    def grad(self, value):
        if value is not None:
            self._tl_check_grad(value)
            if self._tl_laid is not None or self._tl_view is not None:
                pin_layout(value)
        elif self._tl_leaf is None:
            return
        self._tl_leaf_point().grad = value

    @grad.deleter
    def grad(self):
        self.grad = None

    def _tl_check_grad(self, value):
        if not isinstance(value, Tensor):
            raise TypeError(f"assigned grad expected to be a Tensor or None but got grad of type {type(value).__name__}")
        if value is self:
            raise RuntimeError("can't assign Variable as its own grad")
        wanted = grad_dtype_of(self)
        if wanted is not None and value.dtype is not wanted:
            from ._ops.conventions import cxx_of

            raise RuntimeError(
                f"attempting to assign a gradient with dtype '{cxx_of(value.dtype)}' to a tensor with grad_dtype '{wanted.char_name}'. The gradient must "
                "match the tensor's grad_dtype (defaults to the tensor's dtype). You can set the tensor's grad_dtype attribute with a specific dtype, or None "
                "to allow any dtype. Set grad_dtype with caution. Diverging the dtypes of a tensor and its gradient may break downstream systems that assume "
                "they match.")
        if value.is_meta != self.is_meta:
            raise RuntimeError(
                f"attempting to assign a gradient with device type '{value.device.type}' to a tensor with device type '{self.device.type}'. Please ensure that "
                "the gradient and the tensor are on the same device")
        if value.shape != self.shape:
            raise RuntimeError(
                f"attempting to assign a gradient of size '{list(value.shape)}' to a tensor of size '{list(self.shape)}'. Please ensure that the gradient and "
                "the tensor are the same size")

    @property
    def _grad(self):
        return self._tl_leaf.grad if self._tl_leaf is not None else None

    @_grad.setter
    def _grad(self, value):
        self.grad = value

    @_grad.deleter
    def _grad(self):
        self.grad = None

    @property
    def _version(self):
        if is_inference(self) and type(self._tl_counter) is not DataCounter:
            raise RuntimeError("Inference tensors do not track version counter.")
        return self._tl_counter.n if self._tl_counter is not None else 0

    @property
    def _base(self):
        view = self._tl_view
        return None if view is None or self._tl_counter.inference else view.shown_base

    def _is_view(self):
        return self._base is not None

    @property
    def retains_grad(self):
        v = peek(self)
        if not v.needs or v.leaf is not None or (self._tl_leaf is not None and self._tl_leaf.behind):
            return self._tl_leaf is not None and self._tl_leaf.behind
        tape, slot, step = place_and_step(v)
        seen = observed(tape, step.first)
        return seen is not None and slot in seen.retain

    def retain_grad(self):
        """Keep this non-leaf's gradient in `.grad` during backward."""
        if not self.requires_grad:
            raise RuntimeError("can't retain_grad on Tensor that has requires_grad=False")
        if self._tl_v.needs and self._tl_v.leaf is None and not (self._tl_leaf is not None and self._tl_leaf.behind):
            if "levels" in thread.state.extra and levels.differentiating():
                raise errors.no_retain_grad_in_transforms()
            v = history(self)
            self._tl_leaf_point()
            tape, slot, step = place_and_step(v)
            observed(tape, step.first, True).retain[slot] = weakref.ref(self)
            if v.tape is not tape:
                observed(v.tape, step_of(v.tape, v.slot).first, True)  # the next write looks here

    def register_hook(self, hook):
        """Call hook(grad) when the gradient is known; a returned tensor replaces it."""
        v = history(self)
        if not self.requires_grad:
            raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
        if v.leaf is not None:
            Leaf.watched[0] = True
            if v.leaf.hooks is None:
                v.leaf.hooks = OrderedDict()
            return add_hook(v.leaf.hooks, hook, belonging.mark_of(v.leaf))
        tape, slot, step = place_and_step(v)
        lifetimes.watch(self)
        hooks = observed(tape, step.first, True).hooks
        return add_hook(hooks.setdefault(slot, OrderedDict()), hook, belonging.mark_at(tape, slot))

    def register_post_accumulate_grad_hook(self, hook):
        """Call hook(tensor) after its gradient was accumulated; leaves only."""
        v = history(self)
        if not v.needs:
            raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
        if v.leaf is None:
            raise RuntimeError("post accumulate grad hooks cannot be registered on non-leaf tensors")
        Leaf.watched[0] = True
        if v.leaf.post is None:
            v.leaf.post = OrderedDict()
        return add_hook(v.leaf.post, hook)

    @property
    def _backward_hooks(self):
        v = self._tl_value()
        if v.leaf is not None:
            return v.leaf.hooks
        if not v.needs:
            return self._tl_hooks_dict
        tape, slot, step = place_and_step(v)
        seen = observed(tape, step.first)
        return seen.hooks.get(slot) if seen is not None else None

    @_backward_hooks.setter
    def _backward_hooks(self, hooks):
        """Hooks of a leaf are put in place; elsewhere nothing looks at what is assigned."""
        v = self._tl_value()
        if v.leaf is not None:
            Leaf.watched[0] = True
            v.leaf.hooks = hooks if hooks is None or isinstance(hooks, OrderedDict) else OrderedDict(hooks)
            changes[0] += 1
        else:
            self._tl_hooks_dict = hooks

    @_backward_hooks.deleter
    def _backward_hooks(self):
        raise RuntimeError("Deletion of _backwards_hooks not allowed!")

    @property
    def _post_accumulate_grad_hooks(self):
        v = self._tl_value()
        return v.leaf.post if v.leaf is not None else None

    def backward(self, gradient=None, retain_graph=None, create_graph=False, inputs=None):
        """Accumulate the gradients of this tensor into the leaves' `.grad`."""
        _autograd().backward(self, gradient, retain_graph, create_graph, inputs=inputs)

    def detach(self):
        """A tensor without history that shares this one's storage."""
        if type(self._tl_v.aval) is LeveledAval and levels.dual(peek(self)) is not None:
            level = levels.dual_level(peek(self))
            return wrap(as_detached(levels.primal(peek(self)))) if level is None else levels.FORWARD_AD["detach"](self, level)
        cell = cell_of(self)
        out = _new(Tensor)
        out._tl_v = v = as_detached(peek(self))
        if v.aval.device == "traced":
            placed.cuts[0] = True
        if v.seen is None:
            mark_seen(v, self._tl_counter)
        out._tl_cell, out._tl_at, out._tl_counter, out._tl_laid = cell, cell.n, self._tl_counter, self._tl_laid
        if self._tl_view is not None:
            out._tl_view = View(None, self._tl_view.chain, "default")
        return out._tl_count_anew() if self._tl_counter.inference else out

    def detach_(self):
        """Drop this tensor's history in place; nothing in inference mode and of an inference tensor, as in torch."""
        if thread.state.inference or is_inference(self):
            return self
        if self._is_view() or levels.mapped_here(self._tl_value()):  # in torch each example is a view
            raise errors.detached_view()
        old = self._tl_value()
        retained_behind(self, old)
        if levels.deriving():
            self._tl_set_value(belonging.detached(old))
            return self
        if self._tl_view is not None and self._tl_view.of_two:
            levels.FORWARD_AD["leave"](self)
        self._tl_set_value(as_detached(levels.primal(old) if type(old.aval) is LeveledAval else old))
        if old.needs and old.leaf is None:
            tape, slot, step = place_and_step(old)
            seen = observed(tape, step.first)
            if seen is not None and slot in seen.hooks:  # hooks stay with the tensor
                self._tl_leaf_point().hooks, Leaf.watched[0] = seen.hooks[slot], True
            detached(old)
        if self._tl_leaf is not None:
            self._tl_leaf.off = True
        return self

    def _tl_uncounted(self):
        """A tensor without history over the same memory, with versions of its own."""
        out = Tensor.detach(self)
        return out if out._tl_counter.inference else out._tl_count_anew()

    def _tl_count_anew(self):
        """Count versions of this alias, just made, apart from those of the tensor that it was made of; gives it back."""
        self._tl_counter = Counter() if not is_inference(self) else InferenceCounter() if thread.state.inference else DataCounter()
        self._tl_v = another(self._tl_v)
        mark_as(self._tl_v, (self._tl_counter, 0))
        return self

    @property
    def data(self):
        if type(self._tl_v.aval) is LeveledAval and levels.mapped_here(self._tl_v):
            raise RuntimeError("accessing `data` under vmap transform is not allowed")
        found = levels.APART["data"](self) if levels.running() else None
        return self._tl_uncounted() if found is None else found

    @data.setter
    def data(self, new):
        if not isinstance(new, Tensor):
            raise TypeError(f"Variable data has to be a tensor, but got {type(new).__name__}")
        self._tl_show(new, levels.running() and levels.deriving())

    def _tl_show(self, new, differentiated=False):
        """Show the memory of another tensor from now on."""
        old = peek(self)
        if any(type(v.aval) is LeveledAval and levels.mapped_here(v) for v in (old, peek(new))):
            raise RuntimeError("mutating directly with `.data` under vmap transform is not allowed.")
        if differentiated:
            raise RuntimeError("mutating directly with `.data` inside functorch transform is not allowed.")
        if not _has_compatible_shallow_copy_type(self, new):
            raise RuntimeError("Attempted to call `variable.set_data(tensor)`, but `variable` and `tensor` have incompatible tensor type.")
        if old.needs and new.dtype.category < dtypes.FLOAT:
            raise RuntimeError("data set to a tensor that requires gradients must be floating point or complex dtype")
        lifetimes.unwatch(self)
        cell = cell_of(new)
        v = as_detached(peek(new))
        if self._tl_counter is None:
            self._tl_counter = counter_of(self._tl_v)
        self._tl_cell, self._tl_at = cell, cell.n
        self._tl_laid = new._tl_laid
        if old.needs:
            if old.leaf is not None and old.leaf is self._tl_leaf and new.dtype is not self.dtype:
                v = as_leaf(v, self._tl_renew_leaf())
            else:
                v = with_history(v, old)
        if v.seen is None or not v.needs:  # whoever saves it is to be told of later writes to this tensor, not of those to the other one
            v = own_value(v, self._tl_counter)
            mark_seen(v, self._tl_counter)
        self._tl_v = v
        base = None if self._tl_view is None else self._tl_view.base
        if base is not None or new._tl_view is not None:
            self._tl_view = View(base, () if new._tl_view is None else new._tl_view.chain, "default" if base is None else self._tl_view.creation)
        else:  # what was shown before may have been a part of another tensor
            self._tl_view = None

    @data.deleter
    def data(self):
        raise RuntimeError("Deleting tensor data is not allowed. Delete tensor instead!")

    def __format__(self, spec):
        if self.ndim == 0 and type(self) is Tensor and not self.is_meta:
            from ._tensor_str import scalar_format

            return scalar_format(self.item(), spec)
        return object.__format__(self, spec)


@functools.cache
def _words():
    from ._core import words

    return words


@functools.cache
def _autograd():
    from . import autograd

    return autograd


def wrap(v: Value) -> Tensor:
    """A fresh Tensor over a Value."""
    t = _new(Tensor)
    t._tl_v = v
    return t


def from_array(array, dtype, requires_grad=False, device="cpu", like=None) -> Tensor:
    """A Tensor over a concrete array; like: a host array goes where this tensor lives, if that is one other device."""
    if like is not None and like._tl_v.aval.device != "cpu" and not devices.is_loose(like._tl_v.aval.device):
        device = like._tl_v.aval.device
        array = placed.adopt(array, device)
    t = _new(Tensor)
    t._tl_v = data(array, dtype, device=device)
    if thread.state.inference:
        t._tl_v.needs = INFERENCE
    if requires_grad:
        t.requires_grad_()
    return t


