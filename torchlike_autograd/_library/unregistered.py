"""Operators with a kernel and no gradient (layer 8): a backward pass through their results warns, as torch 2.13's does, unless the mode is "nothing"."""

from __future__ import annotations

from .._core.pytree import flatten, unflatten
from .._core.saying import warn
from .._tensor import Tensor
from ..autograd.function import Function

mode = ["warn"]
_WORDS = ("{}: an autograd kernel was not registered to the Autograd key(s) but we are trying to backprop through it. This may lead to silently incorrect "
          "behavior. This behavior is deprecated and will be removed in a future version of PyTorch. If your operator is differentiable, please ensure you "
          "have registered an autograd kernel to the correct Autograd key (e.g. DispatchKey::Autograd, DispatchKey::CompositeImplicitAutograd). If your "
          "operator is not differentiable, or to squash this warning and use the previous behavior, please register "
          "torch::CppFunction::makeFallthrough() to DispatchKey::Autograd.")


class WarnNotImplemented(Function):
    """A result that the kernel did not record: its gradients are none, and asking for them warns."""

    @staticmethod
    def forward(ctx, words, out, *tensors):
        """The result, with the tensors of the call as what it hangs on."""
        ctx.words = words
        return out.detach()

    @staticmethod
    def backward(ctx, grad):
        """None for each."""
        warn(ctx.words)
        return (None,) * len(ctx.needs_input_grad)


WarnNotImplemented._backward_cls.__name__ = "WarnNotImplemented"


def warning(schema, tensors, out):
    """The results of a call, such that a backward pass through them warns.

    What the kernel recorded gets a hook (and so does the base of a view that was written); what it did not, a node without gradients.
    """
    words = _WORDS.format(schema.name)
    leaves, tree = flatten(out)
    written = any(r.is_write for r in schema.returns)
    return unflatten([_one(t, words, tensors, written) if isinstance(t, Tensor) else t for t in leaves], tree)


def _one(t, words, tensors, written):
    if not (t.is_floating_point() or t.is_complex()):
        return t
    if t.requires_grad:
        t.register_hook(lambda g: warn(words))
        base = t._base if written else None
        if base is not None and base.requires_grad:
            base.register_hook(lambda g: warn(words))
        return t
    return t if written else WarnNotImplemented.apply(words, t, *tensors)
