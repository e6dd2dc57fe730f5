"""torch._subclasses (layer 8): tensors without data; there are none here."""

from .fake_tensor import FakeTensor, FakeTensorMode

__all__ = ["FakeTensor", "FakeTensorMode"]
