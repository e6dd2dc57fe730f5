"""torch.backends.cudnn (layer 8): the library that XLA uses on CUDA devices.  How convolutions and recurrent layers may be rounded is heeded where a program
says it (_core/precision.py); the other switches keep what is written to them and change nothing."""

from .._core import devices as _devices
from .._core import dtypes as _dtypes
from .._core import precision as _precision
from .._core import publish as _publish
from . import _switches

CUDNN_TENSOR_DTYPES = {_dtypes.float16, _dtypes.float32, _dtypes.float64}
_kept = {"enabled": True, "benchmark": False, "benchmark_limit": None, "deterministic": False, "depthwise_kernel": "auto"}
_FLAGS = ("enabled", "benchmark", "benchmark_limit", "deterministic", "allow_tf32", "fp32_precision", "depthwise_kernel")


def is_available() -> bool:
    """Whether the library is there: with a CUDA device."""
    return bool(_devices.devices_of("cuda"))


def version():
    """The library's version as JAX says it, None where it does not or there is none."""
    return _devices.cuda_version("cudnn_get_version")


def is_acceptable(tensor) -> bool:
    """Whether the library may compute with a tensor: one of floats on a CUDA device."""
    return _kept["enabled"] and tensor.device.type == "cuda" and tensor.dtype in CUDNN_TENSOR_DTYPES and is_available()


def _choose(kernel):
    if not isinstance(kernel, str):
        raise RuntimeError(f"set_cudnn_depthwise_kernel expects a string, but got {type(kernel).__name__}")
    if kernel not in ("auto", "cudnn", "native"):
        raise RuntimeError(f"Unknown cuDNN depthwise kernel mode: {kernel}. Expected one of: auto, cudnn, native")
    _kept["depthwise_kernel"] = kernel


def set_flags(_enabled=None, _benchmark=None, _benchmark_limit=None, _deterministic=None, _allow_tf32=None, _fp32_precision="none", _depthwise_kernel=None):
    """Set the switches that are not None; what all of them were before, as a tuple."""
    limit = _benchmark_limit if is_available() else None
    return _switches.written(_module, _FLAGS, (_enabled, _benchmark, limit, _deterministic, _allow_tf32, _fp32_precision, _depthwise_kernel))


def flags(enabled=False, benchmark=False, benchmark_limit=10, deterministic=False, allow_tf32=True, fp32_precision="none", depthwise_kernel="auto"):
    """A context with other switches."""
    return _switches.for_a_while(set_flags, enabled, benchmark, benchmark_limit, deterministic, allow_tf32, fp32_precision, depthwise_kernel)


_module = _switches.become(
    __name__, "CudnnModule",
    enabled=_switches.switch(_kept, "enabled", "set_enabled_cudnn"),
    benchmark=_switches.switch(_kept, "benchmark", "set_benchmark_cudnn"),
    benchmark_limit=_switches.ContextProp(lambda: _kept["benchmark_limit"] or (10 if is_available() else None),
                                          lambda n: _kept.__setitem__("benchmark_limit", n)),
    deterministic=_switches.switch(_kept, "deterministic", "set_deterministic_cudnn"),
    allow_tf32=_switches.ContextProp(_precision.cudnn_allowed, lambda on: _precision.allow_cudnn(_switches.is_bool(on, "set_allow_tf32_cublas"))),
    conv=_switches.FP32Precision("cuda", "conv"),
    rnn=_switches.FP32Precision("cuda", "rnn"),
    fp32_precision=_switches.of_precision("cuda"),
    depthwise_kernel=_switches.ContextProp(lambda: _kept["depthwise_kernel"], _choose),
)
__getattr__ = _publish.missing("torch.backends.cudnn")
