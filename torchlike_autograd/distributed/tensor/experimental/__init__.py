"""torch.distributed.tensor.experimental (layer 9)."""

from __future__ import annotations

import contextlib

from ...._core import mixed
from ...._core import publish as _publish

__all__ = ["implicit_replication"]


@contextlib.contextmanager
def implicit_replication():
    """Let plain tensors meet DTensors: they count as there on every device.  A call of a structure that was allowed once stays allowed."""
    try:
        mixed.implicit[0] = True
        yield
    finally:
        mixed.implicit[0] = False


__getattr__ = _publish.missing("torch.distributed.tensor.experimental")
