"""torch.backends.mkl (layer 8): not used here."""

from .mkldnn import verbose as _silent

VERBOSE_OFF, VERBOSE_ON = 0, 1


def is_available() -> bool:
    """Whether the library is there."""
    return False


class verbose(_silent):
    """A context in which the library would say what it does: there is nothing to say."""

    def __init__(self, enable):
        super().__init__(enable)
        self.enable = enable
