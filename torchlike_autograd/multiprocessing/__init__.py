"""torch.multiprocessing (layer 8): Python's own; tensors travel as pickles, memory is not shared.

XLA has threads, so children are best started by "spawn" or "forkserver".
"""

from __future__ import annotations

import multiprocessing as _python

# Programs name these submodules after `import torch` alone, which imports them.
import multiprocessing.connection
import multiprocessing.resource_sharer
import multiprocessing.spawn
from concurrent import futures as _futures  # noqa: F401
from multiprocessing import *  # noqa: F403

from .._core import publish as _publish
from .spawn import ProcessContext, ProcessExitedException, ProcessRaisedException, spawn, start_processes  # noqa: F401

__all__ = ["ProcessExitedException", "ProcessRaisedException", "get_all_sharing_strategies", "get_sharing_strategy", "set_sharing_strategy", "spawn",
           "start_processes", *_python.__all__]
_strategy = ["file_descriptor"]


def get_all_sharing_strategies():
    """torch's names of how memory could be shared."""
    return {"file_descriptor", "file_system"}


def get_sharing_strategy():
    """What was set."""
    return _strategy[0]


def set_sharing_strategy(new_strategy):
    """Remembered; memory is not shared."""
    assert new_strategy in get_all_sharing_strategies()
    _strategy[0] = new_strategy


__getattr__ = _publish.missing("torch.multiprocessing")
