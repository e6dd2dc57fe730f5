"""torch.onnx (layer 8): nothing is exported here; `jax.export` does that."""

from .._core import publish as _publish

__all__ = ["is_in_onnx_export"]


def is_in_onnx_export() -> bool:
    """False."""
    return False


def export(*args, **kwargs):
    """NotImplementedError."""
    raise NotImplementedError("torch.onnx.export: nothing is exported here; use jax.export")


__getattr__ = _publish.missing("torch.onnx")
