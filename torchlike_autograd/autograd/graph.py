"""torch.autograd.graph (layer 7): nodes, edges, versions."""

from __future__ import annotations

from typing import NamedTuple

from .._core import passes, saved  # noqa: F401  saved: nodes show what they keep
from .._core.nodes import Node, Nowhere, RemovableHandle, accumulate_node, node_at
from .._core.storage import cell_of, history
from ._saving import disable_saved_tensors_hooks, save_on_cpu, saved_tensors_hooks

__all__ = ["GradientEdge", "Node", "disable_saved_tensors_hooks", "get_gradient_edge", "increment_version", "register_multi_grad_hook", "save_on_cpu",
           "saved_tensors_hooks"]


class GradientEdge(NamedTuple):
    """An output of a node: stands for a tensor in backward and grad."""

    node: object
    output_nr: int
    ownership_token: object = None


def get_gradient_edge(tensor) -> GradientEdge:
    """The edge that leads to `tensor`."""
    v = history(tensor)
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


class _MultiHandle(RemovableHandle):
    """One handle for several."""

    def __init__(self, handles):
        self.handles = handles

    def remove(self):
        """Remove all of them."""
        for handle in self.handles:
            handle.remove()


def register_multi_grad_hook(tensors, fn, *, mode="all"):
    """"all": call fn(gradients) once in each pass, when those of `tensors` that it reaches are known (None for others); "any": fn(first gradient)."""
    if mode not in ("all", "any"):
        raise ValueError(f"Expects mode to be one of ('all', 'any') but got {mode}")
    make = _all_known if mode == "all" else _first_known
    return _MultiHandle(tuple(t.register_hook(hook) for t, hook in zip(tensors, make([_node_of(t) for t in tensors], fn))))


def _node_of(t):
    v = history(t)
    if not v.needs or type(v.leaf) is Nowhere:
        raise AssertionError("Expected gradient function to be set")
    return get_gradient_edge(t).node


def _all_known(nodes, fn):
    """A hook for each node; the last one that a pass reaches calls `fn`."""
    found = {}  # number of a pass -> [gradients, how many are still to come]

    def hook_of(i):
        def hook(g):
            number = passes.task_id()
            if number not in found:
                found[number] = [[None] * len(nodes), sum(map(passes.will_execute, nodes))]
            entry = found[number]
            entry[0][i] = g
            entry[1] -= 1
            if not entry[1]:
                del found[number]
                fn(entry[0])

        return hook

    return [hook_of(i) for i in range(len(nodes))]


def _first_known(nodes, fn):
    last = [None]

    def hook(g):
        number = passes.task_id()
        if last[0] != number:
            last[0] = number
            fn(g)

    return [hook] * len(nodes)
