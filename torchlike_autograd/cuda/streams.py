"""torch.cuda.streams (layer 8): XLA orders a device's work by itself, so that every stream is the same one queue.

Waiting for a stream runs what is pending and waits for the device; an event that is recorded does the same, so that the time between two of them is that of the
work between them.
"""

from __future__ import annotations

import time

from .._core import devices as _devices
from .._core import publish as _publish
from ._need import is_available, lacks, number, with_device

__all__ = ["Event", "ExternalStream", "Stream"]


def wait(device=None):
    """Run what is pending and wait until a device has done it."""
    import jax

    from .._core import execute

    execute.flush()
    jax.device_put(0, _devices.devices_of("cuda")[number(device)]).block_until_ready()


class Stream:
    """The one queue of a device."""

    def __init__(self, device=None, priority=0, **kwargs):
        if not is_available():
            raise RuntimeError("torch.cuda.Stream requires CUDA support")
        self.device_index, self.priority = number(device), priority

    @property
    def device(self):
        """The device whose queue it is."""
        return _devices.device("cuda", self.device_index)

    def query(self) -> bool:
        """Whether all is done: it is waited for."""
        self.synchronize()
        return True

    def synchronize(self) -> None:
        """Wait until all is done."""
        wait(self.device_index)

    def record_event(self, event=None):
        """Record an event, a new one by default, and return it."""
        event = Event() if event is None else event
        event.record(self)
        return event

    def wait_event(self, event) -> None:
        """Nothing: what comes later runs later."""

    def wait_stream(self, stream) -> None:
        """Nothing: what comes later runs later."""

    def __eq__(self, other):
        return isinstance(other, Stream) and self.device_index == other.device_index

    def __hash__(self):
        return hash(self.device_index)


class ExternalStream(Stream):
    """A queue made elsewhere: refused."""

    def __init__(self, stream_ptr, device=None, **kwargs):
        if not is_available():
            raise RuntimeError("PyTorch was compiled without CUDA support")
        raise NotImplementedError("torch.cuda.ExternalStream: XLA orders the device's work by itself")


class Event:
    """A point in the queue of a device, and the time at which it was reached."""

    def __init__(self, enable_timing=False, blocking=False, interprocess=False, external=False):
        if not is_available():
            raise RuntimeError("Tried to instantiate dummy base class Event")
        self._at, self._timed = None, enable_timing

    def record(self, stream=None):
        """Wait for what came before, and note the time."""
        wait(None if stream is None else stream.device_index)
        self._at = time.perf_counter()

    def elapsed_time(self, end_event):
        """Milliseconds from this event to a later one; ValueError where one was not recorded or does not keep the time."""
        if not (self._timed and end_event._timed):
            raise ValueError("Both events must be created with argument 'enable_timing=True'.")
        if self._at is None or end_event._at is None:
            raise ValueError("Both events must be recorded before calculating elapsed time.")
        return (end_event._at - self._at) * 1000

    def query(self) -> bool:
        """Whether the point was reached: recording waits for it."""
        return True

    def synchronize(self) -> None:
        """Nothing: recording waits."""

    def wait(self, stream=None) -> None:
        """Nothing: what comes later runs later."""

    @classmethod
    def from_ipc_handle(cls, device, handle):
        """Events of other processes: refused."""
        lacks("_CudaEventBase.from_ipc_handle")

    def ipc_handle(self):
        """For other processes: refused."""
        lacks("_CudaEventBase.ipc_handle")


class StreamContext:
    """A context in which a stream is current: the one that there is."""

    def __init__(self, stream):
        self.stream = stream

    def __enter__(self):
        return None

    def __exit__(self, type, value, traceback):
        return None


def stream(stream):
    """`StreamContext(stream)`."""
    return StreamContext(stream)


@with_device
def current_stream(device=None):
    """The queue of a device."""
    return Stream(device)


@with_device
def default_stream(device=None):
    """The queue of a device."""
    return Stream(device)


def set_stream(stream):
    """Nothing: there is one queue."""


@with_device
def get_stream_from_external(data_ptr, device=None):
    """A queue made elsewhere: refused."""
    return ExternalStream(data_ptr, device)


__getattr__ = _publish.missing("torch.cuda.streams")
