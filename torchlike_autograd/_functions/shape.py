"""Views by name (layer 7): what torch derives from its view operators, and their checks on numbers."""

from __future__ import annotations

import operator

from .._core import bind, dtypes, duals, levels, shapes
from .._core.composite import composite
from .._core.dispatch import run
from .._core.hot import unary
from .._core.hot import view as follow_view
from .._core.laying import keep_order
from .._core.layouts import channels_strides, laid
from .._core.numeric import say_once
from .._core.record import mark_as, number_kind, thread
from .._core.shapes import as_long, check_inside, wrap_dim
from .._core.storage import as_detached, held
from .._core.words import explained
from .._ops import join as _join_ops
from .._ops import shape as _shape_ops
from .._ops import views as _view_ops
from .._ops.memory import preserved
from .._ops.registry import BY_NAME, OPS
from .._ops.spec import spec_of
from .._tensor import Tensor
from .beyond import marked, parts_of, seen_through, whole_of
from .typed import published

_ops = (_join_ops, _shape_ops, _view_ops)


def view_of(t, key, *numbers, **statics):
    """Call a view operator of one tensor: `numbers` are its lifted arguments, `statics` the others, in schema order."""
    spec = spec_of(OPS[key], tuple(statics.items()), ("T", *map(number_kind, numbers)))
    return follow_view(spec, t) if not numbers and spec.single_view else run(spec, (t, *numbers))


_remembered: dict = {}  # see `_key` -> the specs that were recorded


def _key(way, t, size):
    """What decides what `view` or `reshape` records: the sizes as they were given, with their types, and how the tensor lies, unless it is row by row."""
    view = t._tl_view
    if t._tl_laid is None and (view is None or not view.chain):
        return (way, size, *map(type, size))
    return (way, size, *map(type, size), t._tl_v.aval.shape, t._tl_geometry()[0])


def _known(way, t, size):
    """The specs for sizes that were asked for before."""
    try:
        return _remembered.get(_key(way, t, size))
    except TypeError:  # a list
        return None


def _remember(way, t, size, specs):
    if all(type(n) is int or (type(n) is tuple and all(type(i) is int for i in n)) for n in size):
        if len(_remembered) > 4096:
            _remembered.clear()
        _, given, *rest = _key(way, t, size)
        _remembered[way, tuple([shapes.Ints(n) if type(n) is tuple else n for n in given]), *rest] = specs


def _record(specs, t):
    for spec in specs:
        t = follow_view(spec, t) if spec.single_view else unary(spec, t)
    return t


_methods: dict = {}


def refuse(name, *args, method=True, **kwargs):
    """Raise torch's error for arguments that fit no overload (or make the call, if one takes them)."""
    f = _methods.get((name, method))
    if f is None:
        f = _methods[(name, method)] = bind.make_function(name, BY_NAME[name], method)
    return f(*args, **kwargs)


def ints(x):
    """A tuple of Python ints of 64 bits, or None where `x` is no sequence of such."""
    try:
        found = tuple([n if type(n) is int else operator.index(n) for n in x])
    except TypeError:
        return None
    return found if all(map(shapes.is_long, found)) else None


def sizes_of(args):
    """The sizes in varargs or in one sequence; None where they are something else."""
    if len(args) == 1 and isinstance(args[0], (tuple, list)):
        args = args[0]
    return None if args and isinstance(args[0], bool) else ints(args)  # only the first says whether they are ints


def plain(t):
    """Whether a tensor lies row by row (cheap for the usual case)."""
    return (t._tl_laid is None and (t._tl_view is None or not t._tl_view.chain)) or t.is_contiguous()


# Other sizes

def viewed(t, size):
    """`t.view(size)` for a tuple of ints."""
    return _record(_view_specs(t, size), t)


def _view_specs(t, size):
    if not plain(t):
        shape = t._tl_v.aval.shape
        new = shapes.infer_size(size, shapes.numel(shape))
        if shapes.view_strides(shape, t._tl_geometry()[0], new) is None:
            raise RuntimeError(shapes.NOT_VIEWABLE)
    return (_sized("view", size=size),)


