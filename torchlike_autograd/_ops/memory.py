"""How results lie in memory (layer 2): strides as PyTorch gives them, from those of the operands.

Arrays are row by row here; strides are metadata that decide `stride()`, what `view` refuses, and the order in which random numbers fill a tensor.  An
entry's `lies(shape, operands, output=i, type=dtype, **statics)` gives the strides of its result i: operands are (shape, strides) of its tensors, None for those that
are absent, and ((), ()) for a Python number in the place of one.  Results of an entry without it lie row by row.

Source of the rules: PyTorch's TensorIterator (the permutation that it sorts dims by, from the fastest to the slowest, and where it does not look).
"""

from __future__ import annotations

from itertools import pairwise

from .._core.shapes import NOT_VIEWABLE, contiguous_strides, is_contiguous, view_strides


def elementwise(shape, operands, **_):
    """Strides of a result that is computed element by element: in the order of dims that the operands have, the first one that tells deciding."""
    given = [x for x in operands if x is not None]
    if all(s == shape for s, _ in given):
        if all(is_contiguous(s, strides) for s, strides in given):
            return contiguous_strides(shape)
        if len(shape) == 4 and all(lies_in(s, strides, _CHANNELS[4]) for s, strides in given):
            return dense(shape, _CHANNELS[4])
        first = given[0][1]
        if all(strides == first for _, strides in given) and without_gaps(shape, first):
            return first
    return _in_order(shape, [_spread(shape, *x) for x in given])


def with_number(shape, operands, **_):
    """As `elementwise`, with the number that PyTorch makes a 0-dim tensor of."""
    return elementwise(shape, (*operands, ((), ())))


def outer(shape, operands, **_):
    """As `elementwise`, of a tensor and two vectors, the first of which is a column."""
    own, (rows, (step,)), row = operands
    return elementwise(shape, (own, ((*rows, 1), (step, 0)), row))


def swapped(shape, operands, **_):
    """As `elementwise`, where PyTorch calls its kernel with the operands in the other order."""
    return elementwise(shape, operands[::-1])


def indexed(shape, operands, dims, **_):
    """Strides of what index tensors take of some dims of the first operand: element by element, where those dims say nothing of the order."""
    (own, strides), *indices = operands
    stays = [strides[d] for d in range(len(own)) if d not in dims]
    together = list(dims) == list(range(dims[0], dims[0] + len(dims)))
    before = stays[:dims[0]] if together else []
    after = stays[len(before):]
    n = len(shape) - len(stays)
    taken = shape[len(before):len(before) + n]
    first, last = len(before), len(before) + n
    alone = (*(1,) * first, *taken, *(1,) * len(after))
    rows = [view_strides(taken, _spread(taken, *i), alone) for i in indices]
    rows = [[s if first <= d < last or shape[d] == 1 else 0 for d, s in enumerate(row)] for row in rows]  # dims of one element have a stride there too
    return _in_order(shape, [(*before, *(0,) * n, *after), *rows])


def like_first(shape, operands, **_):
    """Strides of a result that is made like the first operand: its own, or, where it has gaps or repeats, without them in its order."""
    return preserved(shape, operands[0][1])


def preserved(shape, strides):
    """Strides of `empty_like` of what has these sizes and strides."""
    if without_gaps(shape, strides):
        return strides
    return dense(shape, _order(shape, [strides]))


def columns(*outputs, unless=None):
    """A rule: these results (all, if none is named) are matrices that lie column by column, as LAPACK has them; `unless(output, operands,
    statics)`: where they do not."""
    def lies(shape, operands, output=0, **statics):
        if (outputs and output not in outputs) or (unless is not None and unless(output, operands, statics)):
            return contiguous_strides(shape)
        n = len(shape)
        return dense(shape, (n - 2, n - 1, *range(n - 3, -1, -1)))

    lies.always = True
    return lies


def channels_last(shape, operands, **_):
    """Strides of a result of images: its channels last where those of the first operand are."""
    return _with_channels(shape, channels_order(*operands[0]))


def channels_last_3d(shape, operands, **_):
    """As `channels_last`; three spatial dims without batches are seen as a batch of one and refused where they lie as images. PyTorch's RuntimeError."""
    own, strides = operands[0]
    if len(own) != 4:
        return channels_last(shape, operands)
    if channels_order(own, strides) is not None:
        raise RuntimeError("Unsupported memory format. Supports only ChannelsLast3d, Contiguous")
    by_channels = not is_contiguous(own, strides) and lies_in((1, *own), (0, *strides), _CHANNELS[5])
    return dense((1, *shape), _CHANNELS[5])[1:] if by_channels else contiguous_strides(shape)


def rows_or_channels_only(shape, operands, **_):
    """As `channels_last`; the first operand may lie in no other way. PyTorch's RuntimeError."""
    own, strides = operands[0]
    order = channels_order(own, strides)
    if not lies_in(own, strides, order):
        raise RuntimeError("Expected X.is_contiguous(memory_format) to be true, but got false.  (Could this error message be improved?  If so, please report an "
                           "enhancement request to PyTorch.)")
    return _with_channels(shape, order)


