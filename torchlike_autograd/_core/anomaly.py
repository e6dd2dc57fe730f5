"""Anomaly mode (layer 6): which call made the node in which a backward pass fails.

While it is on, the thread's tapes are watched (watch.py) and every node gets the stack of the call that made it in its metadata; a backward pass is cut at
every node, and the gradients that a node sends on are looked at for NaN.
"""

from __future__ import annotations

import os
import sys
import traceback
import weakref

import jax.numpy as jnp

from .nodes import HIDDEN, edge_indices, node_at, observed
from .plan import _saved
from .record import INPLACE, slot_table
from .saying import warn
from .sparse_gradients import SparseValue

_HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep


class _Notes(dict):
    """Metadata whose "parent_" is a node of the same tape: it is held by its place there, since the node would hold the tape, which holds this."""

    def __getitem__(self, key):
        found = super().__getitem__(key)
        return _node(self.tape(), found) if key == "parent_" and type(found) is int else found

    def get(self, key, default=None):
        """`dict.get`."""
        try:
            return self[key]
        except KeyError:
            return default

    def items(self):
        """`dict.items`."""
        return [(key, self[key]) for key in self]

    def values(self):
        """`dict.values`."""
        return [self[key] for key in self]


class Anomaly:
    """The mode of one thread; `running`: the (tape, first slot) of the node that a backward pass is in."""

    def __init__(self, check_nan):
        self.check_nan, self.running = check_nan, None

    def note(self, tape, step):
        """Remember by which call a node was made, and in which node's backward."""
        if step.kind == "op" and step.form.op.name in HIDDEN:
            return
        seen = observed(tape, step.first, True)
        if seen.metadata is None:
            seen.metadata = {}
        stack = [f for f in traceback.extract_stack() if not f.filename.startswith(_HERE)]
        seen.metadata["traceback_"] = traceback.format_list(stack)
        if self.running is None:
            return
        if self.running[0] is tape:
            notes = seen.metadata = _Notes(seen.metadata)
            notes["parent_"], notes.tape = self.running[1], weakref.ref(tape)
        else:
            seen.metadata["parent_"] = _node(*self.running)

    def cuts(self, tape):
        """Every slot that a node gives, and every node."""
        given = {s: step for s, (step, needs, _) in enumerate(slot_table(tape.prefix)) if needs and step.kind in ("op", "function")}
        return {*given, *(("node", step.first) for step in given.values())}

    def run(self, run_node, p, tape, item, grads):
        """`backward.run_node`, telling where it failed."""
        step, outer = item[1], self.running
        self.running = tape, step.first
        try:
            return run_node(p, tape, item, grads)
        except Exception:  # whatever a node, a hook or a user's backward raises; it goes on as it is
            blame(tape, step)
            raise
        finally:
            self.running = outer

    def look(self, tape, step, wanted, ins, places=None):
        """Raise where a gradient that a node sends on has a NaN; places: the output numbers of the node, where these are what `wanted` says."""
        if not self.check_nan:
            return
        places = list(edge_indices(step)) if places is None else places
        for i, v in sorted(zip(wanted, ins)):
            if v is None:
                continue
            if type(v) is SparseValue:
                v = v.tensor._tl_value()
            if v.array is None:
                v.tape.resolve(v)
            if (v.aval.dtype.is_floating_point or v.aval.dtype.is_complex) and bool(jnp.isnan(v.array).any()):
                name = _node(tape, step.first).name()
                raise RuntimeError(f"Function '{name}' returned nan values in its {places.index(i)}th output.")

    def check(self, check, tape, plan):
        """`versions.check`, telling which node it is about."""
        try:
            check(tape, plan)
        except RuntimeError as e:
            step = failing(tape, plan.visited)
            if step is None:
                raise
            if self.running != (tape, step.first):  # `run` does it
                blame(tape, step)
            text, mark, _ = str(e).partition(" Hint: enable anomaly detection")
            if not mark:
                raise
            raise RuntimeError(f"{text} Hint: the backtrace further above shows the operation that failed to compute its gradient. The variable in question "
                               "was changed in there or anywhere later. Good luck!") from None


def failing(tape, visited):
    """The first step of a pass that may not run any more, of those that start at these slots; None where all may."""
    return next((s for s in (slot_table(tape.prefix)[first][0] for first in visited) if _fails(tape, s)), None)


def _fails(tape, step):
    """Whether a node's saved values are gone or were written to."""
    if step.kind != "op":
        return False
    saved = _saved(step.form, step.wanted, step.mode == INPLACE)
    if saved is None:
        return False
    if step.first in tape.freed:
        return True
    used, own = saved
    slots = [step.first + k for k in own] + [step.ins[i] for i in used if type(step.ins[i]) is not tuple]
    return any(_stale(tape, s) for s in slots)


def _stale(tape, slot):
    if slot >= 0 and (tape.open or slot in tape.seen):
        seen = tape.seen.get(slot)
        return seen is not None and seen[0].n != seen[1]
    v = tape.inputs[-slot - 1] if tape.open else tape.kept.get(slot)
    return v is not None and v.stale()


def _node(tape, first):
    return node_at(tape, first)[0]


def blame(tape, step):
    """Say by which call the node was made that failed, and in which nodes' backward that was."""
    node = _node(tape, step.first)
    stack = node.metadata.get("traceback_")
    if stack is None:
        _say(f"Error detected in {node.name()}. No forward pass information available. Enable detect anomaly during forward pass for more information. "
             "(Triggered internally at /pytorch/torch/csrc/autograd/python_anomaly_mode.cpp:100.)")
        return
    _say(f"Error detected in {node.name()}. Traceback of forward call that caused the error:\n{''.join(stack)} "
         "(Triggered internally at /pytorch/torch/csrc/autograd/python_anomaly_mode.cpp:122.)")
    parent = node.metadata.get("parent_")
    while parent is not None:
        stack = parent.metadata.get("traceback_")
        if stack is None:
            _say(f"\n\nPrevious calculation was induced by {parent.name()}. No forward pass information available. Enable detect anomaly during forward pass "
                 "for more information. (Triggered internally at /pytorch/torch/csrc/autograd/python_anomaly_mode.cpp:129.)")
            return
        _say(f"\n\nPrevious calculation was induced by {parent.name()}. Traceback of forward call that induced the previous calculation:\n{''.join(stack)} "
             "(Triggered internally at /pytorch/torch/csrc/autograd/python_anomaly_mode.cpp:129.)")
        parent = parent.metadata.get("parent_")


def _say(text):
    """A warning; where warnings are errors it is written out, so that the error of the backward pass comes through."""
    try:
        warn(text)
    except Warning:
        sys.stderr.write(f"UserWarning: {text}\n")


__all__ = ["Anomaly", "blame", "failing"]
