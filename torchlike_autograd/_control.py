"""torch.cond and torch.while_loop (layer 8): the branch or the loop runs as Python does, what it computes is recorded as any other call.

What differs from torch: both branches need not fit each other, only the one taken is looked at, and the nodes of the graph are those of the calls in it.
"""

from __future__ import annotations

from ._tensor import Tensor

__all__ = ["cond", "while_loop"]


def cond(pred, true_fn, false_fn, operands=()):
    """true_fn(*operands) where `pred` (a number, or a tensor of one element, which is looked at), otherwise false_fn(*operands)."""
    if isinstance(pred, Tensor) and pred.numel() != 1:
        raise RuntimeError(f"Expected pred to be bool or single-element tensor, but got {pred}.")
    return (true_fn if bool(pred) else false_fn)(*operands)


def while_loop(cond_fn, body_fn, carried_inputs):
    """body_fn applied to its own results for as long as cond_fn says so; the results as a tuple."""
    if not callable(cond_fn) or not callable(body_fn):
        raise RuntimeError("Expect cond_fn and body_fn to be callable.")
    carried = tuple(carried_inputs)
    while bool(cond_fn(*carried)):
        found = body_fn(*carried)
        if not isinstance(found, (tuple, list)):
            raise RuntimeError(f"body_fn should return a tuple but got {type(found)}")
        if len(found) != len(carried):
            raise RuntimeError(f"body_fn should return the same number of elements as carried_inputs, {len(carried)}, but got {len(found)}")
        carried = tuple(found)
    return carried
