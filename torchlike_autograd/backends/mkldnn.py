"""torch.backends.mkldnn: not used here; its switches keep what is written to them."""

import contextlib

enabled, deterministic, allow_tf32 = True, False, True


def is_available() -> bool:
    """Whether the library is there."""
    return False


def is_acl_available() -> bool:
    """Whether it is built with Arm's library."""
    return False


@contextlib.contextmanager
def flags(enabled=False, deterministic=False, allow_tf32=True, fp32_precision="none"):
    """A context without effect: nothing is computed by the library."""
    yield
