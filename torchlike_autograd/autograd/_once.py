"""What stands behind `once_differentiable` (layer 7)."""

from __future__ import annotations

from .._tensor import Tensor
from .function import Function


def errors_on_backward(outputs):
    """The results of a backward as they are, behind a node that refuses to be differentiated."""
    single = not isinstance(outputs, tuple)
    outs = (outputs,) if single else outputs
    first = next((o for o in outs if isinstance(o, Tensor)), None)
    if first is None:
        return outputs
    fakes = [o.detach().requires_grad_() if isinstance(o, Tensor) else first.detach() for o in outs]  # None has a place among the edges
    made = iter([m for m, o in zip(_Error.apply(*fakes), outs) if isinstance(o, Tensor)])
    result = tuple(next(made) if isinstance(o, Tensor) else o for o in outs)
    return result[0] if single else result


class _Error(Function):
    """Identity whose backward fails, behind `once_differentiable`."""

    @staticmethod
    def forward(ctx, *tensors):
        return tuple(t.clone() for t in tensors)

    @staticmethod
    def backward(ctx, *grads):
        raise RuntimeError("trying to differentiate twice a function that was marked with @once_differentiable")


_Error._backward_cls.__name__ = "Error"
_Error._backward_cls.name = lambda self: "torch::autograd::Error"


__all__ = ["errors_on_backward"]
