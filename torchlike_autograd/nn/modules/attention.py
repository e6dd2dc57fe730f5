"""Multi-head attention (layer 8); `activation` publishes it, as torch does."""

from __future__ import annotations

from ..._core.autocasting import enabled as _casts
from ..._functions.create import empty
from ..._functions.multihead import _canonical_mask, _none_or_dtype
from ..._functions.multihead_native import _native_multi_head_attention
from ...autograd.grad_mode import is_grad_enabled
from ...backends.mha import get_fastpath_enabled
from ...overrides import has_torch_function
from .. import functional as F
from .. import init
from ..parameter import Parameter
from .linear import NonDynamicallyQuantizableLinear
from .module import Module

__all__ = ["MultiheadAttention"]


def _make_projections(attention, bias, made):
    """One weight for queries, keys and values, or three."""
    e = attention.embed_dim
    same = attention._qkv_same_embed_dim
    for name, width in (("q", e), ("k", attention.kdim), ("v", attention.vdim)):
        if not same:
            setattr(attention, f"{name}_proj_weight", Parameter(empty((e, width), **made)))
    if same:
        attention.in_proj_weight = Parameter(empty((3 * e, e), **made))
        for name in "qkv":
            attention.register_parameter(f"{name}_proj_weight", None)
    else:
        attention.register_parameter("in_proj_weight", None)
    attention.register_parameter("in_proj_bias", Parameter(empty(3 * e, **made)) if bias else None)


class MultiheadAttention(Module):
    """Scaled dot product attention over several heads; inputs (L, N, E), (N, L, E) with batch_first, or (L, E)."""

    __constants__ = ["batch_first"]

    def __init__(self, embed_dim, num_heads, dropout=0.0, bias=True, add_bias_kv=False, add_zero_attn=False, kdim=None, vdim=None,
                 batch_first=False, device=None, dtype=None):
        if embed_dim <= 0 or num_heads <= 0:
            raise ValueError(f"embed_dim and num_heads must be greater than 0, got embed_dim={embed_dim} and num_heads={num_heads} instead")
        super().__init__()
        made = {"device": device, "dtype": dtype}
        self.embed_dim = embed_dim
        self.kdim = kdim if kdim is not None else embed_dim
        self.vdim = vdim if vdim is not None else embed_dim
        self._qkv_same_embed_dim = self.kdim == embed_dim and self.vdim == embed_dim
        self.num_heads, self.dropout, self.batch_first = num_heads, dropout, batch_first
        self.head_dim = embed_dim // num_heads
        if self.head_dim * num_heads != embed_dim:
            raise AssertionError("embed_dim must be divisible by num_heads")
        _make_projections(self, bias, made)
        self.out_proj = NonDynamicallyQuantizableLinear(embed_dim, embed_dim, bias=bias, **made)
        if add_bias_kv:
            self.bias_k = Parameter(empty((1, 1, embed_dim), **made))
            self.bias_v = Parameter(empty((1, 1, embed_dim), **made))
        else:
            self.bias_k = self.bias_v = None
        self.add_zero_attn = add_zero_attn
        self._reset_parameters()

    def _reset_parameters(self):
        for name in ("in_proj_weight",) if self._qkv_same_embed_dim else ("q_proj_weight", "k_proj_weight", "v_proj_weight"):
            init.xavier_uniform_(getattr(self, name))
        if self.in_proj_bias is not None:
            init.constant_(self.in_proj_bias, 0.0)
            init.constant_(self.out_proj.bias, 0.0)
        for b in (self.bias_k, self.bias_v):
            if b is not None:
                init.xavier_normal_(b)

    def __setstate__(self, state):
        state.setdefault("_qkv_same_embed_dim", True)
        super().__setstate__(state)

    def forward(self, query, key, value, key_padding_mask=None, need_weights=True, attn_mask=None, average_attn_weights=True, is_causal=False):
        """(output, weights or None).  Where nothing is to be differentiated the masks alone count, as in torch's kernel, and `is_causal` needs none."""
        plain = not any(m is not None and m.is_floating_point() for m in (attn_mask, key_padding_mask))
        key_padding_mask = _canonical_mask(key_padding_mask, "key_padding_mask", _none_or_dtype(attn_mask), "attn_mask", query.dtype)
        attn_mask = _canonical_mask(attn_mask, "attn_mask", None, "", query.dtype, False)
        if plain and query.dim() == 3 and query is key is value and takes_kernel(self, query):
            mask, kind = self.merge_masks(attn_mask, key_padding_mask, query)
            if self.in_proj_bias is not None:
                return _native_multi_head_attention(
                    query, key, value, self.embed_dim, self.num_heads, self.in_proj_weight, self.in_proj_bias, self.out_proj.weight, self.out_proj.bias,
                    mask, need_weights, average_attn_weights, kind)
        turned = self.batch_first and query.dim() == 3
        if turned:
            same_key, same_value = key is query, value is key
            query = query.transpose(1, 0)
            key = query if same_key else key.transpose(1, 0)
            value = key if same_value else value.transpose(1, 0)
        more = {} if self._qkv_same_embed_dim else {
            "use_separate_proj_weight": True, "q_proj_weight": self.q_proj_weight, "k_proj_weight": self.k_proj_weight,
            "v_proj_weight": self.v_proj_weight}
        output, weights = F.multi_head_attention_forward(
            query, key, value, self.embed_dim, self.num_heads, self.in_proj_weight, self.in_proj_bias, self.bias_k, self.bias_v,
            self.add_zero_attn, self.dropout, self.out_proj.weight, self.out_proj.bias, training=self.training, key_padding_mask=key_padding_mask,
            need_weights=need_weights, attn_mask=attn_mask, average_attn_weights=average_attn_weights, is_causal=is_causal, **more)
        return (output.transpose(1, 0) if turned else output), weights

    def merge_masks(self, attn_mask, key_padding_mask, query):
        """(the two masks as one, its kind: 1 of (B, L), 2 of all scores)."""
        if attn_mask is None:
            return key_padding_mask, None if key_padding_mask is None else 1
        batch, length = query.shape[0], query.shape[1]
        if attn_mask.dim() == 3:
            merged = attn_mask.view(batch, -1, length, length)
        else:
            merged = attn_mask.view(1, 1, length, length).expand(batch, self.num_heads, -1, -1)
        if key_padding_mask is not None:
            merged = merged + key_padding_mask.view(batch, 1, 1, length).expand(-1, self.num_heads, -1, -1)
        return merged, 2


def takes_kernel(attention, query, more=()):
    """Whether torch's kernel would attend: in evaluation, batch first, with an even number of heads, and nothing to be differentiated.

    more: parameters beside the attention's own that the kernel takes.
    """
    if not (get_fastpath_enabled() and attention.batch_first and attention._qkv_same_embed_dim) or attention.training or _casts("cuda"):
        return False
    if attention.num_heads % 2 or attention.bias_k is not None or attention.bias_v is not None or attention.add_zero_attn:
        return False
    if query.dtype is not attention.in_proj_weight.dtype:
        return False
    given = (query, attention.in_proj_weight, attention.in_proj_bias, attention.out_proj.weight, attention.out_proj.bias, *more)
    given = [x for x in given if x is not None]
    if has_torch_function(given) or any(x.device.type == "meta" for x in given):
        return False
    return not (is_grad_enabled() and any(x.requires_grad for x in given))
