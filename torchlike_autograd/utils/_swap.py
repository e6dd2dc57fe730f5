"""torch.utils.swap_tensors and set_module (layer 8)."""

from __future__ import annotations

import weakref
from collections import OrderedDict

from .._core.nodes import Leaf, changes
from .._core.state import FIELDS
from .._tensor import Tensor


def set_module(obj, mod):
    """Say that `obj` is of another module."""
    if not isinstance(mod, str):
        raise TypeError("The mod argument should be a string")
    obj.__module__ = mod


def swap_tensors(t1, t2):
    """What two tensors are changes places: class, values, history, hooks, `grad` and what a user has attached.

    What differs: PyTorch refuses where somebody holds a weak reference to one of them; a result that retains its gradient is refused here.
    """
    for name, t in (("t1", t1), ("t2", t2)):
        if not isinstance(t, Tensor):
            raise AttributeError(f"'{type(t).__name__}' object has no attribute '_use_count'")
        if t.retains_grad:
            raise NotImplementedError(f"swap_tensors: {name} retains its gradient")
    first, second = _taken(t1), _taken(t2)
    t1.__class__, t2.__class__ = t2.__class__, t1.__class__
    _given(t1, second)
    _given(t2, first)


def put_in(t, new):
    """Swap a parameter for a new one that nobody else has: graphs that lead to the old one refuse to accumulate from now on."""
    leaf = t._tl_leaf
    swap_tensors(t, new)
    if leaf is not None:
        leaf.prehooks = OrderedDict({0: _refuse})
        Leaf.watched[0] = True
        changes[0] += 1


def _refuse(grads):
    raise RuntimeError(
        "Trying to execute AccumulateGrad node that was poisoned by swap_tensors this can happen when you try to run backward on a tensor that was swapped. "
        "For a module m with `torch.__future__.set_swap_module_params_on_conversion(True)` you should not change the device or dtype of the module (e.g. "
        "`m.cpu()` or `m.half()`) between running forward and backward. To resolve this, please only change the device/dtype before running forward (or after "
        "both forward and backward).")


def _taken(t):
    return {name: getattr(t, name) for name in FIELDS}, t.__dict__


def _given(t, found):
    fields, t.__dict__ = found
    for name, value in fields.items():
        setattr(t, name, value)
    if t._tl_leaf is not None:
        t._tl_leaf.tensor = weakref.ref(t)
