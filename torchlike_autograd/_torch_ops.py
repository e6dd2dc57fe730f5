"""torch._ops (layer 8): the classes behind torch.ops."""

from ._core import publish as _publish
from ._core.overloads import OpOverload, OpOverloadPacket

__all__ = ["HigherOrderOperator", "OpOverload", "OpOverloadPacket"]


class HigherOrderOperator:
    """An operator on functions, for a tracer: a name; calling it raises NotImplementedError unless a subclass says how."""

    def __init__(self, name, *, cacheable=False):
        self._name = self.__name__ = name

    def __call__(self, *args, **kwargs):
        raise NotImplementedError(f"torch._ops.HigherOrderOperator: {self._name} has no implementation here")

    def name(self):
        """Its name."""
        return self._name

    def __str__(self):
        return self._name


__getattr__ = _publish.missing("torch._ops")
