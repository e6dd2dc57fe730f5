"""torch.testing._internal.common_cuda (layer 8): there is no CUDA in the sense of these flags."""

import contextlib
import importlib

from ..._core import publish as _publish
from ...backends.cuda import preferred_blas_library as _preferred

TEST_CUDA = TEST_MULTIGPU = TEST_CUDNN = TEST_MAGMA = SM53OrLater = SM60OrLater = SM70OrLater = SM80OrLater = False
TEST_CUDNN_VERSION = 0
CUDA_DEVICE = None

SM75OrLater = SM89OrLater = SM90OrLater = SM100OrLater = SM120OrLater = IS_JETSON = IS_SM89 = IS_SM90 = IS_THOR = TEST_NUMBA_CUDA = False
PLATFORM_SUPPORTS_BF16 = PLATFORM_SUPPORTS_FLASH_ATTENTION = PLATFORM_SUPPORTS_MEM_EFF_ATTENTION = PLATFORM_SUPPORTS_CUDNN_ATTENTION = False
PLATFORM_SUPPORTS_FUSED_ATTENTION = PLATFORM_SUPPORTS_FP8 = PLATFORM_SUPPORTS_CK_SDPA = CDNA2OrLater = CDNA3OrLater = False


@contextlib.contextmanager
def tf32_off():
    """A context, or a decorator: there is no TF32 to leave."""
    yield


@contextlib.contextmanager
def tf32_on(self, tf32_precision=1e-5):
    """A context: there is no TF32 to use."""
    yield


tf32_enabled = tf32_off


@contextlib.contextmanager
def blas_library_context(backend):
    """A context with another preferred BLAS library."""
    before = _preferred()
    _preferred(backend)
    try:
        yield
    finally:
        _preferred(before)


def xfailIfSM89(func):
    """A test as it is: there is no such device."""
    return func


def with_tf32_off(f):
    """A test as it is."""
    return f


def tf32_on_and_off(tf32_precision=1e-5, *, only_if=True):
    """A test as it is."""
    return lambda f: f


def _get_torch_cuda_version():
    """(0, 0): there is no CUDA in the sense of these flags."""
    return 0, 0


_get_torch_rocm_version = _get_torch_hipblaslt_version = _get_magma_version = _get_torch_cuda_version


def initialize_cuda_context_rng():
    """Nothing to start."""


def _create_scaling_models_optimizers(device="cuda", optimizer_ctor=None, optimizer_kwargs=None):
    """(a small network, one of the same weights, an optimizer of each)."""
    api = importlib.import_module(__package__.split(".")[0])
    one, two = (api.nn.Sequential(api.nn.Linear(8, 8), api.nn.Linear(8, 8)).to(device=device) for _ in range(2))
    two.load_state_dict(one.state_dict())
    make, kwargs = optimizer_ctor or api.optim.SGD, {"lr": 1.0, **(optimizer_kwargs or {})}
    return one, two, make(one.parameters(), **kwargs), make(two.parameters(), **kwargs)


def _create_scaling_case(device="cuda", dtype=None, optimizer_ctor=None, optimizer_kwargs=None):
    """(... of `_create_scaling_models_optimizers`, pairs of data and targets, a loss, the step that is to be skipped)."""
    api = importlib.import_module(__package__.split(".")[0])
    pair = lambda: tuple(api.randn(8, 8, dtype=dtype or api.float32, device=device) for _ in range(2))  # noqa: E731
    return (*_create_scaling_models_optimizers(device, optimizer_ctor, optimizer_kwargs), [pair() for _ in range(4)], api.nn.MSELoss().to(device), 2)


__getattr__ = _publish.missing("torch.testing._internal.common_cuda")
