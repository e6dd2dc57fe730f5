"""torch._dynamo.utils (layer 8)."""

from .._core import publish as _publish

__all__ = ["is_compile_supported"]


def is_compile_supported(device_type) -> bool:
    """False."""
    return False


__getattr__ = _publish.missing("torch._dynamo.utils")
