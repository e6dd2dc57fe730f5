"""functorch.einops (layer 8)."""

from ..autograd._func_more import rearrange

__all__ = ["rearrange"]
