"""torch.storage (layer 8): the memory that tensors share, as far as programs ask about it."""

from __future__ import annotations

import io as _io

from ._core import publish as _publish
from ._functions.storages import KINDS, TypedStorage, UntypedStorage

__all__ = ["TypedStorage", "UntypedStorage"]


def _load_from_bytes(b):
    """What pickles of PyTorch hold a storage in: a file of `torch.save`."""
    from .serialization import load  # cycle: it stands on all of this

    return load(_io.BytesIO(b), weights_only=False)


def _dtype_to_storage_type_map():
    """The names of the classes of storages by dtype."""
    return {dtype: name for name, dtype in KINDS.items()}


def _storage_type_to_dtype_map():
    """The dtypes of the classes of storages by name."""
    return dict(KINDS)


__getattr__ = _publish.missing("torch.storage")