rows_or_channels_only.always = True  # what has gaps is refused too


def lies_in(shape, strides, order):
    """Whether it lies without gaps with its dims from the fastest to the slowest in this order; None: row by row."""
    return is_contiguous(shape, strides) if order is None else all(n == 1 or a == b for n, a, b in zip(shape, strides, dense(shape, order), strict=True))


def channels_or_rows(shape, operands, **_):
    """As `channels_last`, where the first operand lies row by row as it is, however many dims of one element leave that open; without gaps either way."""
    own, strides = operands[0]
    if is_contiguous(own, strides):
        return contiguous_strides(shape)
    order = _CHANNELS.get(len(own))
    if order is not None and lies_in(own, strides, order):
        return dense(shape, order)
    return channels_last(shape, operands)


def channels_of_any(shape, operands, type, **_):
    """As `channels_last`, where those of the image or of the weights are; with one dim those of the weights, seen as an image of one row.

    Volumes only in the dtypes that oneDNN computes.
    """
    if len(shape) == 5 and type.itemsize > 4:
        return contiguous_strides(shape)
    if len(shape) == 3:
        own, strides = operands[1]
        order = channels_order((*own[:2], 1, own[2]), (*strides[:2], own[2] * strides[2], strides[2]))
        found = _with_channels((*shape[:2], 1, shape[2]), order)
        return *found[:2], found[3]
    return _with_channels(shape, channels_order(*operands[0]) or channels_order(*operands[1]))


def channels_of_all(shape, operands, **_):
    """As `channels_last`, where those of all operands are."""
    found = {channels_order(*x) for x in operands if x[0] != (0,)}
    return _with_channels(shape, found.pop() if len(found) == 1 else None)


def stacked(shape, operands, dim=0, **_):
    """Strides of tensors along a new dim: those of one along another and cut in two."""
    dim %= len(shape)
    if dim == len(shape) - 1 or 0 in shape:
        return contiguous_strides(shape)
    strides = channels_of_all((*shape[:dim], shape[dim] * shape[dim + 1], *shape[dim + 2:]), operands)
    return *strides[:dim], strides[dim] * shape[dim + 1], *strides[dim:]


def rolled(shape, operands, *, shifts, dims=(), **_):
    """Strides of `roll`: one of nothing is a copy; row by row where all is rolled as one row, or a dim by its whole size, which is joined with nothing."""
    if 0 in shape:
        return like_first(shape, operands)
    whole = not dims or any(n % shape[d] == 0 for n, d in zip(shifts, dims) if shape)
    return contiguous_strides(shape) if whole else channels_last(shape, operands)


