"""torch.utils.data._utils.collate (layer 8): samples put together to batches."""

from __future__ import annotations

import copy
import re
from collections.abc import Mapping, MutableMapping, MutableSequence, Sequence

import numpy as np

from ...._core import layouts
from ...._core.hot import PLAIN
from ...._functions.data import as_tensor, tensor
from ...._functions.join import _stack
from ...._tensor import Tensor, from_array

__all__ = ["collate", "default_collate", "default_convert"]

np_str_obj_array_pattern = re.compile("[SaUO]")
default_collate_err_msg_format = _NOT = "default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found {}"


def _is_text(dtype):
    return np_str_obj_array_pattern.search(dtype.str) is not None


def default_convert(data):
    """NumPy arrays and numbers, also inside containers, as tensors; everything else as it is."""
    kind = type(data)
    if isinstance(data, Tensor):
        return data
    if isinstance(data, (np.ndarray, np.generic)):
        return data if _is_text(data.dtype) else as_tensor(data)
    if isinstance(data, Mapping):
        return _same_kind(data, {k: default_convert(v) for k, v in data.items()})
    if isinstance(data, tuple) and hasattr(data, "_fields"):
        return kind(*[default_convert(x) for x in data])
    if isinstance(data, tuple):
        return [default_convert(x) for x in data]
    if isinstance(data, Sequence) and not isinstance(data, (str, bytes)):
        return _same_kind(data, [default_convert(x) for x in data])
    return data


def default_collate(batch):
    """Samples of one form as one sample of that form, of stacked tensors."""
    return collate(batch, collate_fn_map=default_collate_fn_map)


def collate(batch, *, collate_fn_map=None):
    """`default_collate` with a table {type or tuple of types: function(batch, collate_fn_map=)}."""
    first = batch[0]
    kind = type(first)
    if collate_fn_map is not None:
        f = collate_fn_map.get(kind) or next((g for types, g in collate_fn_map.items() if isinstance(first, types)), None)
        if f is not None:
            return f(batch, collate_fn_map=collate_fn_map)
    if isinstance(first, Mapping):
        return _same_kind(first, {k: collate([x[k] for x in batch], collate_fn_map=collate_fn_map) for k in first})
    if isinstance(first, tuple) and hasattr(first, "_fields"):
        return kind(*[collate(x, collate_fn_map=collate_fn_map) for x in zip(*batch)])
    if isinstance(first, Sequence):
        n = len(first)
        if not all(len(x) == n for x in batch):
            raise RuntimeError("each element in list of batch should be of equal size")
        parts = [collate(x, collate_fn_map=collate_fn_map) for x in zip(*batch)]
        return parts if isinstance(first, tuple) else _same_kind(first, parts)
    raise TypeError(_NOT.format(kind))


def _same_kind(like, parts):
    """A container of the kind of another one, where that can be made."""
    kind = type(like)
    if kind in (dict, list):
        return parts
    try:
        if isinstance(like, (MutableMapping, MutableSequence)):
            out = copy.copy(like)
            if isinstance(parts, dict):
                out.update(parts)
            else:
                for i, x in enumerate(parts):
                    out[i] = x
            return out
        return kind(parts)
    except TypeError:
        return parts


def collate_tensor_fn(batch, *, collate_fn_map=None):
    """Stacked; samples that are there already, without history, are stacked at once, so that a batch is plain data to the programs that read it."""
    if batch[0].layout is not layouts.strided:
        raise RuntimeError("Batches of sparse tensors are not currently supported by the default collate_fn; please provide a custom collate_fn to handle them "
                           "appropriately.")
    if not isinstance(batch, (list, tuple)) or not all(type(t) in PLAIN for t in batch):
        from .... import stack

        return stack(batch, 0)  # which says what it takes, and asks subclasses
    values = [t._tl_v for t in batch]
    v = values[0]
    if all(t._tl_cell is None and type(x.array) is np.ndarray and x.aval is v.aval and not x.needs for t, x in zip(batch, values)):
        return from_array(np.stack([x.array for x in values]), v.aval.dtype)
    return _stack(list(batch), 0)


def collate_numpy_array_fn(batch, *, collate_fn_map=None):
    if _is_text(batch[0].dtype):
        raise TypeError(_NOT.format(batch[0].dtype))
    return collate([as_tensor(x) for x in batch], collate_fn_map=collate_fn_map)


def collate_numpy_scalar_fn(batch, *, collate_fn_map=None):
    return as_tensor(batch)


def collate_float_fn(batch, *, collate_fn_map=None):
    from ...._core.dtypes import float64

    return tensor(batch, dtype=float64)


def collate_int_fn(batch, *, collate_fn_map=None):
    return tensor(batch)


def collate_str_fn(batch, *, collate_fn_map=None):
    return batch


default_collate_fn_map = {
    Tensor: collate_tensor_fn, np.ndarray: collate_numpy_array_fn, (np.bool_, np.number, np.object_): collate_numpy_scalar_fn, float: collate_float_fn,
    int: collate_int_fn, str: collate_str_fn, bytes: collate_str_fn}
