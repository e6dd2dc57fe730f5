"""torch.utils._traceback (layer 8): where a program is."""

from __future__ import annotations

import contextlib
import os
import sys
import traceback

from .._core import publish as _publish


@contextlib.contextmanager
def report_compile_source_on_error():
    """Changes nothing: there is no generated Python whose source would be missing in a traceback."""
    yield


def shorten_filename(fn, *, base=None):
    """A path from the folder of the package on."""
    base = os.path.dirname(os.path.dirname(__file__)) if base is None else base
    try:
        shared = os.path.commonpath([base, fn])
    except ValueError:
        return fn
    return os.path.relpath(fn, shared) if shared == base else fn


def format_frame(frame, *, base=None, line=False):
    """A frame in one line."""
    extra = f"{frame.line}  # " if line else ""
    return f"{extra}{shorten_filename(frame.filename, base=base)}:{frame.lineno} in {frame.name}"


def format_traceback_short(tb):
    """The last frame of a traceback in one line."""
    return format_frame(traceback.extract_tb(tb)[-1])


class CapturedTraceback:
    """Where the program was when it was made."""

    __slots__ = ("skip", "tb")

    def __init__(self, tb, skip=0):
        self.tb, self.skip = tb, skip

    @classmethod
    def extract(cls, *, script=False, cpp=False, skip=0):
        """Of the caller; cpp: NotImplementedError."""
        if cpp:
            raise NotImplementedError("torch.utils._traceback.CapturedTraceback.extract(cpp=True)")
        return cls(traceback.StackSummary.extract(traceback.walk_stack(sys._getframe(1)), lookup_lines=False), skip)

    def summary(self):
        """The frames, outermost first."""
        frames = list(self.tb or ())[self.skip:]
        return traceback.StackSummary.from_list(frames[::-1])

    def format(self):
        """As text, a frame an item."""
        return traceback.format_list(self.summary())

    @staticmethod
    def format_all(tbs):
        """The texts of several."""
        return [tb.format() for tb in tbs]

    def cleanup(self):
        """Forget the frames."""
        self.tb = None


__getattr__ = _publish.missing("torch.utils._traceback")
