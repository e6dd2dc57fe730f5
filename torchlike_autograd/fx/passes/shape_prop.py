"""torch.fx.passes.shape_prop (layer 8): a run with example values that writes beside each node what its value is like."""

from __future__ import annotations

import traceback
from typing import Any, NamedTuple

import torchlike_autograd as torch

from ..interpreter import Interpreter
from ..node import map_aggregate

__all__ = ["ShapeProp", "TensorMetadata"]


class TensorMetadata(NamedTuple):
    """What is told of a tensor."""

    shape: torch.Size
    dtype: torch.dtype
    requires_grad: bool
    stride: tuple
    memory_format: Any
    is_quantized: bool
    qparams: dict


def _extract_tensor_metadata(result, include_contiguity=True):
    dense = result.layout == torch.strided
    laid = None
    if include_contiguity and dense:
        formats = (torch.contiguous_format, torch.channels_last, torch.channels_last_3d)
        laid = next((f for f in formats if result.is_contiguous(memory_format=f)), None)
    return TensorMetadata(result.shape, result.dtype, result.requires_grad, result.stride() if dense else (), laid, result.is_quantized, {})


class ShapeProp(Interpreter):
    """Runs a module; each node's `meta` has then "tensor_meta", in the structure of its value, and "type"."""

    def __init__(self, gm, fake_mode=None):
        super().__init__(gm)
        self.fake_mode, self.fake_module, self.real_module = fake_mode, None, self.module

    def run_node(self, n):
        """The value of one node, described."""
        try:
            result = super().run_node(n)
        except Exception as e:
            traceback.print_exc()
            raise RuntimeError(f"ShapeProp error for: node={n.format_node()} with meta={n.meta}") from e
        found = []

        def describe(x):
            if not isinstance(x, torch.Tensor):
                return x
            found.append(x)
            return _extract_tensor_metadata(x)

        described = map_aggregate(result, describe)
        if found:
            n.meta["tensor_meta"] = described
        n.meta["type"] = type(result)
        return result

    def propagate(self, *args):
        """Run with these arguments, and the result."""
        return super().run(*args)
