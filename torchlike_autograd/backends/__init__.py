"""torch.backends (layer 8): switches of PyTorch's libraries that programs set.  How float32 products, convolutions and recurrent layers may be rounded on
accelerators is heeded (_core/precision.py); the others are remembered and change nothing here."""

from .._core import publish as _publish
from . import _switches, cpu, cuda, cudnn, cusparselt, kleidiai, mha, miopen, mkl, mkldnn, mps, nnpack, openmp, opt_einsum
from ._switches import ContextProp, PropModule, disable_global_flags, flags_frozen

__all__ = ["ContextProp", "PropModule", "cpu", "cuda", "cudnn", "cusparselt", "disable_global_flags", "flags", "flags_frozen", "kleidiai", "mha", "miopen",
           "mkl", "mkldnn", "mps", "nnpack", "openmp", "opt_einsum", "set_flags"]


def set_flags(_fp32_precision="none"):
    """Set the precision of everything on every backend; what it was before, as a tuple."""
    return _switches.written(_module, ("fp32_precision",), (_fp32_precision,))


def flags(fp32_precision="none"):
    """A context with another precision."""
    return _switches.for_a_while(set_flags, fp32_precision)


_module = _switches.become(__name__, "GenericModule", fp32_precision=_switches.of_precision("generic"))
__getattr__ = _publish.missing("torch.backends")
