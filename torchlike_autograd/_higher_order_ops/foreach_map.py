"""torch._higher_order_ops.foreach_map (layer 8): a function of the elements of lists in turn."""

from __future__ import annotations

import itertools


def foreach_map(op, *operands, **kwargs):
    """[op(a[0], b[0], ...), ...] of lists and tuples; other operands are the same for all, and where there is no list, `op` is called once.

    Keywords are not handed on, as in PyTorch.
    """
    lists = [isinstance(x, (list, tuple)) for x in operands]
    if not any(lists):
        return op(*operands)
    return [op(*parts) for parts in zip(*(x if many else itertools.repeat(x) for x, many in zip(operands, lists)))]