def fitted(shape, operands, output=0, **_):
    """A rule for least squares: solutions are the upper rows of what lies column by column in the place of the right-hand sides."""
    if output or len(operands[1][0]) != len(operands[0][0]):
        return contiguous_strides(shape)
    rows, n = max(operands[0][0][-2:]), len(shape)
    return *[s // max(shape[-2], 1) * rows for s in dense(shape, (n - 2, n - 1, *range(n - 3, -1, -1)))[:-2]], 1, rows


fitted.always = True


def blocks(shape, operands, **_):
    """A rule for Kronecker products: element by element over twice as many dims, of which each two are shown as one; PyTorch's error where they cannot be."""
    n = len(shape)
    a, b = [(1,) * (n - len(size)) + tuple(size) for size, _ in operands]
    pairs = [k for sizes in zip(a, b) for k in sizes]
    rows = []
    for place, (own, (size, strides)) in enumerate(zip((a, b), operands)):
        sizes = [k for m in own for k in ((1, m) if place else (m, 1))]
        steps = _viewed(size, strides, sizes)
        rows.append([0 if m == 1 != k else step for m, k, step in zip(sizes, pairs, steps)])
    return _viewed(tuple(pairs), _in_order(pairs, rows), shape)


def steps_in_time(shape, operands, pad=0, **_):
    """A rule for `conv_tbc`, which reads steps of time and batch as one dim; PyTorch's error where they cannot be."""
    own, strides = operands[0]
    _viewed((own[0], own[1]), strides[:2], (own[0] * own[1],))
    return contiguous_strides(shape)


def _viewed(shape, strides, size):
    found = view_strides(shape, strides, size)
    if found is None:
        raise RuntimeError(NOT_VIEWABLE)
    return found


def entries(shape, operands, dim=None, **_):
    """A rule for chosen entries of a dim: that dim is the slowest."""
    return contiguous_strides(shape) if dim is None else dense(shape, (*[d for d in range(len(shape) - 1, -1, -1) if d != dim], dim))


entries.always = True


def by_question(shape, operands, **_):
    """A rule for what is computed for several numbers at once, whose dim comes first and is the fastest."""
    return contiguous_strides(shape) if operands[1][0] == () else dense(shape, (0, *range(len(shape) - 1, 0, -1)))


by_question.always = True


def second_first(shape, operands, **_):
    """As `elementwise`, where PyTorch begins with the second operand."""
    return elementwise(shape, (operands[1], operands[0], *operands[2:]))


def _with_channels(shape, order):
    return contiguous_strides(shape) if order is None or len(order) != len(shape) else dense(shape, order)


_CHANNELS = {4: (1, 3, 2, 0), 5: (1, 4, 3, 2, 0)}  # dims from the fastest to the slowest, by their number


def channels_order(shape, strides):
    """The dims of an image from the fastest to the slowest if its channels come first, None for others (`suggest_memory_format`)."""
    order = _CHANNELS.get(len(shape))
    if order is None or strides[1] == 0 or 0 in shape:
        return None
    least = 0
    for d in order:
        if strides[d] < least or (d == 0 and least == strides[1]):
            return None
        least = strides[d] * max(shape[d], 1)
    return order


def transformed(shape, operands, dim, **_):
    """Strides of a Fourier transform: dims that stay come first, each kind in the order of memory."""
    own = operands[0][1]
    return dense(shape, _sorted(own, dim)[::-1] + _sorted(own, [d for d in range(len(shape)) if d not in dim])[::-1])


def half_transformed(shape, operands, dim, **_):
    """As `transformed`, for one of real numbers, whose last dim is the fastest."""
    own = operands[0][1]
    return dense(shape, (dim[-1], *_sorted(own, dim[:-1])[::-1], *_sorted(own, [d for d in range(len(shape)) if d not in dim])[::-1]))


def to_reals(shape, operands, dim, **_):
    """As `transformed`, for one to real numbers: the last dim is transformed after the others."""
    own, last = operands[0][1], dim[-1]
    if len(dim) > 1:
        own = transformed(operands[0][0], operands, dim[:-1])
    return dense(shape, (last, *_sorted(own, [d for d in range(len(shape)) if d != last])[::-1]))


def _sorted(strides, dims):
    """Dims from the slowest to the fastest."""
    return tuple(sorted(dims, key=lambda d: -strides[d]))


for _rule in (transformed, half_transformed, to_reals):
    _rule.always = True  # whatever the operands; others only where one does not lie row by row


def dense(shape, order):
    """Strides without gaps; order: the dims from the fastest to the slowest."""
    out, step = [0] * len(shape), 1
    for d in order:
        out[d] = step
        step *= max(shape[d], 1)
    return tuple(out)


def _in_order(shape, operands):
    """Strides without gaps in the order of dims that the strides of the operands give; sizes of 0 count as 0 there."""
    order = _order(shape, operands)
    if order == list(range(len(shape)))[::-1]:
        return contiguous_strides(shape)
    out, step = [0] * len(shape), 1
    for d in order:
        out[d] = step
        step *= shape[d]
    return tuple(out)


def _spread(shape, own, strides):
    """Strides of an operand broadcast to `shape`: 0 along the dims that it is repeated in."""
    missing = len(shape) - len(own)
    return (0,) * missing + tuple([0 if n == 1 != shape[missing + d] else strides[d] for d, n in enumerate(own)])


def _order(shape, operands):
    """Dims from the fastest to the slowest: an insertion sort, as what compares equal stays where it is, and what differs is not always comparable."""
    order = list(range(len(shape)))[::-1]
    for i in range(1, len(order)):
        at = i
        for j in range(i - 1, -1, -1):
            slower = _compare(shape, operands, order[j], order[at])
            if slower > 0:
                order[j], order[at], at = order[at], order[j], j
            elif slower < 0:
                break
    return order


def _compare(shape, operands, a, b):
    """1 where dim `a` is slower than dim `b`, -1 where it is faster, 0 where no operand tells."""
    for strides in operands:
        if strides[a] == 0 or strides[b] == 0:
            continue
        if strides[a] != strides[b]:
            return 1 if strides[a] > strides[b] else -1
        if shape[a] > shape[b]:
            return 1
    return 0


def dims_in_order(shape, strides):
    """(dims from the slowest to the fastest, whether each is told from the next by its stride)."""
    order = _order(shape, (strides,))
    return tuple(order[::-1]), all(_compare(shape, (strides,), a, b) < 0 for a, b in pairwise(order))


def without_gaps(shape, strides):
    """Whether every element has a place of its own and there are no others."""
    step = 1
    for n, own in sorted([(n, own) for n, own in zip(shape, strides) if n != 1], key=lambda x: x[1]):
        if own != step:
            return False
        step *= n
    return True


__all__ = ["blocks", "by_question", "channels_last", "channels_last_3d", "channels_of_all", "channels_of_any", "channels_or_rows", "channels_order",
           "columns", "dense", "dims_in_order", "elementwise", "entries", "fitted", "half_transformed", "indexed", "lies_in", "like_first", "outer", "preserved", "rolled", "rows_or_channels_only",
           "second_first", "stacked", "steps_in_time", "swapped", "to_reals", "transformed",
           "with_number", "without_gaps"]
