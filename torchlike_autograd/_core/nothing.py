"""What stands in the place of an array where there is none: the values of device "meta" (layer 1).

A meta tensor is a record whose values are never asked: types are known at the call, a piece of a program for "meta" runs nothing, and who asks is refused.
"""

from __future__ import annotations

import math

import numpy as np

KEY = "meta"


def no_data(more=""):
    """torch's error for whoever asks for values that are not there."""
    return NotImplementedError(f"Cannot copy out of meta tensor; no data!{more}")


def not_expected(found, expected):
    """torch's error for operands of which some have data and some have none."""
    return RuntimeError(f"Tensor on device {found} is not on the expected device {expected}!")


def no_item():
    """torch's error for the number in a tensor that has none."""
    return RuntimeError("Tensor.item() cannot be called on meta tensors")


def not_numpy():
    """torch's error for the array of a tensor that has none."""
    return TypeError("can't convert meta device type tensor to numpy. Use Tensor.cpu() to copy the tensor to host memory first.")


_NO_KERNEL = (": attempted to run this operator with Meta tensors, but there was no fake impl or Meta kernel registered. You may have run into this message "
              "while using an operator with PT2 compilation APIs (torch.compile/torch.export); in order to use this operator with those APIs you'll need to "
              "add a fake impl. Please see the following for next steps:  https://pytorch.org/tutorials/advanced/custom_ops_landing_page.html")


def no_kernel(name):
    """torch's error for an operator whose results depend on values that are not there."""
    return NotImplementedError(f"aten::{name}{_NO_KERNEL}")


def no_nonzero():
    """torch's error for the places of what is not zero."""
    return NotImplementedError(
        "The register_meta function for torch.nonzero() raises unimplemented by default, as a correct data-independent implementation does not exist. This "
        "implementation returns a fake value, assuming all elements of the tensor are non-zero. To enable this registration, please set "
        "'torch.fx.experimental._config.meta_nonzero_assume_all_nonzero' to True.")


def wanting(name, *tensors):
    """Raise torch's error for an operator that wants values where one of its tensors has none."""
    if any(getattr(t, "is_meta", False) for t in tensors):
        raise no_kernel(name)


def numbers(key, shape, dtype, draw):
    """draw(shape), or nothing where nobody asks for the numbers: then the generator stays as it is."""
    return Nothing(shape, dtype.np) if key == KEY else draw(shape)


class Nothing:
    """An array of a shape and a NumPy dtype without elements: NotImplementedError for whoever reads them."""

    __slots__ = ("__weakref__", "dtype", "shape")
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

    @property
    def nbytes(self):
        """The bytes that it would have."""
        return self.size * np.dtype(self.dtype).itemsize

    def reshape(self, *shape):
        """The same in another shape of as many elements."""
        shape = shape[0] if len(shape) == 1 and not isinstance(shape[0], int) else shape
        return Nothing((self.size,) if tuple(shape) == (-1,) else shape, self.dtype)

    def __array__(self, dtype=None, copy=None):
        raise no_data()

    __jax_array__ = __array__

    def __repr__(self):
        return f"Nothing({self.shape}, {self.dtype})"


__all__ = ["KEY", "Nothing", "no_data", "no_item", "no_kernel", "no_nonzero", "not_expected", "not_numpy", "numbers", "wanting"]
