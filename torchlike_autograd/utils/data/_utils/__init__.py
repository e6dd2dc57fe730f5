"""torch.utils.data._utils (layer 8): where programs find `collate`."""

from . import collate  # noqa: F401
