"""Values and modes of the record (layer 3)."""

from __future__ import annotations

from .._ops.spec import aval

NOGRAD, GRAD, LEAF = 0, 1, 2


class _Inference(int):
    """A NOGRAD that labels: false, and no number that another mode is."""

    __slots__ = ()

    def __bool__(self):
        return False


INFERENCE = _Inference(8)  # inside inference mode, and in the `needs` of what is made there
INPLACE = GRAD | 4  # recorded for a write to the operator's own input, of which torch keeps a copy where it needs the old value
OF_LEAF = -1  # the slot of plain data that is a leaf's, without its history


class Value:
    """One array of the record.

    aval: its type; needs: whether it requires grad (with INFERENCE: made in inference mode); tape, slot: where it was made (tape None: plain data, in slot
    OF_LEAF that of a leaf); array: the JAX or NumPy array, or None while pending; leaf: the accumulation point when it is a leaf; seen: (counter, version) of
    the storage it was read from, or None while nothing was ever written there.
    """

    __slots__ = ("__weakref__", "array", "aval", "leaf", "needs", "seen", "slot", "tape")

    def __init__(self, aval, needs, tape, slot):
        self.aval = aval
        self.needs = needs
        self.tape = tape
        self.slot = slot
        self.array = None
        self.leaf = None
        self.seen = None

    def stale(self):
        """Whether the storage was written since this value was read."""
        return self.seen is not None and self.seen[0].n != self.seen[1]

    def late(self):
        """Itself, or where it was written over already a copy: torch keeps copies of such ones, to which only later writes matter."""
        if not self.stale():
            return self
        out = Value(self.aval, self.needs, self.tape, self.slot)
        out.array, out.leaf, out.seen = self.array, self.leaf, (self.seen[0], self.seen[0].n)
        return out


def over_its_array(v) -> Value:
    """A Value without a history over the array of another one."""
    out = type(v)(v.aval, False, None, 0 if v.leaf is None else OF_LEAF)
    out.array = v.array
    return out


def data(array, dtype, needs=False, device="cpu") -> Value:
    """A Value over an existing array."""
    v = Value(aval(tuple(array.shape), dtype, device), needs, None, 0)
    v.array = array
    return v
