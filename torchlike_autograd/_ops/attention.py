"""Attention and what goes with it (layer 2): scaled dot products, sums of embedded rows, alignments of labels."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from .._core import precision
from .._core.shapes import wrap_dim
from .conventions import only, partials
from .registry import NONE, SMOOTH, at, call, op, real, rule
from .tracing import iota, looping, scan

# Scaled dot products

def _safe_softmax_value(x, axis):
    """The softmax; 0 where everything is minus infinity."""
    top = lax.stop_gradient(jnp.max(x, axis, keepdims=True))
    nothing = top == -np.inf
    e = jnp.exp(x - jnp.where(nothing, 0, top))
    return jnp.where(nothing, 0, e / jnp.where(nothing, 1, jnp.sum(e, axis, keepdims=True)))


@op("_safe_softmax(Tensor self, int dim) -> Tensor", node="SafeSoftmaxBackward0", names=(), opmath=True, saves={"self": ("result",)},
    samples=[call(real(2, 3), 1)], kinks=SMOOTH)
def _safe_softmax(self, *, dim):
    """The softmax over a dim; 0 where everything is minus infinity."""
    return _safe_softmax_value(self, wrap_dim(dim, self.ndim)) if self.ndim else _safe_softmax_value(self[None], wrap_dim(dim, 0))[0]


_SAVED = dict.fromkeys(("query", "key", "value"), ("query", "key", "value", "result0"))


@op("_scaled_dot_product_flash_attention_for_cpu(Tensor query, Tensor key, Tensor value, bool is_causal, Tensor? attn_mask, float scale) -> Tensor output",
    forward=False, node="ScaledDotProductFlashAttentionForCpuBackward0", names=(), opmath=True, nondiff=("attn_mask",), lift=("scale",),
    second="aten::_scaled_dot_product_flash_attention_for_cpu_backward", saves=_SAVED,
    samples=[call(real(1, 1, 2, 2), real(1, 1, 2, 2), real(1, 1, 2, 2), False, None, 1.0)], kinks=SMOOTH)
def _attention(query, key, value, attn_mask, *, is_causal, scale):
    """softmax(query key^T scale + mask) value over (N, heads, L, E); more heads of the query than of the others share these."""
    if key.shape[1] != query.shape[1]:
        key, value = (jnp.repeat(x, query.shape[1] // x.shape[1], 1) for x in (key, value))
    scores = jnp.einsum("nhle,nhse->nhls", query, key, precision=precision.of("matmul")) * jnp.asarray(scale).astype(query.dtype)
    if is_causal:
        scores = jnp.where(iota(scores.shape[-1])[None] <= iota(scores.shape[-2])[:, None], scores, -np.inf)
    if attn_mask is not None:
        mask = attn_mask.reshape((1,) * (4 - attn_mask.ndim) + attn_mask.shape)
        scores = jnp.where(mask, scores, -np.inf) if mask.dtype == bool else scores + mask.astype(scores.dtype)
    return jnp.einsum("nhls,nhse->nhle", _safe_softmax_value(scores, -1), value, precision=precision.of("matmul"))


# Bags of rows

def _bags(indices, offsets, include_last_offset):
    """(the bag of each index, how many bags there are): the number of bags that begin up to it, in whatever order their beginnings are given."""
    starts = offsets[:-1] if include_last_offset else offsets
    return looping(jnp.searchsorted)(jnp.sort(starts), jnp.arange(indices.shape[0]).astype(starts.dtype), side="right") - 1, starts.shape[0]


def _in_order(weight, mode, padding_idx):
    """Whether torch goes from bag to bag, up to the last offset, instead of from index to index."""
    return mode != 2 and padding_idx < 0 and weight.dtype != np.float64


def _wrong_bags(weight, indices, offsets, per_sample_weights, *, include_last_offset, padding_idx, mode, **_):
    """A code for the first thing wrong in the data: its kind, a place, a value."""
    def code(kind, place, value):
        return (np.int64(kind) << 56) | (jnp.asarray(place).astype(np.int64) << 32) | (value.astype(np.int64) & 0xFFFFFFFF)

    found, rows = jnp.zeros((), np.int64), weight.shape[0]
    if _in_order(weight, mode, padding_idx) and offsets.shape[0] > 1:
        found = jnp.where(jnp.any(offsets[1:] < offsets[:-1]), code(6 if include_last_offset else 5, 0, offsets[-1]), found)
    if indices.shape[0]:
        bad = (indices < 0) | (indices >= rows)
        place = jnp.argmax(bad)
        found = jnp.where(jnp.any(bad), code(4 if mode == 2 or weight.dtype == np.float64 else 1, place, indices[place]), found)
    if offsets.shape[0]:
        found = jnp.where(offsets[-1] > indices.shape[0], code(3, 0, offsets[-1]), found)
        found = jnp.where(offsets[0] != 0, code(2, 0, offsets[0]), found)
    return found


def _bag_error(code, weight, indices, *_, **__):
    kind, place, value = code >> 56, (code >> 32) & 0xFFFFFF, code & 0xFFFFFFFF
    value = value - (1 << 32) if value >= 1 << 31 else value
    if kind == 2:
        return RuntimeError("offsets[0] has to be 0, i.e., the first sequence in the mini-batch has to start from position 0. However, got "
                            f"{value}\n[ torch.LongTensor{{}} ]")
    if kind == 5:
        return RuntimeError("Expected i < index_size to be true, but got false.  (Could this error message be improved?  If so, please report an enhancement "
                            "request to PyTorch.)")
    if kind == 6:
        return RuntimeError("Your input appears to be incorrect: the last offset value should be the size of the indices tensor, but it seems not to be the "
                            "case.")
    if kind == 4:
        return RuntimeError(f"embedding_bag: Expected idx >= 0 && idx < num_embeddings but found idx to be {value}")
    if kind == 3:
        return RuntimeError(f"offsets[-1] can not be greater than input's length {indices[0]} but got offsets[-1] of {value}")
    return RuntimeError(f"Index {place} of input takes value {value} which is not in the valid range [0, {weight[0]})")


@partials(lambda t, out, x, frequency: t / frequency, None)
def _shared_gradient(x, frequency):
    """x; each of its rows gives on its gradient divided by how often it was taken."""
    return x


def _first_of_largest(rows, bags, count, taken):
    """Where each bag's maximum is among the rows, by columns; the number of rows where a bag is empty."""
    top = jax.ops.segment_max(jnp.where(taken[:, None], rows, -np.inf), bags, count)
    place = jnp.where(taken[:, None] & (rows == top[bags]), jnp.arange(rows.shape[0])[:, None], rows.shape[0])
    return jax.ops.segment_min(place, bags, count)


