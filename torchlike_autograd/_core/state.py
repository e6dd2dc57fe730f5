"""The fields of a Tensor (layer 4): which Value it shows, which storage it shares, where its gradient goes.

`_tl_v`: the Value read last; `_tl_cell`, `_tl_at`, `_tl_view`, `_tl_counter`: the storage (see `storage.py`); `_tl_leaf`: its accumulation point; `_tl_laid`:
(strides, offset) where it is not row-major from 0.  A field that was never set reads as None.

What a Tensor has and torch's has not starts with `_tl_`: other names are free for programs, which make subclasses and set attributes.
"""

from __future__ import annotations

from .speed import native

FIELDS = ("_tl_v", "_tl_cell", "_tl_at", "_tl_view", "_tl_counter", "_tl_leaf", "_tl_laid", "_tl_hooks_dict")


class _State:
    __slots__ = FIELDS  # not in `__dict__`, which is the user's

    def __new__(cls, *args, **kwargs):
        t = object.__new__(cls)
        t._tl_v = t._tl_cell = t._tl_at = t._tl_view = t._tl_counter = t._tl_leaf = t._tl_laid = t._tl_hooks_dict = None
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
    return {name: value for name, value in t.__dict__.items() if name != "_tl_cdata"}


__all__ = ["State", "copy_state", "new", "user_fields"]
