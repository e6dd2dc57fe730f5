"""Nested containers of arguments and results (layer 0): tuples, named tuples, lists, dicts and registered classes, with torch's texts for their structure."""

from __future__ import annotations

from collections import OrderedDict, defaultdict, deque


class Tree:
    """The structure of a nested container: kind None for a leaf; keys of a dict; children."""

    __slots__ = ("children", "keys", "kind", "size")

    def __init__(self, kind=None, keys=None, children=()):
        self.kind, self.keys, self.children = kind, keys, children
        self.size = sum(c.size for c in children) if kind is not None else 1

    def __eq__(self, other):
        return isinstance(other, Tree) and (self.kind, self.keys, self.children) == (other.kind, other.keys, other.children)

    __hash__ = None

    def __repr__(self):
        return self._text(0)

    def _text(self, indent):
        if self.kind is None:
            return "*"
        inner = indent + 2
        parts = (",\n" + " " * inner).join(c._text(inner) for c in self.children)
        return f"TreeSpec({self.kind.__name__}, {self.keys}, [{parts}])"

    def pretty(self):
        """The structure as Python writes it, with * for leaves."""
        if self.kind is None:
            return "*"
        parts = [c.pretty() for c in self.children]
        if self.keys is not None and issubclass(self.kind, dict):
            return "{" + ", ".join(f"{k!r}: {p}" for k, p in zip(self.keys, parts)) + "}"
        if self.kind is list:
            return f"[{', '.join(parts)}]"
        return f"({', '.join(parts)}{',' if len(parts) == 1 else ''})"


_LEAF = Tree()
MORE: dict = {deque: (lambda x: (x, x.maxlen), deque)}  # class -> (f(x) -> (children, context), f(children, context) -> x), also those that users register


def _split(x):
    kind = type(x)
    if kind in (dict, OrderedDict, defaultdict):
        keys = list(x)
        return kind, keys, [x[k] for k in keys]
    if kind in (tuple, list) or (isinstance(x, tuple) and (hasattr(x, "_fields") or kind.__module__ == "torch.return_types")):
        return kind, None, list(x)
    if kind in MORE:
        children, context = MORE[kind][0](x)
        return kind, context, list(children)
    return None


def flatten(x):
    """(leaves, Tree)."""
    parts = _split(x)
    if parts is None:
        return [x], _LEAF
    kind, keys, children = parts
    leaves, trees = [], []
    for c in children:
        own, tree = flatten(c)
        leaves += own
        trees.append(tree)
    return leaves, Tree(kind, keys, tuple(trees))


def unflatten(leaves, tree):
    """The container with these leaves."""
    it = iter(leaves)
    return _build(it, tree)


def _build(it, tree):
    if tree.kind is None:
        return next(it)
    children = [_build(it, c) for c in tree.children]
    if tree.kind in MORE:
        return MORE[tree.kind][1](children, tree.keys)
    if tree.keys is not None:
        pairs = zip(tree.keys, children)
        return defaultdict(None, pairs) if tree.kind is defaultdict else tree.kind(pairs)
    if hasattr(tree.kind, "_fields"):
        return tree.kind(*children)
    return tree.kind(tuple(children)) if hasattr(tree.kind, "n_fields") else tree.kind(children)


def tree_map(f, x):
    """The container with f of each leaf."""
    leaves, tree = flatten(x)
    return unflatten([f(leaf) for leaf in leaves], tree)


def broadcast(prefix, tree):
    """Leaves of `prefix` repeated to the structure `tree`; None where they do not fit."""
    parts = _split(prefix)
    if parts is None:
        return [prefix] * tree.size
    kind, keys, children = parts
    if tree.kind is None or kind is not tree.kind or keys != tree.keys or len(children) != len(tree.children):
        return None
    out = []
    for c, t in zip(children, tree.children):
        own = broadcast(c, t)
        if own is None:
            return None
        out += own
    return out
