"""Operators that are there for their nodes (layer 2), torch._C._functions, or for what they check."""

from __future__ import annotations

import jax.numpy as jnp

from .registry import NONE, SMOOTH, at, call, op, real


@op("_undefined_grad(Tensor self) -> Tensor", node="torch::autograd::UndefinedGradBackward", names=(), silent=lambda *_, **__: True, samples=[call(real(2))], kinks=SMOOTH)
def _undefined_grad(self):
    """The input; its gradient is lost on the way."""
    return self


@op("_delayed_error(Tensor[] tensors, str message) -> Tensor[]", node="torch::autograd::Error", names=(), samples=[call((real(2), real(3)), "no")], kinks=SMOOTH,
    refuses=lambda types, result, wanted, message: _fail(message))
def _delayed_error(tensors, *, message):
    """The inputs; a backward pass through any of them fails with the message."""
    return list(tensors)


def _fail(message):
    raise RuntimeError(message)


@op("_required(Tensor self) -> Tensor", derivative=NONE, names=(), out=False, guard=lambda self: jnp.logical_not(jnp.all(self)),
    guard_error=lambda code, shape: ValueError("a check has failed"), samples=[call(at(True, True, dtype="bool", grad=False))], kinks=SMOOTH)
def _required(self):
    """Bools that a check needs to be True; who records it knows the words of its error."""
    return self
