"""Watched tapes (layer 6): while somebody wants to see every call, none is found by its remembered edge.

A tape becomes watched by an edge of its own in the trie, below which labels of calls are never stored plainly; so every call, also one that goes by C, ends in
`record.record_watched`, which is installed here.  Structures still repeat and programs are found again: the edges are there, under another key.  Watching is a
property of the thread (saved-tensor hooks, anomaly mode, a profile) and costs nothing where it is off.
"""

from __future__ import annotations

import time

from . import record, saved, saved_strides
from .record import IMMEDIATE, NOGRAD, ROOT, Step, _append, extend, is_full, label_of, new_prefix

_LISTENERS = ("calls", "selective")


def rewatch(state):
    """Begin or end watching the calls of a thread, as its hooks and modes say now."""
    wanted = saved.current_hooks(state) is not None or bool(state.anomaly) or not state.extra.keys().isdisjoint(_LISTENERS)
    state.root = _edge(ROOT, True) if wanted else ROOT
    tape = state.tape
    if tape.prefix.watched is not wanted:
        tape.prefix = _edge(tape.prefix, wanted)


def _edge(prefix, wanted):
    label = ("watch", wanted)
    nxt = prefix.next.get(label)
    if nxt is None:
        nxt = prefix.next[label] = new_prefix(prefix, Step("leaf", None, (), NOGRAD, (), (), prefix.size), 0, 0, 0, 0)
        nxt.watched = wanted
    return nxt


def record_watched(state, spec, ins, mode):
    """Record a call on a watched tape and show it to whoever watches."""
    profiler = state.extra.get("calls")
    if profiler is None:
        return _record_watched(state, spec, ins, mode)
    start = time.perf_counter_ns()
    out = _record_watched(state, spec, ins, mode)
    profiler.call(spec, ins, start, out)
    return out


def _record_watched(state, spec, ins, mode):
    mode = state.grad if mode is None else mode
    if is_full(state.tape, spec, ins, mode):
        record.flush(state.tape)
    tape = state.tape
    hooks = saved.current_hooks(state) is not None
    label, numbers = label_of(tape, spec, mode, ins)
    key = ("packed" if hooks else "watched", label)
    nxt = tape.prefix.next.get(key)
    if nxt is None:
        nxt = extend(tape, label, spec, ins, mode, key)
    out = _append(tape, nxt, numbers)
    if out is None:
        return record.record_op(spec, [x.late() if type(x) is record.Value else x for x in ins], mode)
    step = nxt.step
    if hooks:
        saved_strides.note(tape, step)
    made = None
    if "selective" in state.extra and mode != record.LEAF:
        if hooks and True in step.needs:    # inputs are saved before there is a result: a second run may end there
            made = saved.pack_step(state, tape, step, ins, None, mode == record.INPLACE)
        out = state.extra["selective"].made(spec, ins, out)
    if True in step.needs and mode != record.LEAF:
        if state.anomaly:
            state.anomaly.note(tape, step)
        if hooks:
            saved.pack_step(state, tape, step, ins, out, mode == record.INPLACE, made)
    if IMMEDIATE[0]:
        record.flush(tape)
    return out


record.on_watched(record_watched)

__all__ = ["rewatch"]
