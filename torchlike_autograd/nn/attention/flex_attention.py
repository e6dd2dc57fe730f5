"""torch.nn.attention.flex_attention (layer 8): there is no such kernel here."""

from __future__ import annotations

from ..._core import publish as _publish

__all__ = ["AuxRequest", "BlockMask", "create_block_mask", "flex_attention"]

_DEFAULT_SPARSE_BLOCK_SIZE = 128


def _refuse(name):
    raise NotImplementedError(f"torch.nn.attention.flex_attention.{name}: use torch.nn.functional.scaled_dot_product_attention with a mask")


class BlockMask:
    """A mask by blocks: none is ever made here."""

    def __init__(self, *args, **kwargs):
        _refuse("BlockMask")


class AuxRequest(BlockMask):
    """What the kernel should return beside its result."""


def create_block_mask(*args, **kwargs):
    """NotImplementedError."""
    _refuse("create_block_mask")


def flex_attention(*args, **kwargs):
    """NotImplementedError."""
    _refuse("flex_attention")


__getattr__ = _publish.missing("torch.nn.attention.flex_attention")
