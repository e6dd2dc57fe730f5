"""What messages call an object (layer 8)."""

from __future__ import annotations

from ..._tensor import Tensor


def typename(obj):
    """The name of a class or of an object's type as torch.typename gives it."""
    if isinstance(obj, Tensor):
        return obj.type()
    kind = obj if isinstance(obj, type) else type(obj)
    module = getattr(kind, "__module__", "")
    return kind.__qualname__ if module in ("", "builtins") else f"{module.replace(_HOME, 'torch', 1)}.{kind.__qualname__}"


_HOME = __name__.partition(".")[0]
