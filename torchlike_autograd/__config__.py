"""torch.__config__ (layer 8): what this was built with."""

import jax as _jax

from .version import __version__ as _version


def show() -> str:
    """The versions of what computes, as text."""
    return f"torchlike_autograd for PyTorch {_version} built with:\n  - JAX {_jax.__version__}\n"


def _cxx_flags() -> str:
    """The flags of a C++ compiler: none was asked."""
    return ""


def parallel_info() -> str:
    """How work is spread over threads, as text."""
    import os

    return f"XLA's own thread pool, {os.cpu_count()} cores\n"
