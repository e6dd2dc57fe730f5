"""torch.backends.mps (layer 8): not there."""


def is_available() -> bool:
    """Whether Apple's GPU is on offer."""
    return False


def is_built() -> bool:
    """Whether support for it was built."""
    return False


def is_macos_or_newer(major: int, minor: int) -> bool:
    """RuntimeError: there is no such backend."""
    raise RuntimeError("Cannot execute isOnMacOSorNewer() without MPS backend.")


def is_macos13_or_newer(minor: int = 0) -> bool:
    """RuntimeError: there is no such backend."""
    return is_macos_or_newer(13, minor)
