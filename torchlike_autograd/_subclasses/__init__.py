"""torch._subclasses (layer 8): tensors without data that say they are elsewhere; there are none here, device="meta" has those that say so."""

from .fake_tensor import FakeTensor, FakeTensorMode

__all__ = ["FakeTensor", "FakeTensorMode"]
