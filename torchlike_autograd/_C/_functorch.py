"""torch._C._functorch (layer 8): questions about tensors inside transformations; levels themselves are not objects here."""

from __future__ import annotations

import contextlib
import enum

from .._core import belonging, levels, outlived
from .._core import publish as _publish
from .._core.record import thread
from .._core.saying import warn as _warn
from .._core.tangents_off import FORWARD
from ..autograd._function_levels import LOWERED as _lowered
from ..autograd._transforms import _Reverse
from ..autograd._vmap import RANDOMNESS, enter, leave


def _maps(tensor):
    return [lv for lv in levels.levels_of(tensor._tl_value().aval) if lv[2] == levels.MAP]


def is_batchedtensor(tensor) -> bool:
    """Whether a running map maps over this tensor."""
    return bool(_maps(tensor))


def _wrapping(tensor):
    """The running levels that a tensor belongs to, innermost last."""
    mine = levels.levels_of(tensor._tl_value().aval)
    return [(i, lv) for i, lv in enumerate(levels.running(), 1)
            if (belonging.belongs(tensor._tl_value(), lv) if lv.kind == "grad" else lv.key in mine)]


def maybe_get_level(tensor) -> int:
    """The number of the innermost running transformation that a tensor belongs to, from 1; -1 without one."""
    return max((i for i, _ in _wrapping(tensor)), default=-1)


def maybe_current_level():
    """The number of the innermost running transformation, or None."""
    return len(levels.running()) or None


def is_gradtrackingtensor(tensor) -> bool:
    """Whether the innermost transformation that a tensor belongs to differentiates."""
    found = _wrapping(tensor)
    return bool(found) and found[-1][1].kind != levels.MAP


def is_functorch_wrapped_tensor(tensor) -> bool:
    """Whether a tensor belongs to a running transformation."""
    return bool(_wrapping(tensor))


_allowed = [True]  # whether a map may go on where it has no rule; every operator has one here
_shown = [True]


def _is_vmap_fallback_enabled():
    return _allowed[0]


def _set_vmap_fallback_enabled(enabled):
    _allowed[0] = bool(enabled)


def _set_vmap_fallback_warning_enabled(enabled):
    _shown[0] = bool(enabled)


def fallen_back(name, tensors):
    """Say that an operator has no rule for the map that goes over one of these; RuntimeError for a map of no examples, and where it must not go on."""
    found = [level for t in tensors for level in _maps(t)]
    if not found:
        return
    if not _allowed[0]:
        raise RuntimeError(f"{name} hit the vmap fallback which is currently disabled")
    if any(size == 0 for _, size, _ in found):
        raise RuntimeError(f"Batching rule not implemented for {name}. The fallback path does not support vmap over dims of size 0.")
    if _shown[0]:
        _warn(f"There is a performance drop because we have not yet implemented the batching rule for {name}. Please file us an issue on GitHub so that we can "
              "prioritize its implementation. (Triggered internally at /pytorch/aten/src/ATen/functorch/BatchedFallback.cpp:82.)")


def is_legacy_batchedtensor(tensor) -> bool:
    """False: there is one kind of map."""
    return False


def is_functionaltensor(tensor) -> bool:
    """False: nothing writes to memory here."""
    return False


def maybe_get_bdim(tensor) -> int:
    """The dim that is mapped over: hidden, hence the first; -1 without one."""
    found = _maps(tensor)
    if not found:
        return -1
    level = next((lv for lv in levels.running() if lv.kind == levels.MAP and lv.key == found[-1]), None)
    return 0 if level is None else levels.dim_of(tensor._tl_value(), level)


def _level(number):
    """The running map of that number."""
    found = levels.running()
    if not 0 < number <= len(found) or found[number - 1].kind != levels.MAP:
        raise NotImplementedError(f"a tensor of level {number} while no map runs there")
    return found[number - 1]


def _vmap_increment_nesting(batch_size, randomness) -> int:
    """Begin a map over `batch_size` examples; its number.  RuntimeError for an unknown `randomness`."""
    if randomness not in RANDOMNESS:
        raise RuntimeError("randomness argument must be error, same, or different.")
    levels.enter(levels.MAP, batch_size, randomness).__enter__()
    return len(levels.running())


def _vmap_decrement_nesting() -> int:
    """End the innermost map; the number that it had.  RuntimeError where none runs."""
    found = levels.running()
    if not found or found[-1].kind != levels.MAP:
        raise RuntimeError("no map is the innermost transformation that runs")
    found.pop()
    return len(found) + 1


_BEGUN: list = []  # [(level, what ends it)] of the levels that were begun by hand here


def _grad_increment_nesting() -> int:
    """Begin a reverse-mode transformation; its number."""
    level = _Reverse()
    level.__enter__()
    _BEGUN.append((level.level, level))
    return len(levels.running())


def _jvp_increment_nesting() -> int:
    """Begin a forward-mode transformation; its number."""
    level = levels.enter(levels.DUAL, randomness="jvp")
    _BEGUN.append((level.__enter__(), level))
    return len(levels.running())


def _end(kind) -> int:
    """End the innermost transformation, which was begun here; the number that it had.  RuntimeError where that is none of this kind."""
    found = levels.running()
    if not found or found[-1].kind != kind or not _BEGUN or _BEGUN[-1][0] is not found[-1]:
        raise RuntimeError("no such transformation is the innermost one that was begun here")
    level = _BEGUN.pop()[1]
    level.__exit__(None, None, None)
    if kind == "grad":
        level.release()
    return len(found) + 1


