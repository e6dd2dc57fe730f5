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
    v = t._tl_value()
    for lv in reversed(maps):
        v = levels.move("exit", lv, [v])
    return wrap(v)


def _inside(t, maps):
    """The same tensor in the maps."""
    v = t._tl_value()
    for lv in maps:
        v = levels.move("enter", lv, [v])
    return wrap(v)


def _same(x, maps):
    """A tensor as a draw that is the same for all examples of maps reads it: a dual one without a tangent that alone is mapped, as no draw passes one on."""
    v = x._tl_value()
    if levels.dual(v) is not None:
        v = levels.shared_primal(v, tuple(lv.key for lv in levels.running() if lv.kind == levels.MAP and lv not in maps))
    if v is None or any(levels.has(v, lv) for lv in maps):
        raise RuntimeError(_SAME)
    return wrap(v)


def per_example(f, rows=False, flat=True):
    """A function of tensors that draws: other numbers for each example where a map wants that; rows: it takes one matrix, of all examples' rows;
    flat: the derivative of its numbers is zero."""

    @functools.wraps(f)
    def drawing(*args, **kwargs):
        if not levels.running():
            return f(*args, **kwargs)
        maps, given = _maps(), [x for x in (*args, *kwargs.values()) if isinstance(x, Tensor)]
        same = [lv for lv in maps if lv.randomness == "same" and any(levels.has(x._tl_value(), lv) for x in given)]
        if same and not flat:
            raise RuntimeError(_SAME)
        if same:
            args = [_same(x, same) if isinstance(x, Tensor) else x for x in args]
            kwargs = {k: _same(x, same) if isinstance(x, Tensor) else x for k, x in kwargs.items()}
        own = [lv for lv in maps if lv.randomness == "different"]
        if not own or not given:
            return f(*args, **kwargs)
        run = _by_rows(f) if rows and given[0].ndim <= 2 else f
        widest = max(given, key=lambda x: x.ndim)
        with _Without(own):
            return _inside(run(*(_beside(x, widest, own) for x in args), **{k: _beside(x, widest, own) for k, x in kwargs.items()}), own)

    return drawing


def _by_rows(f):
    """`f`, which takes a vector or a matrix, for a batch of them."""

    def run(x, *args, **kwargs):
        return f(x.reshape(-1, x.shape[-1]), *args, **kwargs).reshape(*x.shape[:-1], -1)

    return run


def _check_given(t, given, maps):
    """torch's errors for tensors that say how a tensor is filled."""
    for lv in maps:
        mapped = [x for x in given if isinstance(x, Tensor) and levels.has(x._tl_value(), lv)]
        if mapped and lv.randomness == "same":
            raise RuntimeError(_SAME)
        if mapped and not levels.has(t._tl_value(), lv):
            raise errors.mapped_inplace("inplace bernoulli", "in a vmap")


def _beside(x, t, own):
    """What is given with a tensor, as a whole batch that goes with that of `t`."""
    if not isinstance(x, Tensor):
        return x
    whole = _whole(x, own)
    return whole.reshape(*whole.shape[:len(own)], *(1,) * (t.ndim - x.ndim), *x.shape)


def fill(t, draw, given=()):
    """The Value for what is written to a tensor inside maps that want other numbers for each example: draw(whole batch, given); None where none does."""
    maps = _maps()
    _check_given(t, given, maps)
    own = [lv for lv in maps if lv.randomness == "different"]
    if not own:
        return None
    if not all(levels.has(t._tl_value(), lv) for lv in own) or any(lv.randomness == "same" for lv in maps[maps.index(own[0]):]):
        raise RuntimeError(_ALONE)
    with _Without(own):
        given = [_beside(x, t, own) for x in given]
        return _inside(draw(_in_order(t, own), *given), own)._tl_value()


def _in_order(t, own):
    """A copy of the whole batch of a tensor, laid out as its memory is: numbers go in that order."""
    strides = None if t._tl_laid is None or len(own) > 1 else _with_batch(tuple(t.shape), t.stride())
    whole = _whole(t.detach(), own).clone()
    whole._tl_laid = strides and (strides, 0)
    return whole


def like(t, draw):
    """A tensor like `t`, drawn for the whole batch of maps that want other numbers for each example; None where it is not mapped by all of them alone."""
    maps = _maps()
    if not maps or t._tl_laid is None or any(lv.randomness == "same" or not levels.has(t._tl_value(), lv) for lv in maps):
        return None
    with _Without(maps):
        return _inside(draw(_in_order(t, maps)), maps)


def _with_batch(shape, strides):
    """The strides of a dense batch, its dim in front, from those of one example: the batch stands where the dims leave a gap, or around them all."""
    step = 1
    for stride, n in sorted(zip(strides, shape)):
        if n > 1 and stride != step:
            break
        step *= n
    return step, *strides


def of_all_examples(f):
    """A function of one tensor that looks at the examples of all maps together: its result is mapped by none."""

    @functools.wraps(f)
    def looking(self):
        maps = [lv for lv in levels.running() if lv.kind == levels.MAP and levels.has(self._tl_value(), lv)]
        if not maps:
            return f(self)
        with _Without(maps):
            return f(_whole(self, maps))

    return looking


def rows(draw):
    """A draw of one row as a draw of many, one after the other, the outermost map going fastest."""

    def drawn(shape):
        if len(shape) == 1:
            return draw(shape[-1])
        made = [draw(shape[-1]) for _ in range(int(np.prod(shape[:-1])))]
        out = np.stack(made).reshape(*shape[-2::-1], shape[-1])
        return np.ascontiguousarray(out.transpose(*range(len(shape) - 2, -1, -1), len(shape) - 1))

    return drawn
