"""torch.utils.data._utils.pin_memory (layer 8)."""

import collections.abc

from ...._core import publish as _publish
from ...._tensor import Tensor

__all__ = ["pin_memory"]


def pin_memory(data, device=None):
    """Tensors, alone or within mappings and sequences, in pinned memory; torch's RuntimeError where there is no accelerator."""
    if isinstance(data, Tensor) or hasattr(data, "pin_memory"):
        return data.pin_memory()
    if isinstance(data, (str, bytes)):
        return data
    if isinstance(data, collections.abc.Mapping):
        return type(data)({k: pin_memory(v, device) for k, v in data.items()})
    if isinstance(data, tuple) and hasattr(data, "_fields"):
        return type(data)(*(pin_memory(v, device) for v in data))
    if isinstance(data, collections.abc.Sequence):
        return type(data)([pin_memory(v, device) for v in data])
    return data


__getattr__ = _publish.missing("torch.utils.data._utils.pin_memory")
