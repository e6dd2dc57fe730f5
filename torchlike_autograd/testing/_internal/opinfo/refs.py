"""torch.testing._internal.opinfo.refs (layer 8): operators that have another implementation in Python; this package describes none."""

from ...._core import publish as _publish
from .core import ElementwiseBinaryPythonRefInfo, ElementwiseUnaryPythonRefInfo, PythonRefInfo, ReductionPythonRefInfo  # noqa: F401

__getattr__ = _publish.missing("torch.testing._internal.opinfo.refs")
