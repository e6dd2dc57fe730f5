"""Calling a node: its formula for given gradients, without hooks and without the rest of the graph (layer 6)."""

from __future__ import annotations

from .._tensor import Tensor
from . import copy_slices, errors, nodes
from .arrivals import accumulate
from .backward import run_inside, run_pull
from .engine import Pass
from .hooks import shown
from .plan import needs_of, wanted_of
from .program import kept_by
from .record import thread


def _arguments(args, n):
    if len(args) != n:
        raise TypeError(f"expected {n} arguments, got {len(args)} instead")
    for i, g in enumerate(args):
        if g is not None and not isinstance(g, Tensor):
            raise TypeError(f"argument {i} is not a Variable")
    return [None if g is None else g._tl_value() for g in args]


def call_node(self, *args, **kwargs):
    """The gradients that the node sends along its edges: one, or a tuple."""
    if kwargs:
        raise TypeError("keyword arguments are not supported")
    step, tape = self._tl_step(), self._tl_tape
    places = nodes.outputs_of(step)
    found = dict(zip(places, _arguments(args, len(places))))
    outs = [found.get(i) for i in range(len(step.out_avals))]
    for g, a in zip(outs, step.out_avals):
        if g is not None and (g.aval.shape, g.aval.dtype) != (a.shape, a.dtype):
            raise RuntimeError(f"{self.name()} takes a gradient of shape {list(a.shape)} and dtype {a.dtype}, got {list(g.aval.shape)} and {g.aval.dtype}")
    wanted = wanted_of(step, needs_of(tape.prefix))
    if step.first in tape.freed and kept_by(step, wanted):
        raise errors.second_time()
    p = Pass(True, thread.state.grad, None, False)
    given, inner = run_pull(p, tape, step, wanted, outs), copy_slices.inside(p, tape, step)
    if inner is not None:
        found = {nr: g for nr, _, _, g in run_inside(p, tape, (None, step, wanted), inner, given, None)}
    else:
        found = dict(zip(wanted, given))
    edges = nodes.edge_indices(step) if inner is None else range(len(inner.edges()))
    grads = tuple([shown(found.get(i)) for i in edges])
    return grads[0] if len(grads) == 1 else grads


def call_leaf(self, *args):
    """Accumulate a gradient into the leaf."""
    (g,) = _arguments(args, 1)
    if g is not None:
        accumulate(self._tl_leaf, g, Pass(True, thread.state.grad, None, True))
    return ()


nodes.Node.__call__ = call_node
nodes.AccumulateGrad.__call__ = call_leaf
