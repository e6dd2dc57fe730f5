"""torch.monitor (layer 8): events of a program, statistics that make some, and handlers that hear of them."""

import datetime as _datetime
import threading as _threading
import time as _time

from ._core import publish as _publish
from ._core.enums import enumeration as _enumeration

__all__ = ["STAT_EVENT", "Aggregation", "Event", "EventHandlerHandle", "Stat", "TensorboardEventHandler", "data_value_t", "log_event",
           "register_event_handler", "unregister_event_handler"]
STAT_EVENT = "torch.monitor.Stat"

Aggregation = _enumeration("Aggregation", "torch._C._monitor", {"VALUE": 0, "MEAN": 2, "COUNT": 3, "SUM": 4, "MAX": 5, "MIN": 6},
                           "What a Stat makes of the values of a window.")
VALUE, MEAN, COUNT, SUM, MAX, MIN = Aggregation.__members__.values()
_COMPUTED = {MIN: min, MAX: max, SUM: sum, COUNT: len, MEAN: lambda values: sum(values) / len(values)}  # torch gives nothing for VALUE
_MOST = 2**63 - 1


class data_value_t:
    """What the data of events may be: a number or text."""


class Event:
    """Something that happened: a name, a time, and data."""

    def __init__(self, name, timestamp, data):
        if not isinstance(name, str) or not isinstance(timestamp, _datetime.datetime) or not all(isinstance(x, (str, int, float)) for x in data.values()):
            raise TypeError("__init__(): incompatible constructor arguments. The following argument types are supported:\n"
                            "    1. torch._C._monitor.Event(name: str, timestamp: datetime.datetime, data: collections.abc.Mapping[str, data_value_t])\n\n"
                            f"Invoked with: {name!r}, {timestamp!r}, {data!r}")
        self.name, self.timestamp = name, timestamp
        self.data = {k: float(x) if isinstance(x, bool) else x for k, x in data.items()}


class EventHandlerHandle:
    """A handler that was registered."""

    def __init__(self, callback):
        self._callback = callback


_handlers: list = []


def _refused(name, expected, given):
    raise TypeError(f"{name}(): incompatible function arguments. The following argument types are supported:\n    1. {expected}\n\nInvoked with: {given!r}")


def log_event(event):
    """Tell all handlers of an event."""
    if not isinstance(event, Event):
        _refused("log_event", "(event: torch._C._monitor.Event) -> None", event)
    for handle in list(_handlers):
        handle._callback(event)


def register_event_handler(callback):
    """Let a function hear of events; the handle ends that."""
    if not callable(callback):
        _refused("register_event_handler", "(callback: collections.abc.Callable[[torch._C._monitor.Event], None]) -> "
                 "torch._C._monitor.EventHandlerHandle", callback)
    _handlers.append(EventHandlerHandle(callback))
    return _handlers[-1]


def unregister_event_handler(handler):
    """The function behind a handle hears no more."""
    if not isinstance(handler, EventHandlerHandle):
        _refused("unregister_event_handler", "(handler: torch._C._monitor.EventHandlerHandle) -> None", handler)
    _handlers[:] = [h for h in _handlers if h is not handler]


class Stat:
    """Values over windows of time; each window makes one event, when its time is over or it has `max_samples`, and takes no more then."""

    def __init__(self, name, aggregations, window_size, max_samples=_MOST):
        aggregations = list(aggregations)
        if not isinstance(name, str) or not isinstance(window_size, _datetime.timedelta) or not all(isinstance(a, Aggregation) for a in aggregations):
            raise TypeError("__init__(): incompatible constructor arguments. The following argument types are supported:\n"
                            "    1. torch._C._monitor.Stat(name: str, aggregations: collections.abc.Sequence[torch._C._monitor.Aggregation], "
                            f"window_size: datetime.timedelta, max_samples: typing.SupportsInt | typing.SupportsIndex = {_MOST})\n\n"
                            f"Invoked with: {name!r}, {aggregations!r}, {window_size!r}")
        self.name, self._wanted, self._window, self._most = name, [a for a in _COMPUTED if a in aggregations], window_size.total_seconds(), max_samples
        self._now, self._last, self._logged, self._lock = [], [], False, _threading.RLock()
        self._number = self._window_now()

    def _window_now(self):
        return _time.monotonic() // self._window if self._window else 0

    def add(self, v):
        """Add a value to the window, and make the event of one that is over."""
        if not hasattr(v, "__float__") and not hasattr(v, "__index__"):
            _refused("add", "(self: torch._C._monitor.Stat, v: typing.SupportsFloat | typing.SupportsIndex) -> None", (self, v))
        with self._lock:
            number = self._window_now()
            if number != self._number:
                if not self._logged:
                    self._log()
                self._number, self._logged = number, False
            if self._logged:
                return
            self._now.append(float(v))
            if len(self._now) >= self._most:
                self._log()
                self._logged = True

    def _log(self):
        self._last, self._now = self._now, []
        if self._last:
            data = {f"{self.name}.{a.name.lower()}": x for a, x in self.get().items()}
            log_event(Event(STAT_EVENT, _datetime.datetime.now(), data))

    @property
    def count(self):
        """How many values the window has so far."""
        return len(self._now)

    def get(self):
        """What the last window that is over gave, zeros before."""
        return {a: float(_COMPUTED[a](self._last)) if self._last else 0.0 for a in self._wanted}


class TensorboardEventHandler:
    """Writes what statistics give as scalars to a SummaryWriter."""

    def __init__(self, writer):
        self._writer = writer

    def __call__(self, event):
        if event.name == STAT_EVENT:
            for name, value in event.data.items():
                self._writer.add_scalar(name, value, walltime=event.timestamp.timestamp())


class _Guard:
    def __enter__(self):
        return None

    def __exit__(self, *exc):
        return None


class _WaitCounter:
    """Counts nothing here: PyTorch hands the times to what its users build in."""

    def __init__(self, key):
        self.key = key

    def guard(self):
        """A context whose time would be counted."""
        return _Guard()


for _kind in (Event, EventHandlerHandle, Stat, data_value_t, _WaitCounter, log_event, register_event_handler, unregister_event_handler):
    _kind.__module__ = "torch._C._monitor"
__getattr__ = _publish.missing("torch.monitor")
