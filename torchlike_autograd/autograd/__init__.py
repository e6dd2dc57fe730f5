"""torch.autograd (layer 7)."""

import sys as _sys

from .._core import calls as _calls
from .._core import passes as _passes
from .._core import profiling as _profiling
from .._core.saved import SavedTensor
from . import _functions, anomaly_mode, forward_ad, functional, grad_mode, graph, profiler, profiler_legacy, profiler_util
from ._run import _calculate_shape, _make_grads, backward, grad
from .anomaly_mode import detect_anomaly, set_detect_anomaly
from .function import Function
from .function import NestedIOFunction as NestedIOFunction
from .grad_mode import (
    _force_original_view_tracking,
    _unsafe_preserve_version_counter,
    enable_grad,
    enforce_grad_layout_policy,
    inference_mode,
    is_multithreading_enabled,
    is_view_replay_enabled,
    no_grad,
    set_grad_enabled,
    set_multithreading_enabled,
)
from .gradcheck import GradcheckError as _GradcheckError
from .gradcheck import gradcheck, gradgradcheck
from .profiler_util import DeviceType
from .variable import Variable

_node_call = _calls.call_node


def variable(*args, **kwargs):
    """RuntimeError: it was replaced by `torch.tensor`."""
    raise RuntimeError("torch.autograd.variable(...) is deprecated, use torch.tensor(...) instead")


def _is_checkpoint_valid() -> bool:
    """Whether a reentrant checkpoint may run its part of a pass now: not inside `grad`, nor inside a `backward` with `inputs`."""
    return _passes.whole()


variable.Variable = Variable


def _tensor_or_tensors_to_tuple(tensors, length):
    """A tuple of tensors: of None `length` times None, of one tensor that one."""
    if tensors is None:
        return (None,) * length
    return (tensors,) if isinstance(tensors, Variable) else tuple(tensors)


def kineto_available():
    """Whether there is a profiler: events are collected here without Kineto."""
    return True


def __getattr__(name):
    if name == "torch":  # programs reach the whole package by it
        return _sys.modules[__name__.rpartition(".")[0]]
    if name == "ProfilerActivity":  # torch.profiler is above
        return _sys.modules[__name__.rpartition(".")[0]].profiler.ProfilerActivity
    raise AttributeError(f"module 'torch.autograd' has no attribute '{name}'")


def _profiler_enabled() -> bool:
    """Whether a profile is collected in this thread."""
    return _profiling.current() is not None


__all__ = ["Function", "NestedIOFunction", "Variable", "backward", "detect_anomaly", "enable_grad", "enforce_grad_layout_policy", "grad", "grad_mode",
           "gradcheck", "gradgradcheck", "inference_mode", "no_grad", "set_detect_anomaly", "set_grad_enabled", "set_multithreading_enabled", "variable"]
