"""torch.backends.cudnn: the library that XLA uses on CUDA devices; its switches keep what is written to them and change nothing."""

import contextlib as _contextlib

from .._core import devices as _devices

enabled, benchmark, deterministic, allow_tf32 = True, False, False, True


def is_available() -> bool:
    """Whether the library is there: with a CUDA device."""
    return bool(_devices.devices_of("cuda"))


def version():
    """The library's version as JAX says it, None where it does not or there is none."""
    return _devices.cuda_version("cudnn_get_version")


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
