"""torch.nn.utils._per_sample_grad (layer 8): gradients of each sample's share, in `grad_sample` of the parameters."""

from __future__ import annotations

import functools

import torchlike_autograd as torch

from ...utils import _pytree as pytree

__all__ = ["call_for_per_sample_grads"]


class _Spread(torch.autograd.Function):
    """A parameter once for each sample; its backward pass keeps what arrives for each, and gives nothing on."""

    @staticmethod
    def forward(ctx, parameter, size, scale):
        ctx.parameter, ctx.scale = parameter, scale
        return parameter.expand(size, *parameter.shape)

    @staticmethod
    def backward(ctx, grad):
        grad = grad * ctx.scale if ctx.scale != 1 else grad.clone()
        known = getattr(ctx.parameter, "grad_sample", None)
        ctx.parameter.grad_sample = grad if known is None else known + grad
        return None, None, None


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

    Each sample goes through the module by itself, as a batch of one, by `torch.func.vmap`.  loss_reduction: "mean" where the loss is a mean over samples.
    """
    _check(module, batch_size, loss_reduction)
    dim = 0 if batch_first else 1

    @functools.wraps(module.forward)
    def wrapper(*args, **kwargs):
        leaves, spec = pytree.tree_flatten((args, kwargs))
        size = _batch_size(leaves, dim) if batch_size is None else batch_size
        scale = size if loss_reduction == "mean" else 1
        held = dict(module.named_parameters())
        spread = {k: _Spread.apply(p, size, scale) for k, p in held.items() if p.requires_grad}
        if not spread:
            return module(*args, **kwargs)
        mapped = [isinstance(x, torch.Tensor) and x.ndim > dim and x.shape[dim] == size for x in leaves]

        def one(own, *batched):
            batched = iter(batched)
            every = [next(batched).unsqueeze(dim) if m else x for x, m in zip(leaves, mapped, strict=True)]
            args, kwargs = pytree.tree_unflatten(every, spec)
            out = torch.func.functional_call(module, {**held, **own}, args, kwargs)
            return pytree.tree_map_only(torch.Tensor, lambda t: t.squeeze(dim), out)

        given = [x for x, m in zip(leaves, mapped, strict=True) if m]
        return torch.func.vmap(one, in_dims=(0, *(dim,) * len(given)), out_dims=dim, randomness="different")(spread, *given)

    return wrapper
