"""torch.distributed.nn.functional (layer 9): communication with gradients; with one process each result is what was given, under a node of its own."""

from ..._core.saying import warn
from ...autograd.function import Function
from ..distributed_c10d import ReduceOp, the

__all__ = ["all_gather", "all_reduce", "all_to_all", "all_to_all_single", "broadcast", "gather", "reduce", "reduce_scatter", "scatter"]


def _node(name):
    """A Function whose node has this name: what it gives and what it sends back is what comes."""
    body = {"forward": staticmethod(lambda ctx, x: x.clone()), "backward": staticmethod(lambda ctx, g: g)}
    return type(name, (Function,), body)


_AllGather, _AllReduce, _AllToAll, _AlltoAllSingle, _Broadcast, _Gather, _Reduce, _Reduce_Scatter, _Scatter = map(
    _node, ("_AllGather", "_AllReduce", "_AlltoAll", "_AlltoAllSingle", "_Broadcast", "_Gather", "_Reduce", "_Reduce_Scatter", "_Scatter"))


def _on(node, x, group, name=None, instead=None):
    if name is not None:
        warn(f"torch.distributed.nn.functional.{name} is deprecated, use torch.distributed._functional_collectives.{instead or name} instead.", FutureWarning)
    the(group)
    return node.apply(x)


def broadcast(tensor, src, group=None):
    """What one process has."""
    return _on(_Broadcast, tensor, group, "broadcast")


def gather(tensor, dst=0, group=None):
    """What each process has, as a tuple."""
    return (_on(_Gather, tensor, group),)


def scatter(tensors, src=0, group=None):
    """This process's tensor of a list."""
    return _on(_Scatter, tensors[0], group)


def reduce(tensor, dst, op=ReduceOp.SUM, group=None):
    """What all processes have, combined."""
    return _on(_Reduce, tensor, group)


def reduce_scatter(output, input_list, op=ReduceOp.SUM, group=None):
    """This process's tensor of the combined lists."""
    return _on(_Reduce_Scatter, input_list[0], group, "reduce_scatter", "reduce_scatter_single")


def all_gather(tensor, group=None):
    """What each process has, as a tuple."""
    return (_on(_AllGather, tensor, group, "all_gather", "all_gather_single"),)


def all_to_all(output_tensor_list, input_tensor_list, group=None):
    """From each process its tensor of a list, as a tuple."""
    return (_on(_AllToAll, input_tensor_list[0], group),)


def all_to_all_single(output, input, output_split_sizes=None, input_split_sizes=None, group=None):
    """From each process its part of a tensor."""
    return _on(_AlltoAllSingle, input, group, "all_to_all_single")


def all_reduce(tensor, op=ReduceOp.SUM, group=None):
    """What all processes have, combined."""
    return _on(_AllReduce, tensor, group, "all_reduce")
