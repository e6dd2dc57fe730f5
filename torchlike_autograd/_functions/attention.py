"""torch.nn.functional's attention, bags of embeddings and alignment loss (layer 7)."""

from __future__ import annotations

import math

import numpy as np

from .._core import dtypes
from .._core.composite import COMPOSITES, composite, named
from .._core.record import thread
from .._core.saying import warn
from .._core.shapes import broadcast, wrap_dim
from .._core.spread import beside
from .._core.words import complaint, known
from .._core.wrong_shapes import wrong_shape
from .._ops import attention as _attention_ops
from .._ops.conventions import cxx_of, type_words
from .._tensor import Tensor, from_array
from .arguments import handed, no_tensor
from .convert import cast
from .create import zeros
from .loss import code_of, reduce_by
from .matmul import matmul as _matmul

_ops = _attention_ops
_mul, _add = named("mul"), named("add")


# Scaled dot products

kernels = {"flash": True, "math": True, "mem_efficient": True, "cudnn": True}  # those that programs allow; on CPU torch has the first two


def _check_attention(query, key, value, mask, is_causal):
    if not (isinstance(query, Tensor) and isinstance(key, Tensor) and isinstance(value, Tensor)):
        raise no_tensor("scaled_dot_product_attention", query=query, key=key, value=value)
    if not (query.dtype is key.dtype is value.dtype):
        raise RuntimeError(f"Expected query, key, and value to have the same dtype, but got query.dtype: {cxx_of(query.dtype)} key.dtype: "
                           f"{cxx_of(key.dtype)} and value.dtype: {cxx_of(value.dtype)} instead.")
    if min(query.ndim, key.ndim, value.ndim) < 2:
        raise RuntimeError(f"Expected query, key, and value to all be  at least 2 dimensional, but got query.dim: {query.ndim} key.dim: {key.ndim} and "
                           f"value.dim: {value.ndim} instead.")
    if mask is not None and mask.dtype not in (dtypes.bool_, dtypes.float32, query.dtype):
        raise RuntimeError(f"Expected attn_mask dtype to be bool or float or to match query dtype, but got attn_mask.dtype: {cxx_of(mask.dtype)} and "
                           f" query.dtype: {cxx_of(query.dtype)} instead.")


def _fused(query, key, value, mask, dropout_p, gqa):
    """Whether torch takes its fused kernel."""
    if query.ndim != 4 or key.ndim != 4 or value.ndim != 4 or dropout_p or not query.dtype.is_floating_point:
        return False
    q, k, v = (tuple(t.shape) for t in (query, key, value))
    heads = k[1] == v[1] and (q[1] == k[1] or (gqa and k[1] and q[1] % k[1] == 0))
    if not (q[0] == k[0] == v[0] and heads) or (mask is not None and thread.state.grad and mask._tl_needs):
        return False
    if mask is not None:
        wrap_dim(-2, mask.ndim, scalar_ok=False)  # torch asks a mask for its last two sizes before it looks how many it has
    if not (q[3] == k[3] == v[3] and k[2] == v[2] and 0 not in q and 0 not in k and query.stride(-1) == key.stride(-1) == value.stride(-1) == 1):
        return False
    return mask is None or (mask.ndim in (2, 4) and all(m in (1, s) for m, s in zip(reversed(mask.shape), (k[2], q[2], q[1], q[0]))))


def _refuse_none_allowed(fused):
    """Refuse where the kernel that would compute is not allowed."""
    if not (kernels["flash"] or kernels["math"]):
        raise RuntimeError("No viable backend for scaled_dot_product_attention was found. This is likely due to turning off both the math kernel and the fused "
                           "kernels.")
    if not (fused or kernels["math"]):
        raise RuntimeError("No available kernel.  Aborting execution.")


def _default_scale(query):
    return 1.0 / math.sqrt(query.shape[-1]) if query.shape[-1] else math.inf


