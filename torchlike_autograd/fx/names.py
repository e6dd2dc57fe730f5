"""Names in code that is written from a graph (layer 8): of values, and of the globals that the code calls."""

from __future__ import annotations

import builtins
import keyword
import math
import re
from collections import defaultdict

_illegal_char_regex = re.compile("[^0-9a-zA-Z_]+")
_name_regex = re.compile(r"^([a-zA-Z_0-9]*?)(?:_(\d+))?$")
_hump = re.compile(r"(?<=[a-z])([A-Z])")


def snake_case(s):
    """`LayerNorm` as `layer_norm`."""
    return _hump.sub(r"_\1", s).lower()


def is_magic(name):
    """Whether a name has underscores on both sides."""
    return name.startswith("__") and name.endswith("__")


def custom_builtins():
    """Names that stand for themselves in all code that is written: {name: (how to import it, what it is)}."""
    import torchlike_autograd as torch

    from ..utils import _pytree
    from . import _pytree as fx_pytree

    return {
        "inf": ("from math import inf", math.inf), "nan": ("from math import nan", math.nan), "NoneType": ("NoneType = type(None)", type(None)),
        "torch": ("import torch", torch), "device": ("from torch import device", torch.device),
        "fx_pytree": ("import torch.fx._pytree as fx_pytree", fx_pytree), "pytree": ("import torch.utils._pytree as pytree", _pytree),
    }


class Namespace:
    """Names that are given once each; an object asked for twice keeps its name."""

    def __init__(self):
        self._obj_to_name, self._used_names, self._base_count = {}, set(), defaultdict(int)

    def create_name(self, candidate, obj):
        """A name like `candidate` that is not in use; obj: whose name it is, or None."""
        if obj is not None and obj in self._obj_to_name:
            return self._obj_to_name[obj]
        candidate = _illegal_char_regex.sub("_", candidate) or "_unnamed"
        if candidate[0].isdigit():
            candidate = f"_{candidate}"
        base, number = _name_regex.match(candidate).groups()
        count = int(number) if number else 0
        if candidate in self._used_names or self._is_taken(candidate, obj):
            count = self._base_count[base]
            while candidate in self._used_names or self._is_taken(candidate, obj):
                count += 1
                candidate = f"{base}_{count}"
        self._used_names.add(candidate)
        self._base_count[base] = count
        if obj is not None:
            self._obj_to_name[obj] = candidate
        return candidate

    def associate_name_with_obj(self, name, obj):
        """Say that a name is in use."""
        self._used_names.add(name)
        self._obj_to_name.setdefault(obj, name)

    @staticmethod
    def _is_taken(name, obj):
        if name in keyword.kwlist:
            return True
        if name in builtins.__dict__:
            return builtins.__dict__[name] is not obj
        known = custom_builtins().get(name) if name in _CUSTOM else None
        return known is not None and known[1] is not obj


_CUSTOM = {"inf", "nan", "NoneType", "torch", "device", "fx_pytree", "pytree"}

__all__ = ["Namespace", "custom_builtins", "is_magic", "snake_case"]
