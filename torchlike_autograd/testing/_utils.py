"""torch.testing._utils (layer 8)."""

from .._core import publish as _publish
from ._internal.common_methods_invocations import wrapper_set_seed  # noqa: F401

__getattr__ = _publish.missing("torch.testing._utils")