def _sized(key, **statics):
    return spec_of(OPS[key], tuple(statics.items()), ("T",))


@composite("Tensor.view")
def view(self, *size, **kwargs):
    """A view with other sizes, or of the same bytes as another dtype."""
    given = size
    specs = None if kwargs else _known("view", self, size)
    if specs is not None:
        return _record(specs, self)
    if kwargs:
        error = explained("Tensor.view", (self, *size), kwargs)
        if error is not None:
            raise error
        size = tuple(kwargs.values())
    dims = sizes_of(size) if size else None
    if dims is not None:
        specs = _view_specs(self, dims)
        out = _record(specs, self)
        _remember("view", self, size, specs)
        return out
    if size is not None and len(size) == 1 and isinstance(size[0], dtypes.dtype):
        return _retyped(self, size[0])
    raise explained("Tensor.view", (self, *given), kwargs) or TypeError("view() received an invalid combination of arguments")


def _check_retyped(t, dtype):
    """torch's errors where elements of another size do not lie as this dtype's would."""
    strides, offset = t._tl_geometry()
    times, words = dtype.itemsize // t.dtype.itemsize, f"to view {t.dtype.char_name} as {dtype.char_name} (different element sizes), but got"
    if times and t.shape[-1] % times:
        raise RuntimeError(f"self.size(-1) must be divisible by {times} {words} {t.shape[-1]}")
    if times and offset % times:
        raise RuntimeError(f"self.storage_offset() must be divisible by {times} {words} {offset}")
    if strides[-1] != 1:
        raise RuntimeError(f"self.stride(-1) must be 1 {words} {strides[-1]}")
    for d, n in enumerate(strides[:-1] if times else ()):
        if n % times:
            raise RuntimeError(f"self.stride({d}) must be divisible by {times} {words} {n}")


def _retyped(t, dtype):
    if t._tl_view is not None and any(link.op.key in ("_conj", "_neg_view", "view_as_real") for link, _ in t._tl_view.chain):
        if t.is_conj():
            raise RuntimeError("torch.Tensor.view is not supported for conjugate view tensors when converting to a different dtype.")
        if t.is_neg():
            raise RuntimeError("torch.Tensor.view is not supported for tensors with negative bit set when converting to a different dtype.")
    if t.ndim and dtype.itemsize != t.dtype.itemsize:
        _check_retyped(t, dtype)
    if isinstance(dtype, dtypes.Small):
        return dtype.np  # raises: there are no tensors of it
    out = view_of(t, "_view_dtype", dtype=dtype, itemsize=t.dtype.itemsize)
    out._tl_view.base = None  # torch 2.13: shares storage and versions, but is no view for autograd
    if t.dtype is dtypes.bool_:
        out._tl_at = -1  # read from the memory when it is looked at: its bytes may be others than 0 and 1
    if out._tl_v.needs:
        seen, out._tl_v = out._tl_v.seen, as_detached(out._tl_v)
        mark_as(out._tl_v, seen)
    return out


def reshaped(t, size):
    """`t.reshape(size)` for a tuple of ints: a view where strides permit, a copy otherwise."""
    return _record(_reshape_specs(t, size), t)


def _reshape_specs(t, size):
    if plain(t):
        return (_sized("view", size=size),)
    shape = t._tl_v.aval.shape
    new = shapes.infer_size(size, shapes.numel(shape))
    strides = shapes.view_strides(shape, t._tl_geometry()[0], new)
    return (_CLONE, _sized("_unsafe_view", size=new)) if strides is None else (_sized("_reshape_alias", size=new, stride=strides),)


@published("reshape(Tensor self, int[] shape)", paths=("Tensor.reshape",))
def reshape(input, *shape, **kwargs):
    """Other sizes: a view where strides permit, a copy otherwise."""
    specs = None if kwargs else _known("reshape", input, shape)
    if specs is not None:
        return _record(specs, input)
    if kwargs and not shape and set(kwargs) == {"shape"}:
        shape = (kwargs["shape"],)
        kwargs = {}
    only_known("reshape", kwargs)
    dims = sizes_of(shape) if shape else None
    if dims is None:
        raise TypeError("reshape() takes sizes")
    specs = _reshape_specs(input, dims)
    out = _record(specs, input)
    _remember("reshape", input, shape, specs)
    return out


