"""`x[...]` and `x[...] = v` (layer 6): basic indices are views, index tensors gather copies; integers and starts of slices are runtime numbers.

Indices are taken from left to right as torch takes them: an integer selects, a slice cuts, None inserts a dim, index tensors and masks are noted with the
dim where they stand and applied together at the end.
"""

from __future__ import annotations

import copy
import functools
import operator

import numpy as np

from .._ops.registry import OPS
from .._ops.spec import spec_of
from .._tensor import Tensor, from_array, wrap
from . import devices, dtypes, levels
from .chains import written_repeats
from .dispatch import check_inplace, inplace, run
from .hot import PLAIN, twin, view
from .layouts import check_overlap
from .mixed import check_written
from .nothing import no_nonzero
from .numeric import check_number, check_stored, warn_imaginary
from .overriding import ACTIVE, asked
from .plan import COPY_SLICES
from .ranges import settle_several
from .record import number_kind, record_op
from .saying import warn
from .shapes import as_long, wrap_dim
from .storage import as_detached, cell_of, repeats

_SELECT, _SLICE = OPS["select.int"], OPS["_slice"]
SELECT_FIRST = spec_of(_SELECT, (("dim", 0),), ("T", "i"))
SLICES: dict = {}  # (dim, length, step) -> Spec


# Views

def _plain_view(t, key, **statics):
    return view(spec_of(OPS[key], tuple(statics.items()), ("T",)), t)


def _select(t, dim, i, position):
    shape = t._tl_v.aval.shape
    n = shape[dim] if dim < len(shape) else 0
    if i < 0:
        i += n
        if i < 0:
            raise _bad_index(i - n, position, n)
    elif i >= n:
        raise _bad_index(i, position, n)
    return view(SELECT_FIRST if dim == 0 else spec_of(_SELECT, (("dim", dim),), ("T", "i")), t, i)


def _bad_index(i, position, n):
    return IndexError(f"index {as_long(i)} is out of bounds for dimension {position} with size {n}")


def _no_dims(index=0):
    if type(index) is int and index:
        return _bad_index(index, 0, 0)
    return IndexError("invalid index of a 0-dim tensor. Use `tensor.item()` in Python or `tensor.item<T>()` in C++ to convert a 0-dim tensor to a number")


def _ends(s, n):
    """(start, stop, step) of a slice of n elements; torch's error where it goes backwards."""
    ends = s.indices(n)
    if ends[2] < 0:
        raise ValueError("step must be greater than zero")
    return ends


def _cut(t, dim, s, keep_whole):
    """A slice of one dim; a whole one records nothing unless it stands alone."""
    shape = t._tl_v.aval.shape
    n = shape[dim if dim < len(shape) else wrap_dim(dim, len(shape))]
    start, stop, step = _ends(s, n)
    length = stop - start if step == 1 else (stop - start + step - 1) // step
    length = max(length, 0)
    if length == n and step == 1 and not keep_whole and (s.start is None or operator.index(s.start) == 0):
        return t
    key = (dim, length, step)
    spec = SLICES.get(key)
    if spec is None:
        if len(SLICES) > 4096:
            SLICES.clear()
        spec = SLICES[key] = spec_of(_SLICE, (("dim", dim), ("length", length), ("step", step)), ("T", "i"))
    return view(spec, t, start)


# Reading

def getitem(t, index):
    """x[index]."""
    kind = type(index)
    if ACTIVE and (kind not in (int, slice) or type(t) not in PLAIN):
        done, out = asked(Tensor.__dict__["__getitem__"], (t, *(index if kind is tuple else (index,))), {}, told=(t, index))
        if done:
            return out
    if kind is int:
        if not t._tl_v.aval.shape:
            raise _no_dims(index)
        return _select(t, 0, index, 0)
    if kind is slice and t._tl_v.aval.shape:
        return _cut(t, 0, index, True)
    out, indices = _taken(t, index)
    if indices:
        return _gathered(out, *_expanded(out, indices))
    return _plain_view(t, "alias") if out is t else out


def _gathered(t, indices, dims):
    return run(*_take(t, indices, dims))


def _take(t, indices, dims):
    flat = (t, *indices)
    spec = spec_of(OPS["_index"], (("dims", dims),), ("T", ("L", len(indices))))
    return settle_several(spec, flat, dims), flat


