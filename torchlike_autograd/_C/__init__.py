"""The names of torch._C that programs about gradients use (layer 7)."""

from __future__ import annotations

import importlib
import sys
import weakref

from .._archives import PyTorchFileReader, PyTorchFileWriter  # noqa: F401
from .._core import config, errors, levels, lifetimes, overriding, passes, publish, tangents_off
from .._core.enums import enumeration
from .._core.record import thread
from .._core.saying import warn
from .._core.storage import REPLAY
from .._functions.untyped import StorageBase, is_alias_of  # noqa: F401
from .._library import unregistered
from .._library.operators import BELOW
from .._tensor import Tensor, TensorMeta
from ..autograd import forward_ad, grad_mode, graph
from ..nn.modules._convert import _asked
from . import _autograd, _functions, _functorch, _script  # noqa: F401
from ._script import *  # noqa: F403

_set_deterministic_fill_uninitialized_memory = config.set_fills
_current_graph_task_id = passes.task_id
_current_graph_task_execution_order = passes.execution_order
_current_autograd_node = passes.node_now
_will_engine_execute_node = passes.will_execute
_ImperativeEngine = passes.Engine
_TensorMeta = TensorMeta
_disabled_torch_function_impl = overriding.disabled_impl
_LinAlgError = errors.LinAlgError
_ConvBackend = enumeration("_ConvBackend", "torch._C", {
    "CudaDepthwise2d": 0, "CudaDepthwise3d": 1, "Cudnn": 2, "CudnnTranspose": 3, "Empty": 4, "Miopen": 5, "MiopenDepthwise": 6, "MiopenTranspose": 7,
    "Mkldnn": 8, "MkldnnEmpty": 10, "NnpackSpatial": 11, "Overrideable": 12, "Slow2d": 13, "Slow3d": 14, "SlowDilated2d": 15, "SlowDilated3d": 16,
    "SlowTranspose2d": 17, "SlowTranspose3d": 18, "Winograd3x3Depthwise": 19, "Xnnpack2d": 20, "Mps": 21, "MpsTranspose,": 22},
    "Who makes a convolution in PyTorch; XLA does here.")


class DisableTorchFunctionSubclass(overriding.Off):
    """A context in which subclasses of Tensor, and objects that are none, are not asked; modes are."""

    def __init__(self):
        super().__init__(False)


class DisableTorchFunction(overriding.Off):
    """A context in which nobody is asked."""

    def __init__(self):
        super().__init__(True)


_EnableTorchFunction = overriding.On


def _len_torch_function_stack() -> int:
    """How many modes see the calls of this thread."""
    return len(overriding.here.modes)


def _get_function_stack_at(idx):
    """One of them, from the outermost on."""
    return overriding.here.modes[idx]


class _WeakTensorRef:
    """A weak reference to a tensor."""

    def __init__(self, tensor):
        self._ref = weakref.ref(tensor)

    def expired(self) -> bool:
        """Whether the tensor is gone."""
        lifetimes.query()
        return self._ref() is None


_cached = {"enabled": False}  # and id of a tensor: a weak reference to it


def _set_cached_tensors_enabled(enabled):
    """Whether tensors are noted as cached ones (those that a graph of CUDA's would write again)."""
    _cached["enabled"] = bool(enabled)


def _cached_asked(name, t, result):
    if not isinstance(t, Tensor):
        raise TypeError(f"{name}(): incompatible function arguments. The following argument types are supported:\n    1. (arg0: torch.Tensor) -> {result}"
                        f"\n\nInvoked with: {t!r}")
    if not _cached["enabled"] and name != "_is_cached_tensor":
        raise RuntimeError(f"{name}: cached tensors are not enabled")
    return id(t)


def _add_cached_tensor(t):
    """Note a tensor as cached; once, however often."""
    key = _cached_asked("_add_cached_tensor", t, "None")
    _cached[key] = weakref.ref(t, lambda _: _cached.pop(key, None))


def _remove_cached_tensor(t):
    """Forget it."""
    _cached.pop(_cached_asked("_remove_cached_tensor", t, "None"), None)


def _is_cached_tensor(t) -> bool:
    """Whether it is noted, and that is enabled."""
    return _cached_asked("_is_cached_tensor", t, "bool") in _cached and _cached["enabled"]


def _storage_address(t, /):
    """A number that tensors of one memory share."""
    return t.untyped_storage()._cdata


def _get_deterministic_fill_uninitialized_memory():
    """What `torch.utils.deterministic.fill_uninitialized_memory` says."""
    return config.fills[0]


def _warn():
    """The warning by which PyTorch tries its own out."""
    warn("Test message for TORCH_WARN")


