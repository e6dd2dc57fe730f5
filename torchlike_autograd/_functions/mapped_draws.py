"""Random numbers inside maps that want others for each example (layer 7): they are drawn for the whole batch at once, as in torch.

What is drawn from tensors is called outside of these maps, on whole batches; what is drawn by shape gets the sizes of the maps in front of its own.
"""

from __future__ import annotations

import functools

import numpy as np

from .._core import errors, levels
from .._core.record import thread
from .._tensor import Tensor, wrap

_SAME = "Vmap does not currently support same randomness with a batched tensor input. Please file an issue with functorch"
_ALONE = ("vmap: Cannot ask for different inplace randomness on an unbatched tensor. This will appear like same randomness. If this is necessary for your "
          "usage, please file an issue with functorch.")


def _maps():
    """The running maps, outermost first; RuntimeError where one of them allows no draws."""
    found = [lv for lv in levels.running() if lv.kind == levels.MAP]
    if any(lv.randomness in ("error", levels.OLD) for lv in found):
        raise errors.mapped_random(any(lv.randomness is levels.OLD for lv in found))
    return found


class _Without:
    """Run as if these levels did not."""

    def __init__(self, hidden):
        self.hidden = hidden

    def __enter__(self):
        extra = thread.state.extra
        self.all, extra["levels"] = extra["levels"], [lv for lv in extra["levels"] if lv not in self.hidden]

    def __exit__(self, *exc):
        thread.state.extra["levels"] = self.all


def _whole(t, maps):
    """A tensor with a dim in front for each of the maps, outermost first."""
    v = t._value()
    for lv in reversed(maps):
        v = levels.move("exit", lv, [v])
    return wrap(v)


def _inside(t, maps):
    """The same tensor in the maps."""
    v = t._value()
    for lv in maps:
        v = levels.move("enter", lv, [v])
    return wrap(v)


def per_example(f, rows=False):
    """A function of tensors that draws: other numbers for each example where a map wants that; rows: it takes one matrix, of all examples' rows."""

    @functools.wraps(f)
    def drawing(*args, **kwargs):
        if not levels.running():
            return f(*args, **kwargs)
        maps, given = _maps(), [x for x in (*args, *kwargs.values()) if isinstance(x, Tensor)]
        if any(lv.randomness == "same" and levels.has(x._value(), lv) for lv in maps for x in given):
            raise RuntimeError(_SAME)
        own = [lv for lv in maps if lv.randomness == "different"]
        if not own or not given:
            return f(*args, **kwargs)
        run = _by_rows(f) if rows and given[0].ndim <= 2 else f
        with _Without(own):
            return _inside(run(*(_whole(x, own) if isinstance(x, Tensor) else x for x in args),
                               **{k: _whole(x, own) if isinstance(x, Tensor) else x for k, x in kwargs.items()}), own)

    return drawing


def _by_rows(f):
    """`f`, which takes a vector or a matrix, for a batch of them."""

    def run(x, *args, **kwargs):
        return f(x.reshape(-1, x.shape[-1]), *args, **kwargs).reshape(*x.shape[:-1], -1)

    return run


def fill(t, draw):
    """The Value for what is written to a tensor inside maps that want other numbers for each example: draw(whole batch); None where none of them does."""
    maps = _maps()
    own = [lv for lv in maps if lv.randomness == "different"]
    if not own:
        return None
    if not all(levels.has(t._value(), lv) for lv in own) or any(lv.randomness == "same" for lv in maps[maps.index(own[0]):]):
        raise RuntimeError(_ALONE)
    strides = None if t._layout_ is None or len(own) > 1 else _with_batch(tuple(t.shape), t.stride())
    with _Without(own):
        whole = _whole(t.detach(), own).clone()
        whole._layout_ = strides and (strides, 0)  # numbers go in the order of the memory
        return _inside(draw(whole), own)._value()


def _with_batch(shape, strides):
    """The strides of a dense batch, its dim in front, from those of one example: the batch stands where the dims leave a gap, or around them all."""
    step = 1
    for stride, n in sorted(zip(strides, shape)):
        if n > 1 and stride != step:
            break
        step *= n
    return step, *strides


def rows(draw):
    """A draw of one row as a draw of many, one after the other, the outermost map going fastest."""

    def drawn(shape):
        if len(shape) == 1:
            return draw(shape[-1])
        made = [draw(shape[-1]) for _ in range(int(np.prod(shape[:-1])))]
        out = np.stack(made).reshape(*shape[-2::-1], shape[-1])
        return np.ascontiguousarray(out.transpose(*range(len(shape) - 2, -1, -1), len(shape) - 1))

    return drawn
