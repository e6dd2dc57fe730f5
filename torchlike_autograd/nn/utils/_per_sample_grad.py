"""torch.nn.utils._per_sample_grad (layer 8): gradients of each sample's share, in `grad_sample` of the parameters."""

from __future__ import annotations

import functools

import torchlike_autograd as torch

from ...utils import _pytree as pytree
from ._expanded_weights.expanded_weights_impl import ExpandedWeight

__all__ = ["call_for_per_sample_grads"]


def _batch_size(values, dim):
    size = None
    for x in values:
        if isinstance(x, torch.Tensor):
            if size is not None and size != x.shape[dim]:
                raise RuntimeError(f"When computing batch size, found at least one input with batch size {size} and one with batch size {x.shape[dim]}. Please "
                                   "specify it explicitly using the batch size kwarg in call_for_per_sample_grads")
            size = x.shape[dim]
    if size is None:
        raise RuntimeError("Unable to find a tensor in the passed args and kwargs. They may not be pytree-able and so ExpandedWeights cannot compute the batch "
                           "size from the inputs. Please specify it explicitly")
    return size


def _check(module, batch_size, loss_reduction):
    if loss_reduction not in ("sum", "mean"):
        raise RuntimeError(f"Expected loss_reduction argument to be sum or mean, got {loss_reduction}")
    if not isinstance(module, torch.nn.Module):
        raise RuntimeError(f"Module passed must be nn.Module, got {type(module).__name__}")
    if not (batch_size is None or isinstance(batch_size, int)):
        raise RuntimeError(f"Batch size passed must be None or an integer, got {type(batch_size).__name__}")
    if batch_size is not None and batch_size < 1:
        raise RuntimeError(f"Batch size must be positive, got {batch_size}")
    for weight in module.parameters():
        if getattr(weight, "grad_sample", None) is not None:
            raise RuntimeError("Current Expanded Weights accumulates the gradients, which will be incorrect for multiple calls without clearing gradients. "
                               f"Please clear out the grad_sample parameter of {weight} or post an issue to pytorch/pytorch to prioritize correct behavior")


def call_for_per_sample_grads(module, *, batch_size=None, loss_reduction="sum", batch_first=True):
    """The module's forward; a backward pass through it gives its parameters `grad_sample`, one gradient for each sample, instead of `grad`.

    loss_reduction: "mean" where the loss is a mean over samples.  Batch norms mix samples, and are refused.
    """
    _check(module, batch_size, loss_reduction)
    dim = 0 if batch_first else 1

    @functools.wraps(module.forward)
    def wrapper(*args, **kwargs):
        size = _batch_size(pytree.tree_leaves((args, kwargs)), dim) if batch_size is None else batch_size
        held = {k: ExpandedWeight(p, size, loss_reduction) if p.requires_grad else p for k, p in module.named_parameters()}
        return torch.func.functional_call(module, held, args, kwargs)

    return wrapper
