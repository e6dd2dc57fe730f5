"""torch.distributed (layer 9): DTensor and its meshes, over JAX's devices; there are no process groups and no collectives to call.

In PyTorch every process runs the program for one device.  Here one process (or several, under `jax.distributed`, which run the same program) sees all devices
at once: a mesh is a jax.sharding.Mesh, a DTensor a Tensor spread over it, and XLA puts the communication into the compiled program.  What asks for process
groups is answered as PyTorch does before `init_process_group`; what communicates raises its error; `init_process_group` says that there is none.
"""

from __future__ import annotations

import enum
import os

from .._core import publish as _publish
from . import algorithms, device_mesh, tensor
from .device_mesh import DeviceMesh, init_device_mesh

__all__ = ["Backend", "DeviceMesh", "GroupMember", "ProcessGroup", "ReduceOp", "Work", "algorithms", "destroy_process_group", "device_mesh", "get_backend",
           "get_rank", "get_world_size", "group", "init_device_mesh", "init_process_group", "is_available", "is_backend_available", "is_gloo_available",
           "is_initialized", "is_mpi_available", "is_nccl_available", "is_torchelastic_launched", "is_ucc_available", "is_xccl_available", "tensor"]


def is_available() -> bool:
    """Whether process groups can be made: not here."""
    return False


def is_initialized() -> bool:
    """Whether there is a default process group: never here."""
    return False


is_mpi_available = is_nccl_available = is_gloo_available = is_ucc_available = is_xccl_available = is_available


def is_backend_available(backend) -> bool:
    """Whether a way of communicating is built in: none is."""
    return False


def is_torchelastic_launched() -> bool:
    """Whether torchelastic started this process."""
    return os.environ.get("TORCHELASTIC_RUN_ID") is not None


class ReduceOp(enum.Enum):
    """How values of several processes would be combined."""

    SUM, AVG, PRODUCT, MIN, MAX, BAND, BOR, BXOR, PREMUL_SUM = range(9)


class ProcessGroup:
    """Processes that communicate; there are none here."""

    def __init__(self, *args, **kwargs):
        _no_groups("ProcessGroup")


class Work:
    """A communication under way; there are none here."""


class Backend(str):
    """The name of a way of communicating."""

    __slots__ = ()
    UNDEFINED, GLOO, NCCL, UCC, MPI, XCCL, FAKE = "undefined", "gloo", "nccl", "ucc", "mpi", "xccl", "fake"

    def __new__(cls, name):
        if not isinstance(name, str):
            raise ValueError(f"Backend constructor parameter must be string-ish. Got: {name}")
        return str.__new__(cls, name.lower())


class group:
    """The default group's place."""

    WORLD = None


class GroupMember:
    """As `group`."""

    WORLD = None
    NON_GROUP_MEMBER = -100


def _no_groups(name):
    raise NotImplementedError(f"torch.distributed.{name}: there are no process groups here; JAX partitions a program over sharded arrays instead")


def init_process_group(*args, **kwargs):
    """NotImplementedError: there are no process groups."""
    _no_groups("init_process_group")


def destroy_process_group(group=None):
    """torch's error: there is no group to end."""
    raise AssertionError("Process group cannot be None")


def _without_group(*args, **kwargs):
    raise ValueError("Default process group has not been initialized, please make sure to call init_process_group.")


_COMMUNICATE = [
    "all_gather", "all_gather_coalesced", "all_gather_into_tensor", "all_gather_object", "all_reduce", "all_reduce_coalesced", "all_to_all",
    "all_to_all_single", "barrier", "batch_isend_irecv", "broadcast", "broadcast_object_list", "gather", "gather_object", "get_backend", "get_backend_config",
    "get_group_rank", "get_process_group_ranks", "get_rank", "get_world_size", "irecv", "isend", "monitored_barrier", "new_group", "new_subgroups", "recv",
    "recv_object_list", "reduce", "reduce_scatter", "reduce_scatter_tensor", "scatter", "scatter_object_list", "send", "send_object_list"]
for _name in _COMMUNICATE:
    globals()[_name] = _without_group
__all__ += [n for n in _COMMUNICATE if n not in __all__]
__getattr__ = _publish.missing("torch.distributed")
