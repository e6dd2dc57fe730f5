"""torch.masked (layer 8): operations that leave elements out, filled from the composites.

Masked tensors (`MaskedTensor`, `masked_tensor`) are not there.
"""

from ._core import publish as _publish

__all__ = _publish.install(globals(), "torch.masked")
__getattr__ = _publish.missing("torch.masked")
