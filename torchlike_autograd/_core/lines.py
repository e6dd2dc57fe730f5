"""Where in the user's code we are (layer 0): the innermost frame that is not ours."""

from __future__ import annotations

import os
import sys

_HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep


def user_line():
    """(file name, line number) of the innermost frame outside this package, or None."""
    frame = sys._getframe(1)
    while frame is not None:
        name = frame.f_code.co_filename
        if not name.startswith(_HERE) and not name.startswith("<"):
            return name, frame.f_lineno
        frame = frame.f_back
    return None
