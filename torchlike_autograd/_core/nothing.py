"""What stands in the place of an array where there is none: the values of device "meta" (layer 1).

A meta tensor is a record whose values are never asked: types are known at the call, a piece of a program for "meta" runs nothing, and who asks is refused.
"""

from __future__ import annotations

import math

KEY = "meta"


def no_data(more=""):
    """torch's error for whoever asks for values that are not there."""
    return NotImplementedError(f"Cannot copy out of meta tensor; no data!{more}")


def not_expected(found, expected):
    """torch's error for operands of which some have data and some have none."""
    return RuntimeError(f"Tensor on device {found} is not on the expected device {expected}!")


class Nothing:
    """An array of a shape and a NumPy dtype without elements: NotImplementedError for whoever reads them."""

    __slots__ = ("dtype", "shape")
    __array_priority__ = 1 << 20

    def __init__(self, shape, dtype):
        self.shape, self.dtype = tuple(shape), dtype

    @property
    def ndim(self):
        """The number of dims."""
        return len(self.shape)

    @property
    def size(self):
        """The number of elements that it would have."""
        return math.prod(self.shape)

    def __array__(self, dtype=None, copy=None):
        raise no_data()

    __jax_array__ = __array__

    def __repr__(self):
        return f"Nothing({self.shape}, {self.dtype})"


__all__ = ["KEY", "Nothing", "no_data", "not_expected"]
