"""Checks that need data (layer 3): a program returns a code for each guarded call; the next look raises, or the call itself where the user's code catches it.

`pending` holds (codes array, guarded steps, places in the user's code by slot) of programs that ran and were not looked at yet.
"""

from __future__ import annotations

import sys

import numpy as np

from .lines import catches, user_line
from .record import Step

pending: list = []
_MOST = 64  # programs not looked at before the next guarded call looks at them: what explains an error keeps tensors


def note(v, explain=None):
    """Remember where the guarded call was that made `v`, or check it where it ran at once.

    explain: called without arguments for the error, where the operator does not know its words.
    """
    if len(pending) > _MOST:
        check()
    if v.tape is None:
        check()
        return
    v.tape.lines[v.slot] = user_line(), explain
    # `try: L = cholesky(a)`, `except`: the error is wanted now
    if catches(sys._getframe(1), *_raised_by(v, explain)) and v.aval.device != "traced" and not hasattr(v.aval, "levels"):
        v.tape.resolve(v)
        check()


def _raised_by(v, explain):
    """What the guarded call that made `v` raises, whether only an `except` that names it is meant, and whether such a one is from far out too: after a failed
    decomposition, or where a parameter is not valid, programs try something else, an index out of range stops them.  Many a RuntimeError is waited for that is
    none of these.  Packing hooks may have recorded more since.
    """
    if explain is not None:
        return ValueError, False, True
    node = v.tape.prefix
    while type(node.step) is not Step or node.step.first > v.slot:
        node = node.parent
    return (RuntimeError, False, False) if "._ops.linalg" in getattr(node.step.form.op.guard, "__module__", "") else (IndexError, True, False)


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
                place, explain = lines.get(step.first, (None, None))
                error = step.form.guard_error(code) if explain is None else explain()
                if place is not None:
                    error.add_note(f"recorded at {place[0]}:{place[1]}")
                raise error
