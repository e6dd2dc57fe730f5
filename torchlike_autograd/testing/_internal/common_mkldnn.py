"""torch.testing._internal.common_mkldnn (layer 8): products are made as the default matmul precision says; there is no other one to test."""

import contextlib

from ..._core import publish as _publish
from .common_cuda import tf32_on  # noqa: F401


def bf32_is_not_fp32():
    """False."""
    return False


tf32_is_not_fp32 = bf32_is_not_fp32


@contextlib.contextmanager
def reduced_f32_off():
    """A context: there is no reduced precision to leave."""
    yield


@contextlib.contextmanager
def bf32_on(self, bf32_precision=1e-2):
    """A context: there is no reduced precision to use."""
    yield


def reduced_f32_on_and_off(bf32_precision=1e-2, tf32_precision=1e-5):
    """A test as it is."""
    return lambda f: f


__getattr__ = _publish.missing("torch.testing._internal.common_mkldnn")