@published("reshape(Tensor self, int[] shape)", paths=("torch.reshape",))
def reshape_function(input, shape):
    """`reshape`; as a function it takes the sizes as one sequence."""
    if not isinstance(shape, (tuple, list)):
        raise TypeError("reshape() takes sizes")
    return reshape(input, shape)


def only_known(name, kwargs):
    """Raise for a keyword that is left over."""
    for k in kwargs:
        raise TypeError(f"{name}() got an unexpected keyword argument '{k}'")


@published("view_as(Tensor self, Tensor other)", paths=("Tensor.view_as",))
def view_as(self, other):
    """A view with the sizes of another tensor."""
    return viewed(self, other._tl_v.aval.shape)


@published("reshape_as(Tensor self, Tensor other)", paths=("Tensor.reshape_as",))
def reshape_as(self, other):
    """`reshape` to the sizes of another tensor."""
    return reshaped(self, other._tl_v.aval.shape)


@published("flatten(Tensor self, int start_dim=0, int end_dim=-1)")
def flatten(input, start_dim=0, end_dim=-1):
    """A range of dims as one."""
    shape = input._tl_v.aval.shape
    a, b = wrap_dim(start_dim, len(shape)), wrap_dim(end_dim, len(shape))
    if a > b:
        raise RuntimeError("flatten() has invalid args: start_dim cannot come after end_dim")
    if not shape:
        return reshaped(input, (1,))
    if a == b:
        return input
    return reshaped(input, (*shape[:a], shapes.numel(shape[a:b + 1]), *shape[b + 1:]))


@published("unflatten(Tensor self, int dim, int[] sizes)")
def unflatten(input, dim, sizes):
    """One dim as several."""
    shape = input._tl_v.aval.shape
    if not shape:
        raise RuntimeError(f"unflatten got an unexpected error:\nDimension specified as {dim} but tensor has no dimensions")
    d = wrap_dim(dim, len(shape))
    sizes = ints((sizes,) if isinstance(sizes, int) else sizes)
    if not sizes:
        raise RuntimeError("unflatten: sizes must be non-empty")
    try:
        inferred = shapes.infer_size(sizes, shape[d])
    except RuntimeError as e:
        if "inferred" in str(e) or "ambiguous" in str(e):
            raise
        raise RuntimeError(f"unflatten: Provided sizes {list(sizes)} don't multiply up to the size of dim {d} ({shape[d]}) in the input tensor") from None
    return viewed(input, (*shape[:d], *inferred, *shape[d + 1:]))


@published("ravel(Tensor self)")
def ravel(input):
    """All elements along one dim."""
    return viewed(contiguous(input), (-1,))


# Copies

_CLONE = spec_of(OPS["clone"], (), ("T",))


def copied(t):
    """A row-major copy."""
    return unary(_CLONE, t)


@published("clone(Tensor self, *, MemoryFormat? memory_format=None)")
def clone(input, *, memory_format=None):
    """A copy; it keeps the order of dims in memory unless another format is asked for."""
    if memory_format is not None and memory_format.__repr__() in _CHANNELS:
        levels.refuse_format(input, "Tensor.clone(memory_format) inside vmap is only supported with memory_format torch.preserve_format or "
                             f"torch.contiguous_format (got {_CHANNELS[memory_format.__repr__()]})")
    out = unary(_CLONE, input)
    if memory_format is None or memory_format.__repr__() == "torch.preserve_format":
        keep_order(out, input)
        return out
    return laid(out, memory_format)


_CHANNELS = {"torch.channels_last": "ChannelsLast", "torch.channels_last_3d": "ChannelsLast3d"}


