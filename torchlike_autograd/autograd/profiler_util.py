"""torch.autograd.profiler_util (layer 7): events, their averages, tables."""

from __future__ import annotations

import enum
import json
import math
import os
from collections import defaultdict
from typing import NamedTuple

from .._core import publish as _publish
from .._core.saying import warn

__all__ = ["EventList", "FormattedTimesMixin", "FunctionEvent", "FunctionEventAvg", "Interval", "Kernel", "MemRecordsAcc", "StringTable"]


DeviceType = enum.Enum("DeviceType", ["CPU", "CUDA", "MKLDNN", "OPENGL", "OPENCL", "IDEEP", "HIP", "FPGA", "MAIA", "XLA", "Vulkan", "Metal", "XPU", "MPS",
                                      "Meta", "HPU", "VE", "Lazy", "IPU", "MTIA", "PrivateUse1"], module="torch._C._autograd", start=0)


def _format_time(time_us):
    """Microseconds as text."""
    for unit, n in (("s", 1_000_000.0), ("ms", 1000.0)):
        if time_us >= n:
            return f"{time_us / n:.3f}{unit}"
    return f"{time_us:.3f}us"


def _format_time_share(time_us, total_time_us):
    """A part as a percentage."""
    if total_time_us == 0:
        if time_us != 0:
            raise AssertionError(f"Expected time_us == 0 but got {time_us}")
        return "NaN"
    return f"{time_us * 100.0 / total_time_us:.2f}%"


def _format_memory(nbytes):
    """Bytes as text."""
    for unit, n in (("GB", 1024**3), ("MB", 1024**2), ("KB", 1024)):
        if abs(nbytes) >= n:
            return f"{nbytes * 1.0 / n:.2f} {unit}"
    return str(nbytes) + " B"


_PLAIN = str.maketrans(" ;\t\n", "____")


class Interval:
    """Two times in microseconds."""

    def __init__(self, start, end):
        self.start, self.end = start, end

    def elapsed_us(self):
        """Its length."""
        return self.end - self.start


class Kernel(NamedTuple):
    """Something that ran on another device."""

    name: str
    device: int
    duration: int


class StringTable(defaultdict):
    """Names shown as they are."""

    def __missing__(self, key):
        self[key] = key
        return key


class MemRecordsAcc:
    """Records of memory, by time; none are collected here."""

    def __init__(self, mem_records):
        self._records = sorted(mem_records, key=lambda r: r[0].start_ns())

    def in_interval(self, start_us, end_us):
        """Those in a time, which is compared with `start_ns()` as it is."""
        return (r for r in self._records if start_us <= r[0].start_ns() <= end_us)


class FormattedTimesMixin:
    """Times as text."""

    @property
    def cpu_time(self):
        """Average."""
        return 0.0 if self.count == 0 else 1.0 * self.cpu_time_total / self.count

    @property
    def device_time(self):
        """Average on another device."""
        return 0.0 if self.count == 0 else 1.0 * self.device_time_total / self.count

    cpu_time_str = property(lambda self: _format_time(self.cpu_time))
    cpu_time_total_str = property(lambda self: _format_time(self.cpu_time_total))
    self_cpu_time_total_str = property(lambda self: _format_time(self.self_cpu_time_total))
    device_time_str = property(lambda self: _format_time(self.device_time))
    device_time_total_str = property(lambda self: _format_time(self.device_time_total))
    self_device_time_total_str = property(lambda self: _format_time(self.self_device_time_total))

    @property
    def cuda_time(self):
        """`device_time` by its old name."""
        warn("`cuda_time` is deprecated, please use `device_time` instead.", FutureWarning)
        return self.device_time


def _renamed(old, new):
    """A property by its old name."""

    def get(self):
        warn(f"`{old}` is deprecated. Use `{new}` instead.", FutureWarning)
        return getattr(self, new)

    return property(get)


