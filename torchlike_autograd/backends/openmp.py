"""torch.backends.openmp: not used here."""


def is_available() -> bool:
    """Whether it was built with OpenMP."""
    return False
