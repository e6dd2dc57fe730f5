"""torch.utils (layer 7)."""

from . import data  # noqa: F401
