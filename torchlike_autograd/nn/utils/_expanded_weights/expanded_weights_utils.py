"""torch.nn.utils._expanded_weights.expanded_weights_utils (layer 8)."""

from __future__ import annotations

import torchlike_autograd as torch

from .expanded_weights_impl import ExpandedWeight


def is_batch_first(expanded_args_and_kwargs):
    """Where the expanded weights among values have the samples; None without any."""
    found = {x.batch_first for x in expanded_args_and_kwargs if isinstance(x, ExpandedWeight)}
    if len(found) > 1:
        raise RuntimeError("Got conflicting batch_first arguments in the same layer")
    return next(iter(found), None)


def standard_kwargs(kwarg_names, expanded_args):
    """The positional arguments, and the keywords, whose values come last."""
    n = len(expanded_args) - len(kwarg_names)
    return expanded_args[:n], dict(zip(kwarg_names, expanded_args[n:], strict=True))


def forward_helper(func, expanded_args, expanded_kwargs):
    """What a function gives with the weights themselves, after checks of the input, which comes first."""
    x, values = expanded_args[0], (*expanded_args, *expanded_kwargs.values())
    if isinstance(x, ExpandedWeight):
        raise RuntimeError("Expanded Weights do not support inputs that are also ExpandedWeights. "
                           f"Input must be a Tensor, got {type(x).__name__} in function {func.__name__}")
    if not isinstance(x, torch.Tensor):
        raise RuntimeError("Expanded Weights requires a Tensor as the first input to get the batch dimension, "
                           f"got {type(x).__name__} in function {func.__name__}")
    if x.ndim == 0:
        raise RuntimeError(f"Expanded Weights requires a batch dimension but got an input of size 0 in function {func.__name__}")
    if x.shape[0] == 0:
        raise RuntimeError(f"0 is not a valid batch size for Expanded Weights but got input tensor of {x} in function {func.__name__}")
    check_weights([w for w in values if isinstance(w, ExpandedWeight)], lambda w: x.shape[0 if w.batch_first else 1])
    return func(*map(_itself, expanded_args), **{k: _itself(v) for k, v in expanded_kwargs.items()})


def check_weights(weights, size_for):
    """That weights expect as many samples as there are, and the same reduction."""
    for w in weights:
        size = size_for(w)
        if size > w.batch_size or (size < w.batch_size and not w.allow_smaller_batches):
            raise RuntimeError("Expected ExpandedWeights to have batch size matching input but got "
                               f"input batch size of {size} with ExpandedWeight of batch size {w.batch_size}")
        if w.loss_reduction != weights[0].loss_reduction:
            raise RuntimeError("Expected ExpandedWeights to all have the same loss_reduction argument but got one"
                               f"with {weights[0].loss_reduction} and one with {w.loss_reduction}")


def _itself(x):
    return x.orig_weight if isinstance(x, ExpandedWeight) else x


def maybe_scale_by_batch_size(grad_sample, expanded_weight):
    """A mean over the samples divides by their number; that is undone."""
    return grad_sample * expanded_weight.batch_size if expanded_weight.loss_reduction == "mean" else grad_sample


def set_grad_sample_if_exists(maybe_expanded_weight, per_sample_grad_fn):
    """Add what a function gives for the weight to its `grad_sample`; nothing for what is no expanded weight."""
    weight = unpack_expanded_weight_or_tensor(maybe_expanded_weight)
    if not isinstance(maybe_expanded_weight, ExpandedWeight):
        return
    more = maybe_scale_by_batch_size(per_sample_grad_fn(weight), maybe_expanded_weight)
    missing = maybe_expanded_weight.batch_size - more.shape[0]
    if missing > 0:  # samples that this call did not have
        more = torch.cat([more, more.new_zeros(missing, *more.shape[1:])])
    known = getattr(weight, "grad_sample", None)
    weight.grad_sample = more if known is None else known + more


def unpack_expanded_weight_or_tensor(maybe_expanded_weight, func=lambda x: x):
    """`func` of the weight itself, or of a tensor that needs no gradient; None for what is no tensor."""
    if isinstance(maybe_expanded_weight, ExpandedWeight):
        return func(maybe_expanded_weight.orig_weight)
    if not isinstance(maybe_expanded_weight, torch.Tensor):
        return None
    if maybe_expanded_weight.requires_grad:
        raise RuntimeError("ExpandedWeights currently does not support a mixture of ExpandedWeight parameters and normal Parameters. "
                           "Please file and issue with pytorch/pytorch")
    return func(maybe_expanded_weight)


def sum_over_all_but_batch_and_last_n(tensor, n_dims):
    """The sum over all dims but the first and the last `n_dims`."""
    dims = list(range(1, tensor.dim() - n_dims))
    return tensor.sum(dim=dims) if dims else tensor
