"""Whether a graph is well formed (layer 8)."""

from __future__ import annotations

import warnings

from .node import map_arg


def check(graph):
    """RuntimeError saying what is wrong."""
    _order(graph)
    names = set()
    for node in graph.nodes:
        if node.op in ("get_attr", "call_module") and graph.owning_module is not None:
            _target(graph.owning_module, node)
        if node.name in names:
            raise RuntimeError(f"Node redefined name {node.name}!")
        names.add(node.name)


def _order(graph):
    seen = set()
    for node in graph.nodes:
        if node.op not in ("placeholder", "call_method", "call_module", "call_function", "get_attr", "output"):
            raise RuntimeError(f"Node {node} had unknown opcode {node.op}!")
        if node.graph is not graph:
            raise RuntimeError(f"Node '{node}' does not belong to this Graph!")
        if node._erased:
            raise RuntimeError(f"Node '{node}' was erased")

        def known(arg, node=node):
            if arg.graph is not graph:
                raise RuntimeError(f"Argument '{arg}' of Node '{node}' does not belong to this Graph, but was used as an argument! If you are copying nodes "
                                   f"from another graph, make sure to use ``arg_transform`` on node_copy() to remap values\n{graph}")
            if arg not in seen:
                raise RuntimeError(f"Argument '{arg}' of Node '{node}' was used before it has been defined! Please check that Nodes in the graph are "
                                   f"topologically ordered\n{graph}")

        map_arg(node.args, known)
        map_arg(node.kwargs, known)
        seen.add(node)


def _target(module, node):
    from ..nn import Module, Parameter

    parts = node.target.split(".")
    held = module
    for i, part in enumerate(parts):
        if not hasattr(held, part):
            raise RuntimeError(f"Node {node} target {node.target} references nonexistent attribute {part} of {'.'.join(parts[:i])}")
        held = getattr(held, part)
        if node.op == "call_module" and i == len(parts) - 1 and not callable(held):
            raise RuntimeError(f"Node {node} target {node.target} {part} of {'.'.join(parts[:i])} does not reference an nn.Module")
        if node.op == "get_attr" and i == len(parts) - 1 and not isinstance(held, (Module, Parameter)) and part not in _owner(module, parts)._buffers:
            warnings.warn(f"Node {node} target {node.target} {part} of {'.'.join(parts[:i])} does not reference an nn.Module, nn.Parameter, or buffer, "
                          "which is what 'get_attr' Nodes typically target", stacklevel=5)


def _owner(module, parts):
    for part in parts[:-1]:
        module = getattr(module, part)
    return module
