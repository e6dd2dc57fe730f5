"""torch.nn.functional.multi_head_attention_forward (layer 7): projections, masks, heads."""

from __future__ import annotations

import math

import numpy as np

from .._core import dtypes
from .._core.composite import COMPOSITES, composite, named
from .._core.saying import warn
from .._tensor import Tensor, from_array
from .attention import scaled_dot_product_attention
from .create import zeros_like


def _linear(*args):
    return COMPOSITES["torch.nn.functional.linear"](*args)


def _shown(size):
    return f"torch.Size({list(size)})"


# Checks

def _mha_shape_check(query, key, value, key_padding_mask, attn_mask, num_heads):
    """Whether there is a batch."""
    rank = query.dim()
    if rank not in (2, 3):
        raise AssertionError(f"query should be unbatched 2D or batched 3D tensor but received {rank}-D query tensor")
    which = f"For {'batched (3-D)' if rank == 3 else 'unbatched (2-D)'} `query`, expected"
    if not key.dim() == value.dim() == rank:
        raise AssertionError(f"{which} `key` and `value` to be {rank}-D but found {key.dim()}-D and {value.dim()}-D tensors respectively")
    if key_padding_mask is not None and key_padding_mask.dim() != rank - 1:
        raise AssertionError(f"{which} `key_padding_mask` to be `None` or {rank - 1}-D but found {key_padding_mask.dim()}-D tensor instead")
    if attn_mask is not None:
        if attn_mask.dim() not in (2, 3):
            raise AssertionError(f"{which} `attn_mask` to be `None`, 2-D or 3-D but found {attn_mask.dim()}-D tensor instead")
        if rank == 2 and attn_mask.dim() == 3 and tuple(attn_mask.shape) != (num_heads, query.shape[0], key.shape[0]):
            raise AssertionError(f"Expected `attn_mask` shape to be {(num_heads, query.shape[0], key.shape[0])} but got {_shown(attn_mask.shape)}")
    return rank == 3


def _canonical_mask(mask, mask_name, other_type, other_name, target_type, check_other=True):
    """A mask as numbers to add: minus infinity where a mask of bools holds."""
    if mask is None:
        return None
    if mask.dtype is not dtypes.bool_ and not mask.is_floating_point():
        raise AssertionError(f"only bool and floating types of {mask_name} are supported")
    if check_other and other_type is not None and mask.dtype is not other_type:
        warn(f"Support for mismatched {mask_name} and {other_name} is deprecated. Use same type for both instead.")
    if mask.is_floating_point():
        return mask
    return zeros_like(mask, dtype=target_type).masked_fill_(mask, -math.inf)


def _none_or_dtype(input):
    """The dtype of a tensor, if there is one."""
    if input is not None and not isinstance(input, Tensor):
        raise RuntimeError("input to _none_or_dtype() must be None or torch.Tensor")
    return None if input is None else input.dtype


def _check_sizes(query, key, value, expected, heads, separate):
    width = query.shape[-1]
    if width != expected:
        raise AssertionError(f"was expecting embedding dimension of {expected}, but got {width}")
    if width // heads * heads != width:
        raise AssertionError(f"embed_dim {width} not divisible by num_heads {heads}")
    if separate:
        if key.shape[:2] != value.shape[:2]:
            raise AssertionError(f"key's sequence and batch dims {_shown(key.shape[:2])} do not match value's {_shown(value.shape[:2])}")
    elif key.shape != value.shape:
        raise AssertionError(f"key shape {_shown(key.shape)} does not match value shape {_shown(value.shape)}")


# Parts

def _in_projection_packed(q, k, v, w, b=None):
    """The three inputs, each through its part of one layer."""
    if k is v and q is k:
        return tuple(x.contiguous() for x in _linear(q, w, b).chunk(3, -1))
    weights, biases = w.chunk(3), (None,) * 3 if b is None else b.chunk(3)
    return tuple(_linear(x, own, more) for x, own, more in zip((q, k, v), weights, biases))


