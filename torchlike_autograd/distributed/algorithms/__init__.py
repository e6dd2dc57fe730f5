"""torch.distributed.algorithms (layer 9)."""

from __future__ import annotations

from ..._core import publish as _publish
from . import join

__all__ = ["join"]
__getattr__ = _publish.missing("torch.distributed.algorithms")
