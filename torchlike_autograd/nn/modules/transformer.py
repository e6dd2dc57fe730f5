"""torch.nn.modules.transformer (layer 8)."""

from __future__ import annotations

import copy

from ..._core.numeric import say_once
from ..._core.saying import warn
from ..._functions.create import arange, full
from ..._functions.multihead import _canonical_mask, _none_or_dtype
from ..._functions.multihead_native import _transformer_encoder_layer_fwd
from ...backends.mha import get_fastpath_enabled
from .. import functional as F
from ..init import xavier_uniform_
from .activation import GELU, MultiheadAttention, ReLU
from .attention import takes_kernel
from .container import ModuleList
from .dropout import Dropout
from .linear import Linear
from .module import Module
from .normalization import LayerNorm

__all__ = ["Transformer", "TransformerDecoder", "TransformerDecoderLayer", "TransformerEncoder", "TransformerEncoderLayer"]


def _generate_square_subsequent_mask(sz, device=None, dtype=None):
    """-inf above the diagonal, 0 elsewhere."""
    return full((sz, sz), float("-inf"), dtype=dtype, device=device).triu(diagonal=1)


def _get_clones(module, N):
    return ModuleList([copy.deepcopy(module) for _ in range(N)])


def _get_activation_fn(activation):
    if activation in ("relu", "gelu"):
        return getattr(F, activation)
    raise RuntimeError(f"activation should be relu/gelu, not {activation}")


def _detect_is_causal_mask(mask, is_causal=None, size=None):
    """Whether a mask is the causal one: as said, or by looking."""
    if is_causal is not None:
        return bool(is_causal)
    if mask is None or mask.dim() != 2 or (size is not None and tuple(mask.shape) != (size, size)):
        return False
    causal = _generate_square_subsequent_mask(mask.shape[0], dtype=mask.dtype) if mask.is_floating_point() else None
    return causal is not None and bool((mask == causal).all())


def _get_seq_len(src, batch_first):
    """The length of (L, E) or a batch of them."""
    return src.size(0) if src.dim() == 2 else src.size(1 if batch_first else 0)


class _Layer(Module):
    """What both layers have: a feed-forward block and norms before or after the blocks."""

    __constants__ = ["norm_first"]

    def __setstate__(self, state):
        super().__setstate__(state)
        if not hasattr(self, "activation"):
            self.activation = F.relu


def _attend(attention, x, memory, attn_mask, key_padding_mask, is_causal):
    return attention(x, memory, memory, attn_mask=attn_mask, key_padding_mask=key_padding_mask, is_causal=is_causal, need_weights=False)[0]


def _feed(layer, x):
    return layer.linear2(layer.dropout(layer.activation(layer.linear1(x))))


def _make_feed_forward(layer, d_model, dim_feedforward, dropout, norms, norm_first, layer_norm_eps, bias, made):
    layer.linear1 = Linear(d_model, dim_feedforward, bias=bias, **made)
    layer.dropout = Dropout(dropout)
    layer.linear2 = Linear(dim_feedforward, d_model, bias=bias, **made)
    layer.norm_first = norm_first
    for i in range(1, norms + 1):
        setattr(layer, f"norm{i}", LayerNorm(d_model, eps=layer_norm_eps, bias=bias, **made))
    for i in range(1, norms + 1):
        setattr(layer, f"dropout{i}", Dropout(dropout))


def _parameters_of_kernel(layer):
    """The parameters of an encoder layer that torch's kernel takes beside those of its attention."""
    return [p for m in (layer.norm1, layer.norm2, layer.linear1, layer.linear2) for p in (m.weight, m.bias)]


def _takes_kernel(layer, src):
    """Whether torch's kernel would compute an encoder layer: where it would attend, with the usual activations, and nobody hooked in."""
    if layer.training or not layer.activation_relu_or_gelu or layer.norm1.eps != layer.norm2.eps:
        return False
    if any(m._forward_hooks or m._forward_pre_hooks for m in layer.modules()):
        return False
    more = _parameters_of_kernel(layer)
    return layer.self_attn.in_proj_bias is not None and all(p is not None for p in more) and takes_kernel(layer.self_attn, src, more)