def _in_projection(q, k, v, w_q, w_k, w_v, b_q=None, b_k=None, b_v=None):
    """The three inputs, each through its own layer."""
    width, out = q.shape[-1], []
    for name, x, w in (("query", q, w_q), ("key", k, w_k), ("value", v, w_v)):
        if tuple(w.shape) != (width, x.shape[-1]):
            raise AssertionError(f"expecting {name} weights shape of {(width, x.shape[-1])}, but got {_shown(w.shape)}")
    for name, b in (("query", b_q), ("key", b_k), ("value", b_v)):
        if b is not None and tuple(b.shape) != (width,):
            raise AssertionError(f"expecting {name} bias shape of {(width,)}, but got {_shown(b.shape)}")
    for x, w, b in ((q, w_q, b_q), (k, w_k, b_k), (v, w_v, b_v)):
        out.append(_linear(x, w, b))
    return tuple(out)


def _separate(inputs, weights, bias):
    for name, w in zip("qkv", weights):
        if w is None:
            raise AssertionError(f"use_separate_proj_weight is True but {name}_proj_weight is None")
    return _in_projection(*inputs, *weights, *((None,) * 3 if bias is None else bias.chunk(3)))


def _mask_of_scores(mask, length, source, batch_heads):
    if mask is None:
        return None
    if mask.dim() == 2:
        if tuple(mask.shape) != (length, source):
            raise RuntimeError(f"The shape of the 2D attn_mask is {_shown(mask.shape)}, but should be {(length, source)}.")
        return mask.unsqueeze(0)
    if tuple(mask.shape) != (batch_heads, length, source):
        raise RuntimeError(f"The shape of the 3D attn_mask is {_shown(mask.shape)}, but should be {(batch_heads, length, source)}.")
    return mask


def _static(name, x, batch_heads, head):
    for place, size in ((0, batch_heads), (2, head)):
        if x.shape[place] != size:
            raise AssertionError(f"expecting {name}.size({place}) of {size}, but got {x.shape[place]}")
    return x


def _of_heads(x, batch_heads, head):
    return x.view(x.shape[0], batch_heads, head).transpose(0, 1)


def _longer(*tensors):
    """Masks with one more source, which everything may see."""
    return tuple(None if t is None else COMPOSITES["torch.nn.functional.pad"](t, (0, 1)) for t in tensors)


def _with_biases(k, v, bias_k, bias_v, static_k, static_v, batch, masks):
    if bias_k is None or bias_v is None:
        if bias_k is not None:
            raise AssertionError("bias_k is set but bias_v is None")
        if bias_v is not None:
            raise AssertionError("bias_v is set but bias_k is None")
        return k, v, masks
    if static_k is not None:
        raise AssertionError("bias cannot be added to static key.")
    if static_v is not None:
        raise AssertionError("bias cannot be added to static value.")
    k, v = (named("cat")([x, b.repeat(1, batch, 1)]) for x, b in ((k, bias_k), (v, bias_v)))
    return k, v, _longer(*masks)


def _and_zeros(k, v, masks):
    k, v = (named("cat")([x, from_array(np.zeros((x.shape[0], 1, x.shape[2]), x.dtype.np), x.dtype, like=x)], 1) for x in (k, v))
    return k, v, _longer(*masks)


def _check_key_padding_mask(key_padding_mask, src_len, bsz):
    for place, size in ((0, bsz), (1, src_len)):
        if key_padding_mask.shape[place] != size:
            raise AssertionError(f"Expected key_padded_mask.shape[{place}] to be {size}, but got {key_padding_mask.shape[place]}")


def _merged(mask, padding, batch, heads, source):
    if padding is None:
        return mask
    _check_key_padding_mask(padding, source, batch)
    padding = padding.view(batch, 1, 1, source).expand(-1, heads, -1, -1).reshape(batch * heads, 1, source)
    return padding if mask is None else mask + padding


def _weighed(q, k, v, mask, dropout_p):
    """(attention, weights) over (batch * heads, L, E)."""
    scaled = q * math.sqrt(1.0 / q.shape[-1])
    scores = named("bmm")(scaled, k.transpose(-2, -1)) if mask is None else named("baddbmm")(mask, scaled, k.transpose(-2, -1))
    weights = named("_softmax")(scores, -1)
    if dropout_p > 0.0:
        weights = COMPOSITES["torch.nn.functional.dropout"](weights, dropout_p)
    return named("bmm")(weights, v), weights


