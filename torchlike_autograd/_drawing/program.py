"""What computes a tensor: the recorded program, its pieces, and what XLA made of them (layer 9)."""

from __future__ import annotations

import functools

import jax
import numpy as np

from .._core import placed, record
from .._core.compiling import OPTIONS
from .._core.record import LOCK
from .._core.storage import peek
from .._tensor import Tensor


class Shown:
    """A program: `text`, the recorded calls; `pieces`, [Piece]: one for each place where it runs (usually one)."""

    def __init__(self, program, pieces):
        self.program, self.text, self.pieces = program, str(program), pieces

    def hlo(self):
        """XLA's optimized program of each piece, one after the other."""
        return "\n\n".join(p.hlo for p in self.pieces)

    def cost(self):
        """XLA's estimates (floating point operations, bytes read and written, ...), summed over the pieces."""
        out = {}
        for p in self.pieces:
            for k, x in p.cost.items():
                out[k] = out.get(k, 0.0) + x
        return out

    def __str__(self):
        cost = self.cost()
        known = ", ".join(f"{k} {cost[k]:,.0f}" for k in ("flops", "transcendentals", "bytes accessed") if k in cost)
        rows = [f"{len(self.program.steps)} recorded calls, {self.program.runs} runs", self.text, f"XLA: {known or 'no estimate'}"]
        return "\n".join([*rows, *(f"  on {p.place}: {p.calls} calls, {len(p.hlo.splitlines())} lines of HLO" for p in self.pieces)])

    __repr__ = __str__


class Piece:
    """What runs in one place: `place` ("cpu", "cuda:0", "cpu@0" for several devices), number of `calls`, XLA's `hlo` and `cost`."""

    def __init__(self, place, calls, compile_):
        self.place, self.calls, self._compile = place, calls, compile_

    @functools.cached_property
    def compiled(self):
        """jax's Compiled; made when it is asked for."""
        return self._compile()

    @property
    def hlo(self):
        """The optimized program."""
        return self.compiled.as_text()

    @property
    def cost(self):
        """XLA's estimates."""
        found = self.compiled.cost_analysis() or {}
        return dict(found[0] if isinstance(found, (list, tuple)) else found)


def program(tensor):
    """The program that computes (or has computed) a tensor: what is pending is run.

    Raises ValueError for a tensor that is plain data: where nothing is pending and no graph is kept, nothing is known about where it came from.
    """
    if not isinstance(tensor, Tensor):
        raise TypeError(f"program() takes a Tensor, not {type(tensor).__name__}")
    v = peek(tensor)
    tape = v.tape
    if tape is None:
        raise ValueError("this tensor is data: ask for its program before it is looked at, or for that of a tensor with a graph")
    with LOCK:
        if tape.open:
            record.flush(tape)
    found = tape.program
    if found is None:
        raise ValueError("nothing of this tensor's program was needed")
    return Shown(found, _pieces(found))


def _pieces(found):
    if not found.placed:
        return [Piece("cpu", len(found.steps), lambda: _compile(found))]
    if type(found.placed) is not placed.Placed:
        return []
    return [Piece(p.key, len(p.ops), lambda c=c: c) for p in found.placed.pieces for _, c in p.variants.values()]


def _compile(found):
    """The program again, for its text: what runs does not keep it."""
    body, (n, m) = found.function(), found.prefix.numbers
    outside = found.prefix.steps()[1]

    def run(words, *arrays):
        if words is None:
            return body(None, None, *arrays)
        return body(jax.lax.bitcast_convert_type(words[:n], np.float64), jax.lax.bitcast_convert_type(words[n:], np.int64), *arrays)

    with jax.enable_x64(True), placed.on_host():
        types = [outside[i].aval for i in found.argument_indices]
        arrays = [jax.ShapeDtypeStruct(getattr(a, "full", a.shape), a.dtype.np) for a in types]
        words = jax.ShapeDtypeStruct((n + m, 2), np.uint32) if found.numbers else None
        return jax.jit(run).lower(words, *arrays).compile(OPTIONS)


__all__ = ["Shown", "program"]
