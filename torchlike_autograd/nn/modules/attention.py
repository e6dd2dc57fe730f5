"""Multi-head attention (layer 8); `activation` publishes it, as torch does."""

from __future__ import annotations

from ..._functions.create import empty
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
        """(output, weights or None)."""
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
        """(the two masks as one, its kind: 0 attention, 1 padding, 2 both)."""
        if key_padding_mask is None:
            return attn_mask, (0 if attn_mask is not None else None)
        if attn_mask is None:
            return key_padding_mask, 1
        batch, length = query.shape[0], query.shape[1]
        if attn_mask.dim() == 3:
            expanded = attn_mask.view(batch, -1, length, length)
        else:
            expanded = attn_mask.view(1, 1, length, length).expand(batch, self.num_heads, -1, -1)
        return expanded + key_padding_mask.view(batch, 1, 1, length).expand(-1, self.num_heads, -1, -1), 2
