"""torch._subclasses (layer 8): tensors without data that say they are elsewhere; there are none here, device="meta" has those that say so."""

from .._core import publish as _publish
from .fake_tensor import FakeTensor, FakeTensorMode

__all__ = ["CrossRefFakeMode", "FakeTensor", "FakeTensorMode"]

CrossRefFakeMode = _publish.refused_class("torch._subclasses", "CrossRefFakeMode", "there are no fake tensors to compare with")
