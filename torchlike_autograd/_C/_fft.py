"""torch._C._fft (layer 8): the functions of torch.fft by the names that PyTorch's own code and traced programs call them."""

from __future__ import annotations

from .. import fft as _public


def __getattr__(name):
    if name.startswith("fft_") and hasattr(_public, name[len("fft_"):]):
        return getattr(_public, name[len("fft_"):])
    raise AttributeError(f"module 'torch._C._fft' has no attribute '{name}'")
