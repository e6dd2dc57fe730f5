"""The algorithms as functions over lists of tensors (layer 8): `torch.optim.adam.adam` and its like, each one recorded call.

Every function writes the next values into the parameters and states that it is given.  With grad mode on the call is an in-place operation that is
recorded, as in PyTorch; optimizers call it with grad mode off.
"""

from __future__ import annotations

from .._core import errors
from .._core.record import INPLACE, LEAF, NOGRAD, thread
from .._tensor import Tensor
from ..autograd.grad_mode import no_grad
from ._record import SCALARS, update

__all__ = ["apply", "in_memory_order", "unscaled"]


def apply(kind, params, grads, states, *, grad_scale=None, found_inf=None, fused=None, **group):
    """One step of the algorithm `kind` over lists.

    states: {name: list of tensors, one for each parameter}; a list may be empty where the options do not use it.  group: options by the names that
    the class's groups have.  RuntimeError where a step count is no tensor; AssertionError for options that exclude each other.
    """
    check_steps(states.get("step", ()))
    kind.check(group)
    if not unscaled(grads, grad_scale, found_inf, fused):
        return
    calls, names = {}, kind.states(group, None)
    for i, (p, g) in enumerate(zip(params, grads)):
        own = {name: states[name][i] for name in names}
        if fused:
            p, g, own = in_memory_order(p, g, own, names)
        calls.setdefault(mode_of(p, g, own), []).append((p, p._tl_value(), g, own, names))
    for mode, items in calls.items():
        options = (("maximize", bool(group["maximize"])), *kind.flags(group))
        if fused:
            options += (("fused", True),)
        if group.get("differentiable"):
            options += (("differentiable", True), ("first", False))
        update(kind.rule, options, kind.numbers(group, None), items, mode)


def unscaled(grads, grad_scale, found_inf, fused):
    """Divide the gradients of a fused step by `grad_scale`, in place; False where `found_inf` says that there is to be no step.

    AssertionError for either of them where the step is not fused.
    """
    if not fused and (grad_scale is not None or found_inf is not None):
        raise AssertionError("Expected grad_scale and found_inf to be None")
    if found_inf is not None and float(found_inf):
        return False
    if grad_scale is not None:
        with no_grad():
            for g in grads:
                g.div_(grad_scale.to(device=g.device, dtype=g.dtype))
    return True


def in_memory_order(p, g, state, names):
    """A parameter, its gradient and its states as a fused kernel goes through them: in the order of their memory, where that is not one order for all."""
    big = [n for n in names if n not in SCALARS]
    strides = p.stride()
    if all(t.stride() == strides for t in (g, *[state[n] for n in big])) and (p.is_contiguous() or _is_dense(p)):
        return p, g, state
    return _flat(p), _flat(g), {n: _flat(t) if n in big else t for n, t in state.items()}


def _is_dense(t):
    """Whether the elements lie side by side in memory, in some order of the dims."""
    step = 1
    for stride, size in sorted(zip(t.stride(), t.shape)):
        if size != 1 and stride != step:
            return False
        step *= size
    return True


def _flat(t):
    return t.detach().as_strided((t.numel(),), (1,))


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
