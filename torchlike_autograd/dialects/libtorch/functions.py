"""torch::autograd::Function (layer 9): a Function of this package beneath, with handles, lists of gradients and the context of C++ above.

    forward(ctx, *arguments) -> handle or list of handles        arguments: handles, lists of them, anything else
    backward(ctx, [handle, ...]) -> [handle, ...]                one for each argument and for each handle in a list; undefined for what is no tensor
"""

from __future__ import annotations

import torchlike_autograd as _torch

from .handles import Tensor, bare, handle


class AutogradContext:
    """What `forward` and `backward` are given; it shows the context of the Function beneath."""

    __slots__ = ("_ctx",)

    def __init__(self, ctx):
        self._ctx = ctx

    @property
    def saved_data(self):
        """A dictionary for what is no tensor."""
        return vars(self._ctx).setdefault("saved_data", {})

    def save_for_backward(self, to_save):
        """Keep tensors, undefined ones too."""
        self._ctx.save_for_backward(*map(bare, to_save))

    def get_saved_variables(self):
        """The tensors that were kept, as a list."""
        return [Tensor(t) for t in self._ctx.saved_tensors]

    def mark_dirty(self, inputs):
        """Name the inputs that `forward` wrote to."""
        self._ctx.mark_dirty(*map(bare, inputs))

    def mark_non_differentiable(self, outputs):
        """Name the outputs without a gradient."""
        self._ctx.mark_non_differentiable(*map(bare, outputs))

    def set_materialize_grads(self, value):
        """Whether gradients that did not arrive are zeros (the default) or undefined."""
        self._ctx.set_materialize_grads(value)

    def needs_input_grad(self, index):
        """Whether the running pass wants the gradient of a tensor among the arguments, by its number among them, or of one in ranges [(begin, end), ...]."""
        if isinstance(index, int):
            return self._ctx._tl_in_demand(index)
        ranges = [index] if isinstance(index[0], int) else index
        return any(self._ctx._tl_in_demand(i) for begin, end in ranges for i in range(begin, end))


class Function:
    """The base of functions with a derivative of their own."""

    @staticmethod
    def forward(ctx, *args):
        """The results."""
        raise NotImplementedError("You must implement the forward function for custom autograd.Function.")

    @staticmethod
    def backward(ctx, grad_outputs):
        """The gradients of the arguments."""
        raise NotImplementedError("You must implement the backward function for custom autograd.Function.")

    @classmethod
    def apply(cls, *args):
        """Call `forward` and record it."""
        flat, kinds = [], []    # kinds: the length of a list of tensors, -1 of a tensor, which may be undefined
        for a in args:
            listed = isinstance(a, (list, tuple)) and any(isinstance(t, Tensor) for t in a)
            kinds.append(len(a) if listed else -1 if isinstance(a, Tensor) else None)
            flat += a if listed else [a]
        out = _beneath(cls).apply(tuple(kinds), *map(bare, flat))
        return list(map(handle, out)) if type(out) is tuple else handle(out)


def _beneath(cls):
    """The Function of this package that calls `cls`, made once."""
    if "_function" not in vars(cls):
        body = {"forward": staticmethod(_forward_of(cls)), "backward": staticmethod(_backward_of(cls))}
        cls._function = type(cls.__name__, (_torch.autograd.Function,), body)
    return cls._function


def _forward_of(cls):
    def forward(ctx, kinds, *flat):
        ctx.variables = [isinstance(a, _torch.Tensor) or a is None for a in flat]
        given = iter(flat)
        args = [handle(next(given)) if n is None else Tensor(next(given)) if n == -1 else [Tensor(next(given)) for _ in range(n)] for n in kinds]
        return _results(cls.forward(AutogradContext(ctx), *args))

    return forward


def _results(out):
    return tuple(map(bare, out)) if isinstance(out, (list, tuple)) else bare(out)


def _backward_of(cls):
    def backward(ctx, *grads):
        out = [bare(g) for g in cls.backward(AutogradContext(ctx), list(map(Tensor, grads)))]
        n = len(ctx.variables)
        if len(out) > n and all(g is None for g in out[n:]):
            del out[n:]
        if len(out) != n:
            raise RuntimeError(f"function {ctx.name()} returned an incorrect number of gradients (expected {n}, got {len(out)})")
        for i, (g, variable) in enumerate(zip(out, ctx.variables), 1):
            if g is not None and not variable:
                raise RuntimeError(f"function {ctx.name()} returned a gradient different that is defined at position {i}, std the corresponding forward input "
                                   "was not a Variable")
        return None, *out

    return backward


class UndefinedGrad:
    """A node that lets no gradient through."""

    def apply(self, inputs):
        """The same tensors, as a list."""
        node = _torch._C._functions.UndefinedGrad()
        return [Tensor(node(bare(t))) for t in inputs]


__all__ = ["AutogradContext", "Function", "UndefinedGrad"]
