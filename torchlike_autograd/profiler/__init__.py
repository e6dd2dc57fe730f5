"""torch.profiler (layer 8): profiles with a schedule over torch.autograd.profiler."""

from __future__ import annotations

import enum
import gzip
import json
import os
import socket
import time

from .._C._profiler import _ExperimentalConfig  # noqa: F401
from .._core import publish as _publish
from ..autograd import profiler as _profiler
from ..autograd.profiler import kineto_available, record_function
from ..autograd.profiler_util import DeviceType
from . import itt  # noqa: F401

__all__ = ["DeviceType", "ProfilerAction", "ProfilerActivity", "kineto_available", "profile", "record_function", "schedule", "supported_activities",
           "tensorboard_trace_handler"]


class ProfilerActivity(enum.Enum):
    """What can be listened to; here all of it is on the host."""

    CPU = 0
    XPU = 1
    CUDA = 3


_STEPS = "ProfilerStep"  # who counts steps


class ProfilerAction(enum.Enum):
    """What a profile does in a step."""

    NONE = 0
    WARMUP = 1
    RECORD = 2
    RECORD_AND_SAVE = 3


def supported_activities():
    """Those that there are."""
    return {ProfilerActivity.CPU}


def schedule(*, wait, warmup, active, repeat=0, skip_first=0, skip_first_wait=0):
    """step -> action: skip, wait, warm up, record; again and again, or `repeat` times."""
    if not (wait >= 0 and warmup >= 0 and active > 0 and repeat >= 0 and skip_first >= 0):
        raise AssertionError(f"Invalid profiler schedule arguments. Got {wait=} (need >= 0), {warmup=} (need >= 0), {active=} (need > 0), "
                             f"{repeat=} (need >= 0), {skip_first=} (need >= 0).")

    def action(step):
        if step < 0:
            raise AssertionError(f"Step must be non-negative. Got {step}.")
        if step < skip_first:
            return ProfilerAction.NONE
        step -= skip_first
        if skip_first_wait:
            step += wait
        turn, at = divmod(step, wait + warmup + active)
        if repeat > 0 and turn >= repeat:
            return ProfilerAction.NONE
        if at < wait:
            return ProfilerAction.NONE
        if at < wait + warmup:
            return ProfilerAction.WARMUP
        return ProfilerAction.RECORD if at < wait + warmup + active - 1 else ProfilerAction.RECORD_AND_SAVE

    return action


def tensorboard_trace_handler(dir_name, worker_name=None, use_gzip=False):
    """An `on_trace_ready` that writes a trace file into a folder."""

    def handler(prof):
        os.makedirs(dir_name, exist_ok=True)
        name = worker_name or f"{socket.gethostname()}_{os.getpid()}"
        prof.export_chrome_trace(os.path.join(dir_name, f"{name}.{time.time_ns()}.pt.trace.json{'.gz' if use_gzip else ''}"))

    return handler


