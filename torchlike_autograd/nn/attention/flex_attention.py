"""torch.nn.attention.flex_attention (layer 12: it is written in the public functions): attention whose scores and mask are functions of positions.

The functions are mapped over all positions (`torch.func.vmap`), and what they make is compiled with the rest of the step; there is no kernel that skips blocks.
A `BlockMask` records which blocks hold anything, as torch's does, and is computed with as the mask that it was made of.

What differs: gradients are there on the CPU too, and nothing warns that it is not compiled.
"""

from __future__ import annotations

import math
from collections import namedtuple

from ... import _api as torch
from ..._core import publish as _publish
from .block_mask import BlockMask, and_masks, create_block_mask, create_mask, noop_mask, or_masks, over_positions

__all__ = ["AuxOutput", "AuxRequest", "BlockMask", "and_masks", "create_block_mask", "create_mask", "flex_attention", "noop_mask", "or_masks"]

_DEFAULT_SPARSE_BLOCK_SIZE = 128
AuxRequest = namedtuple("AuxRequest", ("lse", "max_scores"), defaults=(False, False))
AuxOutput = namedtuple("AuxOutput", ("lse", "max_scores"), defaults=(None, None))


def _check(query, key, value, block_mask, enable_gqa):
    if query.dim() != 4 or key.dim() != 4 or value.dim() != 4:
        raise NotImplementedError("NYI: query, key, and value must be 4D tensors")
    if query.shape[-1] != key.shape[-1]:
        raise ValueError(f"Expect query and key/value to have the same embedding dimension but got E={query.shape[-1]} and E={key.shape[-1]}.")
    heads, shared = query.shape[1], key.shape[1]
    if heads != shared and not enable_gqa:
        raise ValueError(f"Expect query and key/value to have the same number of heads but got Hq={heads} and Hkv={shared}. "
                         "Try setting enable_gqa=True for GQA.")
    if heads % shared:
        raise ValueError(f"Expect number of query heads to be a multiple of kv heads for GQA but got Hq={heads} and Hkv={shared}.")
    if block_mask is not None:
        _check_mask(query, key, block_mask)


def _check_mask(query, key, block_mask):
    rows, columns = block_mask.seq_lengths
    if rows < query.shape[-2] or columns < key.shape[-2]:
        raise ValueError(f"block_mask was created for block_mask.shape={block_mask.shape} but got q_len={query.shape[-2]} and kv_len={key.shape[-2]}. "
                         "As the block mask was created for a smaller length than you're using it for, you likely need to create a new block mask.")
    if rows > query.shape[-2] or columns > key.shape[-2]:
        raise ValueError(f"block_mask was created for block_mask.shape={block_mask.shape} but got q_len={query.shape[-2]} and kv_len={key.shape[-2]}. "
                         "As the block mask was created for a larger length than you're using it for, you can either 1. create a new block mask with the "
                         "correct length, or 2. 'adjust' the existing block mask to the correct length by calling block_mask._adjust(q_len, kv_len). This "
                         "essentially 'crops' the block mask to the upper left corner, which does not work for all mask_mods!")


def flex_attention(query, key, value, score_mod=None, block_mask=None, scale=None, enable_gqa=False, return_lse=False, kernel_options=None, *, return_aux=None):
    """softmax of ``score_mod(query @ key.mT * scale, b, h, q, k)`` where `block_mask` allows it, times `value`.

    `query` is (B, Hq, L, E), `key` (B, Hkv, S, E), `value` (B, Hkv, S, Ev), the result (B, Hq, L, Ev) of the dtype of `query`.  `score_mod` takes one score and
    its four indices, tensors without dims.  `scale` is 1/sqrt(E) by default.  `enable_gqa` lets heads of `query` share those of `key`.  With
    `return_lse` the log of the sums (B, Hq, L) comes too; with `return_aux`, an `AuxOutput` of what an `AuxRequest` asks for.  Rows that may see nothing
    are 0.  `kernel_options` are not read.  ValueError and NotImplementedError for shapes and dtypes that do not fit.
    """
    _check(query, key, value, block_mask, enable_gqa)
    B, heads, L, E = query.shape
    S = key.shape[-2]
    if heads != key.shape[1]:
        key, value = (x.repeat_interleave(heads // x.shape[1], dim=1) for x in (key, value))
    working = torch.float64 if query.dtype is torch.float64 else torch.float32
    scores = (query.to(working) @ key.to(working).transpose(-2, -1)) * (1.0 / math.sqrt(E) if scale is None else scale)
    if score_mod is not None:
        scores = over_positions(score_mod, (B, heads, L, S), scores.broadcast_to(max(B, key.shape[0]), heads, L, S), query.device).to(working)
    if block_mask is not None:
        scores = torch.where(block_mask.allows(L, S, query.device), scores, -math.inf)
    lse = scores.logsumexp(dim=-1)
    empty = lse == -math.inf
    weights = torch.where(empty.unsqueeze(-1), 0.0, torch.exp(scores - torch.where(empty, 0.0, lse).unsqueeze(-1)))
    out = (weights @ value.to(working)).to(query.dtype)
    if return_aux is not None:
        return out, AuxOutput(lse=lse if return_aux.lse else None, max_scores=scores.amax(-1) if return_aux.max_scores else None)
    return (out, lse) if return_lse else out


__getattr__ = _publish.missing("torch.nn.attention.flex_attention")
