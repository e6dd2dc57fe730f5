"""Gradients and checks by their ATen names (layer 7): `torch.ops.aten.silu_backward` and its kin, as formulas of other operators.

What differs: PyTorch has an operator for each, with a node of its own in second derivatives (that of `silu_backward` fails); here the nodes are those of the
formula.
"""

from __future__ import annotations

import math

from .._core import dtypes
from .._core.composite import composite, named
from .._core.storage import memory_size
from .._tensor import Tensor
from .create import zeros
from .mapped_draws import of_all_examples

_REQUIRES = Tensor.requires_grad.fget
_where, _all, _any, _sigmoid, _erf, _tanh = (named(n) for n in ("where", "all", "any", "sigmoid", "erf", "tanh"))


@composite("torch.ops.aten.silu_backward")
def silu_backward(grad_output, self):
    """The gradient of `silu` at `self`."""
    s = _sigmoid(self)
    return grad_output * s * (1 + self * (1 - s))


@composite("torch.ops.aten.threshold_backward")
def threshold_backward(grad_output, self, threshold):
    """0 where `self` (or a result of relu) is at most the threshold, elsewhere and at NaN the gradient."""
    return _where(self <= threshold, 0.0, grad_output) if self.dtype.category >= dtypes.FLOAT else grad_output * (self > threshold)


@composite("torch.ops.aten.tanh_backward")
def tanh_backward(grad_output, output):
    """The gradient of `tanh` by its result."""
    return grad_output * (1 - output * output).conj()


@composite("torch.ops.aten.sigmoid_backward")
def sigmoid_backward(grad_output, output):
    """The gradient of `sigmoid` by its result."""
    return grad_output * ((1 - output) * output).conj()


@composite("torch.ops.aten.gelu_backward")
def gelu_backward(grad_output, self, *, approximate="none"):
    """The gradient of `gelu` at `self`."""
    if approximate not in ("none", "tanh"):
        raise RuntimeError("approximate argument must be either none or tanh.")
    if approximate == "none":
        density = (self * self * -0.5).exp() * (1 / math.sqrt(2 * math.pi))
        return grad_output * (0.5 * (1 + _erf(self * math.sqrt(0.5))) + self * density)
    scale, cubic = math.sqrt(2 / math.pi), 0.044715
    t = _tanh(scale * (self + cubic * self * self * self))
    slope = scale * (1 + 3 * cubic * self * self)
    return grad_output * (0.5 * (1 + t) + 0.5 * self * (1 - t * t) * slope)


@composite("torch.ops.aten.native_dropout_backward")
def native_dropout_backward(grad_output, mask, scale):
    """The gradient of a dropout by its mask."""
    if grad_output.dtype.category < dtypes.FLOAT:  # a number with a point makes it one
        return grad_output * mask * scale
    return named("_dropout_pulled")(grad_output, mask, scale)


@composite("torch.ops.aten.max_pool2d_with_indices_backward")
def max_pool2d_with_indices_backward(grad_output, self, kernel_size, stride, padding, dilation, ceil_mode, indices):
    """The gradient of `max_pool2d` by the indices that it gives."""
    if grad_output.shape != indices.shape:
        raise RuntimeError(f"Expected a gradient of the shape {list(indices.shape)}, but got {list(grad_output.shape)}")
    return named("_max_pool2d_pulled")(grad_output, self, indices)


@composite("torch.ops.aten.adaptive_max_pool2d_backward")
def adaptive_max_pool2d_backward(grad_output, self, indices):
    """The gradient of `adaptive_max_pool2d` by the indices that it gives."""
    if grad_output.shape != indices.shape:
        raise RuntimeError(f"Expected a gradient of the shape {list(indices.shape)}, but got {list(grad_output.shape)}")
    return named("_max_pool2d_pulled")(grad_output, self, indices)


@composite("torch.ops.aten.convolution_backward")
def convolution_backward(grad_output, input, weight, bias_sizes, stride, padding, dilation, transposed, output_padding, groups, output_mask):
    """The gradients of a convolution for its input, weight and bias, None where the mask does not ask.  `bias_sizes` must fit the result, as in PyTorch."""
    from ..autograd._transforms import vjp  # cycle: transforms are made of functions

    if groups <= 0:
        raise RuntimeError(f"expected groups to be greater than 0, but got groups={groups}")
    wanted = [t for t, asked in zip((input, weight), output_mask) if asked]
    out: list = [None, None, None]
    if wanted:
        def run(*given):
            given = iter(given)
            x, w = (next(given) if asked else t for t, asked in zip((input, weight), output_mask))
            return named("convolution")(x, w, None, stride, padding, dilation, transposed, output_padding, groups)

        made = iter(vjp(run, *wanted)[1](grad_output))
        out[:2] = [next(made) if asked else None for asked in output_mask[:2]]
    if output_mask[2]:
        out[2] = grad_output.sum((0, *range(2, grad_output.ndim)))
    return tuple(out)


