"""torch.backends.mkldnn (layer 8): not used here; its switches keep what is written to them."""

from .._core import precision as _precision
from .._core import publish as _publish
from . import _switches

VERBOSE_OFF, VERBOSE_ON, VERBOSE_ON_CREATION = 0, 1, 2
_kept = {"enabled": True, "deterministic": False}
_FLAGS = ("enabled", "deterministic", "allow_tf32")


def is_available() -> bool:
    """Whether the library is there."""
    return False


def is_acl_available() -> bool:
    """Whether it is built with Arm's library."""
    return False


class verbose:
    """A context in which the library would say what it does: there is nothing to say."""

    def __init__(self, level):
        self.level = level

    def __enter__(self):
        return None if self.level == VERBOSE_OFF else self

    def __exit__(self, exc_type, exc_val, exc_tb):
        return False


def set_flags(_enabled=None, _deterministic=None, _allow_tf32=None, _fp32_precision="none"):
    """Set the switches that are not None; what all of them were before, as a tuple."""
    before = _switches.written(_module, _FLAGS, (_enabled, _deterministic, _allow_tf32))
    before += (_precision.named("mkldnn", "all"),)
    if _fp32_precision is not None:
        _precision.name("mkldnn", "all", _fp32_precision)
    return before


def flags(enabled=False, deterministic=False, allow_tf32=True, fp32_precision="none"):
    """A context with other switches."""
    return _switches.for_a_while(set_flags, enabled, deterministic, allow_tf32, fp32_precision)


_module = _switches.become(
    __name__, "MkldnnModule",
    enabled=_switches.switch(_kept, "enabled", "set_enabled_mkldnn"),
    deterministic=_switches.switch(_kept, "deterministic", "set_deterministic_mkldnn"),
    allow_tf32=_switches.ContextProp(lambda: None, lambda on: _switches.is_bool(on, "_set_onednn_allow_tf32")),
    matmul=_switches.FP32Precision("mkldnn", "matmul"),
    conv=_switches.FP32Precision("mkldnn", "conv"),
    rnn=_switches.FP32Precision("mkldnn", "rnn"),
    fp32_precision=_switches.of_precision("mkldnn", "generic"),  # PyTorch 2.13 writes there
)
__getattr__ = _publish.missing("torch.backends.mkldnn")
