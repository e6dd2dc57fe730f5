"""torch._inductor (layer 8): a compiler of traced programs; what is recorded here is compiled by XLA, and this holds settings only."""

from .._core import publish as _publish
from . import config

__all__ = ["config", "list_mode_options"]


def list_mode_options(mode=None, dynamic=None):
    """What the modes of `torch.compile` would set, of all modes or of one: nothing here depends on it."""
    modes = {"default": {}, "reduce-overhead": {"triton.cudagraphs": True},
             "max-autotune-no-cudagraphs": {"max_autotune": True, "coordinate_descent_tuning": True},
             "max-autotune": {"max_autotune": True, "triton.cudagraphs": True, "coordinate_descent_tuning": True}}
    return modes if mode is None else modes[mode]


__getattr__ = _publish.missing("torch._inductor")
