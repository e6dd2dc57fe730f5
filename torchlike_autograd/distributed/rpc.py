"""torch.distributed.rpc (layer 8): there are no remote processes here."""

from __future__ import annotations

from typing import Generic, TypeVar

from .._core import publish as _publish

__all__ = ["RRef", "is_available"]

T = TypeVar("T")


def is_available() -> bool:
    """False."""
    return False


class RRef(Generic[T]):
    """A value of another process: cannot be made here."""

    def __init__(self, *args, **kwargs):
        raise RuntimeError("RPC has not been initialized. Call torch.distributed.rpc.init_rpc first.")


__getattr__ = _publish.missing("torch.distributed.rpc")
