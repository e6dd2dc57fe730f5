"""torch._ops (layer 8): the classes behind torch.ops."""

from ._C import _functorch
from ._core import levels
from ._core import publish as _publish
from ._core.overloads import OpOverload, OpOverloadPacket

__all__ = ["HigherOrderOperator", "OpOverload", "OpOverloadPacket"]


_PLAIN = tuple(f"DispatchKey.{key}" for key in ("AutogradCPU", "CPU", "CompositeExplicitAutograd"))


class HigherOrderOperator:
    """An operator on functions: a name, and what is called for it by `py_impl`.

    A call inside a transformation goes to what stands for its kind (`TransformType`), with what knows the transformation before the arguments; elsewhere to
    what stands for AutogradCPU, CPU or CompositeExplicitAutograd.  NotImplementedError without one.
    """

    def __init__(self, name, *, cacheable=False):
        self._name, self.__name__, self.py_kernels = name, name, {}

    def __call__(self, /, *args, **kwargs):
        inside = _functorch.peek_interpreter_stack() if levels.running() else None
        keys = _PLAIN if inside is None else (inside.key(),)
        found = next((self.py_kernels[k] for k in keys if k in self.py_kernels), None)
        if found is None:
            where = "" if inside is None else " inside a transformation"
            raise NotImplementedError(f"torch._ops.HigherOrderOperator: {self._name} has no implementation here{where}")
        return found(*args, **kwargs) if inside is None else found(inside, *args, **kwargs)

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
