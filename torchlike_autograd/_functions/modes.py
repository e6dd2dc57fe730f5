"""What a tensor says of the mode it was made in (layer 7)."""

from __future__ import annotations

from .._core import storage
from .._core.composite import composite


@composite("torch.is_inference", "Tensor.is_inference")
def is_inference(input):
    """Whether a tensor was made in inference mode."""
    return storage.is_inference(input)


__all__ = ["is_inference"]
