"""The grad_fn graph of a tensor as text and as a picture (layer 9)."""

from __future__ import annotations

from .._core.nodes import AccumulateGrad, observed
from .._tensor import Tensor
from .layout import place
from .svg import draw

_COLORS = {"root": "#d5f0d5", "leaf": "#d6e6fa", "node": "#f2f2f2", "watched": "#fdeccb", "cut": "#ffffff"}


class Box:
    """One node of the picture: lines of text, kind ("root", "leaf", "node", "watched": hooks are on it, "cut")."""

    def __init__(self, kind, lines):
        self.kind, self.lines = kind, lines


class Graph:
    """boxes: [Box]; edges: [(from, to)] as indices, from the tensor back to its leaves; `svg` and `dot` are text."""

    def __init__(self, boxes, edges):
        self.boxes, self.edges = boxes, edges

    @property
    def svg(self):
        """The picture, a complete SVG document."""
        return draw([b.lines for b in self.boxes], [_COLORS[b.kind] for b in self.boxes], place([b.lines for b in self.boxes], self.edges), self.edges)

    @property
    def dot(self):
        """The graph in Graphviz's language."""
        rows = ["digraph {", '  node [shape=box, style="rounded,filled", fontname="monospace", fontsize=10];']
        for i, b in enumerate(self.boxes):
            label = "\\n".join(line.replace("\\", "\\\\").replace('"', '\\"') for line in b.lines)
            rows.append(f'  n{i} [label="{label}", fillcolor="{_COLORS[b.kind]}"];')
        return "\n".join([*rows, *(f"  n{a} -> n{b};" for a, b in self.edges), "}"])

    def save(self, path):
        """Write the picture (".svg") or the text (any other ending) to a file."""
        with open(path, "w", encoding="utf-8") as f:
            f.write(self.svg if str(path).endswith(".svg") else self.dot)

    def _repr_svg_(self):
        return self.svg

    def __repr__(self):
        return f"<graph of {len(self.boxes)} nodes and {len(self.edges)} edges>"


def graph(tensors, names=None, *, saved=True, limit=500):
    """The graph behind a tensor (or several).

    names: {name: tensor} of leaves, such as `dict(model.named_parameters())`; saved: show what nodes keep for their backward pass; limit: nodes to show, the
    nearest first.  Runs nothing: shapes and names are known from the record.
    """
    roots = [tensors] if isinstance(tensors, Tensor) else list(tensors)
    names = {id(t): k for k, t in (names or {}).items()}
    boxes, edges, index, queue = [], [], {}, []

    def enter(node):
        """The number of a node's box."""
        i = index.get(node)
        if i is None:
            i = index[node] = len(boxes)
            full = len(index) > limit
            boxes.append(Box("cut", ["..."]) if full else _box(node, names, saved))
            if not full:
                queue.append(node)
        return i

    for t in roots:
        boxes.append(Box("root", [names.get(id(t), "tensor"), _type(t._tl_v.aval)]))
        start = len(boxes) - 1
        if t.grad_fn is not None:
            edges.append((start, enter(t.grad_fn)))
        elif t.requires_grad:
            boxes[start] = Box("leaf", [names.get(id(t), "leaf"), _type(t._tl_v.aval)])
    for node in queue:  # grows while it is read
        for nxt, _ in node.next_functions:
            if nxt is not None:
                edges.append((index[node], enter(nxt)))
    return Graph(boxes, edges)


def _type(a):
    return f"{a.dtype.name}{list(a.shape)}"


def _box(node, names, saved):
    if isinstance(node, AccumulateGrad):
        t = node.variable
        leaf = node._tl_leaf
        watched = [f"{len(h)} {word}" for h, word in ((leaf.hooks, "hook(s)"), (leaf.prehooks, "prehook(s)"), (leaf.posthooks, "posthook(s)"),
                                                      (leaf.post, "hook(s) after accumulation")) if h]
        return Box("leaf", [names.get(id(t), "AccumulateGrad"), _type(t._tl_v.aval) if t is not None else "(gone)", *watched])
    lines = [node.name(), *_results(node)]
    if saved:
        lines += _saved(node)
    hooks = _hooks(node)
    return Box("watched" if hooks else "node", lines + hooks)


def _results(node):
    try:
        return [_type_of(m) for m in node._input_metadata]
    except AttributeError:
        return []


def _type_of(m):
    return f"{m.dtype.name}{list(m.shape)}"


def _saved(node):
    """A line for each saved value; no line for one that was released."""
    out = []
    for name in sorted(n for n in dir(node) if n.startswith("_saved_") and "_sym_" not in n):  # sizes say nothing more
        try:
            value = getattr(node, name)
        except RuntimeError:
            out.append(f"{name[7:]}: released")
            continue
        text = _type(value._tl_v.aval) if isinstance(value, Tensor) else repr(value)
        out.append(f"{name[7:]}: {text if len(text) <= 40 else text[:37] + '...'}")
    return out


def _hooks(node):
    tape = getattr(node, "_tl_tape", None)
    seen = None if tape is None else observed(tape, node._tl_first)
    if seen is None:
        return []
    counts = ((sum(map(len, seen.hooks.values())), "tensor hook(s)"), (len(seen.retain), "retained gradient(s)"), (len(seen.prehooks), "prehook(s)"),
              (len(seen.posthooks), "hook(s)"))
    return [f"{n} {word}" for n, word in counts if n]


__all__ = ["Graph", "graph"]
