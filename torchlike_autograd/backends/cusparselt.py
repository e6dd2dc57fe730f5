"""torch.backends.cusparselt: NVIDIA's library for sparse products, which is not used here."""

from __future__ import annotations

__all__ = ["get_max_alg_id", "is_available", "version"]


def version() -> int | None:
    """Its version: it is not there."""
    return None


def is_available() -> bool:
    """Whether the library is there."""
    return False


def get_max_alg_id() -> int | None:
    """The number of its algorithms: it is not there."""
    return None
