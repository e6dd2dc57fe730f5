"""torch._C._special (layer 8): the functions of torch.special by the names that PyTorch's own code and traced programs call them."""

from __future__ import annotations

from .. import special as _public


def __getattr__(name):
    if name.startswith("special_") and hasattr(_public, name[len("special_"):]):
        return getattr(_public, name[len("special_"):])
    raise AttributeError(f"module 'torch._C._special' has no attribute '{name}'")
