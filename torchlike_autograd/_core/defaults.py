"""What is remembered by types, kept apart for each default dtype and each precision of products (layer 4): `int / 2` has another type under another default,
and operators are traced with their precision.

A change of either runs what is pending and lays aside the Forms of all specs and the trie; they come back with the settings that they were made under.
"""

from __future__ import annotations

from .._ops.spec import SPECS
from . import config, execute, precision, record

_current = [config.default_dtype(), precision.meaning()]
_aside: dict = {}  # (default dtype, precision) -> ({spec: its forms}, edges of the trie's root)


def _follow(place, value):
    if value == _current[place]:
        return
    with record.LOCK:
        execute.flush()
        specs = list(SPECS)
        _aside[tuple(_current)] = {s: s.forms for s in specs}, record.ROOT.next
        _current[place] = value
        forms, record.ROOT.next = _aside.pop(tuple(_current), ({}, {}))
        for s in specs:
            s.forms = forms.get(s, {})


config.on_change(lambda name, value: _follow(0, value) if name == "default_dtype" else None)
precision.before_change(lambda means: _follow(1, means))
