"""torch._custom_op.impl (layer 8): the first form of operators of a program's own, which PyTorch left for torch.library: names that files import."""

from __future__ import annotations

from .._core import publish as _publish
from .._library.infer_schema import infer_schema  # noqa: F401

_HERE, _WHY = "torch._custom_op.impl", "operators of the first form of torch.library are not here; use torch.library.custom_op"

global_registry: dict = {}  # nothing is made, so nothing is registered
CustomOp = _publish.refused_class(_HERE, "CustomOp", _WHY)
globals().update(_publish.refused(_HERE, "custom_op", "get_op", "get_ctx", why=_WHY))
__getattr__ = _publish.missing(_HERE)
