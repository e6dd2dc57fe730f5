"""torch.fx._compatibility (layer 8): the mark of functions and classes whose users are promised something."""

from __future__ import annotations

import textwrap

_BACK_COMPAT_OBJECTS: dict = {}
_MARKED_WITH_COMPATIBILITY: dict = {}
_SAID = {True: "\n.. note::\n    Backwards-compatibility for this API is guaranteed.\n",
         False: "\n.. warning::\n    This API is experimental and is *NOT* backward-compatible.\n"}


def compatibility(is_backward_compatible):
    """A decorator that says in the docstring whether what works goes on working."""
    def mark(f):
        if is_backward_compatible:
            _BACK_COMPAT_OBJECTS[f] = None
        _MARKED_WITH_COMPATIBILITY[f] = None
        f.__doc__ = textwrap.dedent(f.__doc__ or "") + "\n" + _SAID[is_backward_compatible]
        return f

    return mark


__all__ = ["compatibility"]
