"""The algorithms as functions over lists of tensors (layer 8): `torch.optim.adam.adam` and its like, each one recorded call.

Every function writes the next values into the parameters and states that it is given.  With grad mode on the call is an in-place operation that is
recorded, as in PyTorch; optimizers call it with grad mode off.
"""

from __future__ import annotations

from .._core import errors
from .._core.record import INPLACE, LEAF, NOGRAD, thread
from .._tensor import Tensor
from ._record import update

__all__ = ["apply"]


def apply(kind, params, grads, states, *, grad_scale=None, found_inf=None, fused=None, **group):
    """One step of the algorithm `kind` over lists.

    states: {name: list of tensors, one for each parameter}; a list may be empty where the options do not use it.  group: options by the names that
    the class's groups have.  RuntimeError where a step count is no tensor; AssertionError for options that exclude each other.
    """
    check_steps(states.get("step", ()))
    if not fused and (grad_scale is not None or found_inf is not None):
        raise AssertionError("Expected grad_scale and found_inf to be None")
    if grad_scale is not None or found_inf is not None:
        raise NotImplementedError(f"{kind.rule}: grad_scale and found_inf are not taken here; unscale the gradients first")
    kind.check(group)
    calls, names = {}, kind.states(group, None)
    for i, (p, g) in enumerate(zip(params, grads)):
        own = {name: states[name][i] for name in names}
        calls.setdefault(mode_of(p, g, own), []).append((p, p._tl_value(), g, own, names))
    for mode, items in calls.items():
        options = (("maximize", bool(group["maximize"])), *kind.flags(group))
        if group.get("differentiable"):
            options += (("differentiable", True), ("first", False))
        update(kind.rule, options, kind.numbers(group, None), items, mode)


def check_steps(steps):
    """RuntimeError for step counts that are plain numbers, as they were before 1.12."""
    if not all(isinstance(t, Tensor) for t in steps):
        raise RuntimeError("API has changed, `state_steps` argument must contain a list of singleton tensors")


def mode_of(p, g, own):
    """How the new value is recorded: as a write that is differentiated, as the next value of a leaf, or without a graph."""
    if thread.state.grad and any(t.requires_grad for t in (p, g, *own.values())):
        if p.requires_grad and p.is_leaf:
            raise errors.leaf_inplace()
        return INPLACE
    v = p._tl_value()
    return LEAF if v.needs and v.leaf is not None and p._tl_view is None else NOGRAD
