"""Inputs whose memory a program may use again (layer 3).

An in-place write replaces a value; where nobody else holds the old one when its program runs, its buffer becomes that of the new one.  A training step so
needs one copy of the parameters and of an optimizer's states, not two.  Which input gives its buffer to which result is chosen when the program is
compiled; that nobody holds the input is asked in every run, and one that is held is copied first.  NumPy and DLPack views of a buffer are known to the
runtime, which leaves such a buffer alone.
"""

from __future__ import annotations

from sys import getrefcount

import jax.numpy as jnp
import numpy as np

from .devices import ACCELERATORS

LEAST = 1 << 16  # bytes of the host's; copying less costs less than asking.  On a GPU every buffer that moves costs, as the graph of kernels is written anew.


class _Held:
    __slots__ = ("array",)


def _counts(inputs, i):
    return getrefcount(inputs[i]), getrefcount(inputs[i].array)


def _usual():
    """What `_counts` sees of a Value that only its tape holds, and of an array that only its Value holds."""
    value = _Held()
    value.array = object()
    inputs, slots = [value], {value: -1}
    del value
    return _counts(inputs, slots[inputs[0]])


_VALUE, _ARRAY = _usual()


def held(tape, i) -> bool:
    """Whether somebody besides its open tape holds input number i, or that one's array (of NumPy's arrays the program gets a copy)."""
    value, array = _counts(tape.inputs, i)
    return value > _VALUE or (array > _ARRAY and type(tape.inputs[i].array) is not np.ndarray)


def heirs(program, tape):
    """{place among the arguments: place among the results} of large inputs that are replaced, kept by no graph and held by nobody."""
    newest = {}
    for place, slot in enumerate(program.outs):
        v = tape.values[slot]
        if v.seen is not None and v.seen[1] > newest.get(v.seen[0], (0,))[0]:
            newest[v.seen[0]] = v.seen[1], place, v.aval
    out = {}
    for place, i in enumerate(program.argument_indices):
        heir = _heir(tape.inputs[i], newest)
        if heir is not None and -i - 1 not in program.kept and not held(tape, i):
            out[place] = heir
    return out


def _heir(v, newest):
    """The place of the result that replaces v, if v is large or of an accelerator and the result is of its type."""
    if v.seen is None or v.array is None or (v.array.nbytes < LEAST and not v.aval.device.startswith(ACCELERATORS)):
        return None
    version, place, aval = newest.get(v.seen[0], (0, None, None))
    return place if version > v.seen[1] and aval is v.aval else None


def arranged(heirs, sources, chosen, first):
    """(places of the arguments that are given away, sources, chosen): results that inherit a buffer come first, in the order of the arguments.

    sources, chosen: as `results.sources_of` gives them; first: number of inputs of the traced program before the arguments.
    """
    passed = {-1 - s - first for s in sources if type(s) is int and s < 0}
    given, order = [], []
    for place, result in sorted(heirs.items()):
        source = sources[result]
        if place not in passed and type(source) is int and source >= 0 and source not in order:
            given.append(place)
            order.append(source)
    order += [p for p in range(len(chosen)) if p not in order]
    places = {p: i for i, p in enumerate(order)}
    return tuple(given), tuple([places[s] if type(s) is int and s >= 0 else s for s in sources]), tuple([chosen[p] for p in order])


def spare(array):
    """A copy to give away instead of an array that somebody holds."""
    return jnp.array(array, copy=True)


__all__ = ["arranged", "heirs", "held", "spare"]
