"""torch.backends.miopen (layer 8): ROCm's library, not used here; its switch keeps what is written to it."""

from .._core import publish as _publish
from . import _switches

_kept = {"immediate": False}


def set_flags(_immediate=None):
    """Set the switch where it is not None; what it was before, as a tuple."""
    return _switches.written(_module, ("immediate",), (_immediate,))


def flags(immediate=False):
    """A context with another switch."""
    return _switches.for_a_while(set_flags, immediate)


_module = _switches.become(__name__, "MiopenModule", immediate=_switches.switch(_kept, "immediate", "set_immediate_miopen"))
__getattr__ = _publish.missing("torch.backends.miopen")
