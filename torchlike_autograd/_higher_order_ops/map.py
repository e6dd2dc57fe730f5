"""torch._higher_order_ops.map (layer 8): a function of each slice along the first dim, results stacked."""

from __future__ import annotations

from .._core.composite import COMPOSITES
from .._tensor import Tensor
from ..utils._pytree import tree_flatten, tree_unflatten


def map(f, xs, *args):
    """f(slices, *args) for each place along the first dim of the tensors of the tree `xs`; each leaf of the results stacked."""
    leaves, tree = tree_flatten(xs)
    if not all(isinstance(x, Tensor) for x in leaves):
        raise RuntimeError(f"Mapped xs can only consist of tensors. Got xs {leaves}.")
    shapes = [x.shape for x in leaves]
    if shapes[0][0] == 0:
        raise RuntimeError("Leading dimensions of mapped xs cannot be 0.")
    if any(s[0] != shapes[0][0] for s in shapes):
        raise RuntimeError(f"Leading dimensions of mapped xs must be consistent. Got shapes {shapes}.")
    turns = [tree_flatten(f(tree_unflatten(list(slices), tree), *args)) for slices in zip(*leaves)]
    return tree_unflatten([COMPOSITES["torch.stack"](parts) for parts in zip(*(flat for flat, _ in turns))], turns[0][1])
