"""torch.distributed.device_mesh (layer 9): a grid of devices with names for its dims; `jax_mesh` is the same as a jax.sharding.Mesh."""

from __future__ import annotations

import math

import jax
import numpy as np
from jax.sharding import Mesh

from .._core import devices
from .._core import publish as _publish
from .._tensor import Tensor

__all__ = ["DeviceMesh", "init_device_mesh"]


class DeviceMesh:
    """Devices of one type in a grid; `mesh` holds their numbers among JAX's devices of that type, in all processes.

    Differs from torch: what stands for a rank is a device, so that `get_rank`, `get_coordinate` and `get_local_rank` speak of this process's first device.
    """

    def __init__(self, device_type, mesh, *, mesh_dim_names=None):
        grid = np.asarray(mesh._tl_numpy() if isinstance(mesh, Tensor) else mesh, np.int32)
        found = _found(device_type)
        if grid.size > len(found) or (grid.size and grid.max() >= len(found)):
            raise RuntimeError(f"Mesh should not be bigger than default world size {len(found)}, but found {grid.size} ranks!")
        self.device_type, self._grid = device_type, grid
        self.mesh_dim_names = None if mesh_dim_names is None else tuple(mesh_dim_names)
        axes = self.mesh_dim_names or tuple(f"dim{i}" for i in range(grid.ndim))
        self.jax_mesh = Mesh(np.array([found[i] for i in grid.reshape(-1)], object).reshape(grid.shape), axes)
        self._whole = self, tuple(range(grid.ndim))

    @classmethod
    def from_jax(cls, mesh):
        """The DeviceMesh of a jax.sharding.Mesh."""
        kind = devices.type_of(mesh.devices.flat[0])
        found = _found(kind)
        out = cls(kind, np.vectorize(found.index, otypes=[np.int32])(mesh.devices), mesh_dim_names=tuple(map(str, mesh.axis_names)))
        if out.mesh_dim_names == tuple(f"dim{i}" for i in range(out.ndim)):
            out.mesh_dim_names = None
        return out

    @property
    def mesh(self):
        """The numbers of the devices."""
        from .. import int32, tensor

        return tensor(self._grid.tolist(), dtype=int32)

    @property
    def shape(self):
        """The number of devices along each dim."""
        return tuple(self._grid.shape)

    @property
    def ndim(self):
        """The number of dims."""
        return self._grid.ndim

    def size(self, mesh_dim=None):
        """The number of devices, along one dim or in all."""
        return int(self._grid.size) if mesh_dim is None else self.shape[mesh_dim]

    def get_rank(self):
        """The number of this process's first device."""
        return next((i for i, d in enumerate(_found(self.device_type)) if d.process_index == jax.process_index()), 0)

    def get_coordinate(self):
        """Where that device is; None where it is not in the mesh."""
        at = np.argwhere(self._grid == self.get_rank())
        return tuple(int(i) for i in at[0]) if len(at) else None

    def get_local_rank(self, mesh_dim=None):
        """Its place along one dim."""
        if mesh_dim is None:
            if self.ndim > 1:
                raise RuntimeError(f"Found the DeviceMesh have {self.ndim} dimensions",
                                   "Optional kwarg `mesh_dim` needs to be specified when device_mesh.ndim > 1.")
            mesh_dim = 0
        if isinstance(mesh_dim, str):
            if mesh_dim not in (self.mesh_dim_names or ()):
                raise KeyError(f"Mesh dimension '{mesh_dim}' does not exist.", f"Available mesh dimensions are: mesh_dim_names={self.mesh_dim_names}")
            mesh_dim = self.mesh_dim_names.index(mesh_dim)
        return self.get_coordinate()[mesh_dim]

    def __getitem__(self, names):
        """The part of the mesh along some of its dims, at this process's place in the others."""
        if not self.mesh_dim_names:
            raise RuntimeError("Cannot slice a DeviceMesh without mesh_dim_names!")
        names = (names,) if isinstance(names, str) else tuple(names)
        if any(n not in self.mesh_dim_names for n in names):
            raise KeyError(f"Invalid mesh_dim_names {names} specified. Valid mesh_dim_names are {list(self.mesh_dim_names)}.")
        kept = [self.mesh_dim_names.index(n) for n in names]
        here = self.get_coordinate() or (0,) * self.ndim
        grid = self._grid[tuple(slice(None) if i in kept else c for i, c in enumerate(here))].transpose(np.argsort(np.argsort(kept)))
        out = DeviceMesh(self.device_type, grid, mesh_dim_names=names)
        out._whole = self._whole[0], tuple(self._whole[1][i] for i in kept)
        return out

    def __eq__(self, other):
        return self is other or (isinstance(other, DeviceMesh) and self.device_type == other.device_type and self.mesh_dim_names == other.mesh_dim_names
                                 and np.array_equal(self._grid, other._grid))

    def __hash__(self):
        return hash((self.device_type, self.mesh_dim_names, self._grid.shape, self._grid.tobytes()))

    def __repr__(self):
        names = self.mesh_dim_names
        dims = ", ".join(f"{n}={k}" for n, k in zip(names, self.shape)) if names else ", ".join(map(str, self.shape)) + ("," if self.ndim == 1 else "")
        return f"DeviceMesh(({dims}), '{self.device_type}', stride={self._strides()})"

    def _strides(self):
        whole, dims = self._whole
        sizes = whole._grid.shape
        return tuple(math.prod(sizes[d + 1:]) if sizes[d] > 1 else () for d in dims)


def _found(kind):
    found = devices.devices_of(kind, True)
    if not found:
        devices.jax_device(f"{kind}:0")  # raises torch's error
    return found


def init_device_mesh(device_type, mesh_shape, *, mesh_dim_names=None, backend_override=None):
    """A mesh of this shape over the first devices of a type."""
    if mesh_dim_names is not None:
        if len(set(mesh_dim_names)) != len(mesh_dim_names):
            raise RuntimeError("Each mesh_dim_name must be unique.", f"Found repeated mesh_dim_name in mesh_dim_names {tuple(mesh_dim_names)}")
        if len(mesh_shape) != len(mesh_dim_names):
            raise RuntimeError("mesh_shape and mesh_dim_names should have same length!",
                               f"Found len(mesh_dim_names): {len(mesh_dim_names)} and len(mesh_shape):{len(mesh_shape)}.")
    if not device_type.isalpha():
        raise RuntimeError(f"Device type with index is not supported but got {device_type}. ",
                           "If you maintained a 'torch.device' object, it's recommended to pass in 'device.type'.")
    if backend_override is not None:
        raise NotImplementedError("init_device_mesh(backend_override=...): there are no backends to choose")
    return DeviceMesh(device_type, np.arange(math.prod(mesh_shape), dtype=np.int32).reshape(tuple(mesh_shape)), mesh_dim_names=mesh_dim_names)


__getattr__ = _publish.missing("torch.distributed.device_mesh")
