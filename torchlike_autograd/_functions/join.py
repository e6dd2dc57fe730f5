"""Joining and repeating by name (layer 7)."""

from __future__ import annotations

import itertools
import operator

import numpy as np

from .._core import dtypes, levels, words
from .._core.composite import COMPOSITES, composite, named
from .._core.dispatch import into, run, values_of, wrap
from .._core.laying import keep_order, lay_if_bent
from .._core.numeric import say_once
from .._core.record import IMMEDIATE, Value, record_op, thread
from .._core.shapes import as_long, broadcast, wrap_dim
from .._core.words import type_name
from .._ops.memory import preserved
from .._ops.registry import OPS
from .._ops.spec import spec_of
from .._tensor import Tensor, from_array
from .by_example import by_example
from .create import placed
from .least_dims import atleast_1d, atleast_2d, atleast_3d
from .shape import broadcasted, contiguous, copied, ints, only_known, reshaped, view_of, viewed
from .typed import published

# Side by side

def _joiner(name, *paths):
    op = OPS[name]

    def join(tensors, dim=0, *, axis=None, out=None):
        if not isinstance(tensors, (list, tuple)):
            raise TypeError(f"{name}() takes a sequence of tensors")
        for i, t in enumerate(tensors):
            if not isinstance(t, Tensor):
                raise TypeError(f"expected Tensor as element {i} in argument 0, but got {type_name(t)}")
        spec = spec_of(op, (("dim", operator.index(dim if axis is None else axis)),), (("L", len(tensors)),))
        if out is None:
            return run(spec, tensors) if len(tensors) < _MANY else _join_many(spec, tensors)
        if not all(dtypes.can_cast(t.dtype, out.dtype) for t in tensors):
            raise TypeError(f"torch.cat(): input types can't be cast to the desired output type {out.dtype.char_name}")
        return into(name, spec, tensors, out)

    join.__name__ = join.__qualname__ = name
    join.__doc__ = op.doc
    return published(f"{name}(Tensor[] tensors, int dim=0)", paths=paths)(join)


def _join_many(spec, tensors):
    values = values_of(tensors)
    out = _at_once(spec, values) if len(values) >= _AT_ONCE else None
    if out is None:
        out = wrap(record_op(spec, _apart(values))[0])
    lay_if_bent(spec, tensors, (out,))
    return out


_MANY = 4  # tensors, from which on they are taken for a sample of data
_AT_ONCE = 16  # from which on such data is joined on the host at once: it comes into a program as one array, not as so many
_NOTES = {"casts", "check nan", "held", "multithreading", "passes together", "span", "sweep credit"}  # what a thread notes for itself
_JOINS = {"cat": np.concatenate, "stack": np.stack}


def _at_once(spec, values):
    """The Tensor where all is plain data of one type on the host; None for others, and where somebody hears of calls or transforms them."""
    first, state, dim = values[0].aval, thread.state, spec.statics["dim"]
    rank = first.ndim + (spec.op.name == "stack")
    if first.device != "cpu" or not -rank <= dim < rank or state.tape.prefix.watched or IMMEDIATE[0]:
        return None
    if any(said for name, said in state.extra.items() if name not in _NOTES):
        return None
    if not all(v.aval is first and not v.needs and v.tape is None and _is_there(v.array) for v in values):
        return None
    return from_array(_JOINS[spec.op.name]([np.asarray(v.array) for v in values], dim), first.dtype)


def _is_there(array):
    return array is not None and (type(array) is np.ndarray or array.is_ready())


def _apart(values):
    """Values with a copy for each that is plain data, so that the structure does not say which of them come twice, or came before.

    A batch that is drawn from a replay buffer is another pattern of repetitions each time, and would be another program.
    """
    return [v if v.needs or v.array is None or v.tape is not None else _same(v) for v in values]


def _same(v):
    out = Value(v.aval, False, None, 0)
    out.array = v.array
    return out


_cat, _stack = _joiner("cat", "torch.cat", "torch.concat", "torch.concatenate"), _joiner("stack", "torch.stack")


