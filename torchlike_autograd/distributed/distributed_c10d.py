"""torch.distributed.distributed_c10d (layer 9): process groups of one process, with which scripts for many run as they are.

With one process every collective gives back what it was given, exactly as gloo does.  Several processes are refused by name: under `jax.distributed` they run
one program over arrays sharded by `torch.distributed.tensor`, and XLA puts the communication into it.
"""

from __future__ import annotations

import enum
import os
import warnings
from datetime import timedelta

from .._core import publish as _publish
from .._tensor import Tensor
from ..autograd.grad_mode import no_grad

__all__ = ["Backend", "GroupMember", "HashStore", "ProcessGroup", "ReduceOp", "Store", "Work", "default_pg_timeout", "destroy_process_group", "get_backend",
           "get_backend_config", "get_global_rank", "get_group_rank", "get_process_group_ranks", "get_rank", "get_world_size", "group", "init_process_group",
           "is_available", "is_backend_available", "is_gloo_available", "is_initialized", "is_mpi_available", "is_nccl_available", "is_torchelastic_launched",
           "is_ucc_available", "is_xccl_available", "new_group"]

default_pg_timeout = timedelta(minutes=30)
_NONE = "Default process group has not been initialized, please make sure to call init_process_group."


def is_available() -> bool:
    """Whether this process is part of a group, or was started to be (`RANK` is set).

    PyTorch says whether it was built with process groups, and libraries that hear yes import what is only of use to several processes.
    """
    return is_initialized() or "RANK" in os.environ


def is_gloo_available() -> bool:
    """Whether there is what answers to "gloo"."""
    return True


def is_nccl_available() -> bool:
    """Whether there is NCCL: not here."""
    return False


is_mpi_available = is_ucc_available = is_xccl_available = is_nccl_available


def is_backend_available(backend) -> bool:
    """Whether a way of communicating is there: gloo's."""
    return backend.lower() == "gloo"


def is_torchelastic_launched() -> bool:
    """Whether torchelastic started this process."""
    return os.environ.get("TORCHELASTIC_RUN_ID") is not None


class RedOpType(enum.Enum):
    """torch.distributed.ReduceOp.RedOpType."""

    SUM, AVG, PRODUCT, MIN, MAX, BAND, BOR, BXOR, PREMUL_SUM = range(9)

    def __int__(self):
        return self.value


class _WithKinds(type):
    def __instancecheck__(cls, x):
        return type(x) is RedOpType or type.__instancecheck__(cls, x)


class ReduceOp(metaclass=_WithKinds):
    """How values of several processes are combined; of one they are what they are.  Its names are members of `RedOpType`, which count as instances."""

    RedOpType = RedOpType
    SUM, AVG, PRODUCT, MIN, MAX, BAND, BOR, BXOR, PREMUL_SUM = RedOpType

    def __init__(self, op):
        self.op = op

    def __eq__(self, other):
        return self.op == getattr(other, "op", other)

    def __hash__(self):
        return hash(self.op)


class Work:
    """A communication, which is over when it is begun."""

    def wait(self, timeout=None):
        """True."""
        return True

    def is_completed(self):
        """True."""
        return True

    def is_success(self):
        """True."""
        return True


class Backend(str):
    """The name of a way of communicating."""

    __slots__ = ()
    UNDEFINED, GLOO, NCCL, UCC, MPI, XCCL, FAKE = "undefined", "gloo", "nccl", "ucc", "mpi", "xccl", "fake"
    default_device_backend_map = {"cpu": "gloo", "cuda": "nccl", "xpu": "xccl", "mps": "gloo", "hpu": "fake"}

    def __new__(cls, name):
        if not isinstance(name, str):
            raise ValueError(f"Backend constructor parameter must be string-ish. Got: {name}")
        return str.__new__(cls, name.lower())


class Store:
    """Keys and values that the processes of a group share."""

    def __init__(self):
        self._kept = {}

    def set(self, key, value):
        """Keep a value, str or bytes."""
        self._kept[key] = value.encode() if isinstance(value, str) else bytes(value)

    def get(self, key):
        """The bytes kept; RuntimeError for a key that nobody else can set any more."""
        if key not in self._kept:
            raise RuntimeError(f"wait timeout: {key} is not set, and there is no other process")
        return self._kept[key]

    def add(self, key, amount):
        """Count up from 0; the new count."""
        self.set(key, str(int(self._kept.get(key, b"0")) + amount))
        return int(self._kept[key])

    def delete_key(self, key):
        """Whether there was one."""
        return self._kept.pop(key, None) is not None

    def num_keys(self):
        """How many there are."""
        return len(self._kept)


