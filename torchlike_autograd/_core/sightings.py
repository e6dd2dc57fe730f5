"""Structures that came once (layer 3): counted by a hash and forgotten, so that a program whose structure never comes again leaves nothing to the collector.

What ran op by op at first sight can be recorded anew at the price of recording; the trie keeps what came twice.  Two structures with one hash count together,
which lets one of them be kept or compiled a little early.
"""

from __future__ import annotations

from .record import ROOT_NODES, Prefix

MOST = 1 << 16
_seen: set = set()


def hash_of(program):
    """A hash of a program's structure, cheap and nearly always its own."""
    steps, outside = program.prefix.steps()
    parts = [(s.form if s.kind == "op" else (s.form.cots, s.form.outs) if s.kind == "backward" else s.kind, s.ins, s.mode, s.needs) for s in steps]
    return hash((program.mask, *[(o.aval, o.needs) for o in outside], *parts))


def came_before(key):
    """Whether a structure was forgotten; from now on it is not."""
    if key in _seen:
        _seen.discard(key)
        return True
    return False


def forget(program, key):
    """Take a program out of the trie, and the nodes that lead to nothing else."""
    if len(_seen) >= MOST:
        _seen.clear()
    _seen.add(key)
    node = program.prefix
    if node.programs.pop(program.mask, None) is None:
        return  # the bound on all programs has taken it already
    path, child = set(), None
    while node.parent is not None and not (node.used and node.programs) and _only(path, child, node.next):
        node.next.clear()  # each node knows its parent: a cycle would be work for the collector
        path.add(node)
        node, child = node.parent, node
    if child is not None:
        ROOT_NODES[0] -= len(path)
        label = next((k for k in reversed(node.next) if _on(path, node.next[k])), None)
        if label is not None:
            del node.next[label]


def _only(path, child, following):
    """Whether all edges of a node lead to a path, of which `child` is the start."""
    return all(edge is child or _on(path, edge) for edge in following.values())


def _on(path, edge):
    """Whether an edge leads to a path."""
    return edge is False or end_of(edge) in path


def end_of(edge):
    """Where an edge leads: to a node, or by a remembered backward pass (simple.py) to the one after it."""
    return edge if type(edge) is Prefix else edge.prefix


def clear():
    """Forget what was forgotten."""
    _seen.clear()


__all__ = ["came_before", "clear", "forget", "hash_of"]
