"""Backward passes with libtorch's arguments, rules and words (layer 9)."""

from __future__ import annotations

import torchlike_autograd as _torch

from ..._core import engine
from ..._core.saying import warn
from ..._tensor import wrap as _wrap
from ...autograd import _run
from ...autograd._reduced import reduced_to
from .handles import Tensor, bare


def backward(tensors, grad_tensors=(), retain_graph=None, create_graph=False, inputs=()):
    """Accumulate the gradients of `tensors` into all leaves, or into `inputs` where there are some."""
    _run_backward(tensors, grad_tensors, retain_graph, create_graph, inputs, True, True)


def grad(outputs, inputs, grad_outputs=(), retain_graph=None, create_graph=False, allow_unused=False):
    """The gradients of `outputs` with respect to `inputs`, as a list; undefined where an unused input is allowed."""
    if not list(inputs):
        raise RuntimeError("grad requires non-empty inputs.")
    return _run_backward(outputs, grad_outputs, retain_graph, create_graph, inputs, allow_unused, False)


def _run_backward(tensors, grads, retain_graph, create_graph, inputs, allow_unused, accumulate):
    roots, targets = [bare(t) for t in tensors], [bare(t) for t in inputs]
    if any(t is None for t in roots):
        raise RuntimeError("cannot call get_autograd_meta() on undefined tensor")
    given = _make_grads(roots, [bare(g) for g in grads])
    for i, t in enumerate(roots):
        if not t.requires_grad:
            raise RuntimeError(f"element {i} of tensors does not require grad and does not have a grad_fn")
    places = [_target(i, t, accumulate) for i, t in enumerate(targets)]
    if accumulate and create_graph:
        warn(_run.CYCLE)
    pairs = [(_run._place(t), g._tl_value()) for t, g in zip(roots, given)]
    keep = create_graph if retain_graph is None else retain_graph
    found = engine.run_backward(pairs, keep, create_graph, set(places) if places else None, accumulate)
    if accumulate:
        return None
    out = [None if found.get(p) is None else _wrap(found[p]) for p in places]
    for i, g in enumerate(out):
        if g is None and not allow_unused:
            raise RuntimeError(f"element {i}of the differentiated Tensors appears to not have been used in the graph. Set allow_unused=True if this is the "
                               "desired behavior.")
    return [Tensor(g) for g in out]


def _target(i, t, accumulate):
    if accumulate:
        t.retain_grad()
    if not t.requires_grad:
        raise RuntimeError(f"element {i} of the input tensors does not require grad")
    return _run._place(t)


def _make_grads(roots, grads):
    if grads and len(grads) != len(roots):
        raise RuntimeError(f"got {len(roots)} tensors and {len(grads)} gradients")
    out = []
    for i, t in enumerate(roots):
        g = grads[i] if grads else None
        if not t.requires_grad:
            out.append(g)
        elif g is None:
            out.append(_one(t))
        else:
            out.append(_fitting(i, t, g))
    return out


def _one(t):
    if t.numel() != 1:
        raise RuntimeError("grad can be implicitly created only for scalar outputs")
    if t.is_complex():
        raise RuntimeError(f"grad can be computed only for real scalar outputs but got {t.dtype.char_name}")
    return _torch.ones_like(t.detach())


def _fitting(i, t, g):
    """A cotangent of the dtype of its root, summed to its shape."""
    if g.is_complex() != t.is_complex():
        raise RuntimeError(f"For complex Tensors, both grad_output and output are required to have the same dtype. Mismatch in dtype: grad_output[{i}] has a "
                           f"dtype of {g.dtype.char_name} and output[{i}] has a dtype of {t.dtype.char_name}.")
    if g.shape != t.shape:
        g = _wrap(reduced_to(g._tl_value(), tuple(t.shape), i))
    return g.to(t.dtype)


__all__ = ["backward", "grad"]
