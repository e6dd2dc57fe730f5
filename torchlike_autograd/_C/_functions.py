"""torch._C._functions (layer 8): nodes that are no operator's."""

from .._core.nodes import AccumulateGrad
from .._functions.special_nodes import DelayedError, UndefinedGrad

__all__ = ["AccumulateGrad", "DelayedError", "UndefinedGrad"]
