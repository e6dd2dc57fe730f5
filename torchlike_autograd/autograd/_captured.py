"""Tensors that a transformed function takes from around it (layer 7): torch refuses in-place writes to them.

They are looked for where a function can name them: its closure, its globals, what it wraps, the buffers of modules there.  Writes are seen by their versions
when the function has returned; the tensors then show again what they showed before.  One that shares memory with an argument, through which the function may
write, counts versions of its own meanwhile.
"""

from __future__ import annotations

import functools
from types import FunctionType, MethodType

from .._core import levels
from .._core.errors import captured_written
from .._core.nodes import step_of
from .._core.pytree import flatten
from .._core.record import IMMEDIATE, mark_seen, thread
from .._core.storage import as_detached, peek
from .._tensor import Tensor

_DEPTH = 4  # of functions that call functions


def captured(func):
    """[(tensor, its state and what it shows if it is a view, whether it is the buffer of a module)] of what a function can name."""
    found, seen = {}, set()
    _collect(func, found, seen, _DEPTH)
    return [(t, (*_state(t), None if t._tl_view is None else peek(t)), of_module) for t, of_module in found.values()]


def _collect(f, found, seen, depth):
    if isinstance(f, Tensor):
        found.setdefault(id(f), (f, False))
        return
    if depth == 0 or id(f) in seen:
        return
    seen.add(id(f))
    if _is_module(f):
        _buffers(f, found)
    if isinstance(f, functools.partial):
        for x in (f.func, *f.args, *f.keywords.values()):
            _collect(x, found, seen, depth - 1)
    elif isinstance(f, MethodType):
        _collect(f.__func__, found, seen, depth - 1)
        if _is_module(f.__self__):
            _buffers(f.__self__, found)
    elif isinstance(f, FunctionType) and not f.__globals__.get("__name__", "").startswith(_HOME):
        _of_function(f, found, seen, depth)


def _is_module(x):
    return "_buffers" in getattr(x, "__dict__", ()) and "_modules" in x.__dict__


def _buffers(module, found):
    modules = {id(module): module}
    left = [module]
    while left:
        m = left.pop()
        for t in m._buffers.values():
            if isinstance(t, Tensor):
                found[id(t)] = t, True
        new = {id(x): x for x in m._modules.values() if x is not None and id(x) not in modules}
        modules.update(new)
        left += new.values()


def _of_function(f, found, seen, depth):
    for cell in f.__closure__ or ():
        try:
            x = cell.cell_contents
        except ValueError:  # not set yet
            continue
        if isinstance(x, (Tensor, FunctionType, MethodType, functools.partial)) or _is_module(x):
            _collect(x, found, seen, depth - 1)
    names = f.__globals__
    for name in f.__code__.co_names:
        x = names.get(name)
        if isinstance(x, (Tensor, FunctionType)) or _is_module(x):
            _collect(x, found, seen, depth - 1)


_HOME = __package__.partition(".")[0]


def _state(t):
    """(its version, how often its memory changed, what the memory holds)."""
    cell, counter = t._tl_cell, t._tl_counter
    return 0 if counter is None else counter.n, 0 if cell is None else cell.n, t._tl_v if cell is None else cell.value


