"""torch.utils.data.datapipes (layer 8): datasets made from others by methods."""

from . import datapipe, iter, map

__all__ = ["datapipe", "iter", "map"]
