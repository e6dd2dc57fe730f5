"""What profilers and timelines hear (layer 6): calls as they are recorded, programs as they run, nodes of backward passes.  While it is off, no path goes here.

A thread's tapes are watched (watch.py) while one listens, so that every call ends in `record_watched`; `execute.timer` is asked at each flush.  Recording a
call and computing its result are different times here: the first is the event `aten::...`, the second part of the event of its program.
"""

from __future__ import annotations

import contextlib
import math
import threading
import time
import weakref

import jax

from .._ops.spec import Spec
from . import execute
from .anomaly import Anomaly
from .lines import user_line
from .ranges_heard import RANGES
from .record import thread
from .watch import rewatch

PROGRAM = "torchlike::program"
PARTS = frozenset(("backward", "compile", "op by op", "run"))


class Collector:
    """The events of one profile or timeline: (name, start, end, thread, shapes, kind, sequence number, what else there is to say), times in nanoseconds.

    shapes: those of calls' arguments; calls: whether recorded calls are events; nodes: whether nodes of backward passes are, which cuts a pass at each of them;
    lines: whether a call says where in the user's program it is, and its results; parts: whether it takes what the executor does inside (timeline.py); wait:
    whether a program counts until its results are there; counts: whether a call says its floating point operations and the bytes of its results.  One that
    begins inside another tells that one too.
    """

    def __init__(self, shapes=False, *, calls=True, nodes=True, lines=False, parts=False, wait=True, counts=False):
        self.shapes, self.calls, self.nodes, self.lines, self.parts, self.wait, self.counts = shapes, calls, nodes, lines, parts, wait, counts
        self.events, self.outer = [], None
        self.origin = time.perf_counter_ns()

    def add(self, name, start, end=None, shapes=None, kind="cpu_op", number=-1, about=None):
        """One event that has ended (now, unless told otherwise)."""
        event = (name, start, time.perf_counter_ns() if end is None else end, threading.get_ident(), shapes or [], kind, number, about or {})
        own = self
        while own is not None:
            if own.parts or kind not in PARTS:
                own.events.append(event)
            own = own.outer

    def call(self, spec, ins, start, made):
        """A call that was recorded."""
        name = spec.op.name.partition(".")[0].strip("_~")
        name = f"aten::{name}" if isinstance(spec, Spec) else f"torchlike::pullback of {name}"
        v = made[0] if made else None
        shapes = [list(a.aval.shape) if hasattr(a, "aval") else [] for a in ins] if self.shapes else None
        about = _where(spec, made) if self.lines else {}
        if self.counts:
            about |= {"flops": _flops(name, ins, made), "bytes": 0 if spec.op.is_view else sum(math.prod(v.aval.shape) * v.aval.dtype.itemsize for v in made)}
        self.add(name, start, shapes=shapes, number=v.slot if v is not None and v.needs else -1, about=about)

    @contextlib.contextmanager
    def range(self, name, args=()):
        """A function that records several calls, with the tensors it was given."""
        start = time.perf_counter_ns()
        try:
            yield
        finally:  # one that fails is told too
            self.add(name, start, shapes=[list(a.shape) if hasattr(a, "shape") else [] for a in args] if self.shapes else None)


def _flops(name, ins, made):
    """Floating point operations of the calls that PyTorch's profiler counts, a multiplication and an addition as two; 0 of others."""
    shapes = [a.aval.shape for a in ins if hasattr(a, "aval")]
    size = math.prod(made[0].aval.shape) if made else 0
    if name in ("aten::mul", "aten::add"):
        return math.prod(shapes[0]) if shapes else 0
    if name in ("aten::mm", "aten::bmm", "aten::addmm", "aten::baddbmm"):
        return 2 * size * shapes[-1][-2]
    if name == "aten::convolution":
        return 2 * size * math.prod(shapes[1][1:])
    return 0


def _range(name, args=()):
    """A range for whoever listens to this thread."""
    collector = thread.state.extra.get("calls")
    return contextlib.nullcontext() if collector is None else collector.range(name, args)


def _where(spec, made):
    """What a timeline says of a call."""
    line = user_line()
    about = {"op": spec.op.name, "result": ", ".join(repr(v.aval) for v in made)}
    return about if line is None else {**about, "line": f"{line[0]}:{line[1]}"}


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
        """`backward.run_node`, timed."""
        start, step = time.perf_counter_ns(), item[1]
        try:
            return run_node(p, tape, item, grads)
        finally:
            name = step.form.node
            name = name if type(name) is str else next(n for n in name if n)
            self.collector.add(name, start, number=step.first, kind="node")
            self.collector.add(f"autograd::engine::evaluate_function: {name}", start, number=step.first, kind="node")

    def check(self, check, tape, plan):
        """As without it."""
        check(tape, plan)


def start(collector):
    """Listen to this thread from now on; returns what `stop` needs."""
    state = thread.state
    execute.flush()
    before = state.extra.get("profiler"), state.extra.get("calls"), state.anomaly, execute.timer[0]
    collector.outer = before[0]
    state.extra["profiler"] = collector
    if collector.calls:
        state.extra["calls"] = collector
        RANGES.append(_range)
    if state.anomaly is None and collector.nodes:
        state.anomaly = Nodes(collector)
    execute.timer[0] = _timed
    rewatch(state)
    return before


def stop(before):
    """Run what is pending and listen no more."""
    state = thread.state
    try:
        execute.flush()
    finally:
        if state.extra.get("calls") is not before[1]:
            RANGES.pop()
        for name, old in zip(("profiler", "calls"), before):
            if old is None:
                state.extra.pop(name, None)
            else:
                state.extra[name] = old
        state.anomaly, execute.timer[0] = before[2:]
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
    left = [weakref.ref(v) for v in tape.values] if collector.wait else ()
    start = time.perf_counter_ns()
    out = run(tape)
    for v in (r() for r in left):
        if v is not None and v.array is not None:
            jax.block_until_ready(v.array)
    if calls:
        collector.add(PROGRAM, start, kind="program", number=calls,
                      about={"operators": tape.prefix.weight, "inputs": tape.prefix.inputs} if collector.lines else None)
    return out


__all__ = ["Collector", "current", "start", "stop"]
