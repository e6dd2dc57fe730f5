"""torch._ops (layer 8): the classes behind torch.ops."""

from ._core import levels
from ._core import publish as _publish
from ._core.overloads import OpOverload, OpOverloadPacket

__all__ = ["HigherOrderOperator", "OpOverload", "OpOverloadPacket"]


_PLAIN = tuple(f"DispatchKey.{key}" for key in ("AutogradCPU", "CPU", "CompositeExplicitAutograd"))


class HigherOrderOperator:
    """An operator on functions: a name, and what is called for it by `py_impl`.

    A call goes to what stands for AutogradCPU, CPU or CompositeExplicitAutograd; NotImplementedError without one of them, and inside a transformation, whose
    rules (`TransformType`) are kept but not followed.
    """

    def __init__(self, name, *, cacheable=False):
        self._name, self.__name__, self.py_kernels = name, name, {}

    def __call__(self, /, *args, **kwargs):
        found = next((self.py_kernels[k] for k in _PLAIN if k in self.py_kernels), None)
        if found is None or levels.running():
            where = "" if found is None else " inside a transformation"
            raise NotImplementedError(f"torch._ops.HigherOrderOperator: {self._name} has no implementation here{where}")
        return found(*args, **kwargs)

    def name(self):
        """Its name."""
        return self._name

    def py_impl(self, key):
        """Keep the decorated function as what is called for `key`."""

        def keep(f):
            if key in self.py_kernels:
                raise AssertionError(f"py_impl already registered for {key}")
            self.py_kernels[key] = f
            return f

        return keep

    def __str__(self):
        return self._name


__getattr__ = _publish.missing("torch._ops")