@published("hstack(Tensor[] tensors)", paths=("torch.hstack",))
def hstack(tensors, *, out=None):
    """Along the second dim, vectors along their only one."""
    tensors = _nonempty("hstack", atleast_1d(_sequence(tensors)))
    return _cat(tensors, 0 if tensors[0].ndim == 1 else 1, out=out)


@published("vstack(Tensor[] tensors)", paths=("torch.vstack", "torch.row_stack"))
def vstack(tensors, *, out=None):
    """Along the first dim, vectors as rows."""
    return _cat(_nonempty("vstack", atleast_2d(_sequence(tensors))), 0, out=out)


@published("dstack(Tensor[] tensors)", paths=("torch.dstack",))
def dstack(tensors, *, out=None):
    """Along the third dim."""
    return _cat(_nonempty("dstack", atleast_3d(_sequence(tensors))), 2, out=out)


@published("column_stack(Tensor[] tensors)", paths=("torch.column_stack",))
def column_stack(tensors, *, out=None):
    """Along the second dim, vectors as columns."""
    columns = [reshaped(t, (t.numel(), 1)) if t.ndim <= 1 else t for t in _nonempty("column_stack", _sequence(tensors))]
    return hstack(columns, out=out)


def _sequence(tensors):
    return tuple(tensors.unbind(0)) if isinstance(tensors, Tensor) else tuple(tensors)


def _nonempty(name, tensors):
    if not tensors:
        raise RuntimeError(f"{name} expects a non-empty TensorList")
    return tensors


def _listed(tensors):
    """Tensors given one by one or in one sequence."""
    return tuple(tensors[0]) if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)) else tensors


@composite("torch.block_diag")
def block_diag(*tensors):
    """Matrices along a diagonal."""
    tensors = all_tensors(tensors)
    if not tensors:
        from .create import empty

        return empty(1, 0)
    return named("block_diag")(tensors)


# Repeating

@composite("torch.tile", "Tensor.tile")
def tile(input, *dims, **kwargs):
    """`repeat` with missing dims taken as 1."""
    dims = dims or (kwargs.pop("dims"),)
    only_known("tile", kwargs)
    dims = ints(dims[0]) if len(dims) == 1 and not isinstance(dims[0], int) else ints(dims)
    return input.repeat((1,) * (input.ndim - len(dims)) + dims)


@composite("torch.repeat_interleave")
def repeat_interleave(*args, **kwargs):
    """Each entry several times in a row, (input, repeats, dim=None, *, output_size=None); or the numbers of entries, (repeats, *, output_size=None)."""
    given = len(args) + ("input" in kwargs) + ("repeats" in kwargs)
    if not given:
        raise words.complaint(*words.known("torch.repeat_interleave"), args, kwargs)
    if given == 1 and "input" not in kwargs:
        return _counted(*args, **kwargs)
    return tensor_repeat_interleave(*(args or (kwargs.pop("input"),)), **kwargs)


def _counted(repeats, *, output_size=None):
    """The number of each entry as often as it is repeated; RuntimeError where there are not `output_size` in all."""
    out = _repeated_numbers(repeats)
    if output_size is not None and out.numel() != output_size:
        raise RuntimeError("allocated size does not match required size")
    return out


@composite("Tensor.repeat_interleave")
def tensor_repeat_interleave(input, repeats, dim=None, *, output_size=None):
    """Each entry several times in a row."""
    if not isinstance(repeats, Tensor):
        out = _repeat_each(input, int(repeats), dim)
        size = out.numel() if dim is None else out.shape[dim]
        if output_size is not None and output_size != size:
            raise RuntimeError(f"repeat_interleave: Invalid output_size, expected {size} but got {output_size}")
        return out
    if repeats.ndim > 1:
        raise RuntimeError("repeats must be 0-dim or 1-dim tensor")
    if repeats.is_meta and output_size is None:
        raise RuntimeError("cannot repeat_interleave a meta tensor without output_size")
    if dim is None:
        input, dim = viewed(contiguous(input), (-1,)) if input.ndim != 1 else input, 0
    d = wrap_dim(dim, input.ndim)
    size = input.shape[d] if input.ndim else 1
    if repeats.ndim == 0 or (repeats.numel() == 1 and size != 1):
        repeats = broadcasted(reshaped(repeats, (1,)), (size,))
    elif repeats.numel() != size:
        raise RuntimeError("repeats must have the same size as input along dim, but got "
                           f"repeats.size(0) = {repeats.numel()} and input.size({dim}) = {size}")
    return COMPOSITES["torch.index_select"](input, d, _counted(repeats, output_size=output_size if size else None))


