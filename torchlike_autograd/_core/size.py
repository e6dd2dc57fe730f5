"""torch.Size (layer 1)."""

from __future__ import annotations

from operator import index

from . import shapes
from .shown import Shown


class Size(tuple, metaclass=Shown):
    """A shape (torch.Size)."""

    __slots__ = ()

    def __new__(cls, iterable=()):
        sizes = tuple(iterable)
        try:
            return tuple.__new__(cls, map(index, sizes))
        except TypeError:
            raise _not_sizes(sizes) from None

    def numel(self):
        """The number of elements."""
        return shapes.numel(self)

    def __repr__(self):
        return f"torch.Size({list(self)})"

    def __getitem__(self, i):
        out = tuple.__getitem__(self, i)
        return tuple.__new__(Size, out) if isinstance(i, slice) else out

    def __add__(self, other):
        if not isinstance(other, tuple):  # which may know how to be added
            added = getattr(type(other), "__radd__", lambda *_: NotImplemented)(other, self)
            if added is not NotImplemented:
                return added
            raise TypeError(f"can only concatenate tuple (not {type(other).__name__}) to torch.Size")
        return _joined(self, other)

    def __radd__(self, other):
        return _joined(other, self) if isinstance(other, tuple) else NotImplemented

    def __mul__(self, n):
        return tuple.__new__(Size, tuple.__mul__(self, n))

    __rmul__ = __mul__

    def __reduce__(self):
        return Size, (tuple(self),)


def _joined(a, b):
    both = tuple.__add__(tuple(a), tuple(b))
    if not all(map(_is_index, both)):
        raise _not_sizes(both)
    return tuple.__new__(Size, both)


def _is_index(n):
    try:
        index(n)
    except TypeError:
        return False
    return True


def _not_sizes(entries):
    """The TypeError for the first entry that is no integer."""
    i, n = next((i, n) for i, n in enumerate(entries) if not _is_index(n))
    return TypeError(f"torch.Size() takes an iterable of 'int' (item {i} is '{type(n).__name__}')")
