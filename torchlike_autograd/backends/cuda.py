"""torch.backends.cuda (layer 8): switches of PyTorch's CUDA libraries.  They are remembered, asked back and change nothing: XLA chooses its kernels.

Allowing TF32 is the exception: it is the precision of float32 products, which `set_float32_matmul_precision` sets for every accelerator.
"""

from __future__ import annotations

import contextlib

from .._core import config as _config
from .._core import devices as _devices
from .._core import publish as _publish
from .._core.enums import enumeration
from .._core.saying import warn

__all__ = ["allow_fp16_bf16_reduction_math_sdp", "cuBLASModule", "cuFFTPlanCacheManager", "cudnn_sdp_enabled", "cufft_plan_cache", "enable_cudnn_sdp",
           "enable_flash_sdp", "enable_math_sdp", "enable_mem_efficient_sdp", "flash_sdp_enabled", "fp16_bf16_reduction_math_sdp_allowed", "is_built",
           "is_ck_sdpa_available", "is_flash_attention_available", "math_sdp_enabled", "matmul", "mem_efficient_sdp_enabled", "preferred_blas_library",
           "preferred_linalg_library", "preferred_rocm_fa_library", "sdp_kernel"]


def is_built() -> bool:
    """Whether JAX has a CUDA device."""
    return bool(_devices.devices_of("cuda"))


# Which kernels attention may use

_allowed = {"flash": True, "math": True, "mem_efficient": True, "cudnn": True, "fp16_bf16_reduction_math": False}


def _allow(kind, setter, enabled):
    if not isinstance(enabled, bool):
        raise RuntimeError(f"set_sdp_use_{setter} expects a bool, but got {type(enabled).__name__}")
    _allowed[kind] = enabled


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
    return _allowed["fp16_bf16_reduction_math"]


def allow_fp16_bf16_reduction_math_sdp(enabled: bool):
    """Let attention of 16 bits add up in 16 bits, or not."""
    _allow("fp16_bf16_reduction_math", "math", enabled)


def is_flash_attention_available() -> bool:
    """False: PyTorch's kernel is not here."""
    return False


def is_ck_sdpa_available() -> bool:
    """False: ROCm's kernel is not here."""
    return False


@contextlib.contextmanager
def _only(kinds):
    """A context in which only these kernels may be used."""
    before = dict(_allowed)
    try:
        _allowed.update({k: k in kinds for k in ("flash", "math", "mem_efficient", "cudnn")})
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


class cuBLASModule:
    """How products are computed: TF32 and the sums of 16 bits."""

    _SWITCHES = ("allow_fp16_reduced_precision_reduction", "allow_bf16_reduced_precision_reduction", "allow_fp16_accumulation")

    def __init__(self):
        self.__dict__.update(zip(self._SWITCHES, (True, True, False)))

    @property
    def allow_tf32(self) -> bool:
        """Whether products of float32 numbers may be rounded to TF32."""
        return _config.get("matmul_precision") != "highest"

    @allow_tf32.setter
    def allow_tf32(self, on):
        if not isinstance(on, bool):
            raise RuntimeError(f"set_allow_tf32_cublas expects a bool, but got {type(on).__name__}")
        self._precise("high" if on else "highest")

    @property
    def fp32_precision(self) -> str:
        """"ieee" or "tf32"."""
        return "tf32" if self.allow_tf32 else "ieee"

    @fp32_precision.setter
    def fp32_precision(self, name):
        self._precise({"tf32": "high", "ieee": "highest", "none": "highest"}[name])

    @staticmethod
    def _precise(precision):
        from .._api import set_float32_matmul_precision  # cycle: the package's front imports its backends

        if _config.get("matmul_precision") != precision:
            set_float32_matmul_precision(precision)

    def __getattr__(self, name):
        raise AttributeError(f"Unknown attribute {name}")

    def __setattr__(self, name, value):
        if name in self._SWITCHES:
            self.__dict__[name] = value
        elif name in ("allow_tf32", "fp32_precision"):
            object.__setattr__(self, name, value)
        else:
            raise AttributeError(f"Unknown attribute {name}")


cufft_plan_cache = cuFFTPlanCacheManager()
matmul = cuBLASModule()
__getattr__ = _publish.missing("torch.backends.cuda")