def in_row_order(t):
    """Whether a copy of `t` that keeps the order of dims in memory lies row by row, though `t` has gaps or repeats."""
    shape = t._tl_v.aval.shape
    return plain(t) or preserved(shape, t._tl_geometry()[0]) == shapes.contiguous_strides(shape)


@composite("Tensor.contiguous")
def contiguous(self, *, memory_format=None):
    """The tensor itself where it lies row by row, otherwise a copy."""
    if memory_format is not None and memory_format.__repr__() in _CHANNELS:
        levels.refuse_format(self, "querying is_contiguous inside of vmap for memory_format other than torch.contiguous_format")
    wanted = None if memory_format is None else channels_strides(tuple(self.shape), memory_format)
    if memory_format is not None and memory_format.name == "preserve_format" and not self.is_contiguous():
        raise RuntimeError("preserve memory format is unsupported by the contiguous operator")
    if wanted is not None:
        return self if self.is_contiguous(memory_format=memory_format) else laid(copied(self), memory_format)
    return self if plain(self) else copied(self)


# Order of dims

def _warn_T():
    say_once(
        "The use of `x.T` on tensors of dimension other than 2 to reverse their shape is deprecated and it will throw an error in a future release. "
        "Consider `x.mT` to transpose batches of matrices or `x.permute(*torch.arange(x.ndim - 1, -1, -1))` to reverse the dimensions of a tensor. (Triggered "
        "internally at /pytorch/aten/src/ATen/native/TensorShape.cpp:4314.)")


def _warn_number(name, line, advice):
    say_once(f"{name} is deprecated on 0-D tensors. {advice} (Triggered internally at /pytorch/aten/src/ATen/native/TensorShape.cpp:{line}.)")


_SAME, _CONJ = "This function is the identity in these cases.", "Consider using x.conj()."
_OF_NUMBERS = {"T": ("Tensor.T", 4321, _SAME), "mT": ("Tensor.mT", 4373, _SAME), "H": ("Tensor.H", 4335, _CONJ), "mH": ("Tensor.mH", 4382, _CONJ),
               "adjoint()": ("adjoint()", 4390, _CONJ)}


_T = spec_of(OPS["permute"], (("dims", (1, 0)),), ("T",))


def _numpy_T(self):
    n = self.ndim
    if n == 2:
        return follow_view(_T, self)
    if n:
        _warn_T()
    else:
        _warn_number(*_OF_NUMBERS["T"])
    return view_of(self, "permute", dims=tuple(range(n - 1, -1, -1)))


def _matrix_H(self):
    if self.ndim not in (0, 2):
        hint = " For batches of matrices, consider using tensor.mH" if self.ndim > 2 else ""
        raise RuntimeError(f"tensor.H is only supported on matrices (2-D tensors). Got {self.ndim}-D tensor.{hint}")
    return _adjoint(self, "H")


def _transposed(self, name):
    if self.ndim == 1:
        raise RuntimeError(f"tensor.{name} is only supported on matrices or batches of matrices. Got 1-D tensor.")
    if not self.ndim:
        _warn_number(*_OF_NUMBERS[name])
        return self
    return view_of(self, "transpose.int", dim0=-2, dim1=-1)


def _adjoint(self, name):
    out = _transposed(self, name)
    return out.conj() if self.dtype.is_complex else out


composite("Tensor.T")(property(_numpy_T, doc="The dims in reverse order."))
composite("Tensor.H")(property(_matrix_H, doc="The conjugate transpose of a matrix."))
composite("Tensor.mT")(property(lambda self: _transposed(self, "mT"), doc="The last two dims swapped."))
composite("Tensor.mH")(property(lambda self: _adjoint(self, "mH"), doc="The last two dims swapped, conjugated."))


@published("adjoint(Tensor self)")
def adjoint(input):
    """The last two dims swapped, conjugated."""
    return _adjoint(input, "adjoint()")


@published("swapaxes(Tensor self, int axis0, int axis1)")
def swapaxes(input, axis0, axis1):
    """Two dims swapped."""
    return view_of(input, "transpose.int", dim0=operator.index(axis0), dim1=operator.index(axis1))