class FunctionEvent(FormattedTimesMixin):
    """One call, program, node or range of the user's own."""

    device_time_total = self_device_time_total = self_device_memory_usage = 0

    def __init__(self, id, name, thread, start_us, end_us, overload_name=None, fwd_thread=None, input_shapes=None, stack=None, scope=0, use_device=None,
                 cpu_memory_usage=0, device_memory_usage=0, is_async=False, is_remote=False, sequence_nr=-1, node_id=-1, device_type=DeviceType.CPU,
                 device_index=0, device_resource_id=None, is_legacy=False, flops=None, trace_name=None, concrete_inputs=None, kwinputs=None,
                 is_user_annotation=False, is_python_function=False, activity_type=None, metadata_json=None, flow_id=None, flow_type=None, flow_start=None,
                 external_id=0, linked_correlation_id=0, extra_meta=None, structured_input_shapes=None, structured_input_strides=None, input_dtypes=None,
                 python_id=-1, python_parent_id=-1, python_module_id=-1):
        self.id, self.name, self.trace_name, self.thread, self.overload_name = id, name, name if trace_name is None else trace_name, thread, overload_name
        self.cpu_memory_usage, self.device_memory_usage = cpu_memory_usage, device_memory_usage
        self.concrete_inputs, self.kwinputs, self.event_metadata, self.activity_type = concrete_inputs, kwinputs, metadata_json, activity_type
        self.device_type, self.device_index, self.external_id, self.is_python_function = device_type, device_index, external_id, is_python_function
        self.time_range, self.fwd_thread, self.count = Interval(start_us, end_us), fwd_thread, 1
        self.cpu_children, self.cpu_parent, self.kernels = [], None, []
        self.input_shapes, self.stack, self.scope = input_shapes, stack, scope
        self.is_async, self.is_remote, self.sequence_nr, self.node_id = is_async, is_remote, sequence_nr, node_id
        self.use_device, self.is_legacy, self.flops, self.is_user_annotation = use_device, is_legacy, flops, is_user_annotation

    @property
    def key(self):
        """What averages go by."""
        return self.name

    cuda_time_total = _renamed("cuda_time_total", "device_time_total")
    self_cuda_time_total = _renamed("self_cuda_time_total", "self_device_time_total")
    self_cuda_memory_usage = _renamed("self_cuda_memory_usage", "self_device_memory_usage")
    metadata_json = _renamed("metadata_json", "event_metadata")

    def append_kernel(self, name, device, duration):
        """Note a kernel of another device."""
        self.kernels.append(Kernel(name, device, duration))

    def append_cpu_child(self, child):
        """Note an event that lies inside."""
        self.cpu_children.append(child)

    def set_cpu_parent(self, parent):
        """Note the event that this lies in."""
        self.cpu_parent = parent

    @property
    def cpu_time_total(self):
        """Its length."""
        return self.time_range.elapsed_us()

    @property
    def self_cpu_time_total(self):
        """Its length without what lies inside."""
        return self.cpu_time_total - sum(c.cpu_time_total for c in self.cpu_children)

    @property
    def self_cpu_memory_usage(self):
        """Its bytes without those of what lies inside."""
        return self.cpu_memory_usage - sum(c.cpu_memory_usage for c in self.cpu_children)

    def __repr__(self):
        return (f"<FunctionEvent id={self.id} name={self.name} overload_name={self.overload_name or ''} node_id={self.node_id} cpu_time={self.cpu_time_str} "
                f"start_us={self.time_range.start} end_us={self.time_range.end} cpu_children={[c.id for c in self.cpu_children]} thread={self.thread} "
                f"input_shapes={self.input_shapes} is_async={self.is_async} is_remote={self.is_remote} seq_nr={self.sequence_nr} is_legacy={self.is_legacy}>")


