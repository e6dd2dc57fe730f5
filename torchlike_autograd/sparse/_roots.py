"""Gradients that a program gives for sparse tensors (layer 8), and what lies beyond the places of these.

A `SparseTensor` is the tensor of its values, and so is its gradient.  What a gradient has elsewhere is of no consequence where the values are all that the
tensor was made of (PyTorch leaves it out at `sparse_coo_tensor`); it is where the tensor came from a dense one, or is itself the leaf that differentiates.
"""

from __future__ import annotations

from .._core.composite import named
from .._core.overriding import Off
from .._tensor import Tensor
from ._gradients import mask
from ._tensor import dense_of, is_sparse, places

_OF_DENSE = "ToSparseBackward"   # 0 and 1, of the two ways to say it


def fitted(g, s):
    """The gradient g of a sparse tensor s, sparse or dense and of its size, as one of its values; each of several values at one place gets all of it."""
    with Off():
        if is_sparse(g) and _same_places(g, s):
            return named("_coo_values")(g)
        whole = dense_of(g) if is_sparse(g) else g
        if reaches_beyond(s) and bool(((whole.detach() != 0) & ~mask(s)).any()):
            raise NotImplementedError("torchlike_autograd: a gradient of a sparse tensor at places at which it has no value")
        at = places(s).indices
        return whole.reshape(1) if not len(at) else whole[tuple(at.unbind(0))]


def reaches_beyond(s):
    """Whether what differentiates through s has places that s has not: it is a leaf, or was made of a dense tensor, and not every place is there."""
    with Off():
        return s.requires_grad and _of_more_than_values(s) and not bool(mask(s).all())


def _same_places(g, s):
    a, b = places(g), places(s)
    return a.merged and b.merged and a.indices.shape == b.indices.shape and (a.indices is b.indices or bool((a.at == b.at).all()))


def _of_more_than_values(s):
    fn = Tensor.grad_fn.__get__(s)
    nodes, seen = [fn], set()
    if fn is None:
        return True
    while nodes:
        fn = nodes.pop()
        if fn in seen:
            continue
        seen.add(fn)
        if fn.name().startswith(_OF_DENSE) or (hasattr(fn, "variable") and is_sparse(fn.variable)):
            return True
        nodes += [next_fn for next_fn, _ in fn.next_functions if next_fn is not None]
    return False
