"""torch.version (layer 8): the version of PyTorch that this package behaves like, and of the CUDA that JAX runs on."""

from ._core import devices as _devices
from ._core import publish as _publish

__version__ = "2.13.0"
hip = git_version = None
debug = False
_missing = _publish.missing("torch.version")


def __getattr__(name):
    if name != "cuda":
        return _missing(name)
    found = _devices.cuda_version("cuda_runtime_get_version")  # 13000 for 13.0
    return f"{found // 1000}.{found % 1000 // 10}" if found else None
