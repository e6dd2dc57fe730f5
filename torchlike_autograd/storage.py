"""torch.storage (layer 8): the memory that tensors share, as far as programs ask about it."""

from __future__ import annotations

from ._core import publish as _publish
from ._functions.storages import TypedStorage, UntypedStorage

__all__ = ["TypedStorage", "UntypedStorage"]
__getattr__ = _publish.missing("torch.storage")
