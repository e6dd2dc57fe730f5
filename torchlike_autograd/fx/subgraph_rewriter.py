"""Replacing parts of graphs (layer 8): where the graph does what a pattern does, it does what a replacement does."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from typing import NamedTuple

from ..nn import Module
from ._symbolic_trace import symbolic_trace
from .graph import Graph
from .graph_module import GraphModule
from .node import Node


class Match(NamedTuple):
    """anchor: the last node of the pattern; nodes_map: {node of the pattern: node of the graph}."""

    anchor: Node
    nodes_map: dict


@dataclass
class ReplacedPatterns:
    """A Match, and the nodes that came in its place."""

    anchor: Node
    nodes_map: dict
    replacements: list = field(default_factory=list)


def replace_pattern(gm, pattern, replacement):
    """Replace all that does not overlap; pattern, replacement: functions, modules or GraphModules with the same parameters.  Returns a list of Match."""
    return [Match(anchor=m.anchor, nodes_map=m.nodes_map) for m in _replace(gm, pattern, replacement)]


def replace_pattern_with_filters(gm, pattern, replacement=None, match_filters=None, ignore_literals=False, replacement_callback=None, node_name_match=""):
    """`replace_pattern` where all of `match_filters(match, graph, pattern graph)` hold; returns a list of ReplacedPatterns."""
    return _replace(gm, pattern, replacement, match_filters, ignore_literals, replacement_callback)


def _graph_of(x):
    if isinstance(x, GraphModule):
        return x.graph
    return x if isinstance(x, Graph) else symbolic_trace(x).graph


class _Matcher:
    """One attempt to lay a pattern's graph over another."""

    def __init__(self, pattern, ignore_literals):
        self.pattern, self.ignore_literals = pattern, ignore_literals
        self.output = pattern.output_node()
        held = self.output.args[0]
        self.ends = [n for n in (held if isinstance(held, (list, tuple)) else [held]) if isinstance(n, Node)]

    def at(self, node):
        """{node of the pattern: node} where the pattern's last value is `node`, or None."""
        found = {}
        if not self.ends or not self.node(self.ends[0], node, found):
            return None
        for end in self.ends[1:]:
            if end not in found:
                return None
        inner = {n for p, n in found.items() if p.op not in ("placeholder", "get_attr")}
        ends = {found[e] for e in self.ends}
        if any(u not in inner for n in inner - ends for u in n.users):
            return None  # somebody else uses what would go
        return found

    def node(self, p, n, found):
        if p in found:
            return found[p] is n
        if p.op == "placeholder":
            found[p] = n
            return True
        if not isinstance(n, Node) or p.op != n.op or not self.same_target(p, n):
            return False
        found[p] = n
        if self.value(p.args, n.args, found) and self.value(dict(p.kwargs), dict(n.kwargs), found):
            return True
        del found[p]
        return False

    def same_target(self, p, n):
        if p.op in ("call_module", "get_attr") and p.op == n.op:
            return p.target.split(".")[-1] == n.target.split(".")[-1] or p.target == n.target
        return p.target == n.target

    def value(self, a, b, found):
        if isinstance(a, Node):
            return self.node(a, b, found) if isinstance(b, Node) or a.op == "placeholder" else False
        if isinstance(a, (list, tuple)):
            return isinstance(b, (list, tuple)) and len(a) == len(b) and all(self.value(x, y, found) for x, y in zip(a, b))
        if isinstance(a, dict):
            return isinstance(b, dict) and a.keys() == b.keys() and all(self.value(a[k], b[k], found) for k in a)
        return self.ignore_literals or (type(a) is type(b) and a == b)


@dataclass
class _Found:
    """What filters are given."""

    anchors: list
    nodes_map: dict
    placeholder_nodes: list
    returning_nodes: list


def _matches(graph, matcher):
    taken, found = set(), []
    for node in reversed(list(graph.nodes)):
        nodes = matcher.at(node) if node.op not in ("placeholder", "output") else None
        inner = {n for p, n in (nodes or {}).items() if p.op != "placeholder"}
        if nodes and not inner & taken:
            taken |= inner
            found.append(nodes)
    return found[::-1]


def _replace(gm, pattern, replacement, filters=None, ignore_literals=False, callback=None):
    graph, pattern_graph = gm.graph, _graph_of(pattern)
    matcher = _Matcher(pattern_graph, ignore_literals)
    places, changed, done = [n for n in pattern_graph.nodes if n.op == "placeholder"], {}, []
    for nodes in _matches(graph, matcher):
        seen = _Found([matcher.ends[0]], nodes, [nodes.get(p) for p in places], [nodes[e] for e in matcher.ends])
        if not all(f(seen, graph, pattern_graph) for f in filters or ()):
            continue
        new = callback(seen, graph, pattern_graph) if callback is not None else _graph_of(replacement)
        done.append(_put(graph, matcher, nodes, places, new, changed))
    gm.recompile()
    if isinstance(replacement, Module):
        _replace_attributes(gm, replacement)
    return done


def _put(graph, matcher, nodes, places, new, changed):
    new_places = [n for n in new.nodes if n.op == "placeholder"]
    if len(new_places) != len(places):
        raise AssertionError(f"The replacement graph has {len(new_places)} inputs, the pattern {len(places)}")
    values = {r: changed.get(nodes.get(p), nodes.get(p)) for r, p in zip(new_places, places)}
    before, inner = list(graph.nodes), [n for p, n in nodes.items() if p.op != "placeholder"]
    first_user = min((u for e in matcher.ends for u in nodes[e].users if u not in inner), key=before.index, default=nodes[matcher.ends[0]])
    with graph.inserting_before(first_user):
        copied = graph.graph_copy(new, values)
    made = [values[n] for n in new.nodes if n.op not in ("placeholder", "output")]
    for end, out in zip(matcher.ends, copied if isinstance(copied, (list, tuple)) else [copied]):
        nodes[end].replace_all_uses_with(out)
        changed[nodes[end]] = out
    for n in sorted(inner, key=before.index, reverse=True):
        if not n.users and not n._erased:
            graph.erase_node(n)
    return ReplacedPatterns(matcher.ends[0], {p: changed.get(n, n) if p.op == "placeholder" else n for p, n in nodes.items()}, made)


def _replace_attributes(gm, replacement):
    """Give the module what the replacement's nodes name and it lacks."""
    gm.delete_all_unused_submodules()
    for node in gm.graph.nodes:
        if node.op not in ("call_module", "get_attr"):
            continue
        try:
            held = gm
            for part in node.target.split("."):
                held = getattr(held, part)
        except AttributeError:
            try:
                held = replacement
                for part in node.target.split("."):
                    held = getattr(held, part)
            except AttributeError as e:
                raise RuntimeError(f'Attempted to create a "{node.op}" node during subgraph rewriting with target {node.target}, but the referenced attribute '
                                   "does not exist in the replacement GraphModule") from e
            if isinstance(held, Module):
                gm.add_submodule(node.target, copy.deepcopy(held))
            else:
                setattr(gm, node.target, copy.deepcopy(held))
    gm.graph.lint()


__all__ = ["Match", "ReplacedPatterns", "replace_pattern", "replace_pattern_with_filters"]
