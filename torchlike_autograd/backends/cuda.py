"""torch.backends.cuda (layer 8): switches of PyTorch's CUDA libraries.  They are remembered, asked back and change nothing: XLA chooses its kernels.

Allowing TF32 is the exception: float32 products are rounded then (_core/precision.py).
"""

from __future__ import annotations

import contextlib

from .._core import devices as _devices
from .._core import precision as _precision
from .._core import publish as _publish
from .._core.enums import enumeration
from .._core.saying import warn
from .._functions.attention import kernels as _allowed
from . import _switches

__all__ = ["SDPAParams", "SDPBackend", "allow_fp16_bf16_reduction_math_sdp", "can_use_cudnn_attention", "can_use_efficient_attention",
           "can_use_flash_attention", "cuBLASModule", "cuFFTPlanCacheManager", "cudnn_sdp_enabled", "cufft_plan_cache", "enable_cudnn_sdp",
           "enable_flash_sdp", "enable_math_sdp", "enable_mem_efficient_sdp", "flash_sdp_enabled", "fp16_bf16_reduction_math_sdp_allowed", "is_built",
           "is_ck_sdpa_available", "is_flash_attention_available", "math_sdp_enabled", "matmul", "mem_efficient_sdp_enabled", "preferred_blas_library",
           "preferred_linalg_library", "preferred_rocm_fa_library", "sdp_kernel"]


def is_built() -> bool:
    """Whether JAX has a CUDA device."""
    return bool(_devices.devices_of("cuda"))


# Which kernels attention may use

SDPBackend = enumeration("SDPBackend", f"{__package__.rpartition('.')[0]}.nn.attention", dict(zip(
    ("ERROR", "MATH", "FLASH_ATTENTION", "EFFICIENT_ATTENTION", "CUDNN_ATTENTION", "OVERRIDEABLE"), range(-1, 5))), "PyTorch's kernels.")
_reduced = {"fp16_bf16_reduction_math": False}


def _allow(kind, setter, enabled):
    (_reduced if kind in _reduced else _allowed)[kind] = _switches.is_bool(enabled, f"set_sdp_use_{setter}")


def flash_sdp_enabled() -> bool:
    """Whether attention may use the flash kernel."""
    return _allowed["flash"]


def enable_flash_sdp(enabled: bool):
    """Let attention use the flash kernel, or not."""
    _allow("flash", "math", enabled)              # torch 2.13 names the same setter for all of them


def mem_efficient_sdp_enabled() -> bool:
    """Whether attention may use the kernel that spares memory."""
    return _allowed["mem_efficient"]


def enable_mem_efficient_sdp(enabled: bool):
    """Let attention use the kernel that spares memory, or not."""
    _allow("mem_efficient", "math", enabled)


def math_sdp_enabled() -> bool:
    """Whether attention may be computed from its parts."""
    return _allowed["math"]


def enable_math_sdp(enabled: bool):
    """Let attention be computed from its parts, or not."""
    _allow("math", "math", enabled)


def cudnn_sdp_enabled() -> bool:
    """Whether attention may use cuDNN's kernel."""
    return _allowed["cudnn"]


def enable_cudnn_sdp(enabled: bool):
    """Let attention use cuDNN's kernel, or not."""
    _allow("cudnn", "math", enabled)


def fp16_bf16_reduction_math_sdp_allowed() -> bool:
    """Whether attention of 16 bits may add up in 16 bits."""
    return _reduced["fp16_bf16_reduction_math"]


def allow_fp16_bf16_reduction_math_sdp(enabled: bool):
    """Let attention of 16 bits add up in 16 bits, or not."""
    _allow("fp16_bf16_reduction_math", "math", enabled)


def is_flash_attention_available() -> bool:
    """False: PyTorch's kernel is not here."""
    return False


def is_ck_sdpa_available() -> bool:
    """False: ROCm's kernel is not here."""
    return False


class SDPAParams:
    """The arguments of an attention that is asked about."""

    def __init__(self, query, key, value, attn_mask, dropout, is_causal, enable_gqa):
        self.query, self.key, self.value, self.attn_mask = query, key, value, attn_mask
        self.dropout, self.is_causal, self.enable_gqa = dropout, is_causal, enable_gqa


def can_use_flash_attention(params: SDPAParams, debug: bool = False) -> bool:
    """False: PyTorch's kernel is not here."""
    return False


def can_use_efficient_attention(params: SDPAParams, debug: bool = False) -> bool:
    """False: PyTorch's kernel is not here."""
    return False


def can_use_cudnn_attention(params: SDPAParams, debug: bool = False) -> bool:
    """False: XLA chooses its kernels."""
    return False


@contextlib.contextmanager
def _only(kinds):
    """A context in which only these kernels may be used."""
    before = dict(_allowed)
    try:
        _allowed.update({k: k in kinds for k in _allowed})
        yield {}
    finally:
        _allowed.update(before)


def sdp_kernel(enable_flash: bool = True, enable_math: bool = True, enable_mem_efficient: bool = True, enable_cudnn: bool = True):
    """Deprecated: a context in which only some kernels of attention may be used."""
    warn("`torch.backends.cuda.sdp_kernel()` is deprecated. In the future, this context manager will be removed. Please see "
         "`torch.nn.attention.sdpa_kernel()` for the new context manager, with updated signature.", FutureWarning)
    asked = zip(("flash", "math", "mem_efficient", "cudnn"), (enable_flash, enable_math, enable_mem_efficient, enable_cudnn))
    return _only([k for k, on in asked if on])