def take_plan(t, found):
    """(spec, flat) of a read by index tensors."""
    return _take(t, *_expanded(t, found))


# From left to right

def _taken(t, index):
    """(view by the basic parts of an index, [(dim, index tensor or mask)])."""
    items = _items(index)
    own = _consumed(items)
    if own > t.ndim:
        raise _too_many(t, index)
    out, dim, found, whole = t, 0, [], t.ndim
    for position, item in enumerate(items):
        kind = type(item)
        if kind is int:
            out = _select(out, dim, item, position)
        elif kind is slice:
            out = _cut(out, dim, item, False)
            dim += 1
        elif item is None:
            out = _plain_view(out, "unsqueeze", dim=dim)
            dim += 1
        elif item is Ellipsis:
            dim += whole - own
        else:
            out, dim = _other(out, dim, item, position, found)
    return out, found


def _too_many(t, index):
    if not t.ndim and _is_integer(index):
        return _no_dims()
    if not t.ndim and isinstance(index, slice):
        _ends(index, 0)
        return IndexError("slice() cannot be applied to a 0-dim tensor.")
    return IndexError(f"too many indices for tensor of dimension {t.ndim}")


def _items(index):
    if isinstance(index, tuple):
        return index
    return tuple(index) if _is_tuple_in_disguise(index) else (index,)


def _is_tuple_in_disguise(index):
    """torch 2.13 takes a short sequence that holds sequences, slices, None or ... as a tuple."""
    if isinstance(index, (Tensor, np.ndarray)) or not _is_sequence(index) or len(index) >= 32:
        return False
    if not any(x is None or x is Ellipsis or isinstance(x, (slice, Tensor)) or _is_sequence(x) for x in index):
        return False
    warn("Using a non-tuple sequence for multidimensional indexing is deprecated and will be changed in pytorch 2.9; use x[tuple(seq)] instead of x[seq]. In "
         "pytorch 2.9 this will be interpreted as tensor index, x[torch.tensor(seq)], which will result either in an error or a different result (Triggered "
         "internally at /pytorch/torch/csrc/autograd/python_variable_indexing.cpp:349.)")
    return True


def _is_sequence(x):
    return isinstance(x, (list, tuple, range, str, bytes, np.ndarray)) or (
        hasattr(type(x), "__getitem__") and hasattr(type(x), "__len__") and not isinstance(x, (dict, set, np.generic, Tensor)))


def _is_integer(x):
    return isinstance(x, (int, np.integer)) and not isinstance(x, (bool, np.bool_))


def _consumed(items):
    """How many dims the parts of an index stand for."""
    n = 0
    for x in items:
        if isinstance(x, Tensor):
            n += x.ndim if x.dtype in (dtypes.bool_, dtypes.uint8) else 1
        elif x is not None and x is not Ellipsis and x is not True and x is not False:
            n += 1
    return n


def _other(t, dim, item, position, found):
    """One part that is neither int, slice, None nor ...: (view so far, next dim)."""
    if isinstance(item, bool):
        return _truth(t, dim, item, found)
    if _is_integer(item):
        return _select(t, dim, int(item), position), dim
    if not isinstance(item, Tensor):
        item = _tensor(item)
    if item.ndim == 0 and item.dtype.category < dtypes.FLOAT and levels.mapped(item._tl_v) is None:
        if item.dtype in (dtypes.bool_, dtypes.uint8):
            return _truth(t, dim, bool(item.item()), found)
        return _select(t, dim, int(item.item()), position), dim
    found.append((dim, item))
    return t, dim + (item.ndim if item.dtype in (dtypes.bool_, dtypes.uint8) else 1)


def _truth(t, dim, value, found):
    """True and False index a new dim of size 1 by [0] and by nothing."""
    found.append((dim, from_array(np.zeros(int(value), np.int64), dtypes.int64, like=t)))
    return _plain_view(t, "unsqueeze", dim=dim), dim + 1


def _tensor(item):
    """An index tensor from a sequence: bools stay, everything else becomes int64."""
    if not _is_sequence(item):
        try:
            return from_array(np.asarray(operator.index(item), np.int64), dtypes.int64)
        except TypeError:
            raise IndexError("only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid indices "
                             f"(got {_type_name(item)})") from None
    if isinstance(item, np.ndarray):
        a = item
    elif type(item) is list and all(type(x) is int for x in item):
        a = np.array(item, np.int64)
    else:
        from .._functions.data import from_data  # cycle: nested data is read where tensors are made

        return _index_dtype(from_data(item, None, copy=True))
    return _index_dtype(from_array(np.array(a), dtypes.from_numpy_dtype(a.dtype)))