def _grad_decrement_nesting() -> int:
    """End the innermost reverse-mode transformation; the number that it had."""
    return _end("grad")


def _jvp_decrement_nesting() -> int:
    """End the innermost forward-mode transformation; the number that it had."""
    return _end(levels.DUAL)


def _wrap_for_grad(tensor, level):
    """A tensor of the reverse-mode transformation of number `level`, with the contents of `tensor`."""
    found = levels.running()[level - 1].transform
    own = None if found is None else found()
    running = thread.state.extra.get(FORWARD)
    if running and (own is None or own.forward is not running) and all(own is not begun for _, begun in _BEGUN):
        return tensor  # what a Function returns is recorded for every level around it
    if own is None:
        raise NotImplementedError(f"torch._C._functorch._wrap_for_grad: level {level} is no reverse-mode transformation")
    return own.fresh(tensor)


def _unwrap_for_grad(tensor, level):
    """A tensor as the transformations around a reverse-mode one see it, in the forward of a Function, which is recorded as a whole."""
    if not thread.state.extra.get(FORWARD):
        raise NotImplementedError("torch._C._functorch._unwrap_for_grad: outside of a Function's forward")
    return tensor


def get_dynamic_layer_stack_depth() -> int:
    """How many transformations run."""
    return len(levels.running())


def pop_dynamic_layer_stack_and_undo_to_depth(depth) -> None:
    """End the innermost transformations until `depth` of them run."""
    ends = {levels.MAP: _vmap_decrement_nesting, "grad": _grad_decrement_nesting, levels.DUAL: _jvp_decrement_nesting}
    while len(levels.running()) > depth:
        ends[levels.running()[-1].kind]()


def is_dead_tensor_wrapper(tensor) -> bool:
    """Whether a tensor belonged to a transformation that is over and is held still."""
    return tensor._tl_value() in outlived.DEAD


def _add_batch_dim(self, batch_dim, level):
    """A tensor inside the map of number `level`, mapped over `batch_dim`."""
    level = _level(level)
    inner = enter(level, self, batch_dim)
    if level.arrived is not None:
        level.arrived.append((self, batch_dim, inner, inner._tl_v))
    return inner


def _remove_batch_dim(self, level, batch_size, out_dim):
    """A tensor outside of the map of number `level`, its dim at `out_dim`; one that is not mapped is expanded."""
    return leave(_level(level), self, out_dim)


def get_unwrapped(tensor):
    """A tensor without the innermost level that it belongs to, the dim that was hidden first.  RuntimeError without one."""
    found = _maps(tensor)
    if not found:
        raise RuntimeError("No wrappers present!")
    level = next(lv for lv in levels.running() if lv.kind == levels.MAP and lv.key == found[-1])
    return leave(level, tensor, levels.dim_of(tensor._tl_value(), level))


def reshape_dim_into(src, dst, x):
    """Dim `src` joined into dim `dst` of what is left, in front of it."""
    x = x.movedim(src, dst % (x.dim() - 1))
    dst %= x.dim() - 1
    return x.flatten(dst, dst + 1)


def reshape_dim_outof(src, size1, x):
    """Dim `src` cut in two, the first of `size1`.  RuntimeError where that does not divide it."""
    src %= x.dim()
    if x.size(src) % size1:
        raise RuntimeError(f"reshape_dim_outof: {size1} does not divide {x.size(src)}")
    return x.unflatten(src, (size1, x.size(src) // size1))


def dlevel(tensor) -> int:
    """The number of the innermost running transformation that a tensor belongs to; 0 for a plain one, -1 for one whose transformation is over."""
    found, v = maybe_get_level(tensor), tensor._tl_value()
    if found > 0:
        return found
    if v in outlived.DEAD or levels.levels_of(v.aval):
        return -1
    return -1 if levels.ENDED and v.needs and v.leaf is None and not belonging.reaches([v], ()) else 0


class TransformType(enum.Enum):
    """Kinds of transformations."""

    Torch, Vmap, Grad, Jvp, Functionalize = range(5)


class CInterpreter:
    """A running transformation, as a question about it sees it."""

    def __init__(self, number, running):
        self._number, self._running = number, running

    def level(self) -> int:
        """Its number, from 1."""
        return self._number

    @contextlib.contextmanager
    def lower(self):
        """Run as the transformations around this one do: outside of a map; a reverse-mode one goes on, and is not asked for rules meanwhile."""
        found, own = levels.running(), self._running
        if own.kind == levels.MAP:
            at = found.index(own)
            del found[at]
            try:
                yield
            finally:
                found.insert(at, own)
            return
        if own.kind != "grad":
            raise NotImplementedError("torch._C._functorch.CInterpreter.lower: of a forward-mode transformation")
        extra = thread.state.extra
        outer = extra.get(_lowered, ())
        extra[_lowered] = (*outer, own)
        try:
            yield
        finally:
            extra[_lowered] = outer

    def key(self) -> TransformType:
        """Its kind."""
        return TransformType.Vmap if self._running.kind == levels.MAP else TransformType.Jvp if self._running.kind == "jvp" else TransformType.Grad


def peek_interpreter_stack():
    """The innermost running transformation that rules are asked for, or None."""
    lowered = thread.state.extra.get(_lowered, ())
    return next((CInterpreter(i, lv) for i, lv in reversed([*enumerate(levels.running(), 1)]) if lv not in lowered), None)


def get_interpreter_stack():
    """The running transformations, outermost first, or None where there is none."""
    return [CInterpreter(i, lv) for i, lv in enumerate(levels.running(), 1)] or None


__getattr__ = _publish.missing("torch._C._functorch")
