"""torch._C._functions (layer 8): nodes that are no operator's."""

from .._core.nodes import AccumulateGrad
from .._core.saying import warn
from .._functions.special_nodes import DelayedError, UndefinedGrad
from ..autograd.function import Function


class _TestWarnInAutograd(Function):
    """torch._C._nn._test_warn_in_autograd: a copy whose backward warns."""

    @staticmethod
    def forward(ctx, self):
        return self.clone()

    @staticmethod
    def backward(ctx, grad):
        warn("Warn from backward")
        return grad


class _TestMultipleDispatch(Function):
    """torch._test_autograd_multiple_dispatch: a copy whose gradient is one too large."""

    @staticmethod
    def forward(ctx, self):
        return self.clone()

    @staticmethod
    def backward(ctx, grad):
        return grad + 1

    @staticmethod
    def jvp(ctx, tangent):
        return tangent.clone()


class _TestFallback(Function):
    """torch._test_functorch_fallback: a copy that has no derivative."""

    generate_vmap_rule = True

    @staticmethod
    def forward(self, other):
        return self.clone()

    @staticmethod
    def setup_context(ctx, inputs, output):
        pass

    @staticmethod
    def backward(ctx, grad):
        raise RuntimeError("derivative for aten::_test_functorch_fallback is not implemented")


_TestMultipleDispatch._backward_cls.__name__ = "TestAutogradMultipleDispatchBackward0"
_TestWarnInAutograd._backward_cls.__name__ = "TestWarnInAutogradBackward0"

__all__ = ["AccumulateGrad", "DelayedError", "UndefinedGrad"]
