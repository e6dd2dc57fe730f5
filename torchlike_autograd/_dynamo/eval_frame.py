"""torch._dynamo.eval_frame (layer 8)."""

from __future__ import annotations

from ..nn.modules.module import Module

__all__ = ["OptimizedModule"]


def is_dynamo_supported() -> bool:
    """False."""
    return False


class OptimizedModule(Module):
    """What torch.compile makes of a module in PyTorch; here it hands the module back."""

    def __init__(self, *args, **kwargs):
        raise NotImplementedError("torch._dynamo.OptimizedModule: torch.compile hands modules back as they are here")