def _largest_of_bags(rows, bags, count, taken):
    """The maximum of each bag's rows (the first of equals); 0 of nothing."""
    if not rows.shape[0]:
        return jnp.zeros((count, rows.shape[1]), rows.dtype)
    first = _first_of_largest(lax.stop_gradient(rows), bags, count, taken)
    some = first < rows.shape[0]
    return jnp.where(some, jnp.take_along_axis(rows, jnp.where(some, first, 0), 0, mode="clip"), 0)


_INDICES = at(0, 2, 1, dtype="int64", grad=False)


def _frequencies(indices, weight):
    """What torch divides the gradient of each index by: how often the index comes that stands, among all in order, at its place among the different ones.

    That is how often it comes itself only where no smaller index comes twice.
    """
    counts = jnp.zeros(weight.shape[0], weight.dtype).at[indices].add(1, mode="drop")
    place = jnp.cumsum(counts > 0) - 1
    return counts[jnp.sort(indices)[place[indices]]]


@op("_embedding_bag(Tensor weight, Tensor indices, Tensor offsets, bool scale_grad_by_freq, int mode, Tensor? per_sample_weights, bool include_last_offset, "
    "int padding_idx, bool sparse=False) -> Tensor", sparse="sparse", forward=False, node="EmbeddingBagBackward0", names=(), opmath=True, zero_second=False,
    second={"weight": "_embedding_bag_backward", "per_sample_weights": "aten::_embedding_bag_per_sample_weights_backward"},
    nondiff=("indices", "offsets"), guard=_wrong_bags, guard_error=_bag_error,
    saves={"weight": ("indices", "offsets"), "per_sample_weights": ("weight", "indices", "offsets")},
    samples=[call(real(3, 2), _INDICES, at(0, 2, dtype="int64", grad=False), False, 0, None, False, -1)], kinks=SMOOTH)