class profile:
    """A profile over steps: `step()` after each; `on_trace_ready(profile)` when a turn of the schedule has ended."""

    def __init__(self, *, activities=None, schedule=None, on_trace_ready=None, record_shapes=False, profile_memory=False, with_stack=False, with_flops=False,
                 with_modules=False, experimental_config=None, execution_trace_observer=None, acc_events=False, use_cuda=None, custom_trace_id_callback=None,
                 **more):
        self.activities = supported_activities() if activities is None else set(activities)
        if not self.activities:
            raise AssertionError("No valid profiler activities found")
        self.with_flops, self.profile_memory = with_flops, profile_memory
        self.record_shapes, self.with_stack, self.experimental_config = record_shapes, with_stack, experimental_config
        self.on_trace_ready, self.acc_events, self.custom_trace_id_callback = on_trace_ready, acc_events, custom_trace_id_callback
        self.schedule = schedule or (lambda step: ProfilerAction.RECORD)
        self.record_steps = schedule is not None
        self.step_num, self.profiler, self._range = 0, None, None
        self.current_action = self.schedule(0)
        self._metadata, self.preset_metadata, self._earlier = {}, {}, []
        _profiler.KinetoStepTracker.init_step_count(_STEPS)

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *exc):
        self.stop()
        _profiler.KinetoStepTracker.erase_step_count(_STEPS)

    def start(self):
        """Begin with the action of the first step."""
        _begin(self)
        _begin_range(self)

    def stop(self):
        """End; a turn that records is handed over."""
        _end_range(self)
        if self.current_action in (ProfilerAction.RECORD, ProfilerAction.RECORD_AND_SAVE):
            _end(self, True)

    def step(self):
        """The next step begins."""
        _end_range(self)
        before = self.current_action
        self.step_num += 1
        self.current_action = self.schedule(self.step_num)
        if before == ProfilerAction.RECORD_AND_SAVE:
            _end(self, True)
        recording = (ProfilerAction.RECORD, ProfilerAction.RECORD_AND_SAVE)
        if self.current_action in recording and (before not in recording or before == ProfilerAction.RECORD_AND_SAVE):
            _begin(self)
        if os.environ.get("KINETO_USE_DAEMON"):
            _profiler.KinetoStepTracker.increment_step(_STEPS)
        _begin_range(self)

    def set_custom_trace_id_callback(self, callback):
        """Let `callback` name the traces that begin from now on."""
        self.custom_trace_id_callback = callback

    def get_trace_id(self):
        """The name of the trace; None before there is one."""
        return None if self.profiler is None else self.profiler.trace_id

    def events(self):
        """The events of the last turn."""
        _done(self, "accessing events")._tl_check_finish()
        return self.profiler.function_events

    def key_averages(self, *args, **kwargs):
        """Averages by name."""
        return _done(self, "getting key averages").key_averages(*args, **kwargs)

    def export_chrome_trace(self, path):
        """Write a trace with the notes, packed where the name ends in .gz."""
        profiled = _done(self, "exporting chrome trace")
        profiled.export_chrome_trace(path)
        with open(path) as f:
            trace = {**json.load(f), **self._metadata}
        with gzip.open(path, "wt") if path.endswith(".gz") else open(path, "w") as f:
            json.dump(trace, f)

    def export_stacks(self, path, metric="self_cpu_time_total"):
        """As that of torch.autograd.profiler."""
        return _done(self, "exporting stacks").export_stacks(path, metric)

    def add_metadata(self, key, value):
        """A note, text, for the trace."""
        self._metadata[key] = value

    def add_metadata_json(self, key, value):
        """A note, written in JSON, for the trace."""
        self._metadata[key] = json.loads(value)

    def preset_metadata_json(self, key, value):
        """A note, written in JSON, for the traces that begin from now on."""
        self.preset_metadata[key] = value


def _done(profiled, doing):
    if profiled.profiler is None:
        raise AssertionError(f"Profiler must be initialized before {doing}")
    return profiled.profiler


def _end_range(profiled):
    if profiled._range is not None:
        profiled._range.__exit__(None, None, None)
        profiled._range = None


def _begin_range(profiled):
    if profiled.record_steps:
        profiled._range = record_function(f"ProfilerStep#{profiled.step_num}")
        profiled._range.__enter__()


def _end(profiled, ready):
    if profiled.profiler is not None and profiled.profiler.function_events is None:
        profiled.profiler.__exit__(None, None, None)
        if profiled.acc_events:
            events = profiled.profiler.function_events
            events[:0] = profiled._earlier
            profiled._earlier = list(events)
        if ready and profiled.on_trace_ready is not None:
            profiled.on_trace_ready(profiled)


def _begin(profiled):
    if profiled.current_action in (ProfilerAction.RECORD, ProfilerAction.RECORD_AND_SAVE):
        profiled.profiler = _profiler.profile(record_shapes=profiled.record_shapes, with_stack=profiled.with_stack,
                                              with_flops=profiled.with_flops, profile_memory=profiled.profile_memory,
                                              custom_trace_id_callback=profiled.custom_trace_id_callback)
        profiled._metadata.update({k: json.loads(v) for k, v in profiled.preset_metadata.items()})
        profiled.profiler.__enter__()


__getattr__ = _publish.missing("torch.profiler")