@by_example
def _repeated_numbers(repeats):
    if repeats.dtype not in (dtypes.int64, dtypes.int32):
        raise NotImplementedError(f"\"repeat_interleave_cpu\" not implemented for '{repeats.dtype.char_name}'")
    if repeats.ndim != 1:
        raise RuntimeError("repeat_interleave only accept 1D vector as repeat")
    counts = repeats._tl_numpy()
    if (counts < 0).any():
        raise RuntimeError("repeats can not be negative")
    return from_array(np.repeat(np.arange(len(counts)), counts).astype(repeats.dtype.np), repeats.dtype, like=repeats)


def _repeat_each(t, repeats, dim):
    if as_long(repeats) < 0:
        raise RuntimeError("Repeats must be non-negative")
    if dim is None:
        t, dim = t.flatten(), 0
    d = wrap_dim(dim, t.ndim)
    shape = t._tl_v.aval.shape
    t = view_of(t, "unsqueeze", dim=d + 1)
    t = copied(view_of(t, "expand", size=(*shape[:d + 1], repeats, *shape[d + 1:]), implicit=False))
    return t.flatten(d, d + 1)


def all_tensors(given):
    for i, t in enumerate(given):
        if not isinstance(t, Tensor):
            raise TypeError(f"expected Tensor as element {i} in argument 0, but got {type_name(t)}")
    return given


@composite("torch.broadcast_tensors")
def broadcast_tensors(*tensors):
    """Tensors expanded to their common shape."""
    tensors = all_tensors(tensors)
    shape = broadcast(*[t._tl_v.aval.shape for t in tensors]) if tensors else ()
    return tuple([broadcasted(t, shape) for t in tensors])


@composite("torch.meshgrid")
def meshgrid(*tensors, indexing=None):
    """Coordinates of a grid, one tensor for each axis."""
    tensors = _listed(tensors)
    for k, t in enumerate(tensors):
        if not isinstance(t, Tensor):
            raise TypeError(f"expected Tensor as element {k} in argument 0, but got {type_name(t)}")
    if indexing is None:
        say_once("torch.meshgrid: in an upcoming release, it will be required to pass the indexing argument. (Triggered internally at "
                 "/pytorch/aten/src/ATen/native/TensorShape.cpp:4324.)")
        indexing = "ij"
    if not isinstance(indexing, str):
        raise TypeError(f"meshgrid(): argument 'indexing' must be str, not {type_name(indexing)}")
    _check_kinds(tensors)
    if indexing not in ("ij", "xy"):
        raise RuntimeError(f"torch.meshgrid: indexing must be one of \"xy\" or \"ij\", but received: {indexing}")
    for t in tensors:
        if t.ndim > 1:
            raise RuntimeError(f"torch.meshgrid: Expected 0D or 1D tensor in the tensor list but got: {t}")
    n = len(tensors)
    axes = [1, 0, *range(2, n)] if indexing == "xy" and n >= 2 else list(range(n))
    shape = [0] * n
    for t, axis in zip(tensors, axes):
        shape[axis] = t.numel()
    grids = [viewed(t, tuple([-1 if k == axis else 1 for k in range(n)])) for t, axis in zip(tensors, axes)]
    return tuple([view_of(g, "expand", size=tuple(shape), implicit=False) for g in grids])


def _check_kinds(tensors):
    if not tensors:
        raise RuntimeError("meshgrid expects a non-empty TensorList")
    for t in tensors[1:]:
        if t.dtype is not tensors[0].dtype:
            raise RuntimeError("meshgrid expects all tensors to have the same dtype")


def _vectors(tensors):
    for t in tensors:
        if t.ndim != 1:
            raise RuntimeError(f"Expect a 1D vector, but got shape {list(t.shape)}")


