"""torch.utils.data.graph_settings (layer 8): what a loader sets in all pipes that its dataset is made of.

What differs: pipes are found in the attributes of pipes and in lists, tuples and dicts there (torch pickles them).  Pipes that shard are not there.
"""

from __future__ import annotations

from ..._core import publish as _publish
from ..._core.saying import warn
from .datapipes.datapipe import IterDataPipe, MapDataPipe
from .datapipes.iter import Shuffler
from .sampler import draw_seed

__all__ = ["apply_random_seed", "apply_shuffle_settings"]


def _pipes(x, found):
    """The pipes in `x`, each once, before those that it is made of."""
    if isinstance(x, (IterDataPipe, MapDataPipe)):
        if id(x) not in found:
            found[id(x)] = x
            _pipes(vars(x), found)
    elif type(x) in (list, tuple):
        for part in x:
            _pipes(part, found)
    elif type(x) is dict:
        _pipes(list(x.values()), found)
    return list(found.values())


def apply_shuffle_settings(datapipe, shuffle=None):
    """`datapipe` with its shufflers switched on or off; with one at its end (and a warning) where it has none to switch on."""
    if shuffle is None:
        return datapipe
    shufflers = [p for p in _pipes(datapipe, {}) if hasattr(p, "set_shuffle") and hasattr(p, "set_seed")]
    if not shufflers and shuffle:
        warn("`shuffle=True` was set, but the datapipe does not contain a `Shuffler`. Adding one at the end. Be aware that the default buffer size might "
             "not be sufficient for your task.")
        datapipe = Shuffler(datapipe)
        shufflers = [datapipe]
    for p in shufflers:
        p.set_shuffle(shuffle)
    return datapipe


def apply_random_seed(datapipe, rng):
    """`datapipe`, each pipe that draws with a seed from the generator."""
    for p in _pipes(datapipe, {}):
        if hasattr(p, "set_seed"):
            p.set_seed(draw_seed(rng))
    return datapipe


__getattr__ = _publish.missing("torch.utils.data.graph_settings")
