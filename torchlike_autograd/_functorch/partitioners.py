"""torch._functorch.partitioners (layer 8): files that name how a joint graph is cut can be imported; there are no joint graphs here."""

from .._core import publish as _publish

_HERE = "torch._functorch.partitioners"
globals().update(_publish.refused(_HERE, "_is_primal", "_is_tangent", "default_partition", "min_cut_rematerialization_partition",
                                  why="there are no joint graphs of forward and backward here"))
__getattr__ = _publish.missing(_HERE)
