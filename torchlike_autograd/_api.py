"""The public names of `torch` (layer 10)."""

from __future__ import annotations

import builtins
import math

from . import _tensor_str
from ._core import config as _config
from ._core import defaults as _defaults
from ._core import dtypes as _dtypes
from ._core import execute as _execute
from ._core import operators as _operators
from ._core import overriding as _overriding
from ._core import overriding_methods as _overriding_methods
from ._core import precision as _precision
from ._core import publish as _publish
from ._core import readonly as _readonly
from ._core.devices import device
from ._core.dtypes import can_cast, dtype, finfo, iinfo, promote_types
from ._core.layouts import (
    _mkldnn,
    channels_last,
    channels_last_3d,
    contiguous_format,
    jagged,
    layout,
    memory_format,
    per_channel_affine,
    per_channel_affine_float_qparams,
    per_channel_symmetric,
    per_tensor_affine,
    per_tensor_symmetric,
    preserve_format,
    qscheme,
    sparse_bsc,
    sparse_bsr,
    sparse_coo,
    sparse_csc,
    sparse_csr,
    strided,
)
from ._core.saying import warn as _warn
from ._core.shapes import as_long as _as_long
from ._tensor import Size, Tensor

_publish.install(globals(), "torch")
_operators.attach()

from ._core import wiring as _wiring  # noqa: E402

_wiring.wire()
_overriding_methods.prepare()
_readonly.seal(Tensor)
globals().update(_dtypes.DTYPES)
globals().update(_dtypes.ALIASES)
globals().update(_dtypes.SMALL)

from . import (  # noqa: E402
    _C,
    _VF,
    __config__,
    _dynamo,
    _functorch,
    _guards,
    _vmap_internals,
    accelerator,
    amp,
    autograd,
    backends,
    compiler,
    cpu,
    cuda,
    distributed,
    export,
    fft,
    func,
    functional,
    futures,
    hub,
    interop,
    jit,
    library,
    linalg,
    masked,
    mps,
    mtia,
    multiprocessing,
    nn,
    onnx,
    ops,
    optim,
    overrides,
    profiler,
    quasirandom,
    random,
    return_types,
    serialization,
    signal,
    special,
    storage,
    testing,
    torch_version,
    types,
    utils,
    version,
    xpu,
)
from ._C import (  # noqa: E402
    DisableTorchFunction,
    DisableTorchFunctionSubclass,
    PyTorchFileReader,
    StorageBase,
)
from ._control import cond, while_loop  # noqa: E402
from ._functions.random import Generator, default_generator  # noqa: E402
from ._functions.storages import CUDA_STORAGES as _cuda_storages  # noqa: E402
from ._functions.storages import LEGACY as _storage_types  # noqa: E402
from ._settings import *  # noqa: E402, F403
from ._settings import Deterministic as _Deterministic  # noqa: E402
from ._streams import Event, Stream  # noqa: E402
from ._tensor_str import get_printoptions, set_printoptions  # noqa: E402
from .amp.autocast_mode import OLDER as _older_autocast  # noqa: E402
from .amp.autocast_mode import (  # noqa: E402
    autocast,
    autocast_decrement_nesting,
    autocast_increment_nesting,
    clear_autocast_cache,
    get_autocast_dtype,
    is_autocast_cache_enabled,
    is_autocast_enabled,
    set_autocast_cache_enabled,
    set_autocast_dtype,
    set_autocast_enabled,
)
from .amp.grad_scaler import GradScaler  # noqa: E402
from .autograd._vmap import vmap  # noqa: E402
from .autograd.anomaly_mode import is_anomaly_check_nan_enabled, is_anomaly_enabled, set_anomaly_enabled  # noqa: E402
from .autograd.grad_mode import enable_grad, inference_mode, is_grad_enabled, is_inference_mode_enabled, no_grad, set_grad_enabled  # noqa: E402
from .compiler import compile  # noqa: E402
from .dropin import install_as_torch, uninstall_as_torch  # noqa: E402
from .futures import Future  # noqa: E402
from .jit import ScriptFunction, ScriptModule  # noqa: E402
from .random import thread_safe_generator  # noqa: E402
from .serialization import load, save  # noqa: E402
from .storage import TypedStorage, UntypedStorage  # noqa: E402

globals().update(_older_autocast)
globals().update(_storage_types)
Storage = _storage_types["FloatStorage"]
_storage_classes = {TypedStorage, UntypedStorage, *_storage_types.values(), *_cuda_storages.values()}
inf, nan, pi, e, newaxis = math.inf, math.nan, math.pi, math.e, None
__version__ = torch_version.TorchVersion("2.13.0")
legacy_contiguous_format = contiguous_format


