"""torch.ops (layer 8): `torch.ops.aten.<name>`, its overloads as attributes."""

from __future__ import annotations

from ._core import publish as _publish
from ._core.overloads import packet as _packet


class _Namespace:
    """`torch.ops.aten`."""

    def __getattr__(self, name):
        return _packet(name)

    def __repr__(self):
        return "<module 'torch.ops.aten'>"


aten = _Namespace()
__all__ = ["aten"]
__getattr__ = _publish.missing("torch.ops")
