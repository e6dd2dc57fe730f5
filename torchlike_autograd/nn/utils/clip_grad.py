"""torch.nn.utils.clip_grad (layer 8): gradients made shorter, in place."""

from __future__ import annotations

from ..._core.composite import named
from ..._core.publish import load_all
from ..._core.saying import warn
from ..._functions.data import tensor
from ..._tensor import Tensor
from ...autograd.grad_mode import no_grad

__all__ = ["clip_grad_norm", "clip_grad_norm_", "clip_grad_value_"]

_vector_norm = load_all()["torch.linalg.vector_norm"]


def _listed(tensors):
    return [tensors] if isinstance(tensors, Tensor) else list(tensors)


def _get_total_norm(tensors, norm_type=2.0, error_if_nonfinite=False, foreach=None):
    """The norm of all tensors together, as of one vector."""
    with no_grad():
        tensors, norm_type = _listed(tensors), float(norm_type)
        if not tensors:
            return tensor(0.0)
        norms = [_vector_norm(t, norm_type) for t in tensors]
        total = _vector_norm(named("stack")(norms), norm_type)
        if error_if_nonfinite and not bool(total.isfinite()):
            raise RuntimeError(f"The total norm of order {norm_type} for gradients from `parameters` is non-finite, so it cannot be clipped. To disable "
                               "this error and scale the gradients by the non-finite norm anyway, set `error_if_nonfinite=False`")
        return total


def _clip_grads_with_norm_(parameters, max_norm, total_norm, foreach=None):
    """Scale gradients by max_norm / (total_norm + 1e-6) where that is less than 1."""
    with no_grad():
        grads = [p.grad for p in _listed(parameters) if p.grad is not None]
        if not grads:
            return
        factor = (float(max_norm) / (total_norm + 1e-6)).clamp(max=1.0)
        for g in grads:
            g.mul_(factor)


def clip_grad_norm_(parameters, max_norm, norm_type=2.0, error_if_nonfinite=False, foreach=None):
    """Scale the gradients of all parameters so that their common norm is at most max_norm; returns the norm before."""
    if not isinstance(parameters, Tensor):
        generator = hasattr(parameters, "__next__")
        parameters = list(parameters)
        if generator and not parameters:
            warn("`parameters` is an empty generator, no gradient clipping will occur.")
    parameters = _listed(parameters)
    total = _get_total_norm([p.grad for p in parameters if p.grad is not None], norm_type, error_if_nonfinite, foreach)
    _clip_grads_with_norm_(parameters, max_norm, total, foreach)
    return total


def clip_grad_norm(parameters, max_norm, norm_type=2.0, error_if_nonfinite=False, foreach=None):
    """`clip_grad_norm_` by its old name."""
    warn("`torch.nn.utils.clip_grad_norm` is now deprecated in favor of `torch.nn.utils.clip_grad_norm_`.", FutureWarning)
    return clip_grad_norm_(parameters, max_norm, norm_type, error_if_nonfinite, foreach)


def clip_grad_value_(parameters, clip_value, foreach=None):
    """Bound every element of the gradients by -clip_value and clip_value."""
    clip_value = float(clip_value)
    grads = [p.grad for p in _listed(parameters) if p.grad is not None]
    if not grads:  # what torch groups by device and dtype may not be empty
        raise RuntimeError("Expected !nested_tensorlist[0].empty() to be true, but got false.  "
                           "(Could this error message be improved?  If so, please report an enhancement request to PyTorch.)")
    with no_grad():
        for g in grads:
            g.clamp_(min=-clip_value, max=clip_value)
