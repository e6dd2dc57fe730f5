"""torch.cuda.nvtx (layer 8): marks for NVIDIA's profiler, which there are none of; each raises what PyTorch raises where it was built without them."""

from __future__ import annotations

from contextlib import contextmanager

__all__ = ["mark", "range", "range_end", "range_pop", "range_push", "range_start"]


def _absent():
    raise RuntimeError("NVTX functions not installed. Are you sure you have a CUDA build?")


def range_push(msg):
    """RuntimeError: there is no such profiler."""
    _absent()


def range_pop():
    """RuntimeError: there is no such profiler."""
    _absent()


def range_start(msg) -> int:
    """RuntimeError: there is no such profiler (AttributeError in PyTorch)."""
    _absent()


def range_end(range_id) -> None:
    """RuntimeError: there is no such profiler (AttributeError in PyTorch)."""
    _absent()


def mark(msg):
    """RuntimeError: there is no such profiler."""
    _absent()


@contextmanager
def range(msg, *args, **kwargs):
    """A context in which a range is open: RuntimeError."""
    range_push(msg.format(*args, **kwargs))
    try:
        yield
    finally:
        range_pop()
