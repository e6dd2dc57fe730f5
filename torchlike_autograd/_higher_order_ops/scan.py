"""torch._higher_order_ops.scan (layer 8): a state carried along a dim, as a loop whose calls are recorded as any others."""

from __future__ import annotations

from .._core.composite import COMPOSITES
from .._core.shapes import wrap_dim
from .._dynamo.exc import UncapturedHigherOrderOpError
from .._tensor import Tensor
from ..utils._pytree import tree_flatten, tree_map, tree_unflatten


def scan(combine_fn, init, xs, *, dim=0, reverse=False):
    """(the last state, results stacked along `dim`) of state, result = combine_fn(state, slice) for each slice of the tensors of the tree `xs`.

    What differs from PyTorch: results may share memory with what `combine_fn` is given, and the nodes of the graph are those of the calls in it.
    """
    first, states = tree_flatten(init)
    leaves, tree = tree_flatten(xs)
    if not leaves:
        return init, []
    dim = wrap_dim(dim, leaves[0].ndim)
    _check(combine_fn, first, leaves, dim, reverse)
    rows = [x.movedim(dim, 0) for x in leaves]
    places = range(rows[0].shape[0])
    carry, turns = first, []
    for i in reversed(places) if reverse else places:
        after, out = combine_fn(tree_unflatten(list(carry), states), tree_unflatten([x[i] for x in rows], tree))
        carry = tree_flatten(after)[0]
        _check_state(first, carry)
        turns.append(tree_flatten(out))
    if reverse:
        turns.reverse()
    stacked = tree_unflatten([COMPOSITES["torch.stack"](parts) for parts in zip(*(flat for flat, _ in turns))], turns[0][1])
    return tree_unflatten(carry, states), tree_map(lambda x: x.movedim(0, dim) if dim < x.ndim else x, stacked)


def _check(combine_fn, init, xs, dim, reverse):
    """torch's errors for arguments."""
    if not callable(combine_fn):
        raise RuntimeError(f"Combine_fn must be a callable, but got {combine_fn}")
    if not isinstance(reverse, bool):
        raise RuntimeError(f"Reverse must be a bool, but got {type(reverse)}")
    if not init:
        raise RuntimeError("scan() operator requires init leaves.")
    for name, leaves in (("init", init), ("xs", xs)):
        for x in leaves:
            if not isinstance(x, Tensor):
                raise RuntimeError(f"All {name} leaves must be a Tensor but got {x}")
    if any(x.ndim <= dim or x.shape[dim] == 0 for x in xs):
        raise RuntimeError("All xs leaves must at least have 'dim' number of dimensions and scan dimension > 0")


def _check_state(init, carry):
    """torch's error for a state that is no longer like the first one."""
    if len(carry) != len(init):
        raise UncapturedHigherOrderOpError(f"Expected init and carry to have same number of outputs but got lhs:{init} and rhs:{carry}")
    for i, (a, b) in enumerate(zip(init, carry)):
        told = [(name, getattr(a, name), getattr(b, name)) for name in ("shape", "dtype", "device")]
        wrong = [f"'{name}: {x} vs {y}'" for name, x, y in told if x != y]
        if wrong:
            raise UncapturedHigherOrderOpError(f"Expected init and carry to have same metadata but found:\npair[{i}] differ in {', '.join(wrong)}")