class TransformerEncoderLayer(_Layer):
    """Self-attention and a feed-forward block."""

    def __init__(self, d_model, nhead, dim_feedforward=2048, dropout=0.1, activation=F.relu, layer_norm_eps=1e-5, batch_first=False,
                 norm_first=False, bias=True, device=None, dtype=None):
        super().__init__()
        made = {"device": device, "dtype": dtype}
        self.self_attn = MultiheadAttention(d_model, nhead, dropout=dropout, bias=bias, batch_first=batch_first, **made)
        _make_feed_forward(self, d_model, dim_feedforward, dropout, 2, norm_first, layer_norm_eps, bias, made)
        if isinstance(activation, str):
            activation = _get_activation_fn(activation)
        self.activation_relu_or_gelu = (1 if activation is F.relu or isinstance(activation, ReLU) else
                                        2 if activation is F.gelu or isinstance(activation, GELU) else 0)
        self.activation = activation

    def forward(self, src, src_mask=None, src_key_padding_mask=None, is_causal=False):
        """The encoded sequence."""
        padding = _canonical_mask(src_key_padding_mask, "src_key_padding_mask", _none_or_dtype(src_mask), "src_mask", src.dtype)
        mask = _canonical_mask(src_mask, "src_mask", None, "", src.dtype, False)
        if src.dim() == 3 and _takes_kernel(self, src):
            attention = self.self_attn
            merged, kind = attention.merge_masks(mask, padding, src)
            return _transformer_encoder_layer_fwd(
                src, attention.embed_dim, attention.num_heads, attention.in_proj_weight, attention.in_proj_bias, attention.out_proj.weight,
                attention.out_proj.bias, self.activation_relu_or_gelu == 2, self.norm_first, self.norm1.eps, self.norm1.weight, self.norm1.bias,
                self.norm2.weight, self.norm2.bias, self.linear1.weight, self.linear1.bias, self.linear2.weight, self.linear2.bias, merged, kind)
        x = src
        if self.norm_first:
            x = x + self._sa_block(self.norm1(x), mask, padding, is_causal)
            return x + self._ff_block(self.norm2(x))
        x = self.norm1(x + self._sa_block(x, mask, padding, is_causal))
        return self.norm2(x + self._ff_block(x))

    def _sa_block(self, x, attn_mask, key_padding_mask, is_causal=False):
        return self.dropout1(_attend(self.self_attn, x, x, attn_mask, key_padding_mask, is_causal))

    def _ff_block(self, x):
        return self.dropout2(_feed(self, x))


class TransformerDecoderLayer(_Layer):
    """Self-attention, attention to a memory, and a feed-forward block."""

    def __init__(self, d_model, nhead, dim_feedforward=2048, dropout=0.1, activation=F.relu, layer_norm_eps=1e-5, batch_first=False,
                 norm_first=False, bias=True, device=None, dtype=None):
        super().__init__()
        made = {"device": device, "dtype": dtype}
        self.self_attn = MultiheadAttention(d_model, nhead, dropout=dropout, batch_first=batch_first, bias=bias, **made)
        self.multihead_attn = MultiheadAttention(d_model, nhead, dropout=dropout, batch_first=batch_first, bias=bias, **made)
        _make_feed_forward(self, d_model, dim_feedforward, dropout, 3, norm_first, layer_norm_eps, bias, made)
        self.activation = _get_activation_fn(activation) if isinstance(activation, str) else activation

    def forward(self, tgt, memory, tgt_mask=None, memory_mask=None, tgt_key_padding_mask=None, memory_key_padding_mask=None,
                tgt_is_causal=False, memory_is_causal=False):
        """The decoded sequence."""
        x = tgt
        if self.norm_first:
            x = x + self._sa_block(self.norm1(x), tgt_mask, tgt_key_padding_mask, tgt_is_causal)
            x = x + self._mha_block(self.norm2(x), memory, memory_mask, memory_key_padding_mask, memory_is_causal)
            return x + self._ff_block(self.norm3(x))
        x = self.norm1(x + self._sa_block(x, tgt_mask, tgt_key_padding_mask, tgt_is_causal))
        x = self.norm2(x + self._mha_block(x, memory, memory_mask, memory_key_padding_mask, memory_is_causal))
        return self.norm3(x + self._ff_block(x))

    def _sa_block(self, x, attn_mask, key_padding_mask, is_causal=False):
        return self.dropout1(_attend(self.self_attn, x, x, attn_mask, key_padding_mask, is_causal))

    def _mha_block(self, x, mem, attn_mask, key_padding_mask, is_causal=False):
        return self.dropout2(_attend(self.multihead_attn, x, mem, attn_mask, key_padding_mask, is_causal))

    def _ff_block(self, x):
        return self.dropout3(_feed(self, x))


