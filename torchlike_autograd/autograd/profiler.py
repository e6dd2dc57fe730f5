"""torch.autograd.profiler (layer 7): times of calls, of the programs that compute them, of backward nodes, and of ranges that the user names.

What differs: recording a call and computing it are different times.  A call's own event (`aten::mul`) is what it took to record; `torchlike::program` events
are what it took to run everything pending, with the number of calls as their sequence number.  A profile listens to the thread that entered it.
`profile_memory` tells what the results of calls take, on whatever device; when they are let go is not told.  `with_flops` counts the operators that PyTorch
counts, convolutions of any dims and under their own name.
"""

from __future__ import annotations

import functools
import time
import uuid

import jax

from .._core import profiling
from .._core import publish as _publish
from .profiler_util import EventList, FunctionEvent, FunctionEventAvg, MemRecordsAcc, _format_time  # noqa: F401

__all__ = ["EnforceUnique", "EventList", "FunctionEvent", "KinetoStepTracker", "MemRecordsAcc", "emit_itt", "emit_nvtx", "profile", "record_function"]

_is_profiler_enabled = False  # whether a profile is entered


class profile:
    """Collects events inside; `function_events`, `key_averages().table()`, `export_chrome_trace(path)` after."""

    def __init__(self, enabled=True, *, use_cuda=False, use_device=None, record_shapes=False, with_flops=False, profile_memory=False, with_stack=False,
                 with_modules=False, use_kineto=False, use_cpu=True, custom_trace_id_callback=None, **more):
        self.enabled, self.record_shapes, self.entered, self.with_stack = enabled, record_shapes, False, with_stack
        self.custom_trace_id_callback, self.trace_id = custom_trace_id_callback, ""
        self.with_flops, self.profile_memory = with_flops, profile_memory
        self._function_events = self._collector = self._before = None

    def __enter__(self):
        if not self.enabled:
            return None
        if self.entered:
            raise RuntimeError("Profiler context manager is not reentrant")
        self.entered, self.trace_id = True, self.create_trace_id()
        self._collector = profiling.Collector(self.record_shapes, counts=self.with_flops or self.profile_memory)
        self._before = profiling.start(self._collector)
        _tell(True)
        return self

    def __exit__(self, *exc):
        if not self.enabled:
            return False
        _tell(False)
        profiling.stop(self._before)
        self._function_events = events_of(self._collector, self.profile_memory, self.with_flops)
        return False

    @property
    def function_events(self):
        """The events; None before the end."""
        return self._function_events

    def create_trace_id(self):
        """The name of a trace: what `custom_trace_id_callback` says, otherwise a number."""
        return self.custom_trace_id_callback() if self.custom_trace_id_callback else self.default_trace_id()

    def default_trace_id(self):
        """A number for a trace, as 32 hexadecimal digits."""
        return uuid.uuid4().hex.upper()

    def export_stacks(self, path, metric="self_cpu_time_total"):
        """AssertionError without `with_stack`; NotImplementedError with it: stacks are not kept."""
        self._tl_check_finish()
        if not self.with_stack:
            raise AssertionError("export_stacks() requires with_stack=True")
        raise NotImplementedError("torch.autograd.profiler.profile.export_stacks: stacks are not kept here")

    def config(self, create_trace_id=False):
        """NotImplementedError: the settings of PyTorch's own profiler, which is not beneath."""
        raise NotImplementedError("torch.autograd.profiler.profile.config: PyTorch's own profiler is not beneath")

    def toggle_collection_dynamic(self, enabled, activities):
        """NotImplementedError: what is collected is not changed midway."""
        raise NotImplementedError("torch.autograd.profiler.profile.toggle_collection_dynamic: what is collected is not changed midway")

    def _tl_check_finish(self):
        if self.function_events is None:
            raise RuntimeError("Profiler didn't finish running")

    def __repr__(self):
        return "<unfinished torch.autograd.profile>" if self.function_events is None else repr(self.function_events)

    def __str__(self):
        return "<unfinished torch.autograd.profile>" if self.function_events is None else str(self.function_events)

    @property
    def self_cpu_time_total(self):
        """The sum of all times, each counted once."""
        self._tl_check_finish()
        return self.function_events.self_cpu_time_total

    def table(self, *args, **kwargs):
        """The events as text."""
        self._tl_check_finish()
        return self.function_events.table(*args, **kwargs)

    def key_averages(self, *args, **kwargs):
        """Averages by name."""
        self._tl_check_finish()
        return self.function_events.key_averages(*args, **kwargs)

    def total_average(self):
        """One average of all."""
        self._tl_check_finish()
        return self.function_events.total_average()

    def export_chrome_trace(self, path):
        """Write a trace."""
        self._tl_check_finish()
        self.function_events.export_chrome_trace(path)