def _embedding_bag(weight, indices, offsets, per_sample_weights, *, scale_grad_by_freq, mode, include_last_offset, padding_idx, sparse=False):
    """The sum (0), mean (1) or maximum (2) of the rows of each bag."""
    only("embedding_bag", weight, "f")
    bags, count = _bags(indices, offsets, include_last_offset)
    bags = jnp.clip(bags, 0, max(count - 1, 0))
    if not weight.shape[0]:
        weight = jnp.zeros((1, weight.shape[1]), weight.dtype)
    rows = jnp.take(weight, indices, axis=0, mode="clip")
    if scale_grad_by_freq and mode != 2 and indices.shape[0]:
        rows = _shared_gradient(rows, jnp.broadcast_to(_frequencies(indices, weight)[:, None], rows.shape))
    taken = indices != padding_idx if padding_idx >= 0 else jnp.ones(indices.shape, bool)
    if mode == 2:
        return _largest_of_bags(rows, bags, count, taken)
    if per_sample_weights is not None:
        rows = rows * per_sample_weights[:, None]
    padded = jax.ops.segment_sum((~taken).astype(weight.dtype), bags, count)
    if include_last_offset and _in_order(weight, mode, padding_idx):
        last = jnp.arange(indices.shape[0]) < offsets[-1]
        rows = rows - lax.stop_gradient(jnp.where(last[:, None], 0, rows))  # what comes after is in no bag, and has the last one's gradient
    sums = jax.ops.segment_sum(jnp.where(taken[:, None], rows, 0), bags, count)
    if mode == 0:
        return sums
    ends = jnp.concatenate([offsets[1:count], jnp.full((1,), indices.shape[0], offsets.dtype)])  # of the last bag, whatever offset is said to end it
    sizes = (ends - offsets[:count]).astype(weight.dtype) - padded if count else padded
    return sums / jnp.maximum(sizes, 1)[:, None]


@op("_embedding_bag_places(Tensor weight, Tensor indices, Tensor offsets, int mode, bool include_last_offset, int padding_idx) -> (Tensor, Tensor, Tensor)",
    node=None, names=(), derivative=NONE, kinks=SMOOTH,
    samples=[call(real(3, 2, grad=False), _INDICES, at(0, 2, dtype="int64", grad=False), 2, False, -1)])
def _embedding_bag_places(weight, indices, offsets, *, mode, include_last_offset, padding_idx):
    """(the bag of each index, the size of each bag, which index gives each maximum); zeros and nothing where the mode does not need them."""
    bags, count = _bags(indices, offsets, include_last_offset)
    bags = jnp.clip(bags, 0, max(count - 1, 0)).astype(indices.dtype)
    taken = indices != padding_idx if padding_idx >= 0 else jnp.ones(indices.shape, bool)
    if mode == 0:
        nothing = jnp.zeros(count, offsets.dtype)
        return (bags if padding_idx >= 0 else bags[:0]), nothing, nothing
    sizes = jax.ops.segment_sum(taken.astype(offsets.dtype), bags, count)
    if mode == 1:
        return bags, sizes, sizes
    if not indices.shape[0]:
        return bags, sizes, jnp.zeros((count, weight.shape[1]), indices.dtype)
    first = _first_of_largest(jnp.take(weight, indices, axis=0, mode="clip"), bags, count, taken)
    some = first < indices.shape[0]
    return bags, sizes, jnp.where(some, indices[jnp.where(some, first, 0)], 0)


# Alignments

def _log_sum(*parts):
    """log(sum(exp)), minus infinity (with derivative 0) where all are."""
    top = jnp.stack(parts).max(0)
    nothing = top == -np.inf
    base = lax.stop_gradient(jnp.where(nothing, 0, top))
    total = sum(jnp.exp(p - base) for p in parts)
    return jnp.where(nothing, -np.inf, jnp.log(jnp.where(nothing, 1, total)) + base)


def _labels(targets, target_lengths, blank):
    """The extended labels (N, 2 S + 1): blanks around and between; targets padded (N, S) or one after the other."""
    n = target_lengths.shape[0]
    if targets.ndim == 1:
        width = targets.shape[0]
        starts = jnp.cumsum(target_lengths) - target_lengths
        places = jnp.clip(starts[:, None] + jnp.arange(width)[None], 0, max(width - 1, 0))
        targets = jnp.take(targets, places, axis=0, mode="clip") if width else jnp.zeros((n, 0), targets.dtype)
    out = jnp.full((n, 2 * targets.shape[1] + 1), blank, np.int64)
    return out.at[:, 1::2].set(targets.astype(np.int64))


