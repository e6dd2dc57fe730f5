"""torch.signal.windows (layer 8): filled from the composites."""

from .._core import publish as _publish

__all__ = _publish.install(globals(), "torch.signal.windows")
__getattr__ = _publish.missing("torch.signal.windows")
