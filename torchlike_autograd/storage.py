"""torch.storage (layer 8): the memory that tensors share, as far as programs ask about it."""

from __future__ import annotations

import io as _io

from ._core import publish as _publish
from ._functions.storages import TypedStorage, UntypedStorage

__all__ = ["TypedStorage", "UntypedStorage"]


def _load_from_bytes(b):
    """What pickles of PyTorch hold a storage in: a file of `torch.save`."""
    from .serialization import load  # cycle: it stands on all of this

    return load(_io.BytesIO(b), weights_only=False)


__getattr__ = _publish.missing("torch.storage")