@composite("torch.cartesian_prod")
def cartesian_prod(*tensors):
    """All combinations of one element of each vector, as rows."""
    tensors = all_tensors(tensors)
    _vectors(tensors)
    if len(tensors) == 1:
        return tensors[0]
    return _stack([g.flatten() for g in meshgrid(*tensors, indexing="ij")], 1)


@composite("torch.combinations")
def combinations(input, r=2, with_replacement=False):
    """All ways to choose r elements of a vector, as rows."""
    _vectors([input])
    if r < 0:
        raise RuntimeError(f"Expect a non-negative number, but got {r}")
    if r == 0:
        return from_array(np.zeros(0, input.dtype.np), input.dtype, like=input)
    n = input.numel()
    choose = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    mask = np.zeros((n,) * r, bool)
    rows = list(choose(range(n), r))
    if rows:
        mask[tuple(np.array(rows).T)] = True
    mask = from_array(mask, dtypes.bool_, like=input)
    return _stack([g.masked_select(mask) for g in meshgrid(*[input] * r, indexing="ij")], 1)


# Turning, triangles, diagonals

_rot90 = named("rot90")


@published("rot90(Tensor self, int k=1, int[] dims=[0, 1])")
def rot90(input, k=1, dims=(0, 1)):
    """Quarter turns in the plane of two dims."""
    out = _rot90(input, k, dims)
    if k % 4 == 2:
        keep_order(out, input)
    elif k % 2:  # PyTorch flips one dim and exchanges both
        a, b = [d % input.ndim for d in dims]
        strides = list(preserved(tuple(input.shape), input.stride()))
        strides[a], strides[b] = strides[b], strides[a]
        out._tl_laid = (tuple(strides), 0)
    return out


@published("fliplr(Tensor self)")
def fliplr(input):
    """The second dim reversed."""
    if input.ndim < 2:
        raise RuntimeError("Input must be >= 2-d.")
    return input.flip((1,))


@published("flipud(Tensor self)")
def flipud(input):
    """The first dim reversed."""
    if input.ndim < 1:
        raise RuntimeError("Input must be >= 1-d.")
    return input.flip((0,))


@published("diag(Tensor self, int diagonal=0)")
def diag(input, diagonal=0, *, out=None):
    """The diagonal of a matrix as a copy, or a matrix with a vector on its diagonal."""
    if input.ndim not in (1, 2):
        raise RuntimeError(f"diag(): Supports 1D or 2D tensors. Got {input.ndim}D")
    if input.ndim == 1:
        made = named("diag_embed")(input, diagonal)
        if out is None:
            return made
        from .._core.dispatch import write_result
        from .._ops.out_types import refuse_as

        if out.dtype is not made.dtype:
            refuse_as("diag", "diag", made.dtype, out.dtype, dtypes.can_cast(made.dtype, out.dtype), {})
        write_result(out, made._tl_v)
        return out
    return named("diagonal_copy")(input, diagonal, out=out)


@published("diagflat(Tensor self, int offset=0)")
def diagflat(input, offset=0):
    """A matrix with all elements on a diagonal."""
    return named("diag_embed")(viewed(contiguous(input), (-1,)), offset)


def _triangle(name, upper):
    def indices(row, col, offset=0, *, dtype=None, device=None, layout=None, pin_memory=False):
        for place, (label, n) in enumerate((("row", row), ("col", col), ("offset", offset)), 1):
            if not hasattr(n, "__index__"):
                raise TypeError(f"{name}(): argument '{label}' (position {place}) must be int, not {type_name(n)}")
        dtype = dtype or dtypes.int64
        for label, n in (("row", row), ("col", col)):
            if n < 0:
                raise RuntimeError(f"{label} must be non-negative, got{n}")
        if dtype not in (dtypes.int32, dtypes.int64):
            raise NotImplementedError(f"\"{name}\" not implemented for '{dtype.char_name}'")
        r, c = np.arange(row)[:, None], np.arange(col)
        found = np.nonzero(c >= r + offset if upper else c <= r + offset)
        return placed(from_array(np.stack(found).astype(dtype.np), dtype), device, False)

    indices.__name__ = name
    indices.__doc__ = f"Row and column numbers of the {'upper' if upper else 'lower'} triangle, row by row."
    return composite(f"torch.{name}")(indices)


