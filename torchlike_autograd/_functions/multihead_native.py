"""torch._native_multi_head_attention, torch._transformer_encoder_layer_fwd (layer 7): what modules of attention call where nothing is to be differentiated.

A mask says which scores are left out, whatever its numbers are; a row without any score is nan.
"""

from __future__ import annotations

import math

from .._core import dtypes
from .._core.composite import COMPOSITES, composite, named

_ACTIVATIONS = named("relu"), named("gelu")


def _f(name):
    return COMPOSITES[f"torch.nn.functional.{name}"]


def _check(ok, words):
    if not ok:
        raise RuntimeError(words)


def _check_shapes(query, key, value, embed_dim, num_head, weight, bias):
    _check(query.dim() == 3, f"expected 3-D `query`, got {query.dim()}-D tensor")
    _check(query.size(2) == embed_dim, f"passed-in embed_dim {embed_dim} didn't match last dim of query {query.size(2)}")
    _check(key.dim() == 3, f"expected 3-D `key`, got {key.dim()}-D tensor")
    _check(value.dim() == 3, f"expected 3-D `value`, got {value.dim()}-D tensor")
    _check(query.shape == key.shape == value.shape, "expected `query`/`key`/`value` shapes to match")
    _check(weight.dim() == 2, f"expected 2-D `qkv_weight`, got {weight.dim()}-D tensor")
    _check(embed_dim * 3 == weight.size(0), "expected `qkv_weight` first dim to be 3x embed_dim")
    _check(embed_dim == weight.size(1), "expected `qkv_weight` second dim to be embed_Dim")
    _check(bias.dim() == 1, f"expected 1-D `qkv_bias`, got {bias.dim()}-D tensor")
    _check(bias.size(0) == 3 * embed_dim, "expected `qkv_bias` first dim and first dim of query to be equal")
    _check(embed_dim % num_head == 0, "`embed_dim` must divide evenly by `num_heads`")


def _left_out(scores, mask, mask_type):
    """Which scores (B, heads, L, L) a mask leaves out; kinds: 0 of (L, L), 1 of (B, L), 2 of all of them."""
    _check(mask_type is not None, "Mask Type should be defined")
    _check(mask_type in (0, 1, 2), "Mask Type should be 0 (src_mask) or 1 (src_key_padding_mask), or 2 (default_mask)")
    batch, _, length, _ = scores.shape
    if mask_type == 0:
        _check(tuple(mask.shape) == (length, length), "For mask_type == 0 mask shape should be (L, L)")
    elif mask_type == 1:
        _check(tuple(mask.shape) == (batch, length), "For mask_type == 1 mask shape should be (B, L)")
        mask = mask.view(batch, 1, 1, length)
    else:
        _check(mask.shape == scores.shape, "For mask_type == 2 mask shape should match input shape")
    return mask.to(dtypes.bool_)


@composite("torch._native_multi_head_attention")
def _native_multi_head_attention(query, key, value, embed_dim, num_head, qkv_weight, qkv_bias, proj_weight, proj_bias, mask=None, need_weights=True,
                                 average_attn_weights=True, mask_type=None):
    """(output (B, L, E), weights: (B, L, L), of each head where they are not averaged, or None)."""
    _check_shapes(query, key, value, embed_dim, num_head, qkv_weight, qkv_bias)
    batch, length, _ = query.shape
    width = embed_dim // num_head
    projected = [_f("linear")(x, w) + b for x, w, b in zip((query, key, value), qkv_weight.chunk(3), qkv_bias.chunk(3))]  # rounded twice, as in torch
    q, k, v = [x.reshape(batch, length, num_head, width).transpose(1, 2) for x in projected]
    scores = (q * (1 / math.sqrt(width))) @ k.transpose(-2, -1)
    if mask is not None:
        scores = scores.masked_fill(_left_out(scores, mask, mask_type), -math.inf)
    weights = scores.softmax(-1).to(scores.dtype)
    out = _f("linear")((weights @ v).transpose(1, 2).reshape(batch, length, embed_dim), proj_weight, proj_bias)
    if not need_weights:
        return out, None
    return out, weights.mean(1) if average_attn_weights else weights


@composite("torch._transformer_encoder_layer_fwd")
def _transformer_encoder_layer_fwd(src, embed_dim, num_heads, qkv_weight, qkv_bias, proj_weight, proj_bias, use_gelu, norm_first, eps, norm_weight_1,
                                   norm_bias_1, norm_weight_2, norm_bias_2, ffn_weight_1, ffn_bias_1, ffn_weight_2, ffn_bias_2, mask=None, mask_type=None):
    """An encoder layer without dropout."""
    def first(x):
        return _f("layer_norm")(x, (embed_dim,), norm_weight_1, norm_bias_1, eps)

    def second(x):
        return _f("layer_norm")(x, (embed_dim,), norm_weight_2, norm_bias_2, eps)

    def attended(x):
        return _native_multi_head_attention(x, x, x, embed_dim, num_heads, qkv_weight, qkv_bias, proj_weight, proj_bias, mask, False, True, mask_type)[0]

    def fed(x):
        return _f("linear")(_ACTIVATIONS[use_gelu](_f("linear")(x, ffn_weight_1, ffn_bias_1)), ffn_weight_2, ffn_bias_2)

    if norm_first:
        x = src + attended(first(src))
        return x + fed(second(x))
    x = first(src + attended(src))
    return second(x + fed(x))
