"""torch.cuda.amp.common (layer 8)."""

__all__ = ["amp_definitely_not_available"]


def amp_definitely_not_available() -> bool:
    """Whether there is no CUDA device."""
    from .. import is_available  # cycle: torch.cuda imports this folder

    return not is_available()
