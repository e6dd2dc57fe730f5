"""torch._C._autograd (layer 8): what Python code of torch.autograd asks the engine for."""

from .._core import passes, saved
from .._tensor import Tensor
from ..autograd import _kept, _saving, grad_mode
from ..autograd.profiler import record_function
from ..autograd.profiler_util import DeviceType  # noqa: F401

SavedTensor = saved.SavedTensor
_get_current_graph_task_keep_graph = passes.keep_graph
_pop_saved_tensors_default_hooks = _saving.pop_hooks
_push_saved_tensors_default_hooks = _saving.push_hooks
_saved_tensors_hooks_disable = _saving.set_disabled
_saved_tensors_hooks_enable = _saving.enable
_saved_tensors_hooks_get_disabled_error_message = _saving.disabled_message
_top_saved_tensors_default_hooks = _saving.top_hooks
_unsafe_set_version_counter = grad_mode.set_versions


def _make_saved_tensor(tensor, is_output, is_inplace_on_view=False):
    """What a node keeps of a tensor: packed by the hooks that are active, its version checked when it is unpacked."""
    if not isinstance(tensor, Tensor) or not isinstance(is_output, bool):
        raise TypeError("_make_saved_tensor(): incompatible function arguments. The following argument types are supported:\n    1. (tensor: torch.Tensor, "
                        "is_output: bool, is_inplace_on_view: bool = False) -> torch._C._autograd.SavedTensor\n\nInvoked with: "
                        f"{tensor!r}, {is_output!r}")
    return SavedTensor._of(_kept.Kept(None, tensor, ()))


def _saved_tensors_hooks_is_enabled():
    return _saving.disabled_message() is None


def kineto_available():
    """True: events are collected, without Kineto."""
    return True


def _record_function_with_args_enter(name, *args):
    """Begin a range of the profiler that was called with arguments; its handle."""
    return record_function(name, ", ".join(map(str, args))).__enter__()


def _record_function_with_args_exit(handle):
    """End it."""
    handle.__exit__(None, None, None)
