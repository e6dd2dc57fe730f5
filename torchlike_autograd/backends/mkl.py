"""torch.backends.mkl: not used here."""


def is_available() -> bool:
    """Whether the library is there."""
    return False