def _index_dtype(t):
    return t if t.dtype in (dtypes.bool_, dtypes.uint8, dtypes.int64) else from_array(t._tl_numpy().astype(np.int64), dtypes.int64)


# Index tensors together

def _expanded(t, found):
    """(index tensors, their dims): masks become the places where they hold."""
    indices, dims, shape, at = [], [], t._tl_v.aval.shape, 0
    for at, item in found:
        d = item.dtype
        if d is dtypes.int64 or d is dtypes.int32:
            indices.append(item if item._tl_v.aval.device == t._tl_v.aval.device else beside(item, t))
            dims.append(at)
        elif d is dtypes.bool_ or d is dtypes.uint8:
            for k, place in enumerate(places_of(item, shape, at)):
                indices.append(place if place._tl_v.aval.device == t._tl_v.aval.device else beside(place, t))
                dims.append(at + k)
        else:
            raise IndexError("tensors used as indices must be long, int, byte or bool tensors")
    if dims and dims[-1] >= len(shape):
        raise IndexError(f"too many indices for tensor of dimension {len(shape)} (got {dims[-1] + 1})")
    return indices, tuple(dims)


def beside(index, t):
    """An index of the host's for a tensor that lives elsewhere."""
    own, there = index._tl_v.aval.device, t._tl_v.aval.device
    if own != "cpu" and there == "cpu" and not devices.is_loose(own):
        raise RuntimeError("indices should be either on cpu or on the same device as the indexed tensor (cpu)")
    return index.to(there) if own == "cpu" else index


def check_mask(mask, shape, at):
    """torch's error where a mask does not fit the dims from `at` on."""
    own = mask._tl_v.aval.shape
    for k, n in enumerate(own):
        if at + k >= len(shape) or shape[at + k] != n:
            raise IndexError(f"The shape of the mask {list(own)} at index {k} does not match the shape of the indexed tensor {list(shape)} at index {at + k}")


def places_of(mask, shape, at):
    """One index tensor per dim of a mask."""
    if mask.dtype is dtypes.uint8:
        warn("indexing with dtype torch.uint8 is now deprecated, please use a dtype torch.bool instead. (Triggered internally at "
             "/pytorch/aten/src/ATen/native/IndexingUtils.h:37.)")
    check_mask(mask, shape, at)
    levels.refuse_dynamic(mask, "mask")
    if mask.is_meta:
        raise no_nonzero()
    places = [from_array(a.astype(np.int64), dtypes.int64) for a in np.nonzero(mask._tl_numpy())]
    counter = cell_of(mask).counter
    for p in places:
        p._tl_v.seen = counter, counter.n, mask._tl_v.aval  # torch saves the mask, whose type its error tells
    return places


# Writing

def setitem(t, index, value):
    """x[index] = value."""
    if ACTIVE or type(value) not in PLAIN:
        done, _ = asked(setitem, (t, index, value), {})
        if done:
            return
    value = _assignable(t, value)
    if index is False:
        return
    kind = type(index)
    if kind is int:
        if not t._tl_v.aval.shape:
            raise _no_dims(index)
        write_to(_select(t, 0, index, 0), value)
    elif kind is slice and t._tl_v.aval.shape:
        write_to(_cut(t, 0, index, False), value)
    elif index is Ellipsis:
        write_to(t, value)
    elif index is None or index is True:
        write_to(_plain_view(t, "unsqueeze", dim=0), value)
    else:
        out, found = _taken(t, index)
        if found:
            _put(out, found, value)
        else:
            write_to(out, value)


def _assignable(t, value):
    """The tensor or number; numbers are refused before the index is looked at."""
    if isinstance(value, Tensor):
        return value
    kind = type(value)
    if kind is not float and kind is not int and kind is not bool:
        value = _number(t, value)
    if type(value) is int and not -1 << 63 <= value < 1 << 63:
        raise ValueError("Overflow when unpacking long long")
    check_stored(value, t._tl_v.aval.dtype)
    return value


