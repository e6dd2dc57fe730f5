"""torch.utils.serialization (layer 7): settings of saving and loading."""

from . import config  # noqa: F401