@published("swapdims(Tensor self, int dim0, int dim1)")
def swapdims(input, dim0, dim1):
    """Two dims swapped."""
    return view_of(input, "transpose.int", dim0=operator.index(dim0), dim1=operator.index(dim1))


@composite("torch.movedim", "Tensor.movedim", "torch.moveaxis", "Tensor.moveaxis")
def movedim(input, source, destination):
    """Some dims moved to other places, the others in order."""
    if isinstance(source, (tuple, list)) is not isinstance(destination, (tuple, list)):
        raise TypeError
    source, destination = [ints(d if isinstance(d, (tuple, list)) else (d,)) for d in (source, destination)]
    if len(source) != len(destination):
        raise RuntimeError(f"movedim: Invalid source or destination dims: source ({list(source)} dims) should contain the same number of dims as destination "
                           f"({list(destination)} dims)")
    n = input.ndim
    a, b = [[wrap_dim(d, n) for d in dims] for dims in (source, destination)]
    for name, dims, given in (("source", a, source), ("destination", b, destination)):
        if len(set(dims)) != len(dims):
            raise RuntimeError(f"movedim: repeated dim in `{name}` ({list(given)})")
    if n == 0:
        return view_of(input, "alias")
    order = [None] * n
    for i, d in zip(a, b):
        order[d] = i
    rest = iter([d for d in range(n) if d not in a])
    return view_of(input, "permute", dims=tuple([next(rest) if d is None else d for d in order]))


# Parts of a dim

def sliced(t, dim, start, length, step=1):
    """`length` entries of a dim; all numbers checked."""
    return view_of(t, "_slice", start, dim=dim, length=length, step=step)


@published("select(Tensor self, int dim, int index)")
def select(input, dim, index):
    """One index of a dim."""
    shape = input._tl_v.aval.shape
    if not shape:
        raise IndexError("select() cannot be applied to a 0-dim tensor.")
    d, i = wrap_dim(operator.index(dim), len(shape)), operator.index(index)
    if not -shape[d] <= i < shape[d]:
        raise IndexError(f"select(): index {as_long(i)} out of range for tensor of size {list(shape)} at dimension {d}")
    return view_of(input, "select.int", i + shape[d] if i < 0 else i, dim=d)


def _narrow_plan(input, dim, start, length):
    shape = input._tl_v.aval.shape
    if isinstance(start, Tensor) and (start.ndim or not dtypes.BOOL < start.dtype.category < dtypes.FLOAT):
        raise RuntimeError("start must be an 0-dim integral Tensor.")
    if not shape:
        raise RuntimeError("narrow() cannot be applied to a 0-dim tensor.")
    if length < 0:
        as_long(length)
        raise RuntimeError("narrow(): length must be non-negative.")
    d = wrap_dim(dim, len(shape))
    n, start = shape[d], operator.index(start)
    if not -n <= start <= n:
        raise IndexError(f"start out of range (expected to be in range of [{-n}, {n}], but got {as_long(start)})")
    start = start + n if start < 0 else start
    if start + length > n:
        raise RuntimeError(f"start ({start}) + length ({as_long(length)}) exceeds dimension size ({n}).")
    return d, start


@published("narrow(Tensor self, int dim, Tensor start, int length)", "narrow(Tensor self, int dim, int start, int length)")
def narrow(input, dim, start, length):
    """A range of a dim."""
    d, start = _narrow_plan(input, dim, start, length)
    return sliced(input, d, start, length)


# Repetition without copies

@published("expand_as(Tensor self, Tensor other)", paths=("Tensor.expand_as",))
def expand_as(self, other):
    """`expand` to the sizes of another tensor."""
    return view_of(self, "expand", size=other._tl_v.aval.shape, implicit=False)


@composite("torch.broadcast_to", "Tensor.broadcast_to")
def broadcast_to(input, *size, **kwargs):
    """`expand` by another name."""
    size = size or (kwargs.pop("size"),)
    only_known("broadcast_to", kwargs)
    return view_of(input, "expand", size=sizes_of(size), implicit=False)


