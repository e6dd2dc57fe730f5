"""Calls in the order of arguments of PyTorch before 1.5, `x.add_(alpha, y)` and its kin (layer 6): looked at only after a call has failed."""

from __future__ import annotations

import numbers

from .._tensor import Tensor
from .numeric import say_once

_ONE = {"add": "alpha", "sub": "alpha", "addcmul": "value", "addcdiv": "value"}  # one number after the first tensor
_TWO = frozenset(("addbmm", "addmm", "addmv", "addr", "baddbmm"))  # beta, the first tensor, perhaps alpha


def _pattern(args):
    return "".join("T" if isinstance(a, Tensor) else "n" if isinstance(a, numbers.Number) else "?" for a in args)


def modern(name, method, args, kwargs):
    """(arguments, keywords) of a call in today's order, or None; warns as torch does."""
    plain = name.removesuffix("_")
    pattern = _pattern(args)
    if plain in _ONE:
        if pattern not in (("TnT", "Tnn") if plain in ("add", "sub") else ("TnTT",)):
            return None
        first, number, *rest = args
        numbers_by_name, tensors = {_ONE[plain]: number}, (first, *rest)
        order = lambda t: [*t[:1], f"Number {_ONE[plain]}", *t[1:]]  # noqa: E731
    elif plain in _TWO and pattern in (("TnTT", "TnnTT") if method else ("nTTT", "nTnTT")):
        values = [a for a in args if not isinstance(a, Tensor)]
        numbers_by_name = dict(zip(("beta", "alpha"), values))
        tensors = tuple(a for a in args if isinstance(a, Tensor))
        both = ["Number alpha"] if len(values) == 2 else []
        order = (lambda t: ["Number beta", *both, *t]) if method else (lambda t: ["Number beta", t[0], *both, *t[1:]])
    else:
        return None
    _tell(name, plain, method, order)
    return tensors, {**kwargs, **numbers_by_name}


def _tell(name, plain, method, order):
    from . import words

    found = words.known(f"Tensor.{name}" if method else f"torch.{name}")
    if found is None:
        return
    shown = [s.text for s in found[2]]
    listed = [p for p in shown[0][1:-1].split(", ") if p.startswith("Tensor ") and "=" not in p]
    old = order(["", *listed])[1:] if method and plain in _ONE else order(listed)
    tail = ", *, Tensor out = None" if "Tensor out" in shown[0] else ""
    say_once(f"This overload of {name} is deprecated:\n\t{name}({', '.join(old)}{tail})\nConsider using one of the following signatures instead:"
             + "".join(f"\n\t{name}{s}" for s in shown)
             + " (Triggered internally at /__w/pytorch/pytorch/torch/csrc/utils/python_arg_parser.cpp:1841.)", "deprecated overload")


__all__ = ["modern"]
