"""What tests ask of the machine, and of builds that there are none of here (layer 8)."""

from __future__ import annotations

import math

from ..._core import dtypes, publish

__all__ = [
    "EXPANDABLE_SEGMENTS", "GRAPH_EXECUTOR", "IS_AVX512_VNNI_SUPPORTED", "IS_CPU_CAPABILITY_SVE", "IS_CPU_CAPABILITY_SVE256", "MI350_ARCH", "NAVI3_ARCH",
    "NAVI4_ARCH", "PYTEST_SINGLE_TEST", "REPEAT_COUNT", "SHOWLOCALS", "TEST_CUDA_CUDSS", "TEST_CUDA_PYTHON_BINDINGS", "TEST_NVMATH", "USE_PYTEST",
    "getRocmVersion", "isRocmArchAnyOf", "is_navi3_arch", "random_matrix_with_scaled_reduction_dim"]

MI350_ARCH = NAVI3_ARCH = NAVI4_ARCH = ()
EXPANDABLE_SEGMENTS = IS_CPU_CAPABILITY_SVE = IS_CPU_CAPABILITY_SVE256 = SHOWLOCALS = USE_PYTEST = False
IS_AVX512_VNNI_SUPPORTED = False  # the instructions serve torch's quantized kernels, of which there are none here
TEST_CUDA_CUDSS = TEST_CUDA_PYTHON_BINDINGS = TEST_NVMATH = False
GRAPH_EXECUTOR = None
PYTEST_SINGLE_TEST = ""
REPEAT_COUNT = 0


def isRocmArchAnyOf(arch):
    """False: there is no ROCm device."""
    return False


def is_navi3_arch():
    """False: there is no ROCm device."""
    return False


def getRocmVersion():
    """(0, 0)."""
    return 0, 0


def random_matrix_with_scaled_reduction_dim(rows, columns, *batch_dims, dtype=dtypes.float64, device="cpu", requires_grad=False, reduction_dim=-1, **_):
    """Random matrices A for which elements of A @ A.mT (or, for reduction_dim=-2, of A.mT @ A) have variance 1."""
    shape = *batch_dims, rows, columns
    made = publish.load_all()["torch.randn"](*shape, dtype=dtype, device=device) / math.sqrt(shape[reduction_dim])
    return made.requires_grad_(requires_grad)
