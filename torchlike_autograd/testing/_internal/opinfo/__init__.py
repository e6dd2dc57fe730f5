"""torch.testing._internal.opinfo (layer 8): descriptions of operators for tests that go over all of them."""

from . import core

__all__ = ["core"]