def _why_not_nested(layer):
    """torch's reason against nested tensors for a layer."""
    if not isinstance(layer, TransformerEncoderLayer):
        return "encoder_layer was not TransformerEncoderLayer"
    if layer.norm_first:
        return "encoder_layer.norm_first was True"
    if not layer.self_attn.batch_first:
        return "encoder_layer.self_attn.batch_first was not True(use batch_first for better inference performance)"
    if not layer.self_attn._qkv_same_embed_dim:
        return "encoder_layer.self_attn._qkv_same_embed_dim was not True"
    if layer.self_attn.in_proj_bias is None:
        return "encoder_layer.self_attn was passed bias=False"
    if not layer.activation_relu_or_gelu:
        return "encoder_layer.activation_relu_or_gelu was not True"
    if layer.norm1.eps != layer.norm2.eps:
        return "encoder_layer.norm1.eps was not equal to encoder_layer.norm2.eps"
    return "encoder_layer.self_attn.num_heads is odd" if layer.self_attn.num_heads % 2 else ""


_PROTOTYPE = ("The PyTorch API of nested tensors is in prototype stage and will change in the near future. We recommend specifying layout=torch.jagged when "
              "constructing a nested tensor, as this layout receives active development, has better operator coverage, and works with torch.compile. "
              "(Triggered internally at /__w/pytorch/pytorch/aten/src/ATen/NestedTensorImpl.cpp:177.)")


def _taken_out(encoder, padding):
    """(the padding to compute with, the places that are left out): with `mask_check` only padding that is all at the end of its rows, without it as many
    as there are anywhere in a row."""
    out = padding != 0
    say_once(_PROTOTYPE)
    if encoder.mask_check:
        return padding, out & (out[:, 1:] >= out[:, :-1]).all()
    kept = (~out).sum(1, keepdim=True)
    out = arange(out.size(1), device=out.device) >= kept
    return padding.new_zeros(out.shape).masked_fill(out, float("-inf")), out


class TransformerEncoder(Module):
    """Several copies of an encoder layer.

    Where torch takes padding out by nested tensors (no gradients, in evaluation, padding at the end of each row), the padded places of the result are zeros
    before `norm`, as there.
    """

    __constants__ = ["norm"]

    def __init__(self, encoder_layer, num_layers, norm=None, enable_nested_tensor=True, mask_check=True):
        super().__init__()
        self.layers = _get_clones(encoder_layer, num_layers)
        self.num_layers, self.norm = num_layers, norm
        self.enable_nested_tensor, self.mask_check = enable_nested_tensor, mask_check
        why_not = _why_not_nested(encoder_layer)
        self.use_nested_tensor = enable_nested_tensor and not why_not
        if enable_nested_tensor and why_not:
            warn(f"enable_nested_tensor is True, but self.use_nested_tensor is False because {why_not}")

    def forward(self, src, mask=None, src_key_padding_mask=None, is_causal=None):
        """The encoded sequence."""
        padding = _canonical_mask(src_key_padding_mask, "src_key_padding_mask", _none_or_dtype(mask), "mask", src.dtype)
        mask = _canonical_mask(mask, "mask", None, "", src.dtype, False)
        first = self.layers[0]
        batch_first = first.self_attn.batch_first
        causal = _detect_is_causal_mask(mask, is_causal, _get_seq_len(src, batch_first))
        out = None
        if self.use_nested_tensor and padding is not None and src.dim() == 3 and not first.training and get_fastpath_enabled():
            nested = mask is None and takes_kernel(first.self_attn, src, _parameters_of_kernel(first))
            if (self.mask_check or nested) and padding.shape != src.shape[:2]:
                raise RuntimeError("Mask size should match input size")
            if nested:
                padding, out = _taken_out(self, padding)
        for layer in self.layers:
            src = layer(src, src_mask=mask, is_causal=causal, src_key_padding_mask=padding)
        if out is not None:
            src = src.masked_fill(out.unsqueeze(-1), 0.0)
        return src if self.norm is None else self.norm(src)


