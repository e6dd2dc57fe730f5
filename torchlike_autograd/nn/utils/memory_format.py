"""torch.nn.utils.memory_format (layer 8): weights whose strides are those of a memory format; what XLA makes of them is its own choice."""

from __future__ import annotations

from ..modules.conv import Conv2d, Conv3d, ConvTranspose2d, ConvTranspose3d

__all__ = ["convert_conv2d_weight_memory_format", "convert_conv3d_weight_memory_format"]


def convert_conv2d_weight_memory_format(module, memory_format):
    """The module, the weights of its two-dimensional convolutions in a memory format."""
    return _converted(module, (Conv2d, ConvTranspose2d), memory_format)


def convert_conv3d_weight_memory_format(module, memory_format):
    """The module, the weights of its three-dimensional convolutions in a memory format."""
    return _converted(module, (Conv3d, ConvTranspose3d), memory_format)


def _converted(module, kinds, memory_format):
    for one in module.modules():
        if isinstance(one, kinds):
            one.weight.data = one.weight.detach().clone(memory_format=memory_format)
    return module
