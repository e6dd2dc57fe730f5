"""Warnings (layer 0): each names the user's line, however many of our own functions lie between."""

from __future__ import annotations

import sys
import warnings

_PACKAGE = __name__.partition(".")[0]


def warn(text, category=UserWarning):
    """Warn at the innermost line that is not ours."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == _PACKAGE:
        level, frame = level + 1, frame.f_back
    warnings.warn(text, category, stacklevel=level)


__all__ = ["warn"]
