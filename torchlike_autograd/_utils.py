"""torch._utils (layer 8): helpers that libraries and tests import."""

from __future__ import annotations

import importlib
import importlib.util
import math
import sys
import traceback
from collections import defaultdict

from ._core import dtypes as _dtypes
from ._core import publish as _publish
from ._core.saying import warn

__all__: list = []


def _chunk_or_narrow_cat(tensor, num_chunks, narrow_dim, cat_dim=0):
    """The chunks along one dimension side by side along another."""
    api = _publish.load_all()
    return api["torch.cat"](api["torch.chunk"](tensor, num_chunks, narrow_dim), cat_dim)


def _maybe_view_chunk_cat(res, group_size, gather_dim):
    """The chunks along dimension 0 side by side along another: a view where nothing has to move."""
    if gather_dim == 0:
        return res
    first, *before = res.shape[:gather_dim]
    if first == group_size and math.prod(before) == 1:
        return res.view(1, *before, first * res.shape[gather_dim], *res.shape[gather_dim + 1:])
    return _chunk_or_narrow_cat(res, group_size, 0, gather_dim)


def _rebuild_tensor(storage, storage_offset, size, stride):
    """A tensor over a storage: of its dtype and device."""
    raw = storage._untyped_storage
    return _publish.load_all()["torch.empty"]((0,), dtype=storage.dtype, device=raw.device).set_(raw, storage_offset, size, stride)


def _rebuild_tensor_v2(storage, storage_offset, size, stride, requires_grad, backward_hooks, metadata=None):
    """What pickles that PyTorch wrote call for a tensor over a storage."""
    from . import _pickled  # cycle: it stands on all of this

    out = _pickled._with_bits(_rebuild_tensor(storage, storage_offset, size, stride), metadata or {})
    return out.requires_grad_() if requires_grad else out


def _rebuild_tensor_v3(storage, storage_offset, size, stride, requires_grad, backward_hooks, dtype, metadata=None):
    """`_rebuild_tensor_v2` of a dtype that has no storage type: the storage is one of bytes."""
    from . import _pickled  # as above

    count = len(storage) * storage.element_size()
    out = _rebuild_tensor(storage, 0, (count,), (1,)).view(dtype).as_strided(size, stride, storage_offset).detach()
    out = _pickled._with_bits(out, metadata or {})
    return out.requires_grad_() if requires_grad else out


def _rebuild_sparse_tensor(layout, data):
    """A sparse tensor of its layout and (indices, values, size, whether in order)."""
    from . import _pickled  # as above

    return _pickled._rebuild_sparse_tensor(layout, data)


def _rebuild_parameter_with_state(data, requires_grad, backward_hooks, state):
    """A parameter of a tensor, with attributes of its own."""
    from . import _pickled  # as above

    out = _rebuild_parameter(data, requires_grad, backward_hooks)
    _pickled._set_state(out, state)
    return out


def _rebuild_meta_tensor_no_storage(dtype, size, stride, requires_grad):
    """A tensor without data."""
    from . import _pickled  # as above

    return _pickled._rebuild_meta_tensor_no_storage(dtype, size, stride, requires_grad)


def _flatten_dense_tensors(tensors):
    """All elements of some tensors, one after the other."""
    table = _publish.load_all()
    if len(tensors) == 1:
        return tensors[0].contiguous().view(-1)
    return table["torch.cat"]([t.contiguous().view(-1) for t in tensors])


def _unflatten_dense_tensors(flat, tensors):
    """Views of a vector in the shapes of some tensors."""
    at, out = 0, []
    for t in tensors:
        out.append(flat.narrow(0, at, t.numel()).view_as(t) if t.numel() else flat.detach().new_empty(t.shape))
        at += t.numel()
    return tuple(out)


def _take_tensors(tensors, size_limit):
    """Groups of tensors of one type, each of about `size_limit` bytes."""
    groups = defaultdict(lambda: [[], 0])
    for t in tensors:
        held = groups[t.type()]
        size = t.numel() * t.element_size()
        if held[1] + size > size_limit and held[1] > 0:
            yield held[0]
            held = groups[t.type()] = [[], 0]
        held[0].append(t)
        held[1] += size
    for members, _ in groups.values():
        if members:
            yield members


