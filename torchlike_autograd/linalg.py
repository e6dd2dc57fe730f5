"""torch.linalg (layer 8): filled from the op table."""

from ._core import publish as _publish
from ._core.errors import LinAlgError

__all__ = ["LinAlgError", *_publish.install(globals(), "torch.linalg")]
__getattr__ = _publish.missing("torch.linalg")
