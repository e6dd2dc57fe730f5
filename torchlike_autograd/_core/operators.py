"""Python's operators on Tensor (layer 6)."""

from __future__ import annotations

import numpy as np

from .._ops.registry import OPS
from .._ops.spec import spec_of
from .._tensor import Tensor
from . import overriding, publish
from .bind import NUMBERS
from .dispatch import inplace
from .hot import PLAIN, binary, twin, with_number, wrapped


def _ok(x):
    return isinstance(x, Tensor) or type(x) in NUMBERS or isinstance(x, (np.number, np.bool_))


def _forward(f, name, method=None):
    known, method = getattr(f, "known", {}), method or f

    def dunder(self, other):
        kind = type(other)
        spec = known.get(kind)
        if spec is not None and type(self) in PLAIN:
            return binary(spec, self, other) if kind in PLAIN else with_number(spec, self, other)
        if _ok(other):
            return (f if not overriding.MODES else method)(self, other)
        return overriding.other_operand(method, (self, other))  # an array takes over by its reflected operator and hands the result to `__array_wrap__`

    dunder.__name__ = name
    return wrapped(dunder, known, None)


def _tensor(array):
    from .._functions.data import from_numpy

    return from_numpy(array)


def _swapped(f, name):
    def dunder(self, other):
        return f(other, self) if _ok(other) else NotImplemented

    dunder.__name__ = name
    return wrapped(dunder, {}, getattr(f, "kinds", None), "swapped")


def _inplace(f, name):
    known = getattr(f, "known", {})

    def dunder(self, other):
        spec = known.get(type(other))
        if spec is not None:
            return twin(spec, self, other, inplace)
        return f(self, other) if _ok(other) else overriding.other_operand(f, (self, other))

    dunder.__name__ = name
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
        method = table.get(f"Tensor.{name}")
        setattr(Tensor, f"__{dunder}__", _forward(f, f"__{dunder}__", method))
        if f"Tensor.__r{dunder}__" not in table:
            setattr(Tensor, f"__r{dunder}__", _swapped(f, f"__r{dunder}__") if dunder in REFLECTED else _forward(f, f"__r{dunder}__", method))
        twin = table.get(f"Tensor.{name}_")
        if twin is not None:
            setattr(Tensor, f"__i{dunder}__", _inplace(twin, f"__i{dunder}__"))
    for dunder, name in COMPARE.items():
        f = table.get(f"torch.{name}")
        if f is not None:
            setattr(Tensor, f"__{dunder}__", _comparison(f, dunder))
    _rest(table)


def _comparison(f, dunder):
    known = getattr(f, "known", {})

    def compare(self, other):
        kind = type(other)
        spec = known.get(kind)
        if spec is not None and type(self) in PLAIN:
            return binary(spec, self, other) if kind in PLAIN else with_number(spec, self, other)
        if _ok(other):
            return f(self, other)
        if isinstance(other, np.ndarray) and dunder in ("eq", "ne"):
            return f(self, _tensor(other))
        if other is None and dunder in ("eq", "ne"):
            return dunder == "ne"
        return overriding.other_operand(Tensor.__dict__[dunder], (self, other))

    compare.__name__ = f"__{dunder}__"
    return wrapped(compare, known, None)


def _rest(table):
    for dunder, name in {"__neg__": "neg", "__pos__": "positive", "__abs__": "abs"}.items():
        if f"torch.{name}" in table:
            f = table[f"torch.{name}"]
            setattr(Tensor, dunder, lambda self, f=f: f(self))
    if "torch.matmul" in table:
        matmul = table["torch.matmul"]
        def forward(self, other):
            return matmul(self, other) if isinstance(other, Tensor) else overriding.other_operand(Tensor.matmul, (self, other))

        Tensor.__matmul__ = wrapped(forward, {}, None, first=spec_of(OPS["mm"], (), ("T", "T")))
        Tensor.__rmatmul__ = lambda self, other: matmul(other, self) if isinstance(other, Tensor) else NotImplemented
    try:
        from .indexing import SELECT_FIRST, SLICES, getitem, setitem
    except ImportError:
        return
    getitem.__name__, setitem.__name__ = "__getitem__", "__setitem__"
    Tensor.__getitem__, Tensor.__setitem__ = wrapped(getitem, SLICES, None, "item", SELECT_FIRST), setitem


__all__ = ["attach"]
