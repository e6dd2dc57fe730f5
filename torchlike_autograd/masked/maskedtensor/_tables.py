"""Finding the functions of a name (layer 8): of torch, its modules, Tensor and torch.ops."""

from __future__ import annotations

from ... import ops
from ..._core import publish
from ..._tensor import Tensor

PUBLIC = publish.load_all()


def functions(name):
    """The functions of torch, methods of Tensor, and functions of torch.nn.functional and torch.special of a name."""
    found = [PUBLIC.get(f"{where}.{name}") for where in ("torch", "Tensor", "torch.nn.functional", "torch.special")]
    return {f for f in (*found, getattr(Tensor, name, None)) if callable(f)}


def packets(names):
    """The operators of torch.ops.aten of these names."""
    return [getattr(ops.aten, name) for name in names if hasattr(ops.aten, name)]