class HashStore(Store):
    """A Store of one process."""


class ProcessGroup:
    """Processes that communicate: this one."""

    def __init__(self, *args, **kwargs):
        raise NotImplementedError("torch.distributed.ProcessGroup: groups are made by init_process_group and new_group")

    def size(self):
        """The number of processes."""
        return 1

    def rank(self):
        """The number of this process."""
        return 0


class _GroupMeta(type):
    @property
    def WORLD(cls):
        """The default group, or None."""
        return _world["group"]


class group(metaclass=_GroupMeta):
    """The default group's place."""


class GroupMember(metaclass=_GroupMeta):
    """As `group`."""

    NON_GROUP_MEMBER = -100


_world = {"group": None}


def _made(backend):
    out = object.__new__(ProcessGroup)
    out.backend = backend
    return out


def is_initialized() -> bool:
    """Whether there is a default process group."""
    return _world["group"] is not None


def init_process_group(backend=None, init_method=None, timeout=None, world_size=-1, rank=-1, store=None, group_name="", pg_options=None, device_id=None):
    """Begin with one process, whose group is told as torch is told: by arguments, a store, or the environment.  NotImplementedError for several."""
    if is_initialized():
        raise ValueError("trying to initialize the default process group twice!")
    if store is not None and init_method is not None:
        raise AssertionError("Cannot specify both init_method and store.")
    name = _backend(backend)
    if store is not None:
        if world_size <= 0:
            raise AssertionError("world_size must be positive if using store")
        if rank < 0:
            raise AssertionError("rank must be non-negative if using store")
    else:
        rank, world_size = _met(init_method or "env://", rank, world_size)
    if world_size != 1 or rank != 0:
        raise NotImplementedError(f"torch.distributed.init_process_group: rank {rank} of {world_size} processes; groups have one process here. Several run one "
                                  "program under jax.distributed, over arrays sharded by torch.distributed.tensor")
    _world["group"] = _made(name)


def _backend(backend):
    if backend is None:
        return Backend.UNDEFINED
    name = Backend(backend)
    for part in name.split(","):
        kind = part.rpartition(":")[2]
        if kind in ("nccl", "mpi", "ucc", "xccl"):
            raise RuntimeError(f"Distributed package doesn't have {kind.upper()} built in")
        if kind != "gloo":
            raise AssertionError(f"Unknown backend type {kind}")
    return name


def _met(method, rank, size):
    """(rank, number of processes) as an URL and the environment say."""
    kind = method.partition("://")[0]
    if kind == "env":
        rank = int(_environment("RANK")) if rank < 0 else rank
        size = int(_environment("WORLD_SIZE")) if size < 0 else size
        _environment("MASTER_ADDR")
        _environment("MASTER_PORT")
    elif kind not in ("tcp", "file"):
        raise RuntimeError(f"No rendezvous handler for {kind}://")
    elif rank < 0 or size < 0:
        what = "rank" if rank < 0 else "world size"
        raise ValueError(f"Error initializing torch.distributed using {kind}:// rendezvous: {what} parameter missing")
    return rank, size


def _environment(name):
    if name not in os.environ:
        raise ValueError(f"Error initializing torch.distributed using env:// rendezvous: environment variable {name} expected, but not set")
    return os.environ[name]


def destroy_process_group(group=None):
    """End a group; the default one: all.  AssertionError where there is none."""
    if not is_initialized():
        raise AssertionError("Process group cannot be None")
    if group is None or group is _world["group"]:
        _world["group"] = None


def new_group(ranks=None, timeout=None, backend=None, pg_options=None, use_local_synchronization=False, group_desc=None, device_id=None):
    """A further group of this process; its number is -100 (GroupMember.NON_GROUP_MEMBER) where it does not belong to it."""
    default = the(None)
    if ranks is not None and len(ranks) > 1:
        raise ValueError("the new group's world size should be less or equal to the world size set by init_process_group")
    if ranks is not None and any(r != 0 for r in ranks):
        raise ValueError("The new group's rank should be within the world_size set by init_process_group")
    if ranks is not None and not len(ranks):
        return GroupMember.NON_GROUP_MEMBER
    return _made(default.backend if backend is None else _backend(backend))


def the(given):
    """The group meant; torch's error where there is none."""
    if _world["group"] is None:
        raise ValueError(_NONE)
    return _world["group"] if given is None else given


def get_rank(group=None) -> int:
    """The number of this process, 0; -1 outside of the group."""
    return -1 if the(group) == GroupMember.NON_GROUP_MEMBER else 0


