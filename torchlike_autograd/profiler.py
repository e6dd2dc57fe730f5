"""torch.profiler (layer 8): regions can be named; recording them is JAX's profiler's."""

from __future__ import annotations

import enum

from ._core import publish as _publish
from .autograd.profiler import profile, record_function

__all__ = ["ProfilerAction", "ProfilerActivity", "kineto_available", "profile", "record_function", "schedule", "supported_activities",
           "tensorboard_trace_handler"]


class ProfilerActivity(enum.Enum):
    """What could be recorded."""

    CPU, XPU, MTIA, CUDA, HPU, PrivateUse1 = range(6)


class ProfilerAction(enum.Enum):
    """What happens in a step."""

    NONE, WARMUP, RECORD, RECORD_AND_SAVE = range(4)


def supported_activities():
    """What can be recorded: nothing."""
    return set()


def kineto_available() -> bool:
    """Whether PyTorch's recorder is there."""
    return False


def schedule(*, wait, warmup, active, repeat=0, skip_first=0, skip_first_wait=0):
    """A function from step numbers to actions: cycles of `wait`, `warmup` and `active` steps."""
    assert wait >= 0 and warmup >= 0 and active > 0 and repeat >= 0 and skip_first >= 0, "Invalid profiler schedule arguments"
    cycle = wait + warmup + active

    def action(step):
        assert step >= 0
        at = step - skip_first
        if at < 0:
            return ProfilerAction.NONE
        if skip_first_wait:
            at += wait
        turn, at = divmod(at, cycle)
        if (repeat and turn >= repeat) or at < wait:
            return ProfilerAction.NONE
        if at < wait + warmup:
            return ProfilerAction.WARMUP
        return ProfilerAction.RECORD_AND_SAVE if at == cycle - 1 else ProfilerAction.RECORD

    return action


def tensorboard_trace_handler(dir_name, worker_name=None, use_gzip=False):
    """NotImplementedError: nothing is recorded."""
    raise NotImplementedError("torch.profiler.tensorboard_trace_handler: use jax.profiler.start_trace(dir_name)")


__getattr__ = _publish.missing("torch.profiler")
