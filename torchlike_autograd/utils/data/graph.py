"""torch.utils.data.graph (layer 8): which pipes a pipe is made of.

What differs: pipes are found in the attributes of pipes and in lists, tuples, sets and dicts there (torch pickles them).
"""

from __future__ import annotations

from ..._core import publish as _publish
from ..._core.saying import warn
from .datapipes.datapipe import IterDataPipe, MapDataPipe

__all__ = ["traverse", "traverse_dps"]


def _held(x, found):
    """The pipes in attributes or containers, each once, not those inside of pipes."""
    if isinstance(x, (IterDataPipe, MapDataPipe)):
        found.setdefault(id(x), x)
    elif isinstance(x, (list, tuple, set, frozenset)):
        for part in x:
            _held(part, found)
    elif isinstance(x, dict):
        _held(list(x.values()), found)
    return found


def _below(pipe, above):
    """{its id: (the pipe, the same of the pipes that it is made of)}, without those that are above it."""
    above = above | {id(pipe)}
    inner: dict = {}
    for key, part in _held(vars(pipe), {}).items():
        if key not in above:
            inner.update(_below(part, above))
    return {id(pipe): (pipe, inner)}


def traverse_dps(datapipe):
    """The graph of a pipe: {id: (pipe, graph of the pipes that it is made of)}; RuntimeError for what is no pipe."""
    if not isinstance(datapipe, (IterDataPipe, MapDataPipe)):
        raise RuntimeError(f"Expected `IterDataPipe` or `MapDataPipe`, but {type(datapipe)} is found")
    return _below(datapipe, frozenset())


def traverse(datapipe, only_datapipe=None):
    """`traverse_dps` by its old name."""
    warn("`traverse` function is deprecated and will be removed after 1.13. Please use `traverse_dps` instead."
         + ("" if only_datapipe else " And, the behavior will be changed to the equivalent of `only_datapipe=True`."), FutureWarning)
    return traverse_dps(datapipe)


__getattr__ = _publish.missing("torch.utils.data.graph")