tril_indices, triu_indices = _triangle("tril_indices", False), _triangle("triu_indices", True)


# Pieces

@composite("torch.split")
def split(tensor, split_size_or_sections, dim=0):
    """Pieces of one size, or of given sizes, along a dim."""
    return _split(tensor, split_size_or_sections, dim) if isinstance(tensor, Tensor) else tensor.split(split_size_or_sections, dim)


def _split(t, size, dim):
    if isinstance(size, Tensor) and size.numel() == 1:
        size = int(size)
    name = "split" if isinstance(size, int) else "split_with_sizes"
    if type(dim) is not int or type(size) is not int:
        path, given = f"torch._VF.{name}", (t, size, dim)
        error = words.explained(path, given, {})
        if error is not None:
            raise error
        _, size, dim = (words.unpacked(path, given, {}) or (given,))[0]
    else:
        as_long(size)
    if name == "split_with_sizes":
        return view_of(t, "split_with_sizes", split_sizes=ints(size if isinstance(size, (list, tuple)) else (size,)), dim=dim)
    return view_of(t, "split.Tensor", split_size=size, dim=dim)


def _split_method(self, split_size, dim=0):
    """Pieces of one size, or of given sizes, along a dim."""
    return _split(self, split_size, dim)


_split_method.__name__, _split_method.__qualname__ = "split", "Tensor.split"
composite("Tensor.split")(_split_method)


