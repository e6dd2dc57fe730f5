"""Writing whole tensors, and functional or in-place forms of views (layer 7)."""

from __future__ import annotations

import operator

import numpy as np

from .._core import errors, layouts, levels, sharing
from .._core.composite import composite, named
from .._core.dispatch import check_inplace, run
from .._core.indexing import copy_into, fill, zero
from .._core.record import INFERENCE, record_op, thread
from .._core.shapes import LARGEST, check_bytes, contiguous_strides, numel, wrap_dim
from .._core.state import copy_state
from .._core.storage import View, as_detached, as_leaf, cell_of, follow, is_inference, mark_seen, memory_size, retained_behind, with_history, write
from .._core.words import type_name
from .._ops.conventions import cxx_of
from .._ops.registry import OPS
from .._ops.spec import spec_of
from .._tensor import Tensor, from_array
from .create import filled
from .join import _cat
from .norm import into
from .shape import _narrow_plan, as_strided, copied, sliced, strided_plan
from .typed import published


@composite("Tensor.__delitem__")
def __delitem__(self, index):
    """Elements cannot be deleted."""
    raise TypeError("Tensor does not support deleting items")


# Filling and copying


@composite("Tensor.fill_", "torch.fill_")
def fill_(self, value):
    """One value everywhere."""
    if isinstance(value, Tensor) and value.ndim:
        check_inplace(self, (value,))
        raise RuntimeError(f"fill_ only supports 0-dimension value tensor but got tensor with {value.ndim} dimensions.")
    if not isinstance(value, (Tensor, int, float, complex, np.generic)):
        raise TypeError(f"fill_(): argument 'value' (position 1) must be Number, not {type(value).__name__}")
    fill(self, value.item() if isinstance(value, np.generic) else value)
    return self


_fill = named("fill")


@composite("torch.fill")
def filled_like(input, value):
    """A copy with one value everywhere."""
    if isinstance(value, Tensor) and value.ndim:
        raise RuntimeError(f"fill_ only supports 0-dimension value tensor but got tensor with {value.ndim} dimensions.")
    return _fill(input, value)


@composite("Tensor.zero_", "torch.zero_")
def zero_(self):
    """Zeros everywhere."""
    if not isinstance(self, Tensor):
        raise TypeError(f"zero_(): argument 'input' (position 1) must be Tensor, not {type_name(self)}")
    zero(self)
    return self


@composite("Tensor.copy_")
def copy_(self, other, non_blocking=False):
    """The values of another tensor, broadcast and converted."""
    src = other
    if not isinstance(src, Tensor):
        if not isinstance(src, (int, float, complex, np.number, np.bool_)):
            raise TypeError(f"copy_(): argument 'other' (position 1) must be Tensor, not {type_name(src)}")
        src = filled((), src.item() if isinstance(src, np.generic) else src, self.dtype)
    copy_into(self, src)
    return self


