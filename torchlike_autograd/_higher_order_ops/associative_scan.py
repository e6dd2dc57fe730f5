"""torch._higher_order_ops.associative_scan (layer 8): running results of an associative function along a dim."""

from __future__ import annotations

from .._core.composite import COMPOSITES
from .._core.shapes import wrap_dim
from ..autograd._vmap import vmap
from ..utils._pytree import tree_flatten, tree_unflatten


def associative_scan(combine_fn, xs, dim, reverse=False, combine_mode="pointwise"):
    """[x0, f(x0, x1), f(f(x0, x1), x2), ...] along `dim` of every tensor of the tree `xs`; `combine_fn` sees two trees without that dim.

    Elements are combined by pairs, so that rounding is as in PyTorch.  `combine_mode="pointwise"` is PyTorch's kernel for GPUs, and refused as there.
    """
    if not callable(combine_fn):
        raise ValueError(f"Combine_fn must be a callable, but got {combine_fn}")
    if combine_mode not in ("pointwise", "generic"):
        raise ValueError(f"Combine_mode must either 'pointwise' or 'generic', but got {combine_mode}")
    leaves, tree = tree_flatten(xs)
    if combine_mode == "pointwise":
        raise ValueError("For combine_mode='pointwise', all input tensors need to be on CUDA or XPU")
    dim = wrap_dim(dim, leaves[0].ndim)
    rows = [x.movedim(dim, 0) for x in leaves]
    rows = [x.flip(0) for x in rows] if reverse else rows

    def combine(first, second):
        return tree_flatten(vmap(lambda a, b: combine_fn(tree_unflatten(list(a), tree), tree_unflatten(list(b), tree)))(tuple(first), tuple(second)))[0]

    out = _scan(combine, rows)
    out = [x.flip(0) for x in out] if reverse else out
    return tree_unflatten([x.movedim(0, dim) for x in out], tree)


def _scan(combine, rows):
    """Running results along the first dim: of pairs by the same method, of the others from those before them."""
    n = rows[0].shape[0]
    if n < 2:
        return rows
    odd = _scan(combine, combine([x[: n - 1 : 2] for x in rows], [x[1::2] for x in rows]))
    if n == 2:
        return [COMPOSITES["torch.cat"]([x[:1], y]) for x, y in zip(rows, odd)]
    before = [y[:-1] for y in odd] if n % 2 == 0 else odd
    even = [COMPOSITES["torch.cat"]([x[:1], y]) for x, y in zip(rows, combine(before, [x[2::2] for x in rows]))]
    return [_interleaved(a, b) for a, b in zip(even, odd)]


def _interleaved(even, odd):
    """The rows of two tensors in turn; `even` may have one more."""
    n = odd.shape[0]
    both = COMPOSITES["torch.stack"]([even[:n], odd], 1).flatten(0, 1)
    return both if even.shape[0] == n else COMPOSITES["torch.cat"]([both, even[n:]])