def _number(t, value):
    if isinstance(value, (int, np.integer)):
        return int(value)
    if isinstance(value, float):  # of NumPy's only float64, which is Python's too
        return float(value)
    if isinstance(value, complex):
        return complex(value)
    raise TypeError(f"can't assign a {_type_name(value)} to a {'torch.' if t.is_cpu else 'torch.cuda.'}{t.dtype.char_name}Tensor")


def _type_name(x):
    kind = type(x)
    return kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"


def write_to(target, value):
    """An assignment to a whole tensor: equal shapes copy, one element fills, others are expanded."""
    if not isinstance(value, Tensor):
        _refuse_repeated(target)
        inplace((_ASSIGNS if target._tl_v.aval.shape else _COPIES)[number_kind(value)], (target, value), target)
        return
    want, have = target._tl_v.aval.shape, value._tl_v.aval.shape
    if want == have:
        copy_into(target, value)
    elif not have:
        _refuse_repeated(target)
        fill(target, value)
    else:
        value = _stripped(value)
        copy_into(target, value if value._tl_v.aval.shape == want else _plain_view(value, "expand", size=want, implicit=False))


def _refuse_repeated(t):
    error = None if t._tl_view is None else repeats(t)
    if error is not None:
        raise error


def _stripped(value):
    """A tensor without its leading dims of size 1."""
    shape = value._tl_v.aval.shape
    k = next((i for i, n in enumerate(shape) if n != 1), len(shape))
    return _plain_view(value, "view", size=shape[k:])


_ZERO = spec_of(OPS["_zero_"], (), ("T",))
_FILL_TENSOR = spec_of(OPS["_fill_.Tensor"], (), ("T", "T"))
_COPY = spec_of(OPS["_copy_"], (), ("T", "T"))
_ASSIGNS = {k: spec_of(OPS["_fill_.Tensor"], (), ("T", k)) for k in "fibc"}
_COPIES = {k: spec_of(OPS["_copy_"], (), ("T", k)) for k in "fibc"}
_FILLS = {k: spec_of(OPS["_fill_"], (), ("T", k)) for k in "fibc"}


def fill(t, value):
    """t.fill_(value)."""
    if isinstance(value, Tensor):
        check_inplace(t, (value,))
        if t._tl_view is not None and _shows_again(t):
            raise written_repeats()
        _warn_of_parts(value, t)
        return inplace(_FILL_TENSOR, (t, value), t)
    own = _unrepeated(t)
    check_number(value, t.dtype)
    spec = _FILLS[number_kind(value)]
    return inplace(spec if own is t else _refusing(spec), (own, value), own)


def _warn_of_parts(src, t):
    """torch's warning where complex elements are written to real ones."""
    have, want = src._tl_v.aval, t._tl_v.aval.dtype
    if have.dtype.is_complex and not (want.is_complex or want is dtypes.bool_ or 0 in have.shape):
        warn_imaginary()


def zero(t):
    """t.zero_()."""
    own = t if t._tl_view is None else _unrepeated(t)
    return twin(_ZERO, t, None, inplace) if own is t else inplace(_refusing(_ZERO), (own,), own)


def _shows_again(t):
    shape = t._tl_v.aval.shape
    return 0 not in shape and any(s == 0 and n > 1 for n, s in zip(shape, t._tl_geometry()[0]))


@functools.cache
def _refusing(spec):
    """The fill of what an expanded tensor repeats: torch writes it, and its gradient refuses to write to elements that repeat."""
    op = copy.copy(spec.op)
    op.specs, op.refuses, op.node = {}, _refuse_gradient, COPY_SLICES
    return spec_of(op, (), spec.pattern)


def _refuse_gradient(types, result, *_):
    if 0 not in result.shape:
        raise written_repeats()


def _unrepeated(t):
    """What an expanded tensor repeats (a fill with a number may write to it)."""
    view = t._tl_view
    if view is None or view.chain[-1:] == () or view.chain[-1][0].op.name != "expand" or 0 not in t._tl_geometry()[0]:
        return t
    check_inplace(t)
    out = view.base if view.base is not None else _root(t)
    for spec, numbers in view.chain[len(view.under.chain) if view.under is not None else 0:-1]:
        out = run(spec, (out, *numbers))
    return _unrepeated(out)


