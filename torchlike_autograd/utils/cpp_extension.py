"""torch.utils.cpp_extension (layer 7): extensions written against PyTorch's C++ do not load here."""

from .._core import publish as _publish


def _not_here(name):
    def missing(*args, **kwargs):
        """NotImplementedError."""
        raise NotImplementedError(f"torch.utils.cpp_extension.{name}: there is no C++ side of PyTorch here")

    missing.__name__ = name
    return missing


load, load_inline, CppExtension, CUDAExtension, BuildExtension = map(_not_here, ("load", "load_inline", "CppExtension", "CUDAExtension", "BuildExtension"))
CUDA_HOME = ROCM_HOME = None
__all__ = ["CUDA_HOME", "ROCM_HOME", "BuildExtension", "CUDAExtension", "CppExtension", "load", "load_inline"]
__getattr__ = _publish.missing("torch.utils.cpp_extension")
