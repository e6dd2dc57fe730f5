"""torch.autograd.graph (layer 7): nodes, edges, versions."""

from __future__ import annotations

import abc
from collections.abc import Iterable
from typing import NamedTuple

from .._core import nodes, passes, saved  # noqa: F401  saved: nodes show what they keep
from .._core.nodes import Nowhere, RemovableHandle, accumulate_node, node_at
from .._core.storage import history, is_inference
from .._core.versions import count_write
from .._functions.special_nodes import DelayedError, UndefinedGrad
from .._tensor import Tensor
from ._logged import log  # noqa: F401
from ._mutation import allow_mutation_on_saved_tensors
from ._saving import disable_saved_tensors_hooks, save_on_cpu, saved_tensors_hooks

__all__ = ["GradientEdge", "Node", "allow_mutation_on_saved_tensors", "disable_saved_tensors_hooks", "get_gradient_edge", "increment_version",
           "region_activation_memory_budget", "register_multi_grad_hook", "save_on_cpu", "saved_tensors_hooks", "set_override_stale_capture_stream",
           "set_warn_on_accumulate_grad_stream_mismatch"]


class Node(abc.ABC):
    """Every node of a graph is an instance of this class; it has none of its own."""

    @abc.abstractmethod
    def name(self):
        """The name."""

    @property
    @abc.abstractmethod
    def next_functions(self):
        """((node or None, output number), ...)."""

    @abc.abstractmethod
    def metadata(self):
        """The user's notes."""

    @property
    @abc.abstractmethod
    def _input_metadata(self):
        """Types of the gradients that it takes."""

    @abc.abstractmethod
    def _sequence_nr(self):
        """When it was made, among the nodes of its thread."""

    @abc.abstractmethod
    def register_hook(self, fn):
        """Call fn(grad_inputs, grad_outputs) after it has run."""

    @abc.abstractmethod
    def register_prehook(self, fn):
        """Call fn(grad_outputs) before it runs."""

    @abc.abstractmethod
    def _register_hook_dict(self, tensor):
        """Not there."""


for _made in (nodes.Node, DelayedError, UndefinedGrad):
    Node.register(_made)


class GradientEdge(NamedTuple):
    """An output of a node: stands for a tensor in backward and grad."""

    node: object
    output_nr: int
    ownership_token: object = None


def get_gradient_edge(tensor) -> GradientEdge:
    """The edge that leads to `tensor`."""
    if not tensor.requires_grad or not (v := history(tensor)).needs:
        raise RuntimeError("It is not possible to get the gradient edge for a Tensor that does not require gradients")
    node, nr = (accumulate_node(v.leaf), 0) if v.leaf is not None else node_at(v.tape, v.slot)
    if node is None:
        raise AssertionError("Expected gradient function to be set")
    return GradientEdge(node, nr, None)


def increment_version(tensor):
    """Count a version for a tensor (or several) as an in-place write would."""
    if not isinstance(tensor, (Tensor, Iterable)):
        raise RuntimeError("increment_version expect a Iterable[Tensor] as input")
    for t in [tensor] if isinstance(tensor, Tensor) else list(tensor):
        if not isinstance(t, Tensor):
            raise RuntimeError("increment_version expects each element of the iterable to be a tensor")
        if not is_inference(t):
            count_write(t)


def region_activation_memory_budget(budget):
    """RuntimeError: it means something only inside a region that torch.compile handles."""
    raise RuntimeError("torch.autograd.graph.region_activation_memory_budget can only be used inside a torch.compile region; it has no effect in eager mode.")


def _bool(enabled):
    if not isinstance(enabled, bool):
        raise RuntimeError(f"enabled must be a bool, but got {type(enabled).__name__}")


def set_warn_on_accumulate_grad_stream_mismatch(enabled):
    """Remembered, and that is all: there are no streams here; RuntimeError for what is no bool."""
    _bool(enabled)
    stream_warning[0] = enabled


stream_warning = [True]


def set_override_stale_capture_stream(enabled):
    """Accepted: there are no streams here; RuntimeError for what is no bool."""
    _bool(enabled)


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
    if mode == "any":
        hook = _first_known(fn)
        return _MultiHandle(tuple(t.register_hook(hook) for t in tensors if t._tl_needs))
    return _MultiHandle(tuple(t.register_hook(hook) for t, hook in zip(tensors, _all_known([_node_of(t) for t in tensors], fn))))


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


def _get_grad_fn_or_grad_acc(t):
    """The node of a tensor (of an edge): its grad_fn, or the one that accumulates into it."""
    return t.node if isinstance(t, GradientEdge) else get_gradient_edge(t).node


_PASSES_AT_ONCE = 1024


def _first_known(fn):
    heard = {}  # numbers of passes, the latest last: several may go on at once, in threads or within each other

    def hook(g):
        number = passes.task_id()
        if number not in heard:
            heard[number] = True
            if len(heard) > _PASSES_AT_ONCE:
                del heard[next(iter(heard))]
            fn(g)

    return hook
