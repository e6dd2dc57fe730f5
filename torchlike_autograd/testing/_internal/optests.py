"""torch.testing._internal.optests (layer 8): `opcheck` and what it raises; the checks by a tracer are names that files import."""

from __future__ import annotations

from ..._core import publish as _publish
from ..._library.opcheck import OpCheckError, opcheck

__all__ = ["OpCheckError", "dontGenerateOpCheckTests", "is_inside_opcheck_mode", "opcheck"]
_HERE = "torch.testing._internal.optests"


def dontGenerateOpCheckTests(reason):
    """A test as it is: a mark for `generate_opcheck_tests`."""
    def mark(fun):
        fun._torch_dont_generate_opcheck_tests = True
        return fun

    return mark


def is_inside_opcheck_mode():
    """Whether a generated test is running: none is."""
    return False


globals().update(_publish.refused(_HERE, "aot_autograd_check", "autograd_registration_check", "fake_check", "generate_opcheck_tests", "make_fx_check",
                                  why="nothing is traced here; torch.library.opcheck has the other checks"))
__getattr__ = _publish.missing(_HERE)
