"""torch._C._functions: nodes that fail or lose their gradient (layer 7)."""

from __future__ import annotations

from .._core.composite import named
from .._tensor import Tensor


def _check(args, n):
    if len(args) != n:
        raise TypeError(f"expected {n} arguments, got {len(args)} instead")
    for i, t in enumerate(args):
        if not isinstance(t, Tensor):
            raise TypeError(f"argument {i} is not a Variable")


class DelayedError:
    """Called with tensors: the same values, whose backward pass fails with the message."""

    __module__ = "builtins"  # as torch shows it

    def __init__(self, *args):
        if len(args) != 2:
            raise RuntimeError(f"Requires two arguments, got {len(args)}")
        self.message, self.count = args

    def __call__(self, *args):
        _check(args, self.count)
        out = tuple(named("_delayed_error")(args, self.message))
        return out[0] if len(out) == 1 else out


class UndefinedGrad:
    """Called with a tensor: the same values, whose gradient does not arrive."""

    __module__ = "builtins"

    def __call__(self, *args):
        _check(args, 1)
        return named("_undefined_grad")(*args)


__all__ = ["DelayedError", "UndefinedGrad"]