@composite("Tensor.fill_diagonal_")
def fill_diagonal_(self, fill_value, wrap=False):
    """One number on the main diagonal; with `wrap` it goes on below it in a tall matrix."""
    if isinstance(fill_value, Tensor) and fill_value._tl_needs:
        raise TypeError("fill_diagonal_(): argument 'fill_value' (position 1) must be Number, not Tensor")
    shape, strides = self._tl_v.aval.shape, self.stride()
    if len(shape) < 2:
        raise RuntimeError("dimensions must larger than 1")
    if len(shape) > 2 and len(set(shape)) != 1:
        raise RuntimeError("all dimensions of input must be of equal length")
    n = min(shape)
    as_strided(self, (n,), (sum(strides),)).fill_(fill_value)
    if wrap and len(shape) == 2 and shape[0] > shape[1] + 1:
        step = shape[1] + 1
        rest = -(-(numel(shape) - n * step) // step)
        as_strided(self, (rest,), (sum(strides),), self.storage_offset() + strides[0] * step).fill_(fill_value)
    return self


# Functional writes through views

@composite("torch.select_scatter", "Tensor.select_scatter")
def select_scatter(input, src, dim, index):
    """A copy with one index of a dim replaced."""
    d, i = _entry(input, dim, index)
    return run(spec_of(OPS["_select_scatter"], (("dim", d),), ("T", "T", "i")), (input, src, i))


def _entry(input, dim, index):
    """(dim, index) counted from the start; torch's error for an index out of range."""
    shape = input._tl_v.aval.shape
    if not shape:
        raise IndexError("select() cannot be applied to a 0-dim tensor.")
    d, i = wrap_dim(dim, len(shape), scalar_ok=False), operator.index(index)
    if not -shape[d] <= i < shape[d]:
        raise IndexError(f"select(): index {i} out of range for tensor of size {list(shape)} at dimension {d}")
    return d, i + shape[d] if i < 0 else i


@composite("torch.slice_scatter")
def slice_scatter(input, src, dim=0, start=None, end=None, step=1, *, out=None):
    """A copy with a range of a dim replaced."""
    d, first, length = _range(input, dim, start, end, step)
    spec = spec_of(OPS["_slice_scatter"], (("dim", d), ("length", length), ("step", step)), ("T", "T", "i"))
    if out is not None and out.dtype is not input.dtype:
        raise RuntimeError(f"Expected out tensor to have dtype {cxx_of(input.dtype)}, but got {cxx_of(out.dtype)} instead")
    return into("slice_scatter", out, run(spec, (input, src, first)), input, src)


@composite("Tensor.slice_scatter")
def tensor_slice_scatter(self, src, dim=0, start=None, end=None, step=1):
    """A copy with a range of a dim replaced."""
    return slice_scatter(self, src, dim, start, end, step)


def _range(input, dim, start, end, step):
    """(dim, first index, length) of a slice."""
    shape = input._tl_v.aval.shape
    if not shape:
        raise IndexError("slice() cannot be applied to a 0-dim tensor.")
    d = wrap_dim(dim, len(shape), scalar_ok=False)
    if step <= 0:
        raise RuntimeError("slice step must be positive")
    first, last, _ = slice(start, end).indices(shape[d])
    return d, first, max(-(-(last - first) // step), 0)


@composite("torch.select_copy")
def select_copy(input, dim, index, *, out=None):
    """A copy of one index of a dim."""
    d, i = _entry(input, dim, index)
    return into("select_copy", out, run(spec_of(OPS["_select_copy"], (("dim", d),), ("T", "i")), (input, i)), input)


@composite("torch.slice_copy")
def slice_copy(input, dim=0, start=None, end=None, step=1, *, out=None):
    """A copy of a range of a dim."""
    d, first, length = _range(input, dim, start, end, step)
    result = run(spec_of(OPS["_slice_copy"], (("dim", d), ("length", length), ("step", step)), ("T", "i")), (input, first))
    return into("slice_copy", out, result, input)


def _parts_into(name, where, parts, out, input):
    """The copies that an operator gives, written into a list of tensors; None then, as in torch."""
    if out is None:
        return parts
    if isinstance(out, Tensor) or not isinstance(out, (tuple, list)):
        raise TypeError(f"{name}(): argument 'out' must be tuple of Tensors, not {type(out).__name__}")
    if len(out) != len(parts):
        raise RuntimeError(f"{where} expected an out= argument of size {len(parts)}, got size {len(out)}")
    for o, part in zip(out, parts):
        if name == "split_copy":
            o.copy_(part)  # torch 2.13: not resized, any dtype
        else:
            into(name, o, part, input)
    return None


@composite("torch.unbind_copy")
def unbind_copy(input, dim=0, *, out=None):
    """Copies of the entries of a dim."""
    return _parts_into("unbind_copy", "unbind_copy_int_out", named("unbind_copy")(input, dim), out, input)


@composite("torch.split_copy")
def split_copy(input, split_size, dim=0, *, out=None):
    """Copies of parts of a size."""
    return _parts_into("split_copy", "split_copy_Tensor_out()", named("split_copy")(input, split_size, dim), out, input)


@composite("torch.split_with_sizes_copy")
def split_with_sizes_copy(input, split_sizes, dim=0, *, out=None):
    """Copies of parts of given sizes."""
    return _parts_into("split_with_sizes_copy", "split_with_sizes_copy_out", named("split_with_sizes_copy")(input, split_sizes, dim), out, input)


@published("as_strided_scatter(Tensor self, Tensor src, int[] size, int[] stride, int? storage_offset=None)")
def as_strided_scatter(input, src, size, stride, storage_offset=None):
    """`input` with the elements of a geometry of its memory replaced, which is that of its storage where it is a view."""
    if levels.mapped_among((input, src)):
        raise RuntimeError("Error: aten::as_strided_scatter requires special handling, and does not yet have a batching rule. "
                           "Feel free to file a github issue!")
    if input.is_contiguous() and not input.storage_offset():
        statics = (("size", tuple(size)), ("stride", tuple(stride)), ("storage_offset", storage_offset))
        return run(spec_of(OPS["as_strided_scatter"], statics, ("T", "T")), (input, src))
    if thread.state.grad and (input._tl_needs or src._tl_needs):
        raise NotImplementedError("torchlike_autograd: gradients of as_strided_scatter into a view that does not begin its storage row by row")
    memory = named("clone")(as_strided(Tensor.detach(input), (memory_size(input) // input.itemsize,), (1,), 0))
    replaced = as_strided(memory, size, stride, input.storage_offset() if storage_offset is None else storage_offset)
    if replaced.shape != src.shape:
        raise RuntimeError(f"expected src to have a size equal to the slice of self. src size = {list(src.shape)}, slice size = {list(replaced.shape)}")
    replaced.copy_(src)
    return as_strided(memory, input.shape, input.stride(), input.storage_offset())


@composite("torch.as_strided_copy")
def as_strided_copy(input, size, stride, storage_offset=None, *, out=None):
    """A copy of a view with chosen strides."""
    source, size, stride, offset, own = strided_plan(input, size, stride, storage_offset)
    if input._tl_needs and not source._tl_needs:  # memory behind a leaf, which `as_strided` knows the history of
        return into("as_strided_copy", out, named("clone")(as_strided(input, size, stride, offset + source.storage_offset())), input)
    statics = (("size", size), ("stride", stride), ("offset", offset), ("own", own), ("storage_offset", storage_offset))
    result = run(spec_of(OPS["_as_strided_copy"], statics, ("T",)), (source,))
    return into("as_strided_copy", out, result, input)


@composite("torch.narrow_copy")
def narrow_copy(input, dim, start, length, *, out=None):
    """A copy of a range of a dim."""
    if input.ndim and dim >= input.ndim:
        raise RuntimeError("Expected dim < static_cast<int64_t>(self_sizes.size()) to be true, but got false.  (Could this error message be improved?  "
                           "If so, please report an enhancement request to PyTorch.)")
    if input.ndim and length < 0:
        raise RuntimeError(f"start ({start}) + length ({length}) exceeds dimension size ({input.shape[dim]}).")
    d, start = _narrow_plan(input, dim, start, length)
    return into("narrow_copy", out, run(spec_of(OPS["_narrow_copy"], (("dim", d), ("length", length)), ("T", "i")), (input, start)), input)


@composite("Tensor.narrow_copy")
def tensor_narrow_copy(self, dim, start, length):
    """A copy of a range of a dim."""
    return narrow_copy(self, dim, start, length)


# Views of a tensor onto itself

def _rearranged(t, link, key):
    """Turn `t` into a view of itself: link is the spec of the view, key the operator whose node torch gives it."""
    check_inplace(t)
    if t._tl_view is not None and t._tl_view.of_two:
        return t._tl_view.turned(t, lambda part: _rearranged(part, link, key))
    if not is_inference(t) or thread.state.inference:
        return _turned(t, link, key)
    state = thread.state
    before, state.inference, state.grad = (state.inference, state.grad), True, INFERENCE
    try:
        _turned(t, link, key)  # refused, and turned nevertheless, as in torch
    finally:
        state.inference, state.grad = before
    raise errors.inference_written()


def _turned(t, link, key):
    old = t._tl_value()
    if t._tl_cell is None and levels.mapped(old) is not None:
        cell_of(t)  # the map gives the argument that `t` is an example of the same dims, and has to see the link
    spec = spec_of(OPS[key], tuple(link.statics.items()), ("T",))
    shape, (strides, offset) = old.aval.shape, t._tl_geometry()
    _, strides, offset = link.op.layout(shape, strides, offset, **link.statics)
    if old.needs and not thread.state.grad:
        new = with_history(record_op(spec, (as_detached(old),))[0], old)
    else:
        new = record_op(spec, (old,))[0]
    if thread.state.grad:
        retained_behind(t, old)
    if t._tl_cell is None:
        write(t, new)
        t._tl_laid = (strides, offset)
        return t
    if new.needs:
        follow(old, new, t._tl_counter)
    view = t._tl_view
    t._tl_view = View(None, ((link, ()),), "default") if view is None else View(view.base, (*view.chain, (link, ())), view.creation, view.under)
    t._tl_laid = None
    t._tl_cell.n += 1
    t._tl_v, t._tl_at = new, t._tl_cell.n
    if old.needs and view is not None and view.base is not None and not thread.state.grad:
        mark_seen(new, t._tl_counter)  # a version that is over at once: torch reads the view again
        t._tl_at = -1
    t._tl_counter.n += 1
    if t._tl_at >= 0:
        mark_seen(new, t._tl_counter)
    return t


def _renamed(name, key, node_key, arguments):
    def method(self, *args, **kwargs):
        if name == "t_" and self.ndim > 2:
            check_inplace(self)
            raise RuntimeError(f"t_() expects a tensor with <= 2 dimensions, but self is {self.ndim}D")
        return _rearranged(self, spec_of(OPS[key(*args, **kwargs)], arguments(*args, **kwargs), ("T",)), node_key(*args, **kwargs))

    method.__name__ = name
    method.__doc__ = f"`{name[:-1]}` of the tensor itself."
    return composite(f"Tensor.{name}")(method)


def _always(x):
    return lambda *args, **kwargs: x


def _squeeze_dim(dims, dim):
    """The dims given one by one, or as one."""
    return dim if not dims else dims[0] if len(dims) == 1 else tuple([operator.index(d) for d in dims])


def _squeeze_kind(*dims, dim=None):
    dim = _squeeze_dim(dims, dim)
    return "squeeze" if dim is None else "squeeze.dim" if isinstance(dim, int) else "squeeze.dims"


def _squeeze_statics(*dims, dim=None):
    dim = _squeeze_dim(dims, dim)
    return () if dim is None else (("dim", dim if isinstance(dim, int) else tuple([operator.index(d) for d in dim])),)


_renamed("t_", _always("t"), _always("_t_"), lambda: ())
_renamed("transpose_", _always("transpose.int"), _always("_transpose_"), lambda dim0, dim1: (("dim0", dim0), ("dim1", dim1)))
_renamed("swapdims_", _always("transpose.int"), _always("_transpose_"), lambda dim0, dim1: (("dim0", dim0), ("dim1", dim1)))
_renamed("swapaxes_", _always("transpose.int"), _always("_transpose_"), lambda axis0, axis1: (("dim0", axis0), ("dim1", axis1)))
_renamed("unsqueeze_", _always("unsqueeze"), _always("_unsqueeze_"), lambda dim: (("dim", dim),))
_renamed("squeeze_", _squeeze_kind, lambda *dims, dim=None: "_" + _squeeze_kind(*dims, dim=dim).replace("squeeze", "squeeze_"), _squeeze_statics)


@composite("Tensor.as_strided_", "torch.as_strided_")
def as_strided_(self, size, stride, storage_offset=None):
    """`as_strided` of the tensor itself."""
    check_inplace(self)
    source, size, stride, offset, own = strided_plan(self, size, stride, storage_offset)
    if source is not self:
        if source is not self._base:
            raise NotImplementedError("as_strided_ beyond a detached view")
        return _view_of_base(self, source, source.as_strided(size, stride, offset + source.storage_offset()))
    link = spec_of(OPS["_as_strided"], (("size", size), ("stride", stride), ("offset", offset), ("own", own), ("storage_offset", storage_offset)), ("T",))
    return _rearranged(self, link, "_as_strided_")


def _view_of_base(t, base, made):
    """Let a view of `base` show what `made`, another one, shows."""
    if t._tl_value().needs or base._tl_value().needs:
        raise NotImplementedError("as_strided_ beyond the elements that a view shows, where gradient flows")
    copy_state(made, t, ("_tl_leaf", "_tl_hooks_dict"))
    t._tl_counter.n += 1
    mark_seen(t._tl_v, t._tl_counter)
    return t


# Storage

def _shown_anew(t, size, steps):
    """Whether the memory of `t` holds as many elements, and lets `t` show them: nothing is copied, and what shares the memory goes on sharing it."""
    if t._tl_v.needs or levels.mapped(t._tl_v) is not None or (is_inference(t) and not thread.state.inference):
        return False
    if t._tl_view is None or t._tl_view.base is None:
        return _memory_shown(t, size, steps)
    try:
        as_strided_(t, size, steps)
    except RuntimeError:  # beyond its memory, or not to be read as one piece
        return False
    return True


def _memory_shown(t, size, steps):
    """The same for a tensor that is no view: from the first on it stands for all of its memory, of which it shows a part."""
    strides, offset = t._tl_geometry()
    cell, first = cell_of(t), t._tl_view.chain[0][0] if t._tl_view is not None and t._tl_view.chain else None
    own = first.statics["own"] if first is not None and first.op.key == "_as_strided" else strides if t._tl_view is None else None
    root = cell.value
    if own != contiguous_strides(root.aval.shape) or root.needs or root.aval.dtype is not t.dtype or offset + numel(size) > numel(root.aval.shape):
        return False
    statics = ("size", size), ("stride", steps), ("offset", offset), ("own", own)
    new = record_op(spec_of(OPS["_as_strided_"], statics, ("T",)), (root,))[0]
    t._tl_view, t._tl_laid = View(None, ((spec_of(OPS["_as_strided"], statics, ("T",)), ()),), "default"), None
    cell.n += 1
    t._tl_v, t._tl_at = new, cell.n
    if t._tl_counter is not None:
        t._tl_counter.n += 1
        mark_seen(new, t._tl_counter)
    return True


def _by_memory(t):
    """A copy of the elements in the order of memory; of a tensor with gaps row by row."""
    strides = t._tl_geometry()[0]
    if not layouts.stretch(t):
        return copied(t).reshape(-1)
    return copied(t.permute(sorted(range(t.ndim), key=lambda d: -strides[d]))).reshape(-1)


def _steps(size, form):
    """The strides of a memory format that was asked for."""
    if form is layouts.preserve_format:
        raise RuntimeError("Unsupported memory formatPreserve")
    return (None if form is None else layouts.channels_strides(size, form)) or contiguous_strides(size)


def _form_of(t):
    """The memory format that a tensor is laid out in."""
    own, shape = t._tl_geometry()[0], tuple(t.shape)
    for rank, form in layouts.LAST.items():
        if len(shape) == rank and own != contiguous_strides(shape) and own == layouts.channels_strides(shape, form):
            return form
    return None


@composite("Tensor.resize_")
def resize_(self, *sizes, memory_format=None):
    """Other sizes over the same elements; others (zeros, unless they are to stand out) are added where there are not enough."""
    size = tuple(sizes[0]) if len(sizes) == 1 and not isinstance(sizes[0], int) else sizes
    if self._tl_needs and not is_inference(self):
        raise RuntimeError("cannot resize variables that require grad")
    size = tuple(size)
    if any(n < 0 for n in size) or numel(size) > LARGEST:
        raise RuntimeError("numel: integer multiplication overflow")
    check_bytes(size, self.dtype.itemsize)
    steps = _steps(size, memory_format)
    if max(steps, default=0) > LARGEST:
        raise RuntimeError("Stride calculation overflowed")
    if size == self._tl_v.aval.shape and (memory_format is None or steps == self._tl_geometry()[0]):
        return self
    if _shown_anew(self, size, steps):
        return self
    if sharing.lent(self._tl_cell) and numel(size) * self.element_size() > memory_size(self):
        raise sharing.not_resizable()
    if steps != contiguous_strides(size):
        resize_(self, numel(size))
        if not _shown_anew(self, size, steps):
            raise NotImplementedError("resize_ to another memory format where the memory cannot be shown as one piece")
        return self
    have, want = self.numel(), numel(size)
    flat = _by_memory(self)
    if want <= have:
        new = sliced(flat, 0, 0, want)
    else:
        new = _cat([flat, flat.new_empty(want - have)])
    if self._tl_cell is not None:
        self._tl_cell, self._tl_view, self._tl_at = None, None, 0
    self._tl_laid = None
    v, leaf = copied(new.reshape(size))._tl_v, self._tl_v.leaf
    if leaf is not None:
        v = as_leaf(v, leaf)
        v.needs = INFERENCE | True
    write(self, v)
    mark_seen(self._tl_v, self._tl_counter)
    return self


@composite("Tensor.resize_as_", "torch.resize_as_")
def resize_as_(self, the_template, memory_format=None):
    """`resize_` to the sizes of another tensor."""
    if memory_format is layouts.preserve_format:
        memory_format = _form_of(the_template)
    return resize_(self, the_template._tl_v.aval.shape, memory_format=memory_format)


@composite("Tensor.set_")
def set_(self, source=None, storage_offset=None, size=None, stride=None):
    """Share the storage of another tensor."""
    if source is None:
        source = from_array(np.zeros(0, self.dtype.np), self.dtype, like=self)
    if not isinstance(source, Tensor):
        source = _elements(self, source)
        size = source.shape if size is None else size
    if source.is_meta != self.is_meta:
        raise RuntimeError(f"Attempted to set the storage of a tensor on device \"{self.device}\" to a storage on different device \"{source.device}\".  This "
                           "is no longer allowed; the devices must match.")
    if source.dtype is not self.dtype:
        raise RuntimeError(f"Could not set tensor of type {cxx_of(source.dtype)} to a tensor of type {cxx_of(self.dtype)}")
    check_inplace(self)
    if size is not None:
        source = as_strided(source, size, contiguous_strides(tuple(size)) if stride is None else stride, storage_offset or 0)
    old, ends = self._tl_v, thread.state.grad and (self._tl_needs or source._tl_needs)
    self._tl_show(source)
    if ends:
        self._tl_v = record_op(_SET, (as_detached(self._tl_v), old if old.needs else source._tl_v))[0]
    self._tl_counter.n += 1
    mark_seen(self._tl_v, self._tl_counter)
    if self._tl_leaf is not None and self._tl_v.leaf is self._tl_leaf:
        self._tl_set_value(as_leaf(as_detached(self._tl_v), self._tl_renew_leaf()))
    return self


_SET = spec_of(OPS["_set"], (), ("T", "T"))


def _elements(self, storage):
    """The elements of a storage as a tensor of this one's dtype that shares its memory."""
    from .storages import TypedStorage, UntypedStorage  # cycle: storages are made from tensors

    if not isinstance(storage, (TypedStorage, UntypedStorage)):
        raise TypeError(f"set_(): argument 'source' (position 1) must be Tensor, not {type(storage).__name__}")
    if isinstance(storage, TypedStorage) and storage.dtype is not self.dtype:
        raise RuntimeError(f"Expected a Storage of type {cxx_of(self.dtype)} or an UntypedStorage, but got type {storage.dtype.char_name} for argument "
                           f"1 'storage'")
    found = storage.tensor()
    if found.dtype is not self.dtype:
        raise NotImplementedError("set_: the memory of a tensor as another dtype")
    return found


__all__ = ["copy_", "fill_", "fill_diagonal_", "narrow_copy", "resize_", "resize_as_", "select_scatter", "set_", "slice_scatter", "zero_"]