def broadcasted(t, shape):
    """`t` expanded to a shape, itself where it has it."""
    return t if t._tl_v.aval.shape == shape else view_of(t, "expand", size=shape, implicit=False)


# Any strides

@published("as_strided(Tensor self, int[] size, int[] stride, int? storage_offset=None)")
def as_strided(input, size, stride, storage_offset=None):
    """A view of the storage with chosen sizes, strides and offset."""
    parts = parts_of(input)
    if parts is not None:
        level, *parts = parts
        return duals.make(level, *[as_strided(t, size, stride, storage_offset) for t in parts])
    source, size, stride, offset, own = strided_plan(input, size, stride, storage_offset)
    view = marked(source, input, view_of(source, "_as_strided", size=size, stride=stride, offset=offset, own=own, storage_offset=storage_offset))
    needs = view._tl_needs or (input._tl_needs and thread.state.grad)  # a view that is a leaf shows a base without a history
    return view if source is input or not needs or view._tl_v.leaf is not None else seen_through(view, input, source)


def strided_plan(input, size, stride, storage_offset):
    """(tensor to read, size, stride, offset from its first element, its strides) of `as_strided`; torch's errors."""
    size, stride = ints(size), ints(stride)
    own, at = input._tl_geometry()
    offset = at if storage_offset is None else storage_offset
    if len(size) != len(stride):
        if levels.mapped(input._tl_v) is not None:
            raise RuntimeError("Tensor.as_strided(size, stride, ...): size and stride must have the same length! Got size "
                               f"{list(size)} and stride {list(stride)}")
        raise RuntimeError("mismatch in length of strides and shape")
    if offset < 0:
        raise RuntimeError(f"Tensor: invalid storage offset {offset}")
    if any(s < 0 for s in stride):
        raise RuntimeError(f"as_strided: Negative strides are not supported at the moment, got strides: {list(stride)}")
    base = input._tl_view.base if input._tl_view is not None and input._tl_view.base is not None else input
    if levels.mapped(input._tl_v) is None:
        _check_storage(base, size, stride, offset, input.dtype.itemsize)
    else:
        check_inside(input._tl_v.aval.shape, own, at, size, stride, offset)
    for find in (lambda: input, lambda: base, lambda: whole_of(base), lambda: _parts_in_memory(base)):
        source = find()
        if source is None or source.dtype is not input.dtype:
            continue
        own, at = source._tl_geometry()
        if _view_ops.strided_index(source._tl_v.aval.shape, own, size, stride, offset - at) is not None:
            return source, size, stride, offset - at, own
    raise NotImplementedError("as_strided over memory that neither the tensor nor its base shows as elements of this dtype")


def _parts_in_memory(base):
    """Complex numbers as their parts lie in memory; None for others."""
    return view_of(base, "view_as_real") if base.dtype.is_complex else None


def _check_storage(base, size, stride, offset, item):
    need = shapes.reach(size, stride, offset) * item
    if base._tl_view is not None:  # an alias may show a part of its memory
        have = held(base._tl_cell) * base._tl_cell.value.aval.dtype.itemsize
    else:
        shape = base._tl_v.aval.shape
        have = (shapes.numel(shape) if base._tl_laid is None else shapes.reach(shape, *base._tl_laid)) * base.dtype.itemsize
    if need > shapes.LARGEST:
        raise RuntimeError(f"Storage size calculation overflowed with sizes={list(size)} and strides={list(stride)}")
    if need > have:
        raise RuntimeError(f"setStorage: sizes {list(size)}, strides {list(stride)}, storage offset {offset}, and itemsize {item} requiring a storage size of "
                           f"{need} are out of bounds for storage of size {have}")


def _linalg_diagonal(A, *, offset=0, dim1=-2, dim2=-1):
    """The diagonal of matrices."""
    return view_of(A, "diagonal", offset=offset, dim1=dim1, dim2=dim2)


composite("torch.linalg.diagonal")(_linalg_diagonal)


__all__ = ["as_strided", "broadcasted", "contiguous", "copied", "in_row_order", "keep_order", "reshaped", "sliced", "view_of", "viewed"]
