"""torch.backends (layer 8): switches of PyTorch's libraries that programs set; they are remembered and change nothing here."""

from .._core import publish as _publish
from . import cpu, cuda, cudnn, cusparselt, kleidiai, mha, mkl, mkldnn, mps, nnpack, openmp, opt_einsum

__all__ = ["cpu", "cuda", "cudnn", "cusparselt", "kleidiai", "mha", "mkl", "mkldnn", "mps", "nnpack", "openmp", "opt_einsum"]
__getattr__ = _publish.missing("torch.backends")
