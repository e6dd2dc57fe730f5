"""torch.nn.parallel.scatter_gather (layer 8): spreading arguments over devices; tensors are spread by `torch.distributed.tensor` here."""

from __future__ import annotations

from ..._core import publish as _publish
from ..._tensor import Tensor

__all__ = ["gather", "scatter", "scatter_kwargs"]


def _named(x):
    return isinstance(x, tuple) and hasattr(x, "_fields")


def scatter(inputs, target_gpus, dim=0):
    """The arguments of every device: other things than tensors are there for all; AttributeError for tensors, as in torch without CUDA."""
    if isinstance(inputs, Tensor):
        raise AttributeError("module 'torch._C' has no attribute '_scatter'")
    if isinstance(inputs, (tuple, list, dict)) and len(inputs):
        parts = zip(*(scatter(x, target_gpus, dim) for x in (inputs.items() if isinstance(inputs, dict) else inputs)))
        return [type(inputs)(*p) if _named(inputs) else type(inputs)(p) for p in parts]
    return [inputs for _ in target_gpus]


def scatter_kwargs(inputs, kwargs, target_gpus, dim=0):
    """(arguments, keywords) of every device."""
    first = scatter(inputs, target_gpus, dim) if inputs else []
    named = scatter(kwargs, target_gpus, dim) if kwargs else []
    first += [()] * (len(named) - len(first))
    return tuple(first), tuple(named + [{}] * (len(first) - len(named)))


def gather(outputs, target_device, dim=0):
    """AssertionError for tensors of the CPU, as in torch; containers are looked into."""
    first = outputs[0]
    if isinstance(first, Tensor):
        raise AssertionError("Gather function not implemented for CPU tensors")
    if first is None:
        return None
    if isinstance(first, dict):
        if any(len(x) != len(first) for x in outputs):
            raise ValueError("All dicts must have the same number of keys")
        return type(first)((k, gather([x[k] for x in outputs], target_device, dim)) for k in first)
    parts = (gather(list(p), target_device, dim) for p in zip(*outputs))
    return type(first)(*parts) if _named(first) else type(first)(parts)


__getattr__ = _publish.missing("torch.nn.parallel.scatter_gather")
