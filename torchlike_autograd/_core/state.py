"""The fields of a Tensor (layer 4): which Value it shows, which storage it shares, where its gradient goes.

`_v`: the Value read last; `_cell`, `_at`, `_view`, `_counter`: the storage (see `storage.py`); `_leaf`: its accumulation point; `_laid`: (strides, offset)
where it is not row-major from 0.  A field that was never set reads as None.
"""

from __future__ import annotations

from .speed import native

FIELDS = ("_v", "_cell", "_at", "_view", "_counter", "_leaf", "_laid", "_hooks_dict")


class _State:
    __slots__ = FIELDS  # not in `__dict__`, which is the user's

    def __new__(cls, *args, **kwargs):
        t = object.__new__(cls)
        t._v = t._cell = t._at = t._view = t._counter = t._leaf = t._laid = t._hooks_dict = None
        return t


State = _State if native is None else native.State
new = State.__new__  # new(Tensor): one without fields


def copy_state(source, to, but=()):
    """Let `to` show what `source` shows."""
    for name in FIELDS:
        if name not in but:
            setattr(to, name, getattr(source, name))


def user_fields(t):
    """What a user has attached to a Tensor: {name: value}."""
    return dict(t.__dict__)


__all__ = ["State", "copy_state", "new", "user_fields"]