def _warn_deprecation():
    """Likewise, of what is deprecated."""
    warn("Test message for TORCH_WARN_DEPRECATION", DeprecationWarning)


TensorBase = _TensorBase = Tensor
_vmap_fallback = [False]


def _debug_only_are_vmap_fallback_warnings_enabled():
    return _vmap_fallback[0]


def _debug_only_display_vmap_fallback_warnings(enabled):
    _vmap_fallback[0] = bool(enabled)


def _get_autograd_fallback_mode() -> str:
    """What a backward pass through an operator without a gradient does: "warn" or "nothing"."""
    return unregistered.mode[0]


def _set_autograd_fallback_mode(mode: str):
    """Say what it does."""
    if mode not in ("nothing", "warn", "error"):
        raise RuntimeError(f"Unsupported AutogradFallbackMode: {mode}")
    if mode == "error":
        raise NotImplementedError("torch._C._set_autograd_fallback_mode: 'error'")
    unregistered.mode[0] = mode


def _get_cudnn_enabled() -> bool:
    return False


def _switch(name, on):
    """A setting of TorchScript's executors, which are not there: told what it was, and keeps what it is."""
    def switch(value):
        nonlocal on
        before, on = on, bool(value)
        return before

    switch.__name__ = switch.__qualname__ = name
    return switch


_jit_set_profiling_mode, _jit_set_profiling_executor, _jit_set_texpr_fuser_enabled = (
    _switch(name, True) for name in ("_jit_set_profiling_mode", "_jit_set_profiling_executor", "_jit_set_texpr_fuser_enabled"))


def _jit_override_can_fuse_on_cpu(value: bool):
    """Nothing is fused by TorchScript."""


_jit_override_can_fuse_on_gpu = _jit_set_nvfuser_enabled = _jit_override_can_fuse_on_cpu


def _get_default_device() -> str:
    """The name of the device where new tensors are."""
    return str(publish.load_all()["torch.get_default_device"]())


def _is_tracing() -> bool:
    """False: nothing is traced for TorchScript."""
    return False


def _are_functorch_transforms_active() -> bool:
    return levels.transforming()


def _get_tracing_state():
    return None


def _log_api_usage_once(event):
    """Nothing is counted."""


def _parse_to(*args, **kwargs):
    """(device, dtype, non_blocking, memory format) of the arguments of `Tensor.to`."""
    done, out = overriding.asked(_parse_to, args, kwargs) if overriding.here.modes else (False, None)
    if done:
        return out
    device, dtype, form = _asked(args, kwargs)
    flags = [a for a in args if isinstance(a, bool)]
    return device, dtype, flags[0] if flags else bool(kwargs.get("non_blocking")), form


class _Keys(type):
    def __getattr__(cls, name):
        if name.startswith("_"):
            raise AttributeError(name)
        return f"DispatchKey.{name}"


class DispatchKey(metaclass=_Keys):
    """Names of what PyTorch's dispatcher tells apart; nothing is dispatched by them here."""


class DispatchKeySet(frozenset):
    """A set of such names."""

    def __new__(cls, *keys):
        return super().__new__(cls, keys)

    def __or__(self, other):
        return DispatchKeySet(*self, *other)

    def has(self, key):
        """Whether a name is in it."""
        return key in self


def _is_torch_function_enabled() -> bool:
    return not overriding.here.off


def _is_torch_function_all_disabled() -> bool:
    return overriding.here.all_off > 0


def _is_torch_function_mode_enabled() -> bool:
    return bool(overriding.here.modes) and not overriding.here.all_off


def _is_alias_of(a, b, /) -> bool:
    """Whether two tensors share memory."""
    return is_alias_of(a, b)


def _is_view_replay_enabled() -> bool:
    return thread.state in REPLAY


is_grad_enabled = grad_mode.is_grad_enabled
is_inference_mode_enabled = grad_mode.is_inference_mode_enabled
_is_multithreading_enabled = grad_mode.is_multithreading_enabled
_is_grad_layout_enforcement_enabled = grad_mode.is_grad_layout_enforcement_enabled
_is_fwd_grad_enabled = forward_ad._is_fwd_grad_enabled


def _set_fwd_grad_enabled(enabled):
    if not isinstance(enabled, bool):
        raise TypeError(f"set_fwd_grad_enabled(): argument 'enabled' (position 1) must be bool, not {type(enabled).__name__}")
    tangents_off.turn(enabled)


def _warn_on_accumulate_grad_stream_mismatch() -> bool:
    return graph.stream_warning[0]


