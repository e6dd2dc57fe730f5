"""What is remembered by types, kept apart for each default dtype (layer 4): `int / 2` has another type under another default.

A change of the default runs what is pending and lays aside the Forms of all specs and the trie; they come back with the default that they were made under.
"""

from __future__ import annotations

from .._ops.registry import OPS
from . import config, execute, record

_current = [config.default_dtype()]
_aside: dict = {}  # default dtype -> ({spec: its forms}, edges of the trie's root)


def _follow(name, value):
    old = _current[0]
    if name != "default_dtype" or value is old:
        return
    execute.flush()
    _current[0] = value
    specs = [s for op in OPS.values() for s in op.specs.values()]
    _aside[old] = {s: s.forms for s in specs}, record.ROOT.next
    forms, record.ROOT.next = _aside.pop(value, ({}, {}))
    for s in specs:
        s.forms = forms.get(s, {})


config.on_change(_follow)