def get_world_size(group=None) -> int:
    """The number of processes, 1; -1 outside of the group."""
    return -1 if the(group) == GroupMember.NON_GROUP_MEMBER else 1


def get_backend(group=None):
    """How a group communicates."""
    return the(group).backend


def get_backend_config(group=None):
    """The same, for each type of device."""
    name = the(group).backend
    return name if ":" in name or name == "undefined" else f"cpu:{name},cuda:{name}"


def get_process_group_ranks(group):
    """The processes of a group."""
    the(group)
    return [0]


def get_group_rank(group, global_rank):
    """The number within a group."""
    the(group)
    if global_rank:
        raise ValueError(f"Global rank {global_rank} is not part of group {group}")
    return 0


def get_global_rank(group, group_rank):
    """The number of a group's process among all."""
    the(group)
    if group_rank:
        raise ValueError(f"Group rank {group_rank} is not part of group {group}")
    return 0


def _get_global_rank(group, rank) -> int:
    """`get_global_rank` by its older name, which warns."""
    module = "torch.distributed.distributed_c10d"
    warnings.warn(f"`{module}._get_global_rank` is deprecated, please use `{module}.get_global_rank` instead", FutureWarning, stacklevel=2)
    return get_global_rank(group, rank)


def _tensor(x, name):
    if not isinstance(x, Tensor):
        raise TypeError(f"Invalid function argument. Expected parameter `{name}` of type torch.Tensor\n             but got {type(x)} instead.")


def _tensors(xs, name):
    if not isinstance(xs, (list, tuple)) or not all(isinstance(x, Tensor) for x in xs):
        raise TypeError(f"Invalid function argument. Expected parameter `{name}` of type List[torch.Tensor]\n             but got {type(xs)} with elements of "
                        f"type {[type(x) for x in xs] if isinstance(xs, (list, tuple)) else None}.")


def _root(name, rank):
    if rank:
        raise RuntimeError(f"ProcessGroupGloo::{name}: invalid root rank: {rank}")


def _over(async_op):
    return object.__new__(Work) if async_op else None


def _into(out, x):
    with no_grad():
        out.detach().copy_(x.detach())


def _behind(out, x):
    """As `_into`, where gloo writes and no version is counted."""
    out.data.copy_(x.detach())


def _combined(x, op):
    """Check what gloo checks of a reduction."""
    if not isinstance(op, ReduceOp):
        raise TypeError(f"(): incompatible function arguments: {op!r} is no torch.distributed.ReduceOp")
    op = getattr(op, "op", op)
    if op in (ReduceOp.BAND, ReduceOp.BOR, ReduceOp.BXOR) and (x.is_floating_point() or x.is_complex()):
        raise RuntimeError(f"Cannot use ReduceOp.{op.name} with non-integral dtype")
    if op is ReduceOp.AVG:
        with no_grad():
            x.detach().div_(1)


def all_reduce(tensor, op=ReduceOp.SUM, group=None, async_op=False):
    """What all processes have, combined in place."""
    _tensor(tensor, "tensor")
    the(group)
    _combined(tensor, op)
    return _over(async_op)


def all_reduce_coalesced(tensors, op=ReduceOp.SUM, group=None, async_op=False):
    """`all_reduce` of several tensors."""
    _tensors(tensors, "tensors")
    the(group)
    for t in tensors:
        _combined(t, op)
    return _over(async_op)


def reduce(tensor, dst=None, op=ReduceOp.SUM, group=None, async_op=False, group_dst=None):
    """`all_reduce` for one process."""
    _tensor(tensor, "tensor")
    the(group)
    _root("reduce", dst or group_dst)
    _combined(tensor, op)
    return _over(async_op)


def broadcast(tensor, src=None, group=None, async_op=False, group_src=None):
    """What one process has, for all."""
    _tensor(tensor, "tensor")
    the(group)
    _root("broadcast", src or group_src)
    return _over(async_op)


def barrier(group=None, async_op=False, device_ids=None):
    """Wait for all processes."""
    the(group)
    return _over(async_op)


def monitored_barrier(group=None, timeout=None, wait_all_ranks=False):
    """Wait for all processes, and say which are late."""
    the(group)


def all_gather(tensor_list, tensor, group=None, async_op=False):
    """What each process has, in a list of tensors."""
    _tensors(tensor_list, "tensor_list")
    _tensor(tensor, "tensor")
    the(group)
    if len(tensor_list) != 1:
        raise RuntimeError(f"ProcessGroupGloo::allgather: invalid output tensor list at index 0 (expected length 1, got {len(tensor_list)})")
    _into(tensor_list[0], tensor)
    return _over(async_op)


