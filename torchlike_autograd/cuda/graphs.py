"""torch.cuda.graphs (layer 8): there is nothing to capture, what is recorded runs as compiled programs already."""

from __future__ import annotations

from .._core import publish as _publish
from ._need import is_available

__all__ = ["CUDAGraph", "graph", "graph_pool_handle", "is_current_stream_capturing", "make_graphed_callables"]


def _dummy(name):
    if is_available():
        raise NotImplementedError(f"torch.cuda.{name}: what is recorded runs as compiled programs already")
    raise RuntimeError(f"Tried to instantiate dummy base class {name}")


def is_current_stream_capturing() -> bool:
    """Nothing is captured: False beside a device, torch's error without."""
    return False if is_available() else _dummy("_cuda_isCurrentStreamCapturing")


def graph_pool_handle():
    """Refused."""
    _dummy("_graph_pool_handle")


class CUDAGraph:
    """A captured sequence of a device's work: refused."""

    def __init__(self, *args, **kwargs):
        _dummy("CUDAGraph")

    def _never(self, *args, **kwargs):
        """None is ever made."""

    capture_begin = capture_end = debug_dump = enable_debug_mode = get_graph_data = instantiate = pool = raw_cuda_graph = raw_cuda_graph_exec = replay = _never
    reset = _never


class graph:
    """A context that captures: refused."""

    default_capture_stream = None

    def __init__(self, cuda_graph, pool=None, stream=None, capture_error_mode="global", enable_annotations=False, check_input_liveness=False):
        if not is_available():
            raise RuntimeError("torch.cuda.Stream requires CUDA support")
        _dummy("graph")


def make_graphed_callables(callables, sample_args, num_warmup_iters=3, allow_unused_input=False, pool=None):
    """Refused."""
    _dummy("CUDAGraph")


__getattr__ = _publish.missing("torch.cuda.graphs")
