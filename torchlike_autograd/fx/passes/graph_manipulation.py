"""torch.fx.passes.graph_manipulation (layer 8): other targets for nodes, and how many bytes they hold."""

from __future__ import annotations

from typing import NamedTuple

from ..graph import Graph
from .shape_prop import ShapeProp

__all__ = ["get_size_of_all_nodes", "get_size_of_node", "get_tensor_meta", "replace_target_nodes_with", "size_bytes"]


class size_bytes(NamedTuple):
    """Bytes of a node's value, and with the parameters of the module that it calls."""

    output_size: int
    total_size: int


def replace_target_nodes_with(fx_module, old_op, old_target, new_op, new_target):
    """Let what calls one thing call another."""
    graph, made = Graph(), {}
    for node in fx_module.graph.nodes:
        made[node] = new = graph.node_copy(node, made.__getitem__)
        if node.op == old_op and node.target == old_target:
            new.op, new.target = new_op, new_target
    fx_module.graph = graph


def get_size_of_all_nodes(fx_module, args=None):
    """Write `size_bytes` on each node; args: what to run the module with first, for the shapes."""
    if args is not None:
        ShapeProp(fx_module).propagate(*args)
    for node in fx_module.graph.nodes:
        if node.op == "output":
            break
        node.size_bytes = get_size_of_node(fx_module, node)


def get_tensor_meta(node):
    """What `ShapeProp` wrote."""
    described = node.meta.get("tensor_meta")
    if not described:
        raise RuntimeError(f"Node {node} has no tensor metadata associated with it! Check that shape propagation has run.")
    return described


def get_size_of_node(fx_module, node):
    """The `size_bytes` of one node."""
    described = get_tensor_meta(node)
    own = described.shape.numel()
    held = sum(p.numel() for p in fx_module.get_submodule(node.target).parameters()) if node.op == "call_module" else 0
    return size_bytes(own * described.dtype.itemsize, (own + held) * described.dtype.itemsize)
