"""torch.nn.utils.memory_format (layer 8): weights are row-major here in any case."""

from __future__ import annotations

__all__ = ["convert_conv2d_weight_memory_format", "convert_conv3d_weight_memory_format"]


def convert_conv2d_weight_memory_format(module, memory_format):
    """The module as it is: the order of dims in memory is XLA's choice."""
    return module


def convert_conv3d_weight_memory_format(module, memory_format):
    """The module as it is: the order of dims in memory is XLA's choice."""
    return module