def _root(t):
    """A tensor over all of the cell of `t`, with its versions and no history."""
    out = wrap(as_detached(t._tl_cell.value))
    out._tl_cell, out._tl_at, out._tl_counter = t._tl_cell, t._tl_cell.n, t._tl_counter
    return out


def copy_into(t, src):
    """t.copy_(src)."""
    if src._tl_v.aval.device != t._tl_v.aval.device:
        check_written("copy_.default", t._tl_v.aval, src._tl_v.aval)
        src = src.to(t._tl_v.aval.device)
    check_inplace(t, (src,))
    if src._tl_cell is not None and src._tl_cell is t._tl_cell:
        check_overlap(t, src)
    have, want = src._tl_v.aval, t._tl_v.aval
    _warn_of_parts(src, t)
    if len(have.shape) > len(want.shape):
        from .shapes import broadcast

        raise RuntimeError(f"output with shape {list(want.shape)} doesn't match the broadcast shape {list(broadcast(want.shape, have.shape))}")
    return twin(_COPY, t, src, inplace)


# Writing by index tensors

def _put(t, found, value):
    """The write of an assignment with index tensors."""
    if isinstance(value, Tensor) and value.ndim and value._tl_v.aval.shape[0] == 1:
        value = _stripped(value)
    try:
        plan = put_plan(t, found, value, False)
    except (IndexError, RuntimeError):
        check_inplace(t)  # torch refuses to write to a leaf before it looks at the indices
        raise
    inplace(*plan, t)


def found(indices):
    """[(dim, index tensor or mask)] of index tensors from the first dim on; None stands for a whole dim, a mask for as many as it has."""
    out, at = [], 0
    for i in indices:
        if i is not None:
            out.append((at, i))
        at += i.ndim if i is not None and i.dtype in (dtypes.bool_, dtypes.uint8) else 1
    return out


def put_plan(t, found, value, accumulate):
    """(spec, flat) of a write by index tensors; one value under one mask needs no data.  A number is one that the dtype holds."""
    if len(found) == 1 and not accumulate and found[0][1].dtype in (dtypes.bool_, dtypes.uint8) and (not isinstance(value, Tensor) or value.numel() == 1):
        dim, mask = found[0]
        check_mask(mask, t._tl_v.aval.shape, dim)
        if levels.hidden_among((t,)):
            levels.refuse_dynamic(mask, "mask")
        mask = beside(mask, t)
        if mask.dtype is dtypes.uint8:
            raise RuntimeError("masked_fill_ only supports boolean masks, but got mask with dtype unsigned char")
        if isinstance(value, Tensor) and value._tl_v.aval.dtype.is_complex and not t._tl_v.aval.dtype.is_complex:
            check_stored(value.item(), t._tl_v.aval.dtype)  # one value under one mask is read as a number
        return spec_of(OPS["_mask_put"], (("dim", dim),), ("T", "T", "T" if isinstance(value, Tensor) else number_kind(value))), (t, mask, value)
    if not found:
        if isinstance(value, Tensor) and value.ndim > t.ndim:
            raise RuntimeError(f"shape mismatch: value tensor of shape {list(value.shape)} cannot be broadcast to indexing result of shape {list(t.shape)}")
        if not accumulate and (not isinstance(value, Tensor) or value.numel() == 1):  # torch asks for the mask that it would fill
            raise RuntimeError("sym_strides() called on an undefined Tensor" if t.ndim else
                               "masked_fill_ only supports boolean masks, but got mask with dtype nullptr (uninitialized)")
        raise RuntimeError('ntensor >= 3 INTERNAL ASSERT FAILED at "/__w/pytorch/pytorch/aten/src/ATen/native/cpu/IndexKernelUtils.h":8, please report a bug '
                           "to PyTorch. ")
    indices, dims = _expanded(t, found)
    if not isinstance(value, Tensor):
        value = wrap(record_op(spec_of(OPS["_full"], (("size", ()), ("dtype", t.dtype)), (number_kind(value),)), (value,))[0])
    spec = spec_of(OPS["_index_put"], (("dims", dims), ("accumulate", bool(accumulate))), ("T", ("L", len(indices)), "T"))
    return settle_several(spec, (t, *indices), dims, (t, *indices, value)), (t, *indices, value)


__all__ = ["check_number", "check_overlap", "copy_into", "fill", "found", "getitem", "places_of", "put_plan", "setitem", "take_plan", "write_to", "zero"]
