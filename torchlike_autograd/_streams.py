"""torch.Stream and torch.Event (layer 8): queues of a device's work and points in them.

The host has one queue, whose work is done before anybody can look; queues of accelerators are JAX's own and cannot be made.
"""

from __future__ import annotations

from ._core.devices import device as _device
from ._core.shown import Shown

__all__ = ["Event", "Stream"]


def _place(device, name):
    """The device of a queue or point; RuntimeError for one that is not there, NotImplementedError for an accelerator."""
    found = _device("cpu" if device is None else device)
    if found.type not in ("cpu", "meta"):
        from . import cuda

        if found.type == "cuda" and not cuda.is_available():
            raise RuntimeError(f"PyTorch is not linked with support for {found.type} devices")
        raise NotImplementedError(f"torch.{name} on {found.type}: JAX keeps the queues of accelerators")
    return _device(found.type)


def _no_events(device):
    return RuntimeError(f"{device.type} backend doesn't support events.")


class Stream(metaclass=Shown):
    """The queue of a device; all of one device are equal."""

    __module__ = "torch"
    device_index, stream_id = -1, 0

    def __init__(self, device=None, priority=0, **kwargs):
        self.device = _place(device, "Stream")
        self.device_type = {"cpu": 0, "meta": 14}[self.device.type]

    def query(self):
        """Whether its work is done: always."""
        return True

    def synchronize(self):
        """Nothing to wait for that a look would not wait for."""

    def wait_event(self, event):
        """The same."""

    def wait_stream(self, stream):
        """RuntimeError: the host has no points in its queue."""
        raise _no_events(self.device)

    def record_event(self, event=None):
        """RuntimeError: the host has no points in its queue."""
        raise _no_events(self.device)

    def is_capturing(self):
        """Whether its work is being recorded: never."""
        return False

    @property
    def native_handle(self):
        raise RuntimeError("Backend doesn't support getting stream native handle.")

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        pass

    def __eq__(self, other):
        return isinstance(other, Stream) and self.device == other.device

    def __hash__(self):
        return hash((Stream, self.device))

    def __repr__(self):
        return f"torch.Stream device_type={self.device.type}, device_index=-1, stream_id=0"


class Event(metaclass=Shown):
    """A point in the queue of a device."""

    __module__ = "torch"
    event_id = 0

    def __init__(self, device=None, *, enable_timing=False, blocking=False, interprocess=False):
        self.device, self._timed = _place(device, "Event"), bool(enable_timing)

    def query(self):
        """Whether it has passed: always."""
        return True

    def record(self, stream=None):
        """RuntimeError: the host has no points in its queue."""
        raise _no_events(self.device)

    def wait(self, stream=None):
        """Nothing to wait for that a look would not wait for."""

    def synchronize(self):
        """The same."""

    def elapsed_time(self, end_event):
        """ValueError for points without times; RuntimeError: the host has none with."""
        if not (self._timed and end_event._timed):
            raise ValueError("Both events must be created with argument 'enable_timing=True'.")
        raise _no_events(self.device)

    def ipc_handle(self):
        """NotImplementedError, as torch's."""
        raise NotImplementedError("torch.Event ipc is not supported yet, please open an issue if you need this!")

    @classmethod
    def from_ipc_handle(cls, device, handle):
        """NotImplementedError, as torch's."""
        raise NotImplementedError("torch.Event ipc is not supported yet, please open an issue if you need this!")

    def __repr__(self):
        return f"torch.Event device_type={self.device.type}, device_index=-1, event_flag={int(self._timed)}, event_id=0"