def stats():
    """Counters of the executor since the start, after running what is pending: flushes, compiles, hits, op_by_op, compile_seconds, programs, structures."""
    _execute.flush()
    return _execute.Stats(_execute.stats)


def set_execution(mode):
    """"deferred" (default) or "immediate" (every call runs at once; also by the environment variable TLA_EXECUTION); returns the old mode."""
    _execute.flush()
    return _config.set("execution", mode)


def set_random(who):
    """Who draws the random numbers of tensors on accelerators: "host" (default), PyTorch's CPU numbers, or "device", `jax.random` within the program that
    uses them (also by the environment variable TLA_RANDOM); returns the old answer."""
    return _config.set("random", who)


def _assert(condition, message):
    """`assert condition, message`, as a function; objects with a `__torch_function__` are asked."""
    if type(condition) is not Tensor and _overriding.overrides(type(condition)):
        return _overriding.hand_over(_assert, (condition,), (condition, message), {})
    assert condition, message


class SymInt:
    """A size that a tracer does not know: none is ever made here."""

    def __init__(self, node):
        raise NotImplementedError(f"torch.{type(self).__name__}: sizes are plain numbers here, there is no tracer that would make symbols")


class SymFloat(SymInt):
    """As `SymInt`; the members are those of float."""

    as_integer_ratio, conjugate = builtins.float.as_integer_ratio, builtins.float.conjugate  # `float` alone is a dtype here
    hex, is_integer = builtins.float.hex, builtins.float.is_integer


class SymBool(SymInt):
    """As `SymInt`."""


def typename(obj):
    """The name of a function or class, of anything else that of its type, with torch's spelling for tensors."""
    if isinstance(obj, Tensor):
        return obj.type()
    module, name = getattr(obj, "__module__", None), getattr(obj, "__qualname__", None) or getattr(obj, "__name__", None) or type(obj).__qualname__
    within = module in (None, "builtins") or name.startswith("TensorBase.")  # methods have no module of their own in torch
    return name if within else f"{module}.{name}"


_threads = []  # what `set_num_threads` was told


def set_num_threads(*args, **kwargs):
    """set_num_threads(int): remembered; XLA chooses its threads at start."""
    if kwargs:
        raise TypeError("torch.set_num_threads() takes no keyword arguments")
    if len(args) != 1:
        raise TypeError(f"torch.set_num_threads() takes exactly one argument ({len(args)} given)")
    if type(args[0]).__name__ != "int":
        raise RuntimeError(f"set_num_threads expects an int, but got {type(args[0]).__name__}")
    if _as_long(args[0]) <= 0:
        raise RuntimeError("set_num_threads expects a positive integer")
    _threads[:] = args


def get_num_threads():
    """What `set_num_threads` was told, otherwise the number of cores that XLA may use."""
    if _threads:
        return _threads[0]
    import os

    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()


def set_float32_matmul_precision(precision):
    """"highest" (default), "high" or "medium": how float32 products are computed on accelerators.

    On GPUs "high" and "medium" are TF32; on TPUs "high" is three passes of bfloat16, "medium" one (XLA's precisions "high" and "default").  CPUs compute in
    float32 always.  RuntimeError for what is no text; another word is warned of and changes nothing.
    """
    if not isinstance(precision, str):
        raise RuntimeError(f"set_float32_matmul_precision expects a str, but got {type(precision).__name__}")
    if precision not in ("highest", "high", "medium"):
        _warn(f"{precision} is not one of 'highest', 'high', or 'medium'; the currentsetFloat32MatmulPrecision call has no effect.")
        return
    _precision.set_matmul(precision)


def get_float32_matmul_precision():
    """The current precision of float32 products; RuntimeError where torch.backends was told another one."""
    return _precision.matmul()


_deterministic = _Deterministic.asked  # asked for, only warn


def use_deterministic_algorithms(mode, *, warn_only=False):
    """Remembered; what runs here is deterministic on the CPU anyway."""
    for name, x in (("'mode' (position 1)", mode), ("'warn_only'", warn_only)):
        if x is not True and x is not False:
            raise TypeError(f"_set_deterministic_algorithms(): argument {name} must be bool, not {type(x).__name__}")
    _deterministic[:] = mode, warn_only


def are_deterministic_algorithms_enabled() -> bool:
    """What `use_deterministic_algorithms` was told."""
    return _deterministic[0]


def is_deterministic_algorithms_warn_only_enabled() -> bool:
    """Whether it was told only to warn."""
    return _deterministic[1]


__all__ = [n for n in globals() if not n.startswith("_") and n not in ("annotations",)]
