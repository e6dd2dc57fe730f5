"""Arithmetic of a tensor and a number where torch records it under a node of its own: inside its composed functions (layer 2).

Python's ``x * 2`` is `MulBackward0` with a number in the tensor's place; the same product inside torch's `trapezoid` is `MulBackward1`.
"""

from __future__ import annotations

from .registry import SMOOTH, Promote, call, op, real

_NUMBER = {"promote": Promote.RESULT, "promote_with": ("self", "other"), "lift": ("other",), "names": (), "samples": [call(real(3), 2.0)], "kinks": SMOOTH}


@op("_mul_number(Tensor self, Scalar other) -> Tensor", node="MulBackward1", **_NUMBER)
def _mul_number(self, *, other):
    """A product with a number."""
    return self * other


@op("_add_number(Tensor self, Scalar other) -> Tensor", node="AddBackward1", **_NUMBER)
def _add_number(self, *, other):
    """A sum with a number."""
    return self + other


@op("_true_div_number(Tensor self, Scalar other) -> Tensor", node="DivBackward1", **{**_NUMBER, "promote": Promote.FLOAT})
def _true_div_number(self, *, other):
    """A quotient by a number."""
    return self / other