def _chunk_size(name, t, chunks, dim):
    if t.ndim == 0:
        raise RuntimeError("chunk expects at least a 1-dimensional tensor")
    if as_long(chunks) <= 0:
        raise RuntimeError(f"chunk expects `chunks` to be greater than 0, got: {chunks}")
    n = t.shape[wrap_dim(dim, t.ndim)]
    return n, -(-n // chunks)


@published("chunk(Tensor self, int chunks, int dim=0)")
def chunk(input, chunks, dim=0):
    """At most `chunks` pieces of one size."""
    n, size = _chunk_size("chunk", input, chunks, dim)
    return _split(input, [0] * chunks, dim) if n == 0 else _split(input, size, dim)


@published("unsafe_chunk(Tensor self, int chunks, int dim=0)")
def unsafe_chunk(input, chunks, dim=0):
    """`chunk` whose pieces are not views."""
    n, size = _chunk_size("chunk", input, chunks, dim)
    return named("unsafe_split_with_sizes")(input, [0] * chunks, dim) if n == 0 else named("unsafe_split")(input, size, dim)


@composite("torch.tensor_split", "Tensor.tensor_split")
def tensor_split(input, *args, **kwargs):
    """Cut into nearly equal sections, or before given indices: (input, indices or sections, dim=0)."""
    name = next((k for k in ("indices_or_sections", "indices", "sections", "tensor_indices_or_sections") if k in kwargs), None)
    if name is not None:
        args = (kwargs.pop(name), *args)
    given = dict(zip(("cuts", "dim"), args))
    for k, x in kwargs.items():
        k = "dim" if k == "axis" else k
        if k != "dim" or k in given:
            raise TypeError(f"tensor_split() got an unexpected keyword argument '{k}'")
        given[k] = x
    if "cuts" not in given or len(args) > 2:
        raise TypeError("tensor_split() takes a tensor, indices or sections, and a dim")
    cuts = given["cuts"]
    if isinstance(cuts, Tensor) and not input.ndim:
        raise RuntimeError("tensor_split expected at least a 1-dimensional tensor, but got a tensor with 0 dims")
    if isinstance(cuts, Tensor) and cuts.dtype is not dtypes.int64:
        raise RuntimeError(f"tensor_split expected tensor_indices_or_sections to have dtype of long, but got {cuts.dtype.char_name}")
    if isinstance(cuts, Tensor) and cuts.ndim > 1:
        raise RuntimeError("tensor_split expected tensor_indices_or_sections to be a zero-dimensional or one-dimensional tensor, but got a tensor with "
                           f"{cuts.ndim} dims")
    return tuple(_sections(input, given["cuts"], given.get("dim", 0)))


def _sections(t, cuts, dim):
    from .shape import sliced

    if t.ndim == 0:
        raise RuntimeError("tensor_split expected at least a 1-dimensional tensor, but got a tensor with 0 dims")
    d = wrap_dim(dim, t.ndim)
    n = t.shape[d]
    if isinstance(cuts, Tensor):
        if cuts.dtype is not dtypes.int64:
            raise RuntimeError(f"tensor_split expected tensor_indices_or_sections to have dtype of long, but got {_plain_name(cuts.dtype)}")
        cuts = cuts.tolist()
    if isinstance(cuts, (list, tuple)):
        starts, stops = (0, *cuts), (*cuts, n)
    else:
        if cuts <= 0:
            raise RuntimeError(f"number of sections must be larger than 0, got {cuts}")
        small, extra = divmod(n, as_long(cuts))
        edges = [i * small + min(i, extra) for i in range(cuts + 1)]
        starts, stops = edges[:-1], edges[1:]
    for a, b in zip(starts, stops):
        start, stop, _ = slice(a, b).indices(n)
        yield sliced(t, d, start, max(stop - start, 0))


def _plain_name(d):
    return d.char_name


def _splitter(name, axis, least):
    def split_along(input, *args, **kwargs):
        name_ = next((k for k in ("indices_or_sections", "sections", "indices") if k in kwargs), None)
        args = args if name_ is None else (*args, kwargs.pop(name_))
        if len(args) > 1 and isinstance(args[0], (int, np.integer, Tensor)):
            args = (tuple([n.__index__() for n in args]),)  # indices one by one
        if kwargs or len(args) != 1:
            raise TypeError(f"{name}() takes a tensor and indices or sections")
        cuts = args[0]
        if input.ndim < least:
            raise RuntimeError(f"torch.{name} requires a tensor with at least {least} dimension, but got a tensor with {input.ndim} dimensions!")
        d = axis(input.ndim)
        if isinstance(cuts, int) and cuts >= 0 and (cuts == 0 or input.shape[d] % cuts):
            raise RuntimeError(f"torch.{name} attempted to split along dimension {d}, but the size of the dimension {input.shape[d]} is not divisible by the "
                               f"split_size {cuts}!")
        return tensor_split(input, cuts, dim=d)

    split_along.__name__ = name
    split_along.__doc__ = f"`tensor_split` along the dim of {name}."
    return composite(f"torch.{name}", f"Tensor.{name}")(split_along)


hsplit = _splitter("hsplit", lambda ndim: 0 if ndim == 1 else 1, 1)
vsplit = _splitter("vsplit", lambda ndim: 0, 2)
dsplit = _splitter("dsplit", lambda ndim: 2, 3)


# Powers side by side

@composite("torch.linalg.vander")
def linalg_vander(x, *, N=None):
    """The powers 0 to N - 1 of each element, along a new last dim."""
    if x.dtype.name in ("bool", "float16", "bfloat16"):
        raise RuntimeError(f"linalg.vander supports floating point, complex, and integer tensors, but got {x.dtype.char_name}")
    x = x if x.ndim else x.unsqueeze(0)
    n = x.shape[-1] if N is None else N
    if n <= 1:
        raise RuntimeError("N must be greater than 1.")
    return _cat([_ones(x, (*x.shape, 1)), view_of(x, "unsqueeze", dim=-1).expand(*x.shape, n - 1).cumprod(-1)], -1)


def _ones(like, shape):
    from .create import filled

    return filled(shape, 1, like.dtype)


@composite("torch.vander")
def vander(x, N=None, increasing=False):
    """Rows of powers of each element, the highest first unless `increasing`."""
    if x.ndim != 1:
        raise RuntimeError("x must be a one-dimensional tensor.")
    n = x.numel() if N is None else N
    if n < 0:
        raise RuntimeError("N must be non-negative.")
    x = x if x.dtype.category >= dtypes.FLOAT else x.to(dtypes.int64)
    out = levels.like(x, _ones(x, (x.numel(), n)))  # written over: mapped as x is
    if n > 1:
        out[:, 1:] = view_of(x, "unsqueeze", dim=-1)
    if n > 2:
        out[:, 1:] = out[:, 1:].cumprod(1)
    return out if increasing else out.flip((1,))
