"""torch.distributed (layer 9): DTensor and its meshes, over JAX's devices, and process groups of one process.

In PyTorch every process runs the program for one device.  Here one process (or several, under `jax.distributed`, which run the same program) sees all devices
at once: a mesh is a jax.sharding.Mesh, a DTensor a Tensor spread over it, and XLA puts the communication into the compiled program.  A script that makes a
process group runs with one process, exactly; groups of several are refused by name.
"""

from __future__ import annotations

from .._core import publish as _publish
from . import algorithms, device_mesh, distributed_c10d, tensor
from .device_mesh import DeviceMesh, init_device_mesh
from .distributed_c10d import *  # noqa: F403

__all__ = ["DeviceMesh", "algorithms", "device_mesh", "distributed_c10d", "init_device_mesh", "tensor", *distributed_c10d.__all__]
__getattr__ = _publish.missing("torch.distributed")
