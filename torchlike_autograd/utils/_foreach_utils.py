"""torch.utils._foreach_utils (layer 7): how optimizers sort tensors before they treat several at once."""

from __future__ import annotations

from .._core import publish as _publish
from .._tensor import Tensor

__all__: list = []

Indices, TensorListList = list[int], list[list[Tensor | None]]
_foreach_supported_types = [Tensor]


def _get_foreach_kernels_supported_devices():
    """Devices on which treating several tensors at once is another path: none, the host does it in one program anyway."""
    return ["cuda", "xpu", "mtia", "privateuseone"]


def _get_fused_kernels_supported_devices():
    """Devices with one program for a whole step."""
    return ["mps", "cuda", "xpu", "hpu", "cpu", "mtia", "privateuseone"]


def _device_has_foreach_support(device):
    return device.type in (*_get_foreach_kernels_supported_devices(), "cpu")


def _has_foreach_support(tensors, device):
    return _device_has_foreach_support(device) and all(t is None or type(t) in _foreach_supported_types for t in tensors)


def _group_tensors_by_device_and_dtype(tensorlistlist, with_indices=False):
    """{(device, dtype): (lists of tensors, their places)} by the tensors of the first list."""
    out: dict = {}
    for i, t in enumerate(tensorlistlist[0]):
        if t is None:
            continue
        lists, places = out.setdefault((t.device, t.dtype), ([[] for _ in tensorlistlist], []))
        for group, tensors in zip(lists, tensorlistlist, strict=True):
            if tensors:
                group.append(tensors[i])
        if with_indices:
            places.append(i)
    return dict(reversed(out.items()))  # the order of torch's table, where no two keys of it collide


__getattr__ = _publish.missing("torch.utils._foreach_utils")