def all_gather_into_tensor(output_tensor, input_tensor, group=None, async_op=False):
    """What each process has, in one tensor."""
    _tensor(output_tensor, "output_tensor")
    _tensor(input_tensor, "input_tensor")
    the(group)
    _into(output_tensor, input_tensor.reshape(output_tensor.shape))
    return _over(async_op)


def gather(tensor, gather_list=None, dst=None, group=None, async_op=False, group_dst=None):
    """`all_gather` for one process."""
    _tensor(tensor, "tensor")
    the(group)
    if not gather_list:
        raise ValueError("Argument ``gather_list`` must be specified on destination rank.")
    return all_gather(gather_list, tensor, group, async_op)


def scatter(tensor, scatter_list=None, src=None, group=None, async_op=False, group_src=None):
    """To each process its tensor of a list."""
    _tensor(tensor, "tensor")
    the(group)
    if not scatter_list:
        raise ValueError("Argument ``scatter_list`` must be specified on source rank.")
    _behind(tensor, scatter_list[0])
    return _over(async_op)


def reduce_scatter(output, input_list, op=ReduceOp.SUM, group=None, async_op=False):
    """To each process its tensor of the combined lists."""
    _tensor(output, "output")
    _tensors(input_list, "input_list")
    the(group)
    _into(output, input_list[0])
    return _over(async_op)


def reduce_scatter_tensor(output, input, op=ReduceOp.SUM, group=None, async_op=False):
    """To each process its part of the combined tensors."""
    _tensor(output, "output")
    _tensor(input, "input")
    the(group)
    _into(output, input.reshape(output.shape))
    return _over(async_op)


def all_to_all_single(output, input, output_split_sizes=None, input_split_sizes=None, group=None, async_op=False):
    """From each process its part of a tensor."""
    _tensor(output, "output")
    _tensor(input, "input")
    the(group)
    _behind(output, input)
    return _over(async_op)


def all_to_all(output_tensor_list, input_tensor_list, group=None, async_op=False):
    """From each process its tensor of a list."""
    _tensors(output_tensor_list, "output_tensor_list")
    _tensors(input_tensor_list, "input_tensor_list")
    return all_gather(output_tensor_list, input_tensor_list[0], group, async_op)


def all_gather_object(object_list, obj, group=None):
    """What each process has, in a list."""
    the(group)
    object_list[0] = _copied(obj)


def gather_object(obj, object_gather_list=None, dst=None, group=None, group_dst=None):
    """`all_gather_object` for one process."""
    the(group)
    if not object_gather_list:
        raise ValueError("Argument ``object_gather_list`` must be specified on destination rank.")
    object_gather_list[0] = _copied(obj)


def broadcast_object_list(object_list, src=None, group=None, device=None, group_src=None):
    """What one process has in a list, for all."""
    the(group)
    _root("broadcast", src or group_src)


def scatter_object_list(scatter_object_output_list, scatter_object_input_list=None, src=None, group=None, group_src=None):
    """To each process its object of a list."""
    the(group)
    scatter_object_output_list[0] = _copied(scatter_object_input_list[0])


def _copied(x):
    import pickle

    return pickle.loads(pickle.dumps(x))


def send(tensor, dst=None, group=None, tag=0, group_dst=None):
    """ValueError: there is nobody else."""
    _tensor(tensor, "tensor")
    the(group)
    raise ValueError("Invalid destination rank: destination rank should not be the same as the rank of the current process.")


def isend(tensor, dst=None, group=None, tag=0, group_dst=None):
    """ValueError: there is nobody else."""
    return send(tensor, dst, group, tag)


def _nobody(name):
    def function(*args, **kwargs):
        the(kwargs.get("group"))
        raise NotImplementedError(f"torch.distributed.{name}: there is no other process here")

    function.__name__ = function.__qualname__ = name
    function.__doc__ = "NotImplementedError: there is no other process."
    return function


_TWO = ["all_gather_coalesced", "batch_isend_irecv", "irecv", "new_subgroups", "recv", "recv_object_list", "send_object_list"]
for _name in _TWO:
    globals()[_name] = _nobody(_name)
COMMUNICATE = [
    "all_gather", "all_gather_into_tensor", "all_gather_object", "all_reduce", "all_reduce_coalesced", "all_to_all", "all_to_all_single", "barrier",
    "broadcast", "broadcast_object_list", "gather", "gather_object", "isend", "monitored_barrier", "reduce", "reduce_scatter", "reduce_scatter_tensor",
    "scatter", "scatter_object_list", "send", *_TWO]
__all__ += COMMUNICATE
__getattr__ = _publish.missing("torch.distributed.distributed_c10d")
