"""What programs with an optimizer of their own take from torch.optim.optimizer (layer 8)."""

from __future__ import annotations

import functools

from .._tensor import Tensor
from ..autograd.grad_mode import is_grad_enabled, set_grad_enabled
from ..nn.parameter import Parameter

__all__ = ["_capturable_doc", "_default_to_fused_or_foreach", "_device_dtype_check_for_fused", "_differentiable_doc", "_disable_dynamo_if_unsupported",
           "_foreach_doc", "_fused_doc", "_get_capturable_supported_devices", "_get_foreach_kernels_supported_devices",
           "_get_fused_kernels_supported_devices", "_get_value", "_maximize_doc", "_params_doc", "_stack_if_compiling", "_to_scalar",
           "_use_grad_for_differentiable", "_view_as_real"]

_params_doc = "params: Tensors, (name, Tensor) pairs, or dicts that describe groups of them."
_foreach_doc = "foreach: whether the update is written over lists of Tensors; it is one program here in any case."
_fused_doc = "fused: as foreach; it is one program here in any case."
_capturable_doc = "capturable: whether the count of steps lives on the device."
_differentiable_doc = "differentiable: whether gradients flow through the step."
_maximize_doc = "maximize: go up the objective instead of down."


def _get_capturable_supported_devices(supports_xla=True):
    return ["cuda", "xpu", "hpu", "privateuseone", *(["xla"] if supports_xla else [])]


def _get_foreach_kernels_supported_devices():
    return ["cuda", "xpu", "mtia", "privateuseone"]


def _get_fused_kernels_supported_devices():
    return ["mps", "cuda", "xpu", "hpu", "cpu", "mtia", "privateuseone"]


def _device_dtype_check_for_fused(p, cuda_unsupported=False):
    """torch's refusal of a parameter that its fused kernels do not step."""
    kinds = _get_fused_kernels_supported_devices()
    if cuda_unsupported:
        kinds.remove("cuda")
    if not (p.device.type in kinds and p.is_floating_point()):
        raise RuntimeError(f"`fused=True` requires all the params to be floating point Tensors of supported devices: {kinds} but {p.dtype} and {p.device.type}")


def _use_grad_for_differentiable(func):
    """A step under the grad mode that the optimizer's `differentiable` asks for."""

    @functools.wraps(func)
    def step(*args, **kwargs):
        before = is_grad_enabled()
        try:
            set_grad_enabled(args[0].defaults["differentiable"])
            return func(*args, **kwargs)
        finally:
            set_grad_enabled(before)

    return step


def _get_value(x):
    """The number of a Tensor, or `x`."""
    return x.item() if isinstance(x, Tensor) else x


def _stack_if_compiling(x):
    return x


def _to_scalar(x):
    """A Tensor of one element without dims, or `x`."""
    return x.squeeze() if isinstance(x, Tensor) and x.dim() else x


def _view_as_real(params, *state_and_grads):
    """Put views of real numbers in the place of complex Tensors, in the lists themselves."""
    from .. import view_as_real

    for i, p in enumerate(params):
        if p.is_complex():
            for some in (params, *state_and_grads):
                some[i] = view_as_real(some[i])


def _default_to_fused_or_foreach(params, differentiable, use_fused=False):
    """(fused, foreach) where a program asks for neither."""
    if differentiable:
        return False, False
    plain = all(p is None or type(p) in (Tensor, Parameter) for p in params)
    kinds = {p.device.type for p in params if p is not None}
    fused = use_fused and plain and kinds <= set(_get_fused_kernels_supported_devices()) and all(p is None or p.is_floating_point() for p in params)
    return fused, not fused and plain and kinds <= set(_get_foreach_kernels_supported_devices())


def _disable_dynamo_if_unsupported(single_tensor_fn=None):
    """A decorator for a tracer: the function as it is."""
    return lambda func: func