class ExceptionWrapper:
    """An exception of another thread, with its traceback as text, to be raised here."""

    def __init__(self, exc_info=None, where="in background"):
        exc_info = sys.exc_info() if exc_info is None else exc_info
        self.exc_type, self.where = exc_info[0], where
        self.exc_msg = "".join(traceback.format_exception(*exc_info))

    def reraise(self):
        """Raise it again, with where it came from."""
        text = f"Caught {self.exc_type.__name__} {self.where}.\nOriginal {self.exc_msg}"
        if self.exc_type is KeyError:
            raise KeyError(_Text(text))
        try:
            again = self.exc_type(text)
        except Exception:
            raise RuntimeError(text) from None
        raise again


class _Text(str):
    """A text that shows itself as it is."""

    __slots__ = ()

    def __repr__(self):
        return self


class _ClassPropertyDescriptor:
    def __init__(self, fget):
        self.fget = fget

    def __get__(self, instance, owner=None):
        return self.fget.__get__(instance, type(instance) if owner is None else owner)()


def classproperty(func):
    """A property of a class."""
    return _ClassPropertyDescriptor(func if isinstance(func, (classmethod, staticmethod)) else classmethod(func))


def is_compiling():
    """False: `torch.compiler.is_compiling`, as it was called before."""
    from .compiler import is_compiling as now

    warn("`torch._utils.is_compiling` is deprecated. Use `torch.compiler.is_compiling` instead.", UserWarning)
    return now()


def render_call(fn, args, kwargs):
    """The text of a call, without the data of tensors."""
    from ._tensor_str import printoptions
    from .overrides import resolve_name

    with printoptions(threshold=0, edgeitems=0):
        shown = [*(repr(a) for a in args), *(f"{k}={v!r}" for k, v in kwargs.items())]
        return f"{resolve_name(fn) or fn}({', '.join(shown)})"


def try_import(module_name):
    """A module by name; None where there is none."""
    if sys.modules.get(module_name) is None and importlib.util.find_spec(module_name) is None:
        return None
    return importlib.import_module(module_name)


def _get_available_device_type():
    return None


def _get_device_module(device_type):
    """The module of torch for a kind of device.  RuntimeError where there is none."""
    found = getattr(importlib.import_module(__name__.rpartition(".")[0]), device_type, None)
    if found is None:
        raise RuntimeError(f"Device '{device_type}' does not have a corresponding module registered as 'torch.{device_type}'.")
    return found


def _get_all_device_indices():
    return []


def _get_device_index(device, optional=False, allow_cpu=False):
    """The number of a device."""
    import importlib

    kind = importlib.import_module(__package__).device
    device = kind(device) if isinstance(device, str) else device
    if isinstance(device, kind):
        if device.type == "cpu" and not allow_cpu:
            raise ValueError(f"Expected a non cpu device, but got: {device}")
        return -1 if device.type == "cpu" else device.index if device.index is not None else 0
    if isinstance(device, int):
        return device
    if optional and device is None:
        return 0
    raise ValueError(f"Expected a torch.device with a specified index or an integer, but got:{device}")


def _type(self, dtype=None, non_blocking=False, **kwargs):
    """`self.type(dtype)`."""
    return self.type(dtype)


def _to(self, device, non_blocking=False):
    """`self.to(device)`."""
    return self.to(device)


def _element_size(dtype):
    """The bytes of an element of a dtype; RuntimeError for what is none."""
    if not isinstance(dtype, _dtypes.dtype):
        raise RuntimeError(f"expected torch.dtype, but got {type(dtype)}")
    return dtype.itemsize


def _rebuild_parameter(data, requires_grad, backward_hooks):
    """A parameter of a tensor."""
    from .nn import Parameter

    out = Parameter(data, requires_grad)
    out._backward_hooks = backward_hooks
    return out


def _import_dotted_name(name):
    """What a dotted path names."""
    first, *rest = name.split(".")
    out = __import__(first)
    for part in rest:
        out = getattr(out, part)
    return out


__getattr__ = _publish.missing("torch._utils")
