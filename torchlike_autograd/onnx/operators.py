"""torch.onnx.operators (layer 8): shapes as tensors."""

from .._core import dtypes as _dtypes
from .._core import publish as _publish
from .._functions.data import tensor as _tensor


def shape_as_tensor(x):
    """The shape of x as an int64 tensor of one dimension."""
    return _tensor(tuple(x.shape), dtype=_dtypes.int64)


def reshape_from_tensor_shape(x, shape):
    """x in the shape that an integer tensor says."""
    return x.reshape(tuple(shape.tolist()))


__getattr__ = _publish.missing("torch.onnx.operators")
