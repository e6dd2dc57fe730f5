"""torch.testing._internal.logging_utils (layer 8): tests that read what is logged."""

from __future__ import annotations

import contextlib
import functools
import logging

from ... import _logging
from ..._core import publish as _publish
from .common_utils import TestCase

_RESTORED = tuple(_logging._LOGS.values())


@contextlib.contextmanager
def preserve_log_state():
    """The levels of all logs before are those after."""
    before = {name: logging.getLogger(name).level for name in ("torch", *_RESTORED)}
    try:
        yield
    finally:
        for name, level in before.items():
            logging.getLogger(name).setLevel(level)


def log_api(**kwargs):
    """A context in which `torch._logging.set_logs(**kwargs)` holds."""
    return contextlib.contextmanager(_with)(functools.partial(_logging.set_logs, **kwargs))


def log_settings(settings):
    """A context in which the variable TORCH_LOGS says `settings`."""

    def apply():
        with _variable("TORCH_LOGS", settings):
            _logging._init_logs()

    return contextlib.contextmanager(_with)(apply)


def _with(apply):
    with preserve_log_state():
        apply()
        yield


@contextlib.contextmanager
def _variable(name, value):
    from unittest import mock

    with mock.patch.dict("os.environ", {name: value}):
        yield


def _making(context):
    def decorate(fn):
        @functools.wraps(fn)
        def test(self):
            records = []
            with context(), self._handler_watcher(records):
                fn(self, records)

        del test.__wrapped__  # a loader that looks at the signature would ask for `records`
        return test

    return decorate


def make_logging_test(**kwargs):
    """A decorator: the test gets the records that are logged while `set_logs(**kwargs)` holds."""
    return _making(lambda: log_api(**kwargs))


def make_settings_test(settings):
    """A decorator: the test gets the records that are logged under TORCH_LOGS=settings."""
    return _making(lambda: log_settings(settings))


class LoggingTestCase(TestCase):
    """A test case whose tests get records."""

    def hasRecord(self, records, m):
        """Whether some record's message holds `m`."""
        return any(m in r.getMessage() for r in records)

    def getRecord(self, records, m):
        """The one record whose message holds `m`."""
        found = [r for r in records if m in r.getMessage()]
        self.assertEqual(len(found), 1, msg=f"{m!r} is in {len(found)} messages of {[r.getMessage() for r in records]}")
        return found[0]

    @contextlib.contextmanager
    def _handler_watcher(self, record_list):
        """What the logs' handlers are given also goes to `record_list`."""
        handlers = {id(h): h for name in ("torch", *_RESTORED) for h in logging.getLogger(name).handlers
                    if isinstance(h.formatter, _logging._Formatter)}.values()

        def watching(emit):
            def both(record):
                record_list.append(record)
                emit(record)

            return both

        for h in handlers:
            h.emit = watching(h.emit)
        try:
            yield
        finally:
            for h in handlers:
                del h.emit


__getattr__ = _publish.missing("torch.testing._internal.logging_utils")
