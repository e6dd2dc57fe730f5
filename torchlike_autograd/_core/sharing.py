"""Memory that tensors share with NumPy arrays (layer 4).

Arrays of JAX never change, so the memory behind a tensor cannot be that of a NumPy array.  Where there is such an array (`from_numpy`, `numpy()`), the cell is
a `SharedCell` for as long as somebody else holds the array's memory:

* whoever reads the cell lets it `look` whether the memory holds other bytes than those seen last.  What was written there becomes the contents, as a write
  through `.data` would make it: no version is counted, and what a graph has read before stays what it was (PyTorch would use the new values).
* whoever writes the cell says `written`, which runs what is pending and puts the contents into the memory.

Nobody can be told of a write by NumPy, so each read compares: memory of more than `LARGEST` bytes is copied instead, once, as it is then; but for
the time of a kernel of the program's own that writes its arguments (`of_any_size`).
"""

from __future__ import annotations

import contextlib
import sys

import numpy as np

from .._ops.spec import LeveledAval
from . import levels
from .record import data, thread
from .shapes import reach, row_strides
from .storage import Cell, cell_of, held

LARGEST = 1 << 18
_ONCE = "shared once"


class Share:
    """What the arrays of one memory have in common: its owner, the cell's contents as an array over it, what they were when they were looked at last; told:
    whether somebody knows its address."""

    __slots__ = ("contents", "owner", "seen", "told")

    def __init__(self, contents, seen, told):
        self.told = told
        self.owner, self.contents, self.seen = contents if contents.base is None else contents.base, contents, seen

    def alone(self):
        """Whether nobody else holds the memory: the owner's references are the two here and the argument; what lies in other objects' buffers is theirs."""
        return self.owner.base is None and sys.getrefcount(self.owner) <= 3


class SharedCell(Cell):
    """A cell whose contents lie in memory that others may write."""

    __slots__ = ()

    def look(self):
        """Take over what was written to the memory; the last look, where nobody can write there any more."""
        share = self.shared
        if share.alone():
            self.let_go()
        if not _same(share.contents, share.seen):
            share.seen = share.contents.copy()
            self.value = data(share.seen, self.value.aval.dtype)
            self.n += 1

    def written(self):
        share, v = self.shared, self.value
        if share.alone() or type(v.aval) is LeveledAval or v.aval.shape != share.contents.shape:
            return self.let_go()
        if v.array is None:
            v.tape.resolve(v)
        share.contents[...] = v.array
        share.seen = share.contents.copy()

    def let_go(self):
        """Be a plain cell again."""
        if self.shared.told and self.shared.owner.ndim == 1 and self.shared.owner.base is None:
            self.memory = self.shared.owner
        self.__class__, self.shared = Cell, _ONCE


def share(t, array):
    """Let a tensor just made of a copy of `array` share its memory; nothing where it is larger than what is compared, or cannot be written."""
    if array.flags.writeable and 0 < array.nbytes <= LARGEST and not any(s == 0 < n - 1 for s, n in zip(array.strides, array.shape)):
        _join(cell_of(t), array.view(np.ndarray), t._tl_v.array)


def shown(t, values):
    """An array over the memory of `t`, which holds `values`; None where it cannot be shared."""
    if not 0 < values.nbytes <= _largest() or t._tl_v.aval.device != "cpu" or type(t._tl_v.aval) is LeveledAval or levels.running():
        return None
    cell = cell_of(t)
    if type(cell) is Cell and not _give_memory(cell):
        return None
    contents = cell.shared.contents
    if t._tl_view is None and t._tl_laid is None and contents.shape == values.shape:
        return contents[...]
    out = _window(cell.shared, values.dtype, values.shape, *t._tl_geometry())
    return out if out is not None and _same(out, values) else None


@contextlib.contextmanager
def of_any_size(tensors):
    """While this lasts `numpy()` shares memory however large it is: what a kernel of a program's own does to its arguments is taken over at the end."""
    extra = thread.state.extra
    around, extra["shares all"] = extra.get("shares all"), True
    try:
        yield
    finally:
        extra["shares all"] = around
        for t in tensors:
            cell = t._tl_cell
            if type(cell) is SharedCell and cell.shared.contents.nbytes > LARGEST:
                cell.look()
                if type(cell) is SharedCell:
                    cell.let_go()


def _largest():
    return float("inf") if thread.state.extra.get("shares all") else LARGEST


def lent(cell):
    """Whether the memory of a cell is NumPy's, or was: PyTorch does not resize it any more."""
    return getattr(cell, "shared", None) is not None


def not_resizable():
    """torch's error where more or less memory is asked for than others share."""
    return RuntimeError("Trying to resize storage that is not resizable")


def address(cell):
    """Where the memory of a shared cell begins."""
    cell.shared.told = True
    return cell.shared.contents.ctypes.data


def _join(cell, contents, seen, told=False):
    cell.shared, cell.memory = Share(contents, seen, told), None
    cell.__class__ = SharedCell


def _give_memory(cell):
    """Make memory that NumPy can write for the contents of a cell, lying there as PyTorch's do."""
    a = cell.value.aval
    if type(a) is LeveledAval or cell.value.array is None or a.device != "cpu":
        return False
    now = np.asarray(cell.value.array)
    memory = getattr(cell, "memory", None)  # whose address was told
    if cell.layout is None and memory is None and 0 < now.nbytes <= _largest():
        _join(cell, now.copy(), now.copy())
        return True
    strides, offset = (row_strides(a.shape), 0) if cell.layout is None else cell.layout
    room = held(cell)
    if not now.size or room * now.itemsize > _largest():
        return False
    told = memory is not None and memory.dtype == now.dtype and memory.shape == (room,)
    if not told:
        memory = np.zeros(room, now.dtype)
    contents = np.ndarray(a.shape, now.dtype, memory, offset * now.itemsize, [s * now.itemsize for s in strides])
    contents[...] = now
    _join(cell, contents, contents.copy(), told)
    return True


class _Window:
    """What tells NumPy where an array lies, and keeps the memory."""

    def __init__(self, interface, owner):
        self.__array_interface__, self.owner = interface, owner


def _window(share, dtype, shape, strides, offset):
    """An array over the memory of a share, by strides and offset in elements; None where it would reach beyond the contents."""
    c, item = share.contents, dtype.itemsize
    if reach(shape, strides, offset) * item > reach(c.shape, c.strides) - 1 + c.itemsize:
        return None
    steps = tuple([s * item for s in strides])
    interface = {"data": (c.ctypes.data + offset * item, False), "shape": tuple(shape), "strides": steps, "typestr": dtype.str, "version": 3}
    return np.asarray(_Window(interface, share.owner))


def _same(a, b):
    """Whether two arrays of one shape and dtype hold the same bytes."""
    if a.nbytes <= 4096 or not (a.flags.c_contiguous and b.flags.c_contiguous):
        return a.tobytes() == b.tobytes()
    x, y = a.reshape(-1).view(np.uint8), b.reshape(-1).view(np.uint8)
    whole = x.size & -8
    return bool((x[:whole].view(np.uint64) == y[:whole].view(np.uint64)).all()) and x[whole:].tobytes() == y[whole:].tobytes()