class FunctionEventAvg(FormattedTimesMixin):
    """Events of one key, added up."""

    def __init__(self):
        self.key = None
        self.count = self.cpu_time_total = self.self_cpu_time_total = self.device_time_total = self.self_device_time_total = 0
        self.input_shapes = self.stack = self.overload_name = self.scope = self.cpu_parent = self.cpu_children = None
        self.cpu_memory_usage = self.device_memory_usage = self.self_cpu_memory_usage = self.self_device_memory_usage = self.flops = 0
        self.node_id, self.is_async, self.is_remote, self.is_legacy = 0, False, False, False
        self.device_type, self.use_device, self.is_user_annotation = None, None, False

    def add(self, other):
        """Add an event or an average of the same key."""
        if self.key is None:
            self.key, self.input_shapes, self.stack, self.scope = other.key, other.input_shapes, other.stack, other.scope
            self.node_id, self.is_async, self.is_remote = other.node_id, other.is_async, other.is_remote
            self.cpu_parent, self.cpu_children = other.cpu_parent, other.cpu_children
            self.device_type, self.use_device, self.is_user_annotation = other.device_type, other.use_device, other.is_user_annotation
        if not isinstance(other, (FunctionEvent, FunctionEventAvg)):
            raise AssertionError("Expected a FunctionEvent or a FunctionEventAvg")
        if other.key != self.key:
            raise AssertionError(f"Expected keys to match, but got {other.key} vs {self.key}")
        self.cpu_time_total, self.self_cpu_time_total = self.cpu_time_total + other.cpu_time_total, self.self_cpu_time_total + other.self_cpu_time_total
        self.cpu_memory_usage += other.cpu_memory_usage
        self.self_cpu_memory_usage += other.self_cpu_memory_usage
        self.count += other.count
        self.flops += other.flops or 0
        return self

    __iadd__ = add

    def __repr__(self):
        return (f"<FunctionEventAvg key={self.key} self_cpu_time={self.self_cpu_time_total_str} cpu_time={self.cpu_time_str}  self_cuda_time=0.000us "
                f"cuda_time=0.000us input_shapes={self.input_shapes} cpu_memory_usage={self.cpu_memory_usage} cuda_memory_usage=0>")


class EventList(list):
    """Events with tables, averages and a trace."""

    def __init__(self, *args, use_device=None, profile_memory=False, with_flops=False, **more):
        super().__init__(*args)
        self._use_device, self._profile_memory, self._with_flops, self._tree_built = use_device, profile_memory, with_flops, False

    def _build_tree(self):
        self._populate_cpu_children()
        self._tree_built = True

    def _populate_cpu_children(self):
        """Put each event inside the smallest one of its thread that holds it."""
        by_thread = defaultdict(list)
        for e in self:
            if not e.is_async:
                by_thread[e.thread, e.node_id].append(e)
        for events in by_thread.values():
            around = []
            for e in sorted(events, key=lambda e: (e.time_range.start, -e.time_range.end)):
                while around and (e.time_range.start >= around[-1].time_range.end or e.time_range.end > around[-1].time_range.end):
                    around.pop()
                if around:
                    around[-1].append_cpu_child(e)
                    if e.cpu_parent is not None:
                        raise AssertionError(f"There is already a CPU parent event for {e.key}")
                    e.set_cpu_parent(around[-1])
                around.append(e)

    @property
    def self_cpu_time_total(self):
        """The sum of all times, each counted once."""
        return sum(e.self_cpu_time_total for e in self)

    def key_averages(self, group_by_input_shape=False, group_by_stack_n=0, group_by_overload_name=False):
        """Averages by name (and shapes)."""
        stats = {}
        for e in self:
            stats.setdefault((e.key, str(e.input_shapes) if group_by_input_shape else ""), FunctionEventAvg()).add(e)
        out = EventList(stats.values(), use_device=self._use_device, profile_memory=self._profile_memory, with_flops=self._with_flops)
        for e in out:
            if not group_by_input_shape:
                e.input_shapes = ""
        return out

    def total_average(self):
        """One average of all."""
        out = FunctionEventAvg()
        for e in self:
            out.key = e.key
            out.add(e)
        out.key = "Total"
        return out

    def table(self, sort_by=None, row_limit=100, max_src_column_width=75, max_name_column_width=55, max_shapes_column_width=80, header=None,
              top_level_events_only=False, time_unit=None):
        """The events as text, sorted by an attribute."""
        return _table(self, sort_by, row_limit, max_name_column_width, max_shapes_column_width, header, top_level_events_only)

    def __str__(self):
        return self.table()

    def export_chrome_trace(self, path):
        """Write a trace for chrome://tracing and Perfetto."""
        pid = os.getpid()
        events = [{"ph": "X", "cat": "user_annotation" if e.is_user_annotation else "cpu_op", "name": e.trace_name, "pid": pid, "tid": e.thread,
                   "ts": e.time_range.start, "dur": e.time_range.elapsed_us(), "args": {"External id": e.id, "Input Dims": e.input_shapes or [],
                                                                                       "Sequence number": e.sequence_nr}} for e in self]
        with open(path, "w") as f:
            json.dump({"schemaVersion": 1, "displayTimeUnit": "ms", "traceEvents": events}, f)

    def export_stacks(self, path, metric):
        """Write one line for each event that has a stack: its places from outside to inside, and the time that `metric` names, where there is any."""
        known = self.supported_export_stacks_metrics()
        if metric not in known:
            raise ValueError(f"metric should be one of: {known}")
        with open(path, "w") as f:
            for e in self:
                time = int(getattr(e, metric.replace("cuda", "device").replace("xpu", "device").replace("privateuse1", "device")))
                if e.stack and time > 0:
                    places = ";".join(place.translate(_PLAIN) for place in reversed(e.stack))
                    f.write(f"{places} {time}\n")

    def supported_export_stacks_metrics(self):
        """By what stacks could be weighed."""
        return ["self_cpu_time_total", "self_cuda_time_total", "self_xpu_time_total", "self_privateuse1_time_total"]