def _set_warn_on_accumulate_grad_stream_mismatch(enabled):
    graph.set_warn_on_accumulate_grad_stream_mismatch(enabled)


def _set_grad_enabled(enabled):
    if not isinstance(enabled, bool):
        raise TypeError(f"_set_grad_enabled(): argument 'enabled' (position 1) must be bool, not {type(enabled).__name__}")
    grad_mode.set_mode(enabled)


has_lapack = has_spectral = True  # decompositions and transforms are JAX's own


def _add_docstr(obj, doc_obj):
    """Give something without a docstring one; RuntimeError where it has one, TypeError for functions written in Python (other than torch's own)."""
    kind = type(obj).__name__
    if kind == "function" and (obj.__module__ or "").partition(".")[0] not in ("torch", __name__.partition(".")[0]):
        raise TypeError(f"don't know how to add docstring to type '{kind}'")
    if obj.__doc__ is not None:
        raise RuntimeError(f"{kind.removeprefix('builtin_').removesuffix('_or_method')} '{obj.__name__}' already has a docstring")
    obj.__doc__ = doc_obj
    return obj


class _ExcludeDispatchKeyGuard:
    """A context that would keep calls from parts of PyTorch's dispatcher: its keys are known, and nothing else, as there is none."""

    _where = "excluded keys"

    def __init__(self, keys):
        self.keys = keys

    def __enter__(self):
        extra = thread.state.extra
        self.outer = extra.get(self._where, ())
        extra[self._where] = (*self.outer, *self.keys)

    def __exit__(self, *exc):
        thread.state.extra[self._where] = self.outer


class _IncludeDispatchKeyGuard(_ExcludeDispatchKeyGuard):
    """Likewise, to parts of it."""

    _where = "included keys"


class _AutoDispatchBelowAutograd:
    """What is called here is computed without a history: operators of a program's own by the kernels of their device.  From its making on, or as a context."""

    def __init__(self):
        state = thread.state
        self.outer = state.grad, state.extra.get(BELOW)
        state.grad, state.extra[BELOW] = False, True

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        if self.outer is not None:
            thread.state.grad, thread.state.extra[BELOW] = self.outer
            self.outer = None

    __del__ = __exit__


def _dispatch_tls_local_exclude_set():
    """The keys of the contexts around."""
    return DispatchKeySet(*thread.state.extra.get("excluded keys", ()))


def _dispatch_tls_local_include_set():
    """Likewise."""
    return DispatchKeySet(*thread.state.extra.get("included keys", ()))


def _held(name, key, *more):
    """What this thread holds for those who run inside its passes; torch's error for a key that is no string."""
    if type(key) is not str:
        takes = "(arg0: str, arg1: object) -> None" if more else f"(arg0: str) -> {'bool' if name[1] == 'i' else 'object'}"
        raise TypeError(f"{name}(): incompatible function arguments. The following argument types are supported:\n    1. {takes}\n\nInvoked with: "
                        + ", ".join(map(repr, (key, *more))))
    return thread.state.extra.setdefault("held", {})


def _stash_obj_in_tls(key, value, /):
    """Hold an object for this thread, and for the passes that it starts, under a name."""
    _held("_stash_obj_in_tls", key, value)[key] = value


def _get_obj_in_tls(key, /):
    """The object held under a name.  RuntimeError: there is none."""
    held = _held("_get_obj_in_tls", key)
    if key not in held:
        raise RuntimeError("Expected py_objects.obj_dict_.count(key) to be true, but got false.  (Could this error message be improved?  If so, please report "
                           "an enhancement request to PyTorch.)")
    return held[key]


def _is_key_in_tls(key, /) -> bool:
    """Whether an object is held under a name."""
    return key in _held("_is_key_in_tls", key)


def _remove_obj_from_tls(key, /):
    """Hold it no more."""
    _held("_remove_obj_from_tls", key).pop(key, None)


class _Functions(type):
    def __dir__(cls):
        return dir(sys.modules[__package__.partition(".")[0]])

    def __getattr__(cls, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(sys.modules[__package__.partition(".")[0]], name)


class _VariableFunctionsClass(metaclass=_Functions):
    """Where files name the functions of torch."""


_VariableFunctions = _VariableFunctionsClass


def __getattr__(name):
    if name == "Generator":  # the module of random numbers is of the same layer
        return sys.modules[__package__.partition(".")[0]].Generator
    if name in ("_nn", "_linalg", "_special", "_fft"):  # they need torch.nn and torch.ops, which need this module
        return importlib.import_module(f".{name}", __name__)
    raise AttributeError(f"module 'torch._C' has no attribute '{name}'")
