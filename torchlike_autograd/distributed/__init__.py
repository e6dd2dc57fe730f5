"""torch.distributed (layer 9): DTensor and its meshes, over JAX's devices; there are no process groups and no collectives to call.

In PyTorch every process runs the program for one device.  Here one process (or several, under `jax.distributed`, which run the same program) sees all devices at
once: a mesh is a jax.sharding.Mesh, a DTensor a Tensor spread over it, and XLA puts the communication into the compiled program.
"""

from .._core import publish as _publish
from . import device_mesh, tensor
from .device_mesh import DeviceMesh, init_device_mesh

__all__ = ["DeviceMesh", "device_mesh", "init_device_mesh", "is_available", "is_initialized", "tensor"]


def is_available() -> bool:
    """Whether there are process groups: no."""
    return False


def is_initialized() -> bool:
    """Whether there is a default process group: no."""
    return False


__getattr__ = _publish.missing("torch.distributed")
