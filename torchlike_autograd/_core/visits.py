"""Small programs of an accelerator that the host runs (layer 3): what is seen once or twice is not worth the time that compiling it for the device takes.

The values travel to the host, its functions run as for programs of its own (`execute.op_by_op`), and the results travel back.  `worth.waits` says when.
"""

from __future__ import annotations

import math

from .devices import is_single
from .placed import adopt
from .record import slot_table

SMALL = 1 << 20  # elements of a value that may travel


def can_visit(program):
    """Whether the host can run a program and send its results where they belong: small values, each on one device."""
    outside = program.prefix.steps()[1]
    avals = (*(a for s in program.steps for a in s.out_avals), *(outside[-s - 1].aval for s in program.arguments))
    return all(is_single(a.device) and math.prod(a.shape) <= SMALL for a in avals)


def sent(program, arrays):
    """What the host found for a program's results, each where its type says; the codes of guarded calls, which come last, stay."""
    table = slot_table(program.prefix)
    keys = [table[s][2].device for s in program.outs]
    return [a if key == "cpu" else adopt(a, key) for a, key in zip(arrays, keys)] + arrays[len(keys):]


__all__ = ["can_visit", "sent"]
