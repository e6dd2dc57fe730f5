"""torch._C._linalg (layer 8): the functions of torch.linalg by the names that PyTorch's own code and traced programs call them."""

from __future__ import annotations

from .. import linalg as _public


def __getattr__(name):
    if name.startswith("linalg_") and hasattr(_public, name[len("linalg_"):]):
        return getattr(_public, name[len("linalg_"):])
    raise AttributeError(f"module 'torch._C._linalg' has no attribute '{name}'")