class TransformerDecoder(Module):
    """Several copies of a decoder layer."""

    __constants__ = ["norm"]

    def __init__(self, decoder_layer, num_layers, norm=None):
        super().__init__()
        self.layers = _get_clones(decoder_layer, num_layers)
        self.num_layers, self.norm = num_layers, norm

    def forward(self, tgt, memory, tgt_mask=None, memory_mask=None, tgt_key_padding_mask=None, memory_key_padding_mask=None,
                tgt_is_causal=None, memory_is_causal=False):
        """The decoded sequence."""
        causal = _detect_is_causal_mask(tgt_mask, tgt_is_causal, _get_seq_len(tgt, self.layers[0].self_attn.batch_first))
        for layer in self.layers:
            tgt = layer(tgt, memory, tgt_mask=tgt_mask, memory_mask=memory_mask, tgt_key_padding_mask=tgt_key_padding_mask,
                        memory_key_padding_mask=memory_key_padding_mask, tgt_is_causal=causal, memory_is_causal=memory_is_causal)
        return tgt if self.norm is None else self.norm(tgt)


class Transformer(Module):
    """An encoder and a decoder."""

    def __init__(self, d_model=512, nhead=8, num_encoder_layers=6, num_decoder_layers=6, dim_feedforward=2048, dropout=0.1, activation=F.relu,
                 custom_encoder=None, custom_decoder=None, layer_norm_eps=1e-5, batch_first=False, norm_first=False, bias=True, device=None,
                 dtype=None):
        super().__init__()
        made = {"device": device, "dtype": dtype}
        each = (d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps, batch_first, norm_first, bias)
        if custom_encoder is not None:
            self.encoder = custom_encoder
        else:
            layer = TransformerEncoderLayer(*each, **made)
            self.encoder = TransformerEncoder(layer, num_encoder_layers, LayerNorm(d_model, eps=layer_norm_eps, bias=bias, **made))
        if custom_decoder is not None:
            self.decoder = custom_decoder
        else:
            layer = TransformerDecoderLayer(*each, **made)
            self.decoder = TransformerDecoder(layer, num_decoder_layers, LayerNorm(d_model, eps=layer_norm_eps, bias=bias, **made))
        self._reset_parameters()
        self.d_model, self.nhead, self.batch_first = d_model, nhead, batch_first

    def forward(self, src, tgt, src_mask=None, tgt_mask=None, memory_mask=None, src_key_padding_mask=None, tgt_key_padding_mask=None,
                memory_key_padding_mask=None, src_is_causal=None, tgt_is_causal=None, memory_is_causal=False):
        """The decoded target, given the source."""
        where = 0 if self.batch_first else 1
        if src.size(where) != tgt.size(where) and src.dim() == 3:
            raise RuntimeError("the batch number of src and tgt must be equal")
        if src.size(-1) != self.d_model or tgt.size(-1) != self.d_model:
            raise RuntimeError("the feature number of src and tgt must be equal to d_model")
        memory = self.encoder(src, mask=src_mask, src_key_padding_mask=src_key_padding_mask, is_causal=src_is_causal)
        return self.decoder(tgt, memory, tgt_mask=tgt_mask, memory_mask=memory_mask, tgt_key_padding_mask=tgt_key_padding_mask,
                            memory_key_padding_mask=memory_key_padding_mask, tgt_is_causal=tgt_is_causal, memory_is_causal=memory_is_causal)

    @staticmethod
    def generate_square_subsequent_mask(sz, device=None, dtype=None):
        """-inf above the diagonal, 0 elsewhere."""
        return _generate_square_subsequent_mask(sz, device, dtype)

    def _reset_parameters(self):
        for p in self.parameters():
            if p.dim() > 1:
                xavier_uniform_(p)
