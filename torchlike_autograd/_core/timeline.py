"""What happens when (layer 7): recorded calls, backward passes, flushes, compilations and runs as a Chrome trace.

A timeline is a view of what a `profiling.Collector` hears; it adds what the executor does inside: while it runs, that goes its general way through timed
functions.  Nothing of it is there otherwise.
"""

from __future__ import annotations

import json
import os
import time

import jax

from . import execute, placed, profiling
from .record import LOCK

_KINDS = {"cpu_op": "call", "program": "flush", "user_annotation": "range"}


class Timeline:
    """A context manager; afterwards `events` is a list of Chrome's trace events, `save(path)` writes them, `summary()` is text.

    path: written at the end where given; calls: whether recorded calls are shown; wait: whether a run counts until its results are there.
    """

    def __init__(self, path=None, *, calls=True, wait=True):
        self.path, self.calls, self.wait = path, calls, wait
        self.events, self._undo = [], []

    def __enter__(self):
        self._collector = profiling.Collector(calls=self.calls, nodes=False, lines=True, parts=True, wait=self.wait)
        self._before = profiling.start(self._collector)
        with LOCK:
            self._replace(execute, "native", None if execute.native is None else _Slow(execute.native))
            for name, kind in (("_compile", "compile"), ("op_by_op", "op by op"), ("_call", "run")):
                self._replace(execute, name, self._timed(getattr(execute, name), kind))
            self._replace(placed.Piece, "_compile", self._timed(placed.Piece._compile, "compile"))
            self._wrap_passes()
        return self

    def _wrap_passes(self):
        from ..autograd import _run  # cycle: passes begin above

        self._replace(_run, "run_simple", self._timed(_run.run_simple, "backward"))
        self._replace(_run.engine, "run_backward", self._timed(_run.engine.run_backward, "backward"))

    def __exit__(self, *exc):
        profiling.stop(self._before)
        with LOCK:
            for owner, name, old in reversed(self._undo):
                setattr(owner, name, old)
        self._undo = []
        self.events = [_event(e, self._collector.origin) for e in self._collector.events]
        if self.path is not None:
            self.save(self.path)

    def _replace(self, owner, name, new):
        self._undo.append((owner, name, getattr(owner, name)))
        setattr(owner, name, new)

    def _timed(self, f, kind):
        def run(*args, **kwargs):
            start = time.perf_counter_ns()
            out = f(*args, **kwargs)
            if self.wait and kind == "run":
                jax.block_until_ready([x for x in out if isinstance(x, jax.Array) and not isinstance(x, jax.core.Tracer)])
            if out is not False:  # a pass that was not of the simple kind
                self._collector.add(kind, start, kind=kind, about=_about(args))
            return out

        return run

    def trace(self):
        """The trace as Chrome reads it."""
        return {"traceEvents": sorted(self.events, key=lambda e: e["ts"]), "displayTimeUnit": "ms"}

    def save(self, path):
        """Write the trace as JSON."""
        with open(path, "w", encoding="utf-8") as f:
            json.dump(self.trace(), f)

    def summary(self):
        """How often, and how long in all, each kind of event was."""
        rows = {}
        for e in self.events:
            n, total = rows.get(e["cat"], (0, 0.0))
            rows[e["cat"]] = n + 1, total + e.get("dur", 0.0)
        return "\n".join(f"{kind:<10} {n:>7}  {total / 1e3:>10.3f} ms" for kind, (n, total) in sorted(rows.items()))


def _event(event, origin):
    """An event of a collector as Chrome reads it; a call is an instant."""
    name, start, end, thread, _, kind, _, about = event
    kind = _KINDS.get(kind, kind)
    details = dict(about)
    name = details.pop("op", "flush" if kind == "flush" else name)
    at = {"name": name, "cat": kind, "pid": os.getpid(), "tid": thread, "ts": ((end if kind == "call" else start) - origin) / 1e3, "args": details}
    return {**at, "ph": "i", "s": "t"} if kind == "call" else {**at, "ph": "X", "dur": (end - start) / 1e3}


class _Slow:
    """The C module to the executor, but for its flush."""

    def __init__(self, native):
        self._native = native

    def flush(self, tape):
        """Let the general way go."""
        return False

    def __getattr__(self, name):
        return getattr(self._native, name)


def _about(args):
    """What is worth saying of the thing that a timed function was given."""
    for x in args:
        prefix = x.prefix if hasattr(x, "prefix") else None
        if prefix is not None and hasattr(prefix, "weight"):
            return {"operators": prefix.weight, "inputs": prefix.inputs}
    return {}


__all__ = ["Timeline"]
