"""torch.fx.passes.split_module (layer 8): one graph divided into modules that call each other's results."""

from __future__ import annotations

import inspect

import torchlike_autograd as torch

from ..graph import Graph
from ..graph_module import _make_graph_module
from ..node import map_arg
from ..proxy import Proxy

__all__ = ["Partition", "split_module"]


class Partition:
    """A part: its nodes, what comes in and goes out by the names of nodes, and the parts before and after it."""

    def __init__(self, name):
        self.name, self.submod_name = name, f"submod_{name}"
        self.node_names = []
        self.inputs, self.outputs, self.dependencies, self.dependents = {}, {}, {}, {}
        self.graph, self.environment, self.targets = Graph(), {}, {}

    def __repr__(self):
        return (f"name: {self.name},\n nodes: {self.node_names},\n inputs: {self.inputs},\n outputs: {self.outputs},\n"
                f" partitions depended on: {self.dependencies},\n partition dependents: {self.dependents}")


def _get_attr_from_qualname(mod, qualname):
    for atom in qualname.split("."):
        if not hasattr(mod, atom):
            raise AttributeError(f"Node target {qualname} not found!")
        mod = getattr(mod, atom)
    return mod


def _divide(graph, split_callback, affix):
    """{name: Partition} and {node: Partition}, with what crosses from one to another."""
    parts, of = {}, {}
    for node in graph.nodes:
        if node.op in ("placeholder", "get_attr", "output"):
            continue
        name = str(split_callback(node)) if affix is None else f"{affix}_{split_callback(node)}"
        part = of[node] = parts.setdefault(name, Partition(name))
        part.node_names.append(node.name)
    for node in graph.nodes:
        into = of.get(node)
        if into is None and node.op != "output":
            continue

        def crosses(used, into=into):  # noted once a use, in the order of uses
            out = of.get(used)
            if out is into:
                return used
            if out is not None:
                out.outputs.setdefault(used.name)
            if into is not None:
                into.inputs.setdefault(used.name)
            if out is not None and into is not None:
                out.dependents.setdefault(into.name)
                into.dependencies.setdefault(out.name)
            return used

        map_arg(node.args, crosses)
        map_arg(node.kwargs, crosses)
    return parts, of


def _in_order(parts):
    """The names of parts, each after those that it needs."""
    ready, done = [n for n, p in parts.items() if not p.dependencies], []
    while ready:
        name = ready.pop()
        done.append(name)
        for later in parts[name].dependents:
            parts[later].dependencies.pop(name)
            if not parts[later].dependencies:
                ready.append(later)
    if len(done) != len(parts):
        raise RuntimeError("cycle exists between partitions!")
    return done


def _open(m, part, nodes, keep_names):
    """Placeholders for what comes into a part; a module that is read as an attribute is read inside it."""
    comes = [(n, _get_attr_from_qualname(m, nodes[n].target) if nodes[n].op == "get_attr" else None) for n in part.inputs]
    part.inputs = {}
    for name, value in sorted(comes, key=lambda c: isinstance(c[1], torch.nn.Module)):
        source = nodes[name]
        if isinstance(value, torch.nn.Module):
            inner = part.graph.get_attr(source.target)
            part.targets[source.target] = value
        else:
            inner = part.graph.placeholder(name if keep_names else f"arg_{len(part.inputs)}", type_expr=source.type)
            part.inputs[name] = None
        inner.meta = source.meta.copy()
        part.environment[source] = inner


def _fill(m, of, qualname_map, keep_names):
    """Copy the nodes into the graphs of their parts."""
    for node, part in of.items():
        inside = part.environment.__getitem__
        target = node.target
        if node.op == "call_module":
            target = target.replace(".", "_")
            part.targets[target] = _get_attr_from_qualname(m, node.target)
            if qualname_map is not None:
                qualname_map[f"{part.submod_name}.{target}"] = node.target
        new = part.graph.create_node(node.op, target, map_arg(node.args, inside), map_arg(node.kwargs, inside), type_expr=node.type,
                                     name=node.name if keep_names else None)
        new.meta = node.meta.copy()
        part.environment[node] = new


def _outer(m, node, graph, seen, attributes):
    """Take a placeholder or an attribute over into the graph around the parts."""
    if node.op == "placeholder":
        default = node.args[0] if node.args else inspect.Signature.empty
        seen[node.name] = graph.placeholder(node.target, type_expr=node.type, default_value=default)
    else:
        seen[node.name] = graph.get_attr(node.target)
        attributes[node.target] = _get_attr_from_qualname(m, node.target)
    seen[node.name].meta = node.meta.copy()


def split_module(m, root_m, split_callback, qualname_map=None, keep_original_order=False, keep_original_node_name=False, keep_original_input_name=True, *,
                 partition_affix=None, tuple_return=False):
    """A GraphModule that calls a submodule for each value of split_callback(node).

    qualname_map: filled with {new name of a module: old name}; keep_original_order: the parts in the order in which they are met; partition_affix: a word
    in the names of the parts; tuple_return: a part returns a tuple of one result, too.
    """
    nodes = {n.name: n for n in m.graph.nodes}
    parts, of = _divide(m.graph, split_callback, partition_affix)
    order = _in_order(parts)
    for name in order:
        _open(m, parts[name], nodes, keep_original_input_name)
    _fill(m, of, qualname_map, keep_original_node_name)
    graph, seen, attributes = Graph(), {}, {}
    outside = [n for n in m.graph.nodes if n.op in ("placeholder", "get_attr")]
    for node in outside:
        if not keep_original_order or node.op == "placeholder":
            _outer(m, node, graph, seen, attributes)
    for part in (parts[n] for n in (parts if keep_original_order else order)):
        results = tuple(part.environment[nodes[n]] for n in part.outputs)
        single = len(results) == 1 and not tuple_return
        part.graph.output(results[0] if single else results)
        for name in part.inputs:
            if name not in seen:
                _outer(m, nodes[name], graph, seen, attributes)
        attributes[part.submod_name] = _make_graph_module(part.targets, part.graph)
        call = graph.call_module(part.submod_name, tuple(seen[n] for n in part.inputs))
        for i, name in enumerate(part.outputs):
            seen[name] = call if single else Proxy(call)[i].node
    for node in outside:
        if node.name not in seen:
            _outer(m, node, graph, seen, attributes)
    graph.output(map_arg(m.graph.output_node().args[0], lambda n: seen[n.name]))
    whole = _make_graph_module(attributes, graph)
    whole.meta["partition_names"] = {p.submod_name for p in parts.values()}
    return whole
