"""libtorch's spelling (layer 9): the rules of PyTorch's C++ interface, in Python.

    from torchlike_autograd.dialects import libtorch as torch

    x = torch.ones([3], torch.requires_grad())
    torch.autograd.backward([x * 2], [torch.ones([3])])
    x.grad()

A `Tensor` is a handle: empty (`torch.Tensor()`, not `defined()`), or of a tensor of this package (`.get()`).  An undefined tensor (or None) stands where no
gradient is given, and comes back where there is none; cotangents are summed to the shape of their root; counts must agree.  The `backward` of an
`autograd.Function` takes and returns a list, and its context has C++'s names; guards (`NoGradGuard()`, ...) act from where they are made until they are let
go, or as context managers.

What differs: `dtype`, `device` and `layout` are attributes; what is not here is Python's (`x.item()` is a number, `x.grad_fn()` a node of this package).
"""

from __future__ import annotations

import types

import torchlike_autograd as _torch

from .functions import AutogradContext, Function, UndefinedGrad
from .guards import AutoGradMode, DetectAnomalyGuard, GradMode, InferenceMode, NoGradGuard
from .handles import Tensor, TensorOptions, calling, dtype, requires_grad
from .passes import backward, grad

Variable, variable_list = Tensor, list


def make_variable(data, requires_grad=False):
    """A leaf with the elements of `data`."""
    return data.detach().set_requires_grad(requires_grad)


autograd = types.ModuleType(f"{__name__}.autograd", "torch::autograd.")
vars(autograd).update(backward=backward, grad=grad, Function=Function, AutogradContext=AutogradContext, Variable=Variable, variable_list=variable_list,
                      make_variable=make_variable, UndefinedGrad=UndefinedGrad, DetectAnomalyGuard=DetectAnomalyGuard, forward_ad=types.SimpleNamespace(
    enter_dual_level=_torch.autograd.forward_ad.enter_dual_level, exit_dual_level=_torch.autograd.forward_ad.exit_dual_level))
kFloat, kDouble, kLong, kComplexFloat = _torch.float32, _torch.float64, _torch.int64, _torch.complex64


def _writing(f):
    """`f` with the tensor that is written in front: `mul_out(out, x, y)`."""
    return lambda out, *args, **kwargs: f(*args, out=out, **kwargs)


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    if name.endswith("_out") and hasattr(_torch, name[:-4]):
        return calling(_writing(getattr(_torch, name[:-4])))
    found = getattr(_torch, name)
    return calling(found) if callable(found) and not isinstance(found, type) else found


__all__ = ["AutoGradMode", "DetectAnomalyGuard", "GradMode", "InferenceMode", "NoGradGuard", "Tensor", "TensorOptions", "Variable", "autograd", "dtype",
           "make_variable", "requires_grad", "variable_list"]
