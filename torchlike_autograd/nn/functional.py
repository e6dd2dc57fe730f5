"""torch.nn.functional (layer 8): filled from the op table; and the helpers that PyTorch's own module shows."""

from .._core import publish as _publish
from .._functions.activation import _get_softmax_dim  # noqa: F401 - these are what copies of PyTorch's layers call
from .._functions.multihead import (  # noqa: F401
    _canonical_mask,
    _check_key_padding_mask,
    _in_projection,
    _in_projection_packed,
    _mha_shape_check,
    _none_or_dtype,
)
from .._functions.normalize import _verify_batch_size, _verify_spatial_size  # noqa: F401
from .._functions.pool import _unpool_output_size  # noqa: F401
from .._tensor import Tensor  # noqa: F401
from ..overrides import handle_torch_function, has_torch_function, has_torch_function_unary, has_torch_function_variadic  # noqa: F401 - PyTorch's module has them too
from . import grad  # noqa: F401 - likewise


class _BroadcastingList:
    """A type for annotations: a number, or a list of as many."""

    def __getitem__(self, types):
        return None


GRID_SAMPLE_INTERPOLATION_MODES = {"bilinear": 0, "nearest": 1, "bicubic": 2}
GRID_SAMPLE_PADDING_MODES = {"zeros": 0, "border": 1, "reflection": 2}
BroadcastingList1 = BroadcastingList2 = BroadcastingList3 = _BroadcastingList()


def assert_int_or_pair(arg, arg_name, message):
    """AssertionError with `message` about `arg_name` where `arg` is neither an int nor of length 2."""
    if not (isinstance(arg, int) or len(arg) == 2):
        raise AssertionError(message.format(arg_name))


def boolean_dispatch(arg_name, arg_index, default, if_true, if_false, module_name, func_name):
    """A function that calls `if_true` or `if_false` by the argument `arg_name`, given by name or as number `arg_index`.

    RuntimeError where both have a docstring: all three take the one there is.
    """
    if if_true.__doc__ is not None and if_false.__doc__ is not None:
        raise RuntimeError("only one function can have a docstring")

    def function(*args, **kwargs):
        given = kwargs.get(arg_name, args[arg_index] if arg_index < len(args) else default)
        return (if_true if given else if_false)(*args, **kwargs)

    if_true.__doc__ = if_false.__doc__ = function.__doc__ = if_true.__doc__ if if_true.__doc__ is not None else if_false.__doc__
    function.__name__, function.__module__ = func_name, module_name
    return function


__all__ = _publish.install(globals(), "torch.nn.functional")
__getattr__ = _publish.missing("torch.nn.functional")
