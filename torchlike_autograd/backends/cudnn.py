"""torch.backends.cudnn: no such library here; its switches keep what is written to them."""

import contextlib as _contextlib

enabled, benchmark, deterministic, allow_tf32 = True, False, False, True


def is_available() -> bool:
    """Whether the library is there."""
    return False


def version() -> None:
    """The library's version: none."""


@_contextlib.contextmanager
def flags(enabled=False, benchmark=False, benchmark_limit=10, deterministic=False, allow_tf32=True, fp32_precision="none", depthwise_kernel="auto"):
    """Other switches for a while."""
    names = {"enabled": enabled, "benchmark": benchmark, "deterministic": deterministic, "allow_tf32": allow_tf32}
    kept = {k: globals()[k] for k in names}
    globals().update(names)
    try:
        yield
    finally:
        globals().update(kept)
