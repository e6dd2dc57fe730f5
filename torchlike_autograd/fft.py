"""torch.fft (layer 8): filled from the op table."""

from ._core import publish as _publish
from ._tensor import Tensor as Tensor  # as in torch, where programs may find it

__all__ = _publish.install(globals(), "torch.fft")
__getattr__ = _publish.missing("torch.fft")
