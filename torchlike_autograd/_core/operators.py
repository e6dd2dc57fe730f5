"""Python's operators on Tensor (layer 6)."""

from __future__ import annotations

import numpy as np

from .._ops.registry import OPS
from .._ops.spec import spec_of
from .._tensor import Tensor
from . import overriding, publish
from .bind import NUMBERS
from .dispatch import inplace
from .errors import unbound
from .hot import PLAIN, binary, twin, with_number, wrapped


def _ok(x):
    return isinstance(x, Tensor) or type(x) in NUMBERS or isinstance(x, (np.number, np.bool_))


def _forward(f, name):
    known = getattr(f, "known", {})

    def dunder(self, other):
        kind = type(other)
        spec = known.get(kind)
        if spec is not None and type(self) in PLAIN:
            return binary(spec, self, other) if kind in PLAIN else with_number(spec, self, other)
        if _ok(other):
            if not isinstance(self, Tensor):
                raise unbound(name, (self,))
            return f(self, other) if not overriding.ACTIVE else _looking(name, f, self, other)
        return overriding.other_operand(name, (self, other))  # an array takes over by its reflected operator and hands the result to `__array_wrap__`

    dunder.__name__ = _NAMES.get(name, name)
    return wrapped(dunder, known, None)


_NAMES = {"__pow__": "pow", "__ipow__": "pow_"}  # as torch's are called


def _looking(name, f, self, other):
    """An operator where somebody may override: `f` where nobody is asked."""
    done, out = overriding.asked_operator(name, (self, other))
    return out if done else f(self, other)


def _tensor(array):
    from .._functions.data import from_numpy

    return from_numpy(array)


def _swapped(f, name):
    def dunder(self, other):
        if _ok(other):
            return swapped(self, other) if not overriding.ACTIVE else _looking(name, swapped, self, other)
        return overriding.other_operand(name, (self, other))

    def swapped(self, other):
        return f(other, self)

    dunder.__name__ = name
    return wrapped(dunder, {}, getattr(f, "kinds", None), "swapped")


def _inplace(f, name):
    known = getattr(f, "known", {})

    def dunder(self, other):
        spec = known.get(type(other))
        if not isinstance(self, Tensor):
            raise unbound(name, (self,))
        if spec is not None and type(self) in PLAIN:
            return twin(spec, self, other, inplace)
        if _ok(other):
            return f(self, other) if not overriding.ACTIVE else _looking(name, f, self, other)
        return overriding.other_operand(name, (self, other))

    dunder.__name__ = _NAMES.get(name, name)
    return wrapped(dunder, known, None, "write")


BINARY = {"add": "add", "sub": "sub", "mul": "mul", "truediv": "div", "floordiv": "floor_divide", "mod": "remainder", "pow": "pow",
          "and": "bitwise_and", "or": "bitwise_or", "xor": "bitwise_xor", "lshift": "bitwise_left_shift", "rshift": "bitwise_right_shift"}
COMPARE = {"eq": "eq", "ne": "ne", "lt": "lt", "le": "le", "gt": "gt", "ge": "ge"}
REFLECTED = {"sub", "truediv", "floordiv", "mod", "pow", "and", "or", "xor", "lshift", "rshift"}


def attach():
    """Give Tensor its operators and methods."""
    table = publish.load_all()
    for path, f in table.items():
        if path.startswith("Tensor."):
            name = path[len("Tensor."):]
            if name not in Tensor.__dict__:
                setattr(Tensor, name, f)
    for dunder, name in BINARY.items():
        f = table.get(f"torch.{name}")
        if f is None:
            continue
        setattr(Tensor, f"__{dunder}__", _forward(f, f"__{dunder}__"))
        if f"Tensor.__r{dunder}__" not in table:
            setattr(Tensor, f"__r{dunder}__", _swapped(f, f"__r{dunder}__") if dunder in REFLECTED else _forward(f, f"__r{dunder}__"))
        twin = table.get(f"Tensor.{name}_")
        if twin is not None:
            setattr(Tensor, f"__i{dunder}__", _inplace(twin, f"__i{dunder}__"))
    for dunder, name in COMPARE.items():
        f = table.get(f"torch.{name}")
        if f is not None:
            setattr(Tensor, f"__{dunder}__", _comparison(f, dunder))
    del Tensor.__rdiv__  # found by its other name first
    for name in ("__rsub__", "__rtruediv__"):
        setattr(Tensor, name, _asking(name, table[f"Tensor.{name}"]))
    Tensor.__div__, Tensor.__rdiv__, Tensor.__idiv__ = Tensor.__truediv__, Tensor.__rtruediv__, Tensor.__itruediv__
    _rest(table)


def _comparison(f, dunder):
    known = getattr(f, "known", {})

    def compare(self, other):
        kind = type(other)
        spec = known.get(kind)
        if spec is not None and type(self) in PLAIN:
            return binary(spec, self, other) if kind in PLAIN else with_number(spec, self, other)
        if _ok(other):
            return f(self, other) if not overriding.ACTIVE else _looking(f"__{dunder}__", f, self, other)
        if isinstance(other, np.ndarray) and dunder in ("eq", "ne"):
            return f(self, _tensor(other))
        if other is None and dunder in ("eq", "ne"):
            return dunder == "ne"
        return overriding.other_operand(f"__{dunder}__", (self, other))

    compare.__name__ = f"__{dunder}__"
    return wrapped(compare, known, None)


def _asking(name, f):
    """A reflected operator that is a function of its own."""
    def dunder(self, other):
        if _ok(other) or type(other) is np.ndarray:
            return f(self, other) if not overriding.ACTIVE else _looking(name, f, self, other)
        return overriding.other_operand(name, (self, other))

    dunder.__name__ = overriding.OPERATORS.get(name, name)
    return dunder


def _one(f, name):
    def dunder(self):
        return f(self)

    dunder.__name__ = name
    return dunder


def _rest(table):
    for dunder, name in {"__neg__": "neg", "__pos__": "positive", "__abs__": "abs"}.items():
        if f"torch.{name}" in table:
            f = table[f"torch.{name}"]
            setattr(Tensor, dunder, _one(f, dunder))
    if "torch.matmul" in table:
        matmul = table["torch.matmul"]
        def __matmul__(self, other):
            return matmul(self, other) if isinstance(other, Tensor) else overriding.other_operand("__matmul__", (self, other))

        def __rmatmul__(self, other):
            return matmul(other, self) if isinstance(other, Tensor) else overriding.other_operand("__rmatmul__", (self, other))

        Tensor.__matmul__ = wrapped(__matmul__, {}, None, first=spec_of(OPS["mm"], (), ("T", "T")))
        Tensor.__rmatmul__ = __rmatmul__
    try:
        from .indexing import SELECT_FIRST, SLICES, getitem, setitem
    except ImportError:
        return
    getitem.__name__, setitem.__name__ = "__getitem__", "__setitem__"
    Tensor.__getitem__, Tensor.__setitem__ = wrapped(getitem, SLICES, None, "item", SELECT_FIRST), setitem


__all__ = ["attach"]
