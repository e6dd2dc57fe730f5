"""torch.futures (layer 8): results that come later."""

from __future__ import annotations

import logging
import threading
from typing import Generic, TypeVar

from ._core import publish as _publish

__all__ = ["Future", "collect_all", "wait_all"]

T = TypeVar("T")


class Future(Generic[T]):
    """A value or an error that some thread sets once; callbacks run when it is set, or at once where it is."""

    def __init__(self, *, devices=None):
        self._set, self._lock, self._callbacks, self._tl_value, self._error = threading.Event(), threading.Lock(), [], None, None

    def __reduce__(self):
        raise RuntimeError("Can not pickle torch.futures.Future")

    def done(self) -> bool:
        """Whether the value or an error is there."""
        return self._set.is_set()

    def wait(self) -> T:
        """The value, once it is there; raises the error that was set instead."""
        self._set.wait()
        if self._error is not None:
            raise self._error
        return self._tl_value

    def value(self) -> T:
        """The value; RuntimeError where it is not there yet."""
        if not self.done():
            raise RuntimeError("value() called on a Future that is not completed; call wait() first")
        return self.wait()

    def set_result(self, result: T) -> None:
        """Make `result` the value."""
        _finish(self, result, None)

    def set_exception(self, result) -> None:
        """Make an error the outcome."""
        assert isinstance(result, Exception), f"{result} is of type {type(result)}, not an Exception."
        _finish(self, None, result)

    def add_done_callback(self, callback) -> None:
        """Call `callback(self)` once it is set."""
        with self._lock:
            if not self._set.is_set():
                self._callbacks.append(callback)
                return
        _call(callback, self)

    def then(self, callback):
        """A Future of `callback(self)`."""
        out = Future()

        def run(future):
            try:
                value = callback(future)
            except Exception as e:
                _finish(out, None, RuntimeError(f"Got the following error when running the callback: {type(e).__name__}: {e}"))
            else:
                out.set_result(value)

        self.add_done_callback(run)
        return out


def _finish(future, value, error):
    with future._lock:
        if future._set.is_set():
            raise RuntimeError("Attempting to mark a completed Future as complete again. Note that a Future can only be marked completed once.")
        future._tl_value, future._error = value, error
        future._set.set()
        waiting, future._callbacks = future._callbacks, []
    for f in waiting:
        _call(f, future)


def _call(callback, future):
    """A callback's error is nobody's: PyTorch logs it."""
    try:
        callback(future)
    except Exception as e:
        logging.getLogger(__name__).error("Got the following error when running the callback: %s: %s", type(e).__name__, e)


def _given(futures):
    if any(f is None for f in futures):
        raise RuntimeError("Future can't be None")
    return futures


def collect_all(futures):
    """A Future of the list, done when all of them are."""
    futures, out = _given(list(futures)), Future()
    left, lock = [len(futures)], threading.Lock()
    if not futures:
        out.set_result(futures)

    def count(_):
        with lock:
            left[0] -= 1
            last = left[0] == 0
        if last:
            out.set_result(futures)

    for f in futures:
        f.add_done_callback(count)
    return out


def wait_all(futures) -> list:
    """The values of all of them."""
    return [f.wait() for f in collect_all(futures).wait()]


__getattr__ = _publish.missing("torch.futures")
