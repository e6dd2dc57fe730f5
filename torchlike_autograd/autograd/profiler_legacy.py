"""torch.autograd.profiler_legacy (layer 7)."""

from .profiler import profile

__all__ = ["profile"]
