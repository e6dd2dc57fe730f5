"""torch.distributed.checkpoint (layer 9): nested states saved to a folder and read back into the tensors that are there, by one process.

What describes parts of tensors on several processes (planners, sharded metadata) is not here: a process sees whole tensors.
"""

from __future__ import annotations

import traceback
import warnings

import torchlike_autograd as torch

from ..._core import publish as _publish
from ..distributed_c10d import is_available, is_initialized
from . import filesystem, stateful
from .filesystem import FileSystemReader, FileSystemWriter, Metadata
from .stateful import Stateful

__all__ = ["CheckpointException", "FileSystemReader", "FileSystemWriter", "Metadata", "Stateful", "filesystem", "load", "save", "stateful"]


class CheckpointException(BaseException):
    """What failed, for each process: `failures`, {rank: (exception, its traceback)}."""

    def __init__(self, msg, failures):
        super().__init__(msg, failures)
        self._failures = failures

    @property
    def failures(self):
        """{rank: (exception, its traceback)}."""
        return self._failures

    def __str__(self):
        told = [f"CheckpointException ranks:{self._failures.keys()}\n"]
        for rank, (e, where) in self._failures.items():
            told += [f"Traceback (most recent call last): (RANK {rank})\n", *(traceback.format_list(where) if where else ()),
                     *traceback.format_exception_only(type(e), value=e)]
        return "".join(told)


def _alone(intent):
    if not (is_available() and is_initialized()):
        warnings.warn(f"torch.distributed is disabled, unavailable or uninitialized, assuming the intent is to {intent} in a single process.", stacklevel=3)


def _walk(value, path=()):
    """(path, container, key, value) of the leaves: dictionaries are gone into, and lists that hold tensors."""
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, inner in items:
        here = (*path, str(key))
        tensors = isinstance(inner, list) and any(isinstance(x, (torch.Tensor, dict, list)) for x in inner)
        if isinstance(inner, (dict, list)) and inner and (tensors or isinstance(inner, dict)):
            yield from _walk(inner, here)
        else:
            yield ".".join(here), value, key, inner


def _place(given, id_, cls):
    if given is None and id_ is None:
        raise RuntimeError("`checkpoint_id` must be specified if storage_reader/storage_writer is None.")
    if given is not None and id_ is not None:
        given.path = str(id_)
    return cls(id_) if given is None else given


def _states(state_dict):
    return {k: v.state_dict() if isinstance(v, Stateful) else v for k, v in state_dict.items()}


def save(state_dict, *, checkpoint_id=None, storage_writer=None, planner=None, process_group=None, no_dist=False, use_collectives=True):
    """Write a nested state; objects with `state_dict` give theirs."""
    _alone("save")
    place = _place(storage_writer, checkpoint_id, FileSystemWriter)
    try:
        return place.write({path: v.detach() if isinstance(v, torch.Tensor) else v for path, _, _, v in _walk(_states(state_dict))})
    except Exception as e:
        raise CheckpointException("write", {0: (e, traceback.extract_tb(e.__traceback__))}) from e


def _fill(states, found):
    leaves = list(_walk(states))
    for path, _, _, value in leaves:
        if path not in found:
            raise RuntimeError(f"Missing key in checkpoint state_dict: {path}.")
        if isinstance(value, torch.Tensor) and found[path].shape != value.shape:
            raise ValueError(f"Size mismatch between saved {found[path].shape} and current: {value.shape} for {path}")
    for path, container, key, value in leaves:
        if isinstance(value, torch.Tensor):
            value.detach().copy_(found[path])
        else:
            container[key] = found[path]


def load(state_dict, *, checkpoint_id=None, storage_reader=None, planner=None, process_group=None, no_dist=False):
    """Read into a nested state: its tensors are written to, its other values replaced, objects with `load_state_dict` handed theirs."""
    _alone("load")
    place, states = _place(storage_reader, checkpoint_id, FileSystemReader), _states(state_dict)
    try:
        _fill(states, place.read())
    except Exception as e:
        raise CheckpointException("read", {0: (e, traceback.extract_tb(e.__traceback__))}) from e
    for key, value in state_dict.items():
        if isinstance(value, Stateful):
            value.load_state_dict(states[key])
        else:
            state_dict[key] = states[key]


__getattr__ = _publish.missing("torch.distributed.checkpoint")