class _Writers:
    """Who wrote to what a function captured, as far as it is seen before the record of the writes goes: {id of a tensor: (its versions, name)}.

    statistics: ids of the memory of running statistics that batch_norm moved, inside of an operator that is not in-place.
    """

    def __init__(self, found, apart):
        self.found, self.apart, self.names, self.statistics, self.made = found, apart, {}, set(), {}

    def note(self, tape=None):
        """Look now; at what is on a tape that runs at once before it is written."""
        if tape is not None and IMMEDIATE[0]:
            self.made = {k: name for k, name in self.made.items() if k not in set(map(id, tape.values))}
            self.made.update((id(v), self._writer(v)) for v in tape.values)
        for t, before, _ in self.found:
            now, n = _state(t), 1 if id(t) in self.apart else 2
            if now[:n] != before[:n] and self.names.get(id(t), (None,))[0] != now[:n]:
                self.names[id(t)] = now[:n], self._writer(now[2])

    def check(self):
        """torch's error where one of them was written since; it shows then what it showed before."""
        self.note()
        wrong, moved = [], []
        for t, before, of_module in self.found:
            known = self.names.get(id(t))
            if known is not None:
                (moved if id(t._tl_cell) in self.statistics and known[0][0] == before[0] else wrong).append((t, before, known[1], of_module))
        if not wrong:
            return
        for t, before, _, _ in [*wrong, *(m for m in moved if m[3])]:  # a module counts its batches before it moves statistics
            base = None if t._tl_view is None else t._tl_view.base
            if base is not None and base._tl_cell is t._tl_cell and base is not t:
                put_back(base, before[2])
            put_back(t, *before[2:])
            t._tl_counter.n = before[0]
        raise captured_written(wrong[0][2])

    def _writer(self, v):
        """The operator that made a Value, as torch names it where it writes in place."""
        if v.tape is None or id(v) in self.made:
            return self.made.get(id(v), "copy_")
        step = step_of(v.tape, v.slot)
        if step.kind == "op" and getattr(step.form.spec, "arity", 0) == 2:  # what was written to a view, put into its base
            if step.ins[1] < 0:
                return self.made.get(id(v.tape.inputs[-step.ins[1] - 1]), "copy_")
            step = step_of(v.tape, step.ins[1])
        op = getattr(step.form, "op", None)
        name, _, overload = str(getattr(op, "key", "copy")).partition(".")
        if name.startswith("_") or not name.isidentifier():
            return "copy_"
        return f"{name}_.{overload}" if overload else f"{name}_"


def forget_history(t):
    """Let a tensor and the one that it is a view of keep what they hold, without history; which is no write."""
    base = t if t._tl_view is None or t._tl_view.base is None else t._tl_view.base
    values = [(x, as_detached(x._tl_value())) for x in ([t] if base is t else [base, t])]
    if t._tl_cell is not None:
        t._tl_cell.value = as_detached(t._tl_cell.value)
        t._tl_cell.n += 1
    for x, v in values:
        x._tl_v = v
        if x._tl_cell is not None:
            x._tl_at = x._tl_cell.n
            mark_seen(v, x._tl_counter)


def put_back(t, v, shown=None):
    """Let a tensor, or the memory behind it, hold `v`, which is no write; a view shows `shown`."""
    t._tl_v = v if shown is None else shown
    if t._tl_cell is not None:
        t._tl_cell.value = v
        t._tl_cell.n += 1
        t._tl_at = t._tl_cell.n
        t._tl_cell.written()


def run(func, *args, **kwargs):
    """Call a function that is transformed; RuntimeError where it wrote to what it captured."""
    extra = thread.state.extra
    around = extra.get("derivative")
    extra["derivative"] = len(levels.running())
    try:
        return _run(func, *args, **kwargs)
    finally:
        extra["derivative"] = around


def _run(func, *args, **kwargs):
    given = [x for x in flatten((args, kwargs))[0] if isinstance(x, Tensor)]
    found = _without(captured(func), given)
    if not found:
        return func(*args, **kwargs)
    cells = {id(x._tl_cell) for x in given if x._tl_cell is not None}
    with _Apart([t for t, _, _ in found if t._tl_cell is not None and id(t._tl_cell) in cells]) as apart:
        writers, extra = _Writers(found, apart), thread.state.extra
        outer, around = extra.get("before flush", ()), extra.get("statistics")
        extra["before flush"], extra["statistics"] = (*outer, writers.note), writers.statistics
        try:
            out = func(*args, **kwargs)
        finally:
            extra["before flush"], extra["statistics"] = outer, around
            if around is not None:
                around.update(writers.statistics)
        writers.check()
    return out


def _without(found, given):
    """What is captured, without what is an argument too: that may be written."""
    same = {id(x) for x in given}
    return [f for f in found if id(f[0]) not in same]


class _Apart:
    """Tensors that count their own versions for a while, apart from others that share their memory: gives their ids."""

    def __init__(self, tensors):
        self.shared = [(t, t._tl_counter, t._tl_counter.n) for t in tensors if not t._tl_counter.inference]

    def __enter__(self):
        for t, counter, n in self.shared:
            t._tl_counter = type(counter)(n)
        return {id(t) for t, _, _ in self.shared}

    def __exit__(self, *exc):
        for t, counter, n in self.shared:
            counter.n += t._tl_counter.n - n
            t._tl_counter = counter
