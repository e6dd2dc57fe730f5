"""torch.autograd.graph (layer 7): nodes, edges, versions."""

from __future__ import annotations

from typing import NamedTuple

from .._core.nodes import Node, accumulate_node, node_at
from .._core.storage import cell_of

__all__ = ["GradientEdge", "Node", "get_gradient_edge", "increment_version"]


class GradientEdge(NamedTuple):
    """An output of a node: stands for a tensor in backward and grad."""

    node: object
    output_nr: int
    ownership_token: object = None


def get_gradient_edge(tensor) -> GradientEdge:
    """The edge that leads to `tensor`."""
    v = tensor._value()
    if not v.needs:
        raise RuntimeError("It is not possible to get the gradient edge for a Tensor that does not require gradients")
    if v.leaf is not None:
        return GradientEdge(accumulate_node(v.leaf), 0, None)
    node, nr = node_at(v.tape, v.slot)
    return GradientEdge(node, nr, None)


def increment_version(tensor):
    """Count a version for a tensor (or several) as an in-place write would."""
    tensors = [tensor] if hasattr(tensor, "_version") else list(tensor)
    for t in tensors:
        cell_of(t)
        t._counter.n += 1