def _negative_log_likelihood(logp, labels, input_lengths, target_lengths):
    """Of (T, N, C) and extended labels: (N,), and the logarithms of the share that ends with a blank, (N,)."""
    n, width = labels.shape
    own = jnp.take_along_axis(logp, jnp.broadcast_to(labels[None], (logp.shape[0], n, width)), 2, mode="clip")
    inside = jnp.arange(width)[None] < 2 * target_lengths[:, None] + 1
    own = jnp.where(inside, own, -np.inf)
    gap = jnp.full((n, 2), -np.inf, logp.dtype)
    skips = jnp.concatenate([jnp.zeros((n, min(2, width)), bool), labels[:, 2:] != labels[:, :-2]], 1)
    first = jnp.where(jnp.arange(width)[None] < 2, own[0], -np.inf)

    def step(alpha, at_time):
        emitted, t = at_time
        back = jnp.concatenate([gap, alpha], 1)
        new = _log_sum(alpha, back[:, 1:-1], jnp.where(skips, back[:, :-2], -np.inf)) + emitted
        return jnp.where((t < input_lengths)[:, None], new, alpha), None

    alpha, _ = scan(step, first, (own[1:], jnp.arange(1, logp.shape[0])))
    last = jnp.take_along_axis(alpha, 2 * target_lengths[:, None], 1, mode="clip")[:, 0]
    before = jnp.take_along_axis(alpha, jnp.maximum(2 * target_lengths[:, None] - 1, 0), 1, mode="clip")[:, 0]
    out = -_log_sum(last, jnp.where(target_lengths > 0, before, -np.inf))
    return jnp.where(input_lengths > 0, out, jnp.where(target_lengths > 0, np.inf, 0)), last + out


def _ctc_tangent(out, primals, tangents, *, blank, zero_infinity):
    """torch's gradient takes log_probs for a log-softmax: probabilities less the posterior ones."""
    (logp, targets, input_lengths, target_lengths), t = primals, tangents[0]
    labels = _labels(targets, target_lengths, blank)
    loss, pull, ending = jax.vjp(lambda x: _negative_log_likelihood(x, labels, input_lengths, target_lengths), logp, has_aux=True)
    slope = jnp.exp(logp) + pull(jnp.ones_like(loss))[0]
    # At the last time torch's backward lets the last target overwrite the blank that follows it, which matters where it is a blank itself.
    final = jnp.take_along_axis(labels, jnp.maximum(2 * target_lengths[:, None] - 1, 0), 1)[:, 0]
    missed = jnp.where((final == blank) & (target_lengths > 0), jnp.exp(ending), 0)
    slope = slope.at[jnp.maximum(input_lengths - 1, 0), jnp.arange(logp.shape[1]), blank].add(missed)
    slope = jnp.where(jnp.isinf(loss)[None, :, None], 0 if zero_infinity else jnp.nan, slope)
    within = jnp.arange(logp.shape[0])[:, None] < input_lengths[None]
    return (jnp.where(within[:, :, None], lax.stop_gradient(slope), 0) * t).sum((0, 2))


@op("_ctc_loss(Tensor log_probs, Tensor targets, Tensor input_lengths, Tensor target_lengths, int blank, bool zero_infinity) -> Tensor",
    forward=False, node="CtcLossBackward0", names=(), second="aten::_ctc_loss_backward", nondiff=("targets", "input_lengths", "target_lengths"),
    saves={"log_probs": ("log_probs", "targets", "result")}, derivative=rule(_ctc_tangent),
    samples=[call(real(3, 1, 2), at([[1]], dtype="int64", grad=False), at(3, dtype="int64", grad=False), at(1, dtype="int64", grad=False), 0, False)],
    kinks=SMOOTH)
def _ctc_loss(log_probs, targets, input_lengths, target_lengths, *, blank, zero_infinity):
    """Minus the logarithm of the probability of all alignments of the targets: (N,) of (T, N, C)."""
    only("ctc_loss_cpu", log_probs, "d")
    return _negative_log_likelihood(log_probs, _labels(targets, target_lengths, blank), input_lengths, target_lengths)[0]