def _unweighed(q, k, v, mask, dropout_p, is_causal, batch, heads):
    """The attention (L * batch, E) without weights."""
    if mask is not None:
        mask = mask.unsqueeze(0) if mask.shape[0] == 1 and mask.dim() == 3 else mask.view(batch, heads, mask.shape[-2], k.shape[1])
    length, head = q.shape[1:]
    q, k, v = (x.view(batch, heads, x.shape[1], head) for x in (q, k, v))
    out = scaled_dot_product_attention(q, k, v, mask, dropout_p, is_causal)
    return out.permute(2, 0, 1, 3).contiguous().view(batch * length, heads * head)


@composite("torch.nn.functional.multi_head_attention_forward")
def multi_head_attention_forward(query, key, value, embed_dim_to_check, num_heads, in_proj_weight, in_proj_bias, bias_k, bias_v, add_zero_attn, dropout_p,
                                 out_proj_weight, out_proj_bias, training=True, key_padding_mask=None, need_weights=True, attn_mask=None,
                                 use_separate_proj_weight=False, q_proj_weight=None, k_proj_weight=None, v_proj_weight=None, static_k=None, static_v=None,
                                 average_attn_weights=True, is_causal=False):
    """(attention of several heads, its weights or None) for a query (L, N, E) and key and value (S, N, *), or without N."""
    batched = _mha_shape_check(query, key, value, key_padding_mask, attn_mask, num_heads)
    if not batched:
        same = key is value, query is key
        query, key0, value0 = query.unsqueeze(1), key.unsqueeze(1), value.unsqueeze(1)
        key, value = query if all(same) else key0, query if all(same) else key0 if same[0] else value0
        key_padding_mask = None if key_padding_mask is None else key_padding_mask.unsqueeze(0)
    length, batch, width = query.shape
    source = key.shape[0]
    padding = _canonical_mask(key_padding_mask, "key_padding_mask", _none_or_dtype(attn_mask), "attn_mask", query.dtype)
    if is_causal and attn_mask is None:
        raise RuntimeError("Need attn_mask if specifying the is_causal hint. You may use the Transformer module method `generate_square_subsequent_mask` "
                           "to create this mask.")
    causal = is_causal and padding is None and not need_weights
    mask = None if causal else _canonical_mask(attn_mask, "attn_mask", None, "", query.dtype, False)
    _check_sizes(query, key, value, embed_dim_to_check, num_heads, use_separate_proj_weight)
    if use_separate_proj_weight:
        q, k, v = _separate((query, key, value), (q_proj_weight, k_proj_weight, v_proj_weight), in_proj_bias)
    elif in_proj_weight is None:
        raise AssertionError("use_separate_proj_weight is False but in_proj_weight is None")
    else:
        q, k, v = _in_projection_packed(query, key, value, in_proj_weight, in_proj_bias)
    mask = _mask_of_scores(mask, length, source, batch * num_heads)
    k, v, (mask, padding) = _with_biases(k, v, bias_k, bias_v, static_k, static_v, batch, (mask, padding))
    many, head = batch * num_heads, width // num_heads
    q = _of_heads(q, many, head)
    k = _of_heads(k, many, head) if static_k is None else _static("static_k", static_k, many, head)
    v = _of_heads(v, many, head) if static_v is None else _static("static_v", static_v, many, head)
    if add_zero_attn:
        k, v, (mask, padding) = _and_zeros(k, v, (mask, padding))
    mask = _merged(mask, padding, batch, num_heads, k.shape[1])
    drop = dropout_p if training else 0.0
    if not need_weights:
        out = _linear(_unweighed(q, k, v, mask, drop, causal, batch, num_heads), out_proj_weight, out_proj_bias).view(length, batch, out_proj_weight.shape[0])
        return (out if batched else out.squeeze(1)), None
    attention, weights = _weighed(q, k, v, mask, drop)
    out = _linear(attention.transpose(0, 1).contiguous().view(length * batch, width), out_proj_weight, out_proj_bias)
    out = out.view(length, batch, out_proj_weight.shape[0])
    weights = weights.view(batch, num_heads, length, weights.shape[-1])
    weights = named("mean")(weights, (1,), False) if average_attn_weights else weights
    return (out, weights) if batched else (out.squeeze(1), weights.squeeze(0))
