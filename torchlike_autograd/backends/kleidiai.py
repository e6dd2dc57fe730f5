"""torch.backends.kleidiai: Arm's kernels, which are not used here."""


def is_available():
    """Whether the library is there."""
    return False