@composite("torch.ops.aten._convolution_double_backward")
def convolution_double_backward(ggI, ggW, ggb, gO, weight, self, stride, padding, dilation, transposed, output_padding, groups, output_mask):
    """The gradients of a convolution's gradients, whose own are ggI, ggW and ggb (None: none), for its result's gradient gO, its input and its weight."""
    how = (stride, padding, dilation, transposed, output_padding, groups)
    for_output = for_input = for_weight = None
    if output_mask[0]:
        parts = [named("convolution")(x, w, None, *how) for x, w in ((ggI, weight), (self, ggW)) if x is not None and w is not None]
        if ggb is not None:
            parts.append(ggb.reshape(-1, *(1,) * (gO.ndim - 2)).expand_as(gO))
        for_output = sum(parts[1:], parts[0]) if parts else None
    if output_mask[1] and ggW is not None:
        for_input = convolution_backward(gO, self, ggW, None, *how, (True, False, False))[0]
    if output_mask[2] and ggI is not None:
        for_weight = convolution_backward(gO, ggI, weight, None, *how, (False, True, False))[1]
    return for_output, for_input, for_weight


@composite("torch.ops.aten._convolution")
def _convolution(input, weight, bias, stride, padding, dilation, transposed, output_padding, groups, benchmark, deterministic, cudnn_enabled, allow_tf32):
    """`torch.convolution`; the settings of cuDNN are those of no library here."""
    return named("convolution")(input, weight, bias, stride, padding, dilation, transposed, output_padding, groups)


@composite("torch.ops.aten._local_scalar_dense")
def _local_scalar_dense(self):
    """The only element as a number."""
    if not self.numel():
        raise RuntimeError("_local_scalar_dense: Empty tensor not supported")
    return self.item()


@composite("torch.ops.aten._new_zeros_with_same_feature_meta")
def new_zeros_with_same_feature_meta(self, other, *, self_num_batch_dims=0):
    """Zeros with the sizes and strides of `other`, and before them the first dims of `self`, as the memory of a batch of tangents is made."""
    lead, t = tuple(self.shape[:self_num_batch_dims]), other
    held = memory_size(t) // t.element_size()
    strides = [held] * len(lead)
    for d in reversed(range(len(lead) - 1)):
        strides[d] = strides[d + 1] * lead[d + 1]
    memory = zeros((math.prod(lead) * held,), dtype=t.dtype, device=t.device)
    return memory.as_strided((*lead, *t.shape), (*strides, *t.stride()), t.storage_offset())


def _only_bools(name, self):
    if self.dtype is not dtypes.bool_:
        raise RuntimeError(f"{name}: a tensor of dtype {self.dtype} where one of torch.bool is needed")


@composite("torch._is_all_true")
@of_all_examples
def _is_all_true(self):
    """Whether every element of a tensor of bools is True, as a tensor; RuntimeError for other dtypes."""
    _only_bools("_is_all_true", self)
    return _all(self)


@composite("torch._is_any_true")
@of_all_examples
def _is_any_true(self):
    """Whether any element of a tensor of bools is True, as a tensor; RuntimeError for other dtypes."""
    _only_bools("_is_any_true", self)
    return _any(self)


# Functions that exist for tests of autograd itself

@composite("torch._test_autograd_multiple_dispatch")
def test_autograd_multiple_dispatch(self, b=None):
    """A copy; without `b` its gradient is one too large, on purpose."""
    from .._C._functions import _TestMultipleDispatch  # cycle: Functions are above

    return self.clone() if b is not None else _TestMultipleDispatch.apply(self)


@composite("torch._test_autograd_multiple_dispatch_view")
def test_autograd_multiple_dispatch_view(self):
    """A view of one dim."""
    return self.view(-1)


@composite("torch._test_autograd_multiple_dispatch_view_copy")
def test_autograd_multiple_dispatch_view_copy(self):
    """A copy of one dim."""
    return named("view_copy")(self, (-1,))


@composite("torch._test_functorch_fallback")
def test_functorch_fallback(self, other):
    """A copy of the first, which says under a map that it has no rule of its own."""
    from .._C import _functorch  # cycle: what is asked about maps is above
    from .._C._functions import _TestFallback

    _functorch.fallen_back("aten::_test_functorch_fallback", (self, other))
    return _TestFallback.apply(self, other) if _REQUIRES(self) or _REQUIRES(other) else self.clone()


@composite("torch._test_check_tensor")
def test_check_tensor(self):
    """A copy of a tensor of bools; RuntimeError unless all of them are True, those of all examples."""
    if not _is_all_true(self).item():
        raise RuntimeError("Test message for TORCH_CHECK_TENSOR_ALL")
    return self.clone()


__all__ = ["convolution_backward", "new_zeros_with_same_feature_meta"]