def _tell(enabled):
    global _is_profiler_enabled
    _is_profiler_enabled = enabled


def events_of(collector, profile_memory=False, with_flops=False):
    """What was collected, by start, in microseconds since the beginning; memory: the bytes of what a call, and those inside of it, made."""
    out = EventList(profile_memory=profile_memory, with_flops=with_flops)
    ordered = sorted(collector.events, key=lambda e: (e[1], -e[2]))
    for i, (name, start, end, thread, shapes, kind, number, about) in enumerate(ordered, 1):
        common = "ProfilerStep*" if name.startswith("ProfilerStep#") else name  # steps are averaged as one, only a trace numbers them
        out.append(FunctionEvent(i, common, thread, (start - collector.origin) / 1000, (end - collector.origin) / 1000, input_shapes=shapes, sequence_nr=number,
                                 is_user_annotation=kind == "user_annotation", fwd_thread=thread if kind == "node" else 0,
                                 cpu_memory_usage=about.get("bytes", 0) if profile_memory else 0, flops=about.get("flops", 0) if with_flops else 0,
                                 trace_name=name))
    out._build_tree()
    for e in reversed(out):
        if e.cpu_parent is not None:
            e.cpu_parent.cpu_memory_usage += e.cpu_memory_usage
    return out


class record_function:
    """A named range in a profile (and in JAX's, where one runs); also a decorator."""

    def __init__(self, name, args=None):
        self.name, self.args, self._open = name, args, []

    def __enter__(self):
        collector = profiling.current()
        if collector is not None:
            annotation = jax.profiler.TraceAnnotation(self.name)
            annotation.__enter__()
            self._open.append((collector, time.perf_counter_ns(), annotation))
        return self

    def __exit__(self, *exc):
        if self._open:
            collector, start, annotation = self._open.pop()
            annotation.__exit__(*exc)
            collector.add(self.name, start, kind="user_annotation")

    def __call__(self, f):
        @functools.wraps(f)
        def named(*args, **kwargs):
            with record_function(self.name, self.args):
                return f(*args, **kwargs)

        return named


class emit_itt:
    """Lets every call show in a running trace of JAX's profiler, which is where ranges of other tools go here."""

    def __init__(self, enabled=True, record_shapes=False):
        self.enabled, self.record_shapes, self._before = enabled, record_shapes, None

    def __enter__(self):
        if self.enabled:
            self._before = profiling.start(profiling.Collector(self.record_shapes))
            self._annotation = jax.profiler.TraceAnnotation(type(self).__name__)
            self._annotation.__enter__()
        return self

    def __exit__(self, *exc):
        if self.enabled:
            self._annotation.__exit__(*exc)
            profiling.stop(self._before)


class emit_nvtx(emit_itt):
    """AssertionError where it is enabled: there is no CUDA in PyTorch's sense here."""

    def __enter__(self):
        if self.enabled:
            raise AssertionError("Torch not compiled with CUDA enabled")
        return self


class EnforceUnique:
    """RuntimeError where something is seen twice."""

    def __init__(self):
        self.seen = set()

    def see(self, *key):
        """Note a key."""
        if key in self.seen:
            raise RuntimeError(f"duplicate key: {key}")
        self.seen.add(key)


class KinetoStepTracker:
    """Counts the steps of profiles."""

    _current_step = 0
    _step_dict: dict = {}  # requester -> its own steps

    @classmethod
    def init_step_count(cls, requester):
        """Let a requester count on from here."""
        cls._step_dict[requester] = cls._current_step

    @classmethod
    def erase_step_count(cls, requester):
        """Forget a requester; whether it was known."""
        return cls._step_dict.pop(requester, None) is not None

    @classmethod
    def increment_step(cls, requester):
        """One more for a requester; all together are at the largest count."""
        if requester not in cls._step_dict:
            cls.init_step_count(requester)
        cls._step_dict[requester] += 1
        cls._current_step = max(cls._current_step, *cls._step_dict.values())
        return cls._current_step

    @classmethod
    def current_step(cls):
        """How many."""
        return cls._current_step


def kineto_available():
    """True: events are collected, without Kineto."""
    return True


__getattr__ = _publish.missing("torch.autograd.profiler")
