"""torch.backends.cudnn: no such library here; its switches keep what is written to them."""

enabled, benchmark, deterministic, allow_tf32 = True, False, False, True


def is_available() -> bool:
    """Whether the library is there."""
    return False


def version() -> None:
    """The library's version: none."""