# Libraries

_LinalgBackend = enumeration("_LinalgBackend", "torch._C", {"Default": 0, "Cusolver": 1, "Magma": 2}, "PyTorch's libraries of linear algebra.")
_BlasBackend = enumeration("_BlasBackend", "torch._C", {"Default": 0, "Cublas": 1, "Cublaslt": 2, "Ck": 3}, "PyTorch's libraries of products.")
_ROCmFABackend = enumeration("_ROCmFABackend", "torch._C", {"Default": 0, "AOTriton": 1, "Ck": 2}, "ROCm's libraries of attention.")
_chosen = {"linalg": _LinalgBackend.Default, "blas": _BlasBackend.Cublas, "rocm_fa": _ROCmFABackend.Default}


def _prefer(kind, backend, names, not_here):
    """Remember the library that a program asks for; those that this build does not have raise PyTorch's errors."""
    members = type(_chosen[kind]).__members__
    if isinstance(backend, str):
        if backend not in names:
            raise RuntimeError(f"Unknown input value. Choose from: {', '.join(names)}.")
        backend = members[names[backend]]
    if backend is None:
        return _chosen[kind]
    if not isinstance(backend, type(_chosen[kind])):
        raise RuntimeError("Unknown input value type.")
    if backend.name in not_here:
        library = not_here[backend.name]
        raise RuntimeError(f"Cannot set preferred backend to {library} if PyTorch has not been compiled with {library}.")
    _chosen[kind] = backend
    return backend


def preferred_linalg_library(backend=None):
    """The library of linear algebra that is preferred, after it was changed where one is given."""
    return _prefer("linalg", backend, {"default": "Default", "cusolver": "Cusolver", "magma": "Magma"}, {"Cusolver": "cuSOLVER", "Magma": "MAGMA"})


def preferred_blas_library(backend=None):
    """The library of products that is preferred, after it was changed where one is given."""
    names = {"default": "Default", "cublas": "Cublas", "hipblas": "Cublas", "cublaslt": "Cublaslt", "hipblaslt": "Cublaslt", "ck": "Ck"}
    return _prefer("blas", backend, names, {"Cublaslt": "cuBLASLt"})


def preferred_rocm_fa_library(backend=None):
    """The library of attention that is preferred on ROCm, after it was changed where one is given."""
    return _prefer("rocm_fa", backend, {"default": "Default", "aotriton": "AOTriton", "ck": "Ck"}, {})


class cuFFTPlanCacheManager:
    """The plans of cuFFT: there is no such library here, as in PyTorch's CPU build."""

    def __getitem__(self, device):
        index = device if isinstance(device, int) else getattr(device, "index", 0) or 0
        raise RuntimeError(f"cufft_plan_cache: expected 0 <= device index < 0, but got device with index {index}")

    def __getattr__(self, name):
        if name in ("size", "max_size", "clear"):
            raise AssertionError("Torch not compiled with CUDA enabled")
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")


def _sums(value, name):
    """(whether sums may be rounded, whether they may be split) of what is written to a switch; TypeError for anything but one or two bools."""
    if isinstance(value, bool):
        return value, True
    if not isinstance(value, (list, tuple)):
        raise TypeError(f"{name} expects a bool or a tuple/list of bools, but got {type(value)!r}")
    if not value:
        raise TypeError(f"{name} expects at least one boolean argument")
    if len(value) > 2:
        raise TypeError(f"{name} expects at most two boolean arguments")
    for given, which in zip(value, ("allow_reduced_precision", "allow_splitk")):
        if not isinstance(given, bool):
            raise TypeError(f"{name} expects a bool for {which}, but got {type(given)!r}")
    rounded, split = (*value, True)[:2]
    if rounded and not split:
        raise RuntimeError("allow_splitk=False is not supported when reduced precision reductions are enabled")
    return rounded, split


class cuBLASModule:
    """How products are computed: TF32 is heeded, the sums of 16 bits are kept."""

    _SUMS = ("allow_fp16_reduced_precision_reduction", "allow_bf16_reduced_precision_reduction")

    def __init__(self):
        for name in self._SUMS:
            self._keep(name, True, True)
        self.__dict__["allow_fp16_accumulation"] = False

    def _keep(self, name, rounded, split):
        self.__dict__.update({name: rounded, f"{name}_split_k": split})

    def __getattr__(self, name):
        if name == "allow_tf32":
            return _precision.matmul_allowed()
        if name == "fp32_precision":
            return _precision.named("cuda", "matmul")
        raise AttributeError(f"Unknown attribute {name}")

    def __setattr__(self, name, value):
        if name in self._SUMS:
            self._keep(name, *_sums(value, name))
        elif name == "allow_fp16_accumulation":
            self.__dict__[name] = _switches.is_bool(value, "set_allow_fp16_accumulation_cublas")
        elif name == "allow_tf32":
            _precision.allow_matmul(_switches.is_bool(value, "set_allow_tf32_cublas"))
        elif name == "fp32_precision":
            _precision.name("cuda", "matmul", value)
        else:
            raise AttributeError(f"Unknown attribute {name}")


cufft_plan_cache = cuFFTPlanCacheManager()
matmul = cuBLASModule()
__getattr__ = _publish.missing("torch.backends.cuda")
