"""torch.utils (layer 7)."""

from . import _pytree, data  # noqa: F401
