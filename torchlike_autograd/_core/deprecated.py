"""Calls in the order of arguments of PyTorch before 1.5, `x.add_(alpha, y)` and its kin (layer 6): looked at only after a call has failed."""

from __future__ import annotations

import numbers

from .._tensor import Tensor
from .numeric import say_once

_ONE = {"add": "alpha", "sub": "alpha", "addcmul": "value", "addcdiv": "value"}  # one number after the first tensor
_TWO = frozenset(("addbmm", "addmm", "addmv", "addr", "baddbmm"))  # beta, the first tensor, perhaps alpha


def _is_number(a):
    """Whether an argument may stand for a number: one, or a tensor of no dims that needs no gradient."""
    return isinstance(a, numbers.Number) or (isinstance(a, Tensor) and not a.ndim and not a._tl_needs)


_FITS = {"T": lambda a: isinstance(a, Tensor), "n": _is_number, "o": lambda a: isinstance(a, (Tensor, numbers.Number))}


def _split(patterns, args):
    """(the tensors and other operands, the numbers) of arguments that stand in the order of one of the patterns; None."""
    for pattern in patterns:
        if len(pattern) == len(args) and all(_FITS[kind](a) for kind, a in zip(pattern, args)):
            values = [a.item() if isinstance(a, Tensor) else a for kind, a in zip(pattern, args) if kind == "n"]
            return tuple(a for kind, a in zip(pattern, args) if kind != "n"), values
    return None


def modern(name, method, args, kwargs):
    """(arguments, keywords) of a call in today's order, or None; warns as torch does."""
    plain = name.removesuffix("_")
    if plain in _ONE:
        found, names = _split(("Tno",) if plain in ("add", "sub") else ("TnTT",), args), (_ONE[plain],)
    elif plain in _TWO:
        found, names = _split(("TnTT", "TnnTT") if method else ("nTTT", "nTnTT"), args), ("beta", "alpha")
    else:
        return None
    if found is None:
        return None
    tensors, values = found
    both = ["Number alpha"] if len(values) == 2 else []
    if plain in _ONE:
        order = lambda t: [*t[:1], f"Number {_ONE[plain]}", *t[1:]]  # noqa: E731
    else:
        order = (lambda t: ["Number beta", *both, *t]) if method else (lambda t: ["Number beta", t[0], *both, *t[1:]])
    _tell(name, plain, method, order)
    return tensors, {**kwargs, **dict(zip(names, values))}


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
