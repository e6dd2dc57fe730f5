"""Checks that need data (layer 3): a program returns a code for each guarded call; the next look raises.

`pending` holds (codes array, [(step, place)]) of programs that ran and were not looked at yet.
"""

from __future__ import annotations

import numpy as np

pending: list = []


def check():
    """Raise the error of the first guarded call that failed since the last look."""
    while pending:
        codes, calls = pending.pop(0)
        for code, (make_error, place) in zip(np.asarray(codes), calls):
            if code != 0:
                pending.clear()
                error = make_error(int(code))
                if place is not None:
                    error.add_note(f"recorded at {place[0]}:{place[1]}")
                raise error