_FLOPS = ("FLOPs", "KFLOPs", "MFLOPs", "GFLOPs", "TFLOPs", "PFLOPs")


def _table(events, sort_by, limit, name_limit, shapes_limit, header, top_only):
    if len(events) == 0:
        return ""
    memory, counted = events._profile_memory, [e.flops for e in events if e.flops] if events._with_flops else []
    if sort_by is not None:
        events = sorted(events, key=lambda e: getattr(e, sort_by.replace("cuda", "device")), reverse=True)
    total = sum(e.self_cpu_time_total for e in events)
    shaped = any(e.input_shapes is not None and len(e.input_shapes) > 0 for e in events)
    shown = [e for e in events if not (top_only and e.cpu_parent is not None)][:limit if limit > 0 else None]
    width = min(max(len(e.key) for e in events) + 4, name_limit)
    titles = ["Name", "Self CPU %", "Self CPU", "CPU total %", "CPU total", "CPU time avg", *(["CPU Mem", "Self CPU Mem"] if memory else []), "# of Calls"]
    widths = [width, *[12] * (len(titles) - 1)]
    if shaped:
        titles.append("Input Shapes")
        widths.append(min(max(len(str(e.input_shapes)) for e in events) + 4, shapes_limit))
    if counted:
        unit = max(0, min(int(math.log10(min(counted)) / 3), len(_FLOPS) - 1))
        titles.append(f"Total {_FLOPS[unit]}")
        widths.append(max(len(titles[-1]), 12))
    line = "".join("-" * w + "  " for w in widths)
    row = lambda cells: "".join(f"{c: >{w}}  " for c, w in zip(cells, widths))  # noqa: E731
    out = [] if header is None else ["=" * (len(line) - 2), header]
    out += [line, row(titles), line]
    for e in shown:
        name = e.key if len(e.key) <= name_limit - 3 or name_limit is None else e.key[:name_limit - 3] + "..."
        share = _format_time_share(e.cpu_time_total, total) if not e.is_async else 0
        cells = [name, _format_time_share(e.self_cpu_time_total, total), e.self_cpu_time_total_str, share, e.cpu_time_total_str, e.cpu_time_str]
        cells += [_format_memory(e.cpu_memory_usage), _format_memory(e.self_cpu_memory_usage)] if memory else []
        cells += [e.count, *([str(e.input_shapes)[:shapes_limit]] if shaped else [])]
        cells += [f"{e.flops / 1000 ** unit:8.3f}" if e.flops else "--"] if counted else []
        out.append(row(cells))
    out += [line, f"Self CPU time total: {_format_time(total)}", ""]
    return "\n".join(out)


__getattr__ = _publish.missing("torch.autograd.profiler_util")
