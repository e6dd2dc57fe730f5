"""torch.multiprocessing.reductions (layer 8): tensors travel as pickles; what is left is a weak reference to a storage."""

from __future__ import annotations

import weakref

from .._core import publish as _publish


class StorageWeakRef:
    """A weak reference to the memory that tensors share."""

    __slots__ = ("_memory", "cdata")

    def __init__(self, storage):
        untyped = getattr(storage, "_untyped_storage", storage)
        self._memory, self.cdata = weakref.ref(untyped._tl_cell), id(untyped._tl_cell)

    @classmethod
    def from_weakref(cls, cdata):
        """NotImplementedError: there are no addresses of storages."""
        raise NotImplementedError("torch.multiprocessing.reductions.StorageWeakRef.from_weakref")

    def expired(self):
        """Whether the memory is gone."""
        return self._memory() is None

    def __hash__(self):
        return hash(self.cdata)

    def __eq__(self, other):
        return self is other or (isinstance(other, StorageWeakRef) and self.cdata == other.cdata)


__getattr__ = _publish.missing("torch.multiprocessing.reductions")
