"""Checks that need data (layer 3): a program returns a code for each guarded call; the next look raises, or the call itself where the user's code catches it.

`pending` holds (codes array, guarded steps, places in the user's code by slot) of programs that ran and were not looked at yet.
"""

from __future__ import annotations

import sys

import numpy as np

from .lines import catches, user_frame
from .record import Step

pending: list = []


def note(v):
    """Remember where the guarded call was that made `v`, or check it where it ran at once."""
    if v.tape is None:
        check()
        return
    frame = user_frame(sys._getframe(1))
    v.tape.lines[v.slot] = frame and (frame.f_code.co_filename, frame.f_lineno)
    # `try: L = cholesky(a)`, `except`: the error is wanted now
    if catches(frame, _of_a_decomposition(v)) and v.aval.device != "traced" and not hasattr(v.aval, "levels"):
        v.tape.resolve(v)
        check()


def _of_a_decomposition(v):
    """Whether the call that made `v` was one of linear algebra; packing hooks may have recorded more since."""
    node = v.tape.prefix
    while type(node.step) is not Step or node.step.first > v.slot:
        node = node.parent
    return "._ops.linalg" in getattr(node.step.form.op.guard, "__module__", "")


def await_codes(codes, program, tape):
    """The codes of a program's guarded calls are looked at with its results."""
    pending.append((codes, program.guarded, tape.lines))


def check():
    """Raise the error of the first guarded call that failed since the last look."""
    while pending:
        codes, steps, lines = pending.pop(0)
        for code, step in zip(np.asarray(codes).tolist(), steps):
            if code != 0:
                pending.clear()
                error, place = step.form.guard_error(code), lines.get(step.first)
                if place is not None:
                    error.add_note(f"recorded at {place[0]}:{place[1]}")
                raise error
