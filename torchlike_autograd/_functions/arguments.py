"""What composites say of arguments that are no tensors (layer 7)."""

from __future__ import annotations

from .._core.words import explained, kind_of, type_name, unpacked
from .._tensor import Tensor

_taken = set()  # kinds of calls that were compared with the signatures


def no_tensor(name, at=1, **given):
    """torch's TypeError for the first of some arguments, from position `at` on, that is no Tensor."""
    for i, (word, x) in enumerate(given.items(), at):
        if not isinstance(x, Tensor):
            return TypeError(f"{name}(): argument '{word}' (position {i}) must be Tensor, not {type_name(x)}")
    raise AssertionError("all are tensors")


def handed(path, *args):
    """The arguments that a function in Python hands on to the one at `path`, as torch's parser reads them, or its TypeError."""
    kind = (path, *map(kind_of, args))
    if kind in _taken:
        return args
    error = explained(path, args, {})
    if error is not None:
        raise error
    changed = unpacked(path, args, {})
    if changed is not None:
        return changed[0]
    if None not in kind and len(_taken) < 512 and not any(isinstance(x, Tensor) and x.ndim == 0 for x in args):  # such a tensor may stand for a number
        _taken.add(kind)
    return args


__all__ = ["handed", "no_tensor"]
