"""Calling hooks in a backward pass (layer 6): of tensors and nodes, and what they may return and leave changed; retained gradients."""

from __future__ import annotations

import gc
import weakref

from .._ops.spec import aval
from .._tensor import Tensor, wrap
from . import errors, levels, nodes
from .nodes import edge_indices
from .record import Value
from .sparse_gradients import SparseValue, is_sparse
from .storage import as_detached


def tensor_of(leaf):
    """The tensor of a leaf; one that is gone is made again where its hooks, or its node, want to show it and a graph still holds what it was."""
    t = leaf.tensor()
    if t is not None or not leaf.post:
        return t
    t = made_again(leaf)
    if t is None:
        raise NotImplementedError("a post accumulate grad hook of a tensor that is gone, of which no graph holds the contents")
    return t


def made_again(leaf):
    """A tensor in the place of a leaf's, which is gone; None where nothing holds its contents any more."""
    v = next((x for x in gc.get_referrers(leaf) if type(x) is Value and x.leaf is leaf), None)
    if v is None:
        return None
    t = wrap(v)
    t._tl_leaf, leaf.tensor = leaf, weakref.ref(t)
    return t


def tensor_hooks(p, step, seen, outs):
    """Tensor hooks, then retained gradients; `outs` is updated.  Returns what came, as hooks that write to a gradient left it."""
    came = list(outs)
    for i in range(len(outs)) if len(seen.hooks) < 2 else _by_registration(seen, step, len(outs)):
        slot, g = step.first + i, outs[i]
        hooks = seen.hooks.get(slot)
        if hooks:
            outs[i] = g = run_hooks(hooks, g, came, i)
        ref = seen.retain.get(slot)
        t = ref() if ref is not None else None
        if t is not None and g is not None:
            retain(t, g, p)
    return came


def _by_registration(seen, step, n):
    """The numbers of a node's outputs: those with hooks first, in the order in which each got its first one."""
    hooked = [slot - step.first for slot in seen.hooks]
    return [*hooked, *(i for i in range(n) if i not in hooked)]


def prehooks(seen, outs):
    for f in list(seen.prehooks.values()):
        result = f(tuple(shown(g) for g in outs))
        if result is not None:
            outs = replaced(result, outs, f)
    return outs


def posthooks(step, seen, wanted, ins, outs, edges=None):
    edges = list(edge_indices(step)) if edges is None else edges
    given = dict(zip(wanted, ins))
    full = [given.get(i) for i in edges]
    for f in list(seen.posthooks.values()):
        result = f(tuple(shown(g) for g in full), tuple(shown(g) for g in outs))
        if result is not None:
            full = replaced(result, full, f)
    given.update(zip(edges, full))
    return [given[i] for i in wanted]


def replaced(result, old, f):
    """What a node hook returned, checked against what it was given."""
    name = getattr(f, "__name__", "<unknown>")
    if not isinstance(result, tuple):
        raise TypeError(f"expected tuple, but hook returned '{type(result).__name__}'")
    if len(result) != len(old):
        raise RuntimeError(f"hook '{name}' has returned an incorrect number of values (got {len(result)}, but expected {len(old)})")
    return [None if r is None else checked(r, g, f) for r, g in zip(result, old)]


def shown(g):
    return None if g is None else g.tensor if type(g) is SparseValue else wrap(levels.outside(g))


def run_hooks(hooks, g, came=None, place=0):
    """Tensor hooks in order of registration; a returned tensor replaces the gradient.  came[place]: set to what was not replaced, as they left it."""
    for f in list(hooks.values()):
        t = shown(g)
        result = f(t)
        if came is not None and t is not None and g is came[place]:
            came[place] = _value_of(t, g)
        if result is not None:
            g = checked(result, g, f)
        elif t is not None:
            g = _value_of(t, g)  # the hook may have written to it
    return g


def _value_of(t, g):
    """The Value of a tensor that a hook was given, or gave back, for the gradient g."""
    if type(t) is Tensor or not is_sparse(t):
        v = t._tl_value()
        return v if type(g) is SparseValue or g.aval is v.aval else levels.in_pairs(v, g.aval, g)
    return SparseValue(t, aval(tuple(t.shape), t.dtype, g.aval.device), g.leaf)


def checked(result, g, f):
    name = getattr(f, "__name__", "<unknown>")
    if not isinstance(result, Tensor):
        raise TypeError(f"expected Variable, but hook returned '{type(result).__name__}'")
    if g is None:
        raise RuntimeError("can't replace a None gradient with a non-None value")
    v = _value_of(result, g)
    if v.aval.shape != g.aval.shape:
        raise RuntimeError(f"hook '{name}' has changed the size of value")
    if (v.aval.dtype is not g.aval.dtype or (type(v) is SparseValue) is not (type(g) is SparseValue)) and not hasattr(f, "any_type"):
        raise RuntimeError(f"hook '{name}' has changed the type of value (was {_legacy(g)} got {_legacy(v)})")
    return v


def _legacy(v):
    name = errors.tensor_type(v.aval.dtype)
    return name.replace("torch.", "torch.sparse.") if type(v) is SparseValue else name


def retain(t, g, p):
    leaf, g = t._tl_leaf_point(), levels.outside(g) if p.moved is None else p.moved(g)
    if g.needs and not p.create_graph:
        g = as_detached(g)  # a gradient that was given may need one itself
    if p.create_graph and g.needs and leaf.grad is None:
        leaf.grad = shown(g).clone()
        return
    leaf.grad = wrap(g if leaf.grad is None else p.add(leaf.grad._tl_value(), g))  # never in place, as in torch


def modes_of(state):
    """What a hook may leave changed in its thread: torch's engine puts back after every node (grad mode, inference mode, hooks on what is saved, autocast)."""
    return state.grad, state.inference, state.extra.get("grad"), state.saved_hooks, state.extra.get("casts")


def put_back(state, modes):
    """Undo what was left changed."""
    if state.extra.get("casts") is not modes[4]:
        from . import autocasting  # cycle: autocasting stands on dispatch, which asks the engine

        autocasting.put_back(modes[4])
    if state.grad is modes[0] and state.inference is modes[1] and state.saved_hooks is modes[3]:
        return
    state.grad, state.inference, state.extra["grad"], hooks, _ = modes
    if state.saved_hooks is not hooks:
        from .watch import rewatch  # cycle: watch stands on saved, which reads Values with the engine

        state.saved_hooks = hooks
        rewatch(state)


nodes.on_gone(made_again)

__all__ = ["checked", "modes_of", "posthooks", "prehooks", "put_back", "replaced", "retain", "run_hooks", "shown", "tensor_hooks", "tensor_of"]
