"""torch.utils._contextlib (layer 8): context managers that are decorators too."""

from __future__ import annotations

from .._core import publish as _publish
from ..autograd.grad_mode import _DecoratorContextManager, _NoParamDecoratorContextManager, _wrap_generator, context_decorator  # noqa: F401

__all__ = ["context_decorator"]
_DecoratorContextManager.__module__ = _NoParamDecoratorContextManager.__module__ = context_decorator.__module__ = __name__
__getattr__ = _publish.missing("torch.utils._contextlib")