def _shared_heads(query, key, value):
    """Key and value with as many heads as the query: each serves several, one after the other."""
    heads = [x.size(-3) for x in (query, key, value)]
    if 0 not in heads[1:]:
        if heads[0] % heads[1] or heads[0] % heads[2] or (heads[0] and min(heads[0] // h for h in heads[1:]) == 0):
            raise RuntimeError("Number of heads in key and value must divide the number of heads in ")
        key, value = (x.repeat_interleave(heads[0] // x.shape[-3], -3) for x in (key, value))
    return key, value


def _by_parts(query, key, value, mask, dropout_p, is_causal, scale, gqa):
    """torch's composition of simpler operators, in single precision for those of half."""
    own = query.dtype
    if own in (dtypes.float16, dtypes.bfloat16):
        query, key, value = (cast(x, dtypes.float32) for x in (query, key, value))
        if mask is not None and mask.dtype.category == dtypes.FLOAT:
            mask = cast(mask, dtypes.float32)
    scale = _default_scale(query) if scale is None else scale
    factor = math.sqrt(abs(scale))
    query = _mul(query, -factor if scale < 0 else factor)
    if is_causal:
        if mask is not None:
            raise RuntimeError("_scaled_dot_product_attention: Explicit attn_mask should not be set when is_causal=True")
        rows, columns = query.shape[-2], key.shape[-2]
        mask = beside(from_array(np.tril(np.ones((rows, columns), bool)), dtypes.bool_, like=query), query)
    if gqa:
        key, value = _shared_heads(query, key, value)
    scores = _matmul(query, _mul(key.transpose(-2, -1), factor))
    if own.is_complex:
        raise NotImplementedError(f"\"softmax_lastdim_kernel_impl\" not implemented for '{own.char_name}'")
    if mask is not None:
        if mask.dtype is dtypes.bool_:
            mask = from_array(np.zeros((), query.dtype.np), query.dtype, like=query).masked_fill(mask.logical_not(), -math.inf)
        have, found = tuple(scores.shape), broadcast(tuple(scores.shape), tuple(mask.shape))
        if found != have:  # torch adds the mask in place
            raise wrong_shape("add", have, found, ())
        scores = _add(scores, mask)
    weights = named("_safe_softmax")(scores, -1) if mask is not None else named("_softmax")(scores, -1)
    if dropout_p:
        weights = COMPOSITES["torch.dropout"](weights, dropout_p, True)
    return cast(_matmul(weights, value), own)


@composite("torch.nn.functional.scaled_dot_product_attention", "torch._C._nn.scaled_dot_product_attention")
def scaled_dot_product_attention(query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, *, scale=None, enable_gqa=False):
    """softmax(query key^T / sqrt(E) + mask) value; a mask of bools says what takes part."""
    if attn_mask is not None and not isinstance(attn_mask, Tensor):
        raise no_tensor("scaled_dot_product_attention", 4, attn_mask=attn_mask)
    _check_attention(query, key, value, attn_mask, is_causal)
    size = (*query.shape[:-1], value.shape[-1])
    if 0 in size or key.shape[-2] == 0:
        return zeros(size, dtype=query.dtype, device=query.device) + (query.sum() + key.sum() + value.sum()) * 0  # nothing takes part
    fused = kernels["flash"] and _fused(query, key, value, attn_mask, dropout_p, enable_gqa)
    _refuse_none_allowed(fused)
    if fused:
        factor = _default_scale(query) if scale is None else float(scale)
        return named("_scaled_dot_product_flash_attention_for_cpu")(query, key, value, bool(is_causal), attn_mask, factor)
    return _by_parts(query, key, value, attn_mask, dropout_p, is_causal, scale, enable_gqa)


# Bags

_BAG_MODES = {"sum": 0, "mean": 1, "max": 2}


def _check_bag_types(weight, indices, offsets, per_sample_weights):
    whole, real = (dtypes.int64, dtypes.int32), (dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64)
    for name, t, allowed, words in (("indices", indices, whole, "Long, Int"), ("offsets", offsets, whole, "Long, Int"),
                                    ("weight", weight, real, "Half, BFloat16, Float, Double")):
        if t.dtype not in allowed:
            raise RuntimeError(f"Expected tensor for argument #1 '{name}' to have one of the following scalar types: {words}; but got "
                               f"{type_words(t.dtype.char_name)} instead (while checking arguments for embedding_bag)")
    if per_sample_weights is not None and per_sample_weights.dtype is not weight.dtype:
        first, second = [type_words(t.dtype.char_name) for t in (weight, per_sample_weights)]
        raise RuntimeError(f"Expected tensor for argument #1 'weight' to have the same type as tensor for argument #1 'per_sample_weights'; but type {first} "
                           f"does not equal {second} (while checking arguments for embedding_bag)")


def _bag_padding(padding_idx, rows):
    if padding_idx is None:
        return -1
    if not -rows <= padding_idx < rows:
        raise RuntimeError(f"padding_idx must be within the number of embeddings, {-rows} through {rows - 1}, but got {padding_idx}")
    return padding_idx % rows


def _same_integers(indices, offsets):
    kind = dtypes.promote_types(indices.dtype, offsets.dtype)
    return cast(indices, kind), cast(offsets, kind)


@composite("torch.nn.functional.embedding_bag")
def embedding_bag(input, weight, offsets=None, max_norm=None, norm_type=2, scale_grad_by_freq=False, mode="mean", sparse=False, per_sample_weights=None,
                  include_last_offset=False, padding_idx=None):
    """Sums, means or maxima of rows; bags are the rows of a matrix of indices, or begin at offsets."""
    if weight.dtype is dtypes.int64 and input.is_floating_point():
        warn("Argument order of nn.functional.embedding_bag was changed. Usage `embedding_bag(weight, input, ...)` is deprecated, and should now be "
             "`embedding_bag(input, weight, ...)`.")
        input, weight = weight, input
    if per_sample_weights is not None and input.size() != per_sample_weights.size():
        raise ValueError(f"embedding_bag: If per_sample_weights (torch.Size({list(per_sample_weights.shape)})) is not None, then it must have the "
                         f"same shape as the input (torch.Size({list(input.shape)}))")
    if not weight.dim() == 2:
        raise ValueError(f"weight has to be a 2D Tensor, but got Tensor of dimension {weight.dim()}")
    input, offsets, per_sample_weights = _as_bags(input, offsets, per_sample_weights, include_last_offset)
    if mode not in _BAG_MODES:
        raise ValueError("mode has to be one of sum, mean or max")
    if mode == "max" and scale_grad_by_freq:
        raise ValueError("max mode does not support scaling the gradient by the frequency")
    if mode == "max" and sparse:
        raise ValueError("max mode does not support sparse weights")
    if max_norm is not None:
        COMPOSITES["torch.embedding_renorm_"](weight.detach(), input, max_norm, norm_type)
    if per_sample_weights is not None and mode != "sum":
        raise NotImplementedError(f"embedding_bag: per_sample_weights was not None. per_sample_weights is only supported for mode='sum' (got mode='{mode}'). "
                                  "Please open a feature request on GitHub.")
    padding = _bag_padding(padding_idx, weight.shape[0])
    input, offsets = _same_integers(input, offsets)
    _check_bag_types(weight, input, offsets, per_sample_weights)
    return named("_embedding_bag")(weight, input, offsets, scale_grad_by_freq, _BAG_MODES[mode], per_sample_weights, include_last_offset, padding, sparse)


@composite("torch.embedding_bag")
def embedding_bag_with_places(weight, indices, offsets, scale_grad_by_freq=False, mode=0, sparse=False, per_sample_weights=None, include_last_offset=False,
                              *padding_idx):
    """(the bags, the bag of each index, the sizes of the bags, the index of each maximum), `mode` 0 for sums, 1 for means, 2 for maxima.

    A `padding_idx` (or None) may follow where all else is given by place.  What the mode does not need is not filled, as in torch.  RuntimeError as in torch.
    """
    if mode not in _BAG_MODES.values():
        raise RuntimeError("`mode` must be sum, mean, or max.")
    if indices.ndim != 1:
        raise NotImplementedError("torchlike_autograd: indices of several dims of torch.embedding_bag")
    padding = _bag_padding(*padding_idx, weight.shape[0]) if padding_idx else -1
    indices, offsets = _same_integers(indices, offsets)
    _check_bag_types(weight, indices, offsets, per_sample_weights)
    if per_sample_weights is not None and mode != 0:
        raise RuntimeError("embedding_bag: per_sample_weights only supported with mode='sum'")
    bags = named("_embedding_bag")(weight, indices, offsets, scale_grad_by_freq, mode, per_sample_weights, include_last_offset, padding, sparse)
    return (bags, *named("_embedding_bag_places")(weight, indices, offsets, mode, include_last_offset, padding))


def _as_bags(input, offsets, per_sample_weights, include_last):
    """(flat indices, offsets, flat weights)."""
    if input.dim() == 2:
        if offsets is not None:
            raise ValueError("if input is 2D, then offsets has to be None, as input is treated is a mini-batch of fixed length sequences. However, found "
                             f"offsets of type {_class_of(offsets)}")
        n, width = input.shape
        if not width:
            raise RuntimeError("step must be nonzero")
        starts = from_array(np.arange(0, n * width + include_last, width), dtypes.int64, like=input)
        return input.reshape(-1), starts, None if per_sample_weights is None else per_sample_weights.reshape(-1)
    if input.dim() != 1:
        raise ValueError(f"input has to be 1D or 2D Tensor, but got Tensor of dimension {input.dim()}")
    if offsets is None:
        raise ValueError("offsets has to be a 1D Tensor but got None")
    if offsets.dim() != 1:
        raise ValueError("offsets has to be a 1D Tensor")
    return input, offsets, per_sample_weights


def _class_of(x):
    return "<class 'torch.Tensor'>" if isinstance(x, Tensor) else str(type(x))


# Alignments

def _lengths(name, x):
    if isinstance(x, Tensor) and x.dtype.category != dtypes.INT:
        raise RuntimeError(f"{name} must be integral")
    return [int(i) for i in (x.reshape(-1).tolist() if isinstance(x, Tensor) else x)]


def _check_ctc(log_probs, targets, inputs, lengths, blank):
    if log_probs.ndim != 3:
        raise RuntimeError(f"Expected 3-dimensional tensor, but got {log_probs.ndim}-dimensional tensor for argument #1 'log_probs' (while checking arguments "
                           "for ctc_loss_allocate_outputs)")
    n, classes = log_probs.shape[1:]
    if not 0 <= blank < classes:
        raise RuntimeError("blank must be in label range")
    if len(inputs) != n:
        raise RuntimeError("input_lengths must be of size batch_size")
    if len(lengths) != n:
        raise RuntimeError("target_lengths must be of size batch_size")
    where = "(while checking arguments for ctc_loss_allocate_outputs)"
    if any(i < 0 for i in lengths):
        raise RuntimeError(f"Expected target_lengths to have value at least 0, but got value {min(lengths)} {where}")
    rows = sum(lengths) if targets.ndim == 1 else n
    if targets.shape[0] != rows:
        raise RuntimeError(f"Expected tensor to have size {rows} at dimension 0, but got size {targets.shape[0]} for argument #2 'targets' {where}")
    if targets.ndim == 2 and max(lengths, default=0) > targets.shape[1]:
        raise RuntimeError(f"Expected tensor to have size at least {max(lengths)} at dimension 1, but got size {targets.shape[1]} for argument #2 'targets' "
                           f"{where}")
    for i in inputs:
        if i < 0:
            raise RuntimeError(f"Expected input_lengths to have value at least 0, but got value {i} {where}")
        if i > log_probs.shape[0]:
            raise RuntimeError(f"Expected input_lengths to have value at most {log_probs.shape[0]}, but got value {i} {where}")


@composite("torch.ctc_loss")
def torch_ctc_loss(log_probs, targets, input_lengths, target_lengths, blank=0, reduction=0, zero_infinity=False):
    """Minus the logarithm of the probability of all alignments of the targets with the inputs."""
    if not (isinstance(input_lengths, Tensor) and isinstance(target_lengths, Tensor)):
        refused = complaint(*known("torch.ctc_loss"), (log_probs, targets, input_lengths, target_lengths, blank, reduction, zero_infinity), {})
        if refused is not None:
            raise refused
    batched = log_probs.ndim == 3
    x = log_probs if batched else log_probs.unsqueeze(1)
    inputs, lengths = _lengths("input_lengths", input_lengths), _lengths("target_lengths", target_lengths)
    if not x.numel():
        raise RuntimeError("log_probs tensor must not be empty")
    _check_ctc(x, targets, inputs, lengths, blank)
    if targets.dtype.category != dtypes.INT:
        targets = targets.long()
    sizes = from_array(np.array(lengths, np.int64), dtypes.int64, like=x)
    loss = named("_ctc_loss")(x, targets.detach(), from_array(np.array(inputs, np.int64), dtypes.int64, like=x), sizes, blank, zero_infinity)
    if zero_infinity:
        loss = named("where")(loss == math.inf, from_array(np.zeros((), loss.dtype.np), loss.dtype), loss)
    if reduction == 1:
        return named("mean")(named("div")(loss, sizes.clamp_min(1)))
    return reduce_by(loss if batched else loss.squeeze(0), reduction)


@composite("torch.nn.functional.ctc_loss")
def ctc_loss(log_probs, targets, input_lengths, target_lengths, blank=0, reduction="mean", zero_infinity=False):
    """The connectionist temporal classification loss of log-probabilities (T, N, C)."""
    handed("torch.ctc_loss", log_probs, targets, input_lengths, target_lengths, blank, code_of(reduction), zero_infinity)
    return torch_ctc_loss(log_probs, targets, input_lengths, target_lengths, blank, code_of(reduction), zero_infinity)
