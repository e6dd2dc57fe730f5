"""torch.nn.attention (layer 8): which kernel computes attention is XLA's choice; what programs ask for is remembered and changes nothing."""

from __future__ import annotations

import contextlib
import enum

from ..._core import publish as _publish

__all__ = ["SDPBackend", "sdpa_kernel"]


class SDPBackend(enum.IntEnum):
    """PyTorch's kernels."""

    ERROR, MATH, FLASH_ATTENTION, EFFICIENT_ATTENTION, CUDNN_ATTENTION, OVERRIDEABLE = range(-1, 5)


@contextlib.contextmanager
def sdpa_kernel(backends, set_priority=False):
    """A context in which only some kernels may be used: there is one here."""
    if not isinstance(backends, (list, SDPBackend)):
        raise AssertionError("Backend must be an instance of SDPBackend or a list of SDPBackend instances")
    yield {}


__getattr__ = _publish.missing("torch.nn.attention")
