"""torch.utils.data.graph_settings (layer 8): what a loader sets in all pipes that its dataset is made of."""

from __future__ import annotations

import inspect

from ..._core import publish as _publish
from ..._core.saying import warn
from .datapipes.iter.sharding import SHARDING_PRIORITIES
from .graph import traverse_dps
from .sampler import draw_seed

__all__ = ["apply_random_seed", "apply_sharding", "apply_shuffle_seed", "apply_shuffle_settings", "get_all_graph_pipes"]


def get_all_graph_pipes(graph):
    """The pipes of a graph, each once, before those that it is made of."""
    found: dict = {}

    def walk(graph):
        for key, (pipe, inner) in graph.items():
            if key not in found:
                found[key] = pipe
                walk(inner)

    walk(graph)
    return list(found.values())


def _with(datapipe, *methods):
    """The pipes that a pipe is made of (it is one of them) which have these methods."""
    return [p for p in get_all_graph_pipes(traverse_dps(datapipe)) if all(inspect.ismethod(getattr(p, m, None)) for m in methods)]


def apply_sharding(datapipe, num_of_instances, instance_id, sharding_group=SHARDING_PRIORITIES.DEFAULT):
    """`datapipe`, whose sharding pipes were told which part is theirs; RuntimeError where one is made of another."""
    def walk(graph, applied):
        for pipe, inner in graph.values():
            mine = applied
            if inspect.ismethod(getattr(pipe, "apply_sharding", None)):
                if applied is not None:
                    raise RuntimeError("Sharding twice on a single pipeline is likely unintended and will cause data loss. "
                                       f"Sharding already applied to {applied} while trying to apply to {pipe}")
                takes_group = len(inspect.signature(pipe.apply_sharding).parameters) >= 3
                pipe.apply_sharding(num_of_instances, instance_id, **({"sharding_group": sharding_group} if takes_group else {}))
                mine = pipe
            walk(inner, mine)

    walk(traverse_dps(datapipe), None)
    return datapipe


def apply_shuffle_settings(datapipe, shuffle=None):
    """`datapipe` with its shufflers switched on or off; with one at its end (and a warning) where it has none to switch on."""
    if shuffle is None:
        return datapipe
    shufflers = _with(datapipe, "set_shuffle", "set_seed")
    if not shufflers and shuffle:
        warn("`shuffle=True` was set, but the datapipe does not contain a `Shuffler`. Adding one at the end. Be aware that the default buffer size might "
             "not be sufficient for your task.")
        datapipe = datapipe.shuffle()
        shufflers = [datapipe]
    for p in shufflers:
        p.set_shuffle(shuffle)
    return datapipe


def apply_random_seed(datapipe, rng):
    """`datapipe`, each pipe that draws with a seed from the generator."""
    for p in _with(datapipe, "set_seed"):
        p.set_seed(draw_seed(rng))
    return datapipe


def apply_shuffle_seed(datapipe, rng):
    """`apply_random_seed` by its old name."""
    warn("`apply_shuffle_seed` is deprecated since 1.12 and will be removed in the future releases. Please use `apply_random_seed` instead.", FutureWarning)
    return apply_random_seed(datapipe, rng)


__getattr__ = _publish.missing("torch.utils.data.graph_settings")
