"""torch.nn.utils._expanded_weights (layer 8): weights that keep a gradient for each sample."""

from . import per_sample  # noqa: F401
from .expanded_weights_impl import ExpandedWeight

__all__ = ["ExpandedWeight"]
