"""torch.cuda.profiler (layer 8): NVIDIA's profiler is not driven from here; see `torchlike_autograd.visualize.timeline` and `jax.profiler`."""

from __future__ import annotations

import contextlib

from .._core import publish as _publish
from ._need import with_device

__all__ = ["profile", "start", "stop"]


@with_device
def start():
    """Refused."""
    raise NotImplementedError("torch.cuda.profiler.start: use jax.profiler")


@with_device
def stop():
    """Refused."""
    raise NotImplementedError("torch.cuda.profiler.stop: use jax.profiler")


@contextlib.contextmanager
def profile():
    """`start` to `stop`."""
    start()
    try:
        yield
    finally:
        stop()


__getattr__ = _publish.missing("torch.cuda.profiler")
