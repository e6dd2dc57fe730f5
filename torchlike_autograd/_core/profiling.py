"""What a profiler hears (layer 6): calls as they are recorded, programs as they run, nodes of backward passes.  Nothing of it is on any path while it is off.

A thread's tapes are watched (watch.py) while one listens, so that every call ends in `record_watched`; `execute.timer` is asked at each flush.  Recording a call
and computing its result are different times here: the first is the event `aten::...`, the second part of the event of its program.
"""

from __future__ import annotations

import threading
import time
import weakref

import jax

from . import execute
from .anomaly import Anomaly
from .record import thread
from .watch import rewatch

PROGRAM = "torchlike::program"


class Collector:
    """The events of one profile: (name, start, end, thread, shapes, kind, sequence number), times in nanoseconds."""

    def __init__(self, shapes=False):
        self.events, self.shapes, self.open = [], shapes, 0
        self.origin = time.perf_counter_ns()

    def add(self, name, start, end=None, shapes=None, kind="cpu_op", number=-1):
        """One event that has ended (now, unless told otherwise)."""
        self.events.append((name, start, time.perf_counter_ns() if end is None else end, threading.get_ident(), shapes or [], kind, number))

    def call(self, spec, ins, start, made):
        """A call that was recorded."""
        name = spec.op.name.partition(".")[0].strip("_~")
        v = made[0] if made else None
        shapes = [list(a.aval.shape) if hasattr(a, "aval") else [] for a in ins] if self.shapes else None
        self.add(f"aten::{name}", start, shapes=shapes, number=v.slot if v is not None and v.needs else -1)


class Nodes(Anomaly):
    """Tells a collector of every node that a backward pass runs."""

    def __init__(self, collector):
        super().__init__(False)
        self.collector = collector

    def __bool__(self):
        return False  # calls need not be noted

    def note(self, tape, step):
        """Nothing is remembered."""

    def run(self, run_node, p, tape, item, grads):
        """`engine.run_node`, timed."""
        start, step = time.perf_counter_ns(), item[1]
        try:
            return run_node(p, tape, item, grads)
        finally:
            name = step.form.node
            self.collector.add(name if type(name) is str else next(n for n in name if n), start, number=step.first)

    def check(self, check, tape, plan):
        """As without it."""
        check(tape, plan)


def start(collector):
    """Listen to this thread from now on; returns what `stop` needs."""
    state = thread.state
    execute.flush()
    before = state.extra.get("profiler"), state.anomaly, execute.timer[0]
    state.extra["profiler"] = collector
    if state.anomaly is None:
        state.anomaly = Nodes(collector)
    execute.timer[0] = _timed
    rewatch(state)
    return before


def stop(before):
    """Run what is pending and listen no more."""
    state = thread.state
    execute.flush()
    if before[0] is None:
        state.extra.pop("profiler", None)
    else:
        state.extra["profiler"] = before[0]
    state.anomaly, execute.timer[0] = before[1], before[2]
    rewatch(state)


def current():
    """The collector that listens to this thread, or None."""
    return thread.state.extra.get("profiler")


def _timed(tape, run):
    """Run a tape and wait for its results."""
    collector = tape.owner.extra.get("profiler")
    if collector is None:
        return run(tape)
    calls = sum(s.kind in ("op", "backward") for s in tape.prefix.steps()[0])
    left = [weakref.ref(v) for v in tape.values]
    start = time.perf_counter_ns()
    out = run(tape)
    for v in (r() for r in left):
        if v is not None and v.array is not None:
            jax.block_until_ready(v.array)
    if calls:
        collector.add(PROGRAM, start, kind="program", number=calls)
    return out


__all__ = ["Collector", "current", "start", "stop"]
