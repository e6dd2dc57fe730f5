"""torch.backends.mps: not there."""


def is_available() -> bool:
    """Whether Apple's GPU is on offer."""
    return False


def is_built() -> bool:
    """Whether support for it was built."""
    return False
