"""torch.testing (layer 8)."""

from .._core import publish as _publish
from . import _internal  # noqa: F401
from ._comparison import assert_allclose, assert_close
from ._creation import make_tensor
from ._file_check import FileCheck

__all__ = ["FileCheck", "assert_allclose", "assert_close", "make_tensor"]
__getattr__ = _publish.missing("torch.testing")
