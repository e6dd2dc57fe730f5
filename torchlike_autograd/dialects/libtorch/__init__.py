"""libtorch's spelling (layer 9): the rules of PyTorch's C++ interface, in Python.

    from torchlike_autograd.dialects import libtorch as torch

    x = torch.ones([3], torch.requires_grad())
    torch.autograd.backward([x * 2], [torch.ones([3])])
    x.grad()

A `Tensor` is a handle: empty (`torch.Tensor()`, not `defined()`), or of a tensor of this package (`.get()`).  An undefined tensor (or None) stands where no
gradient is given, and comes back where there is none; cotangents are summed to the shape of their root; counts must agree.  The `backward` of an
`autograd.Function` takes and returns a list, and its context has C++'s names; guards (`NoGradGuard()`, ...) act from where they are made until they are let
go, or as context managers.

`torch.nn` and `torch.optim` take and return handles too (`modules.py`).

What differs: `dtype`, `device` and `layout` are attributes; what is not here is Python's (`x.item()` is a number, `x.grad_fn()` a node of this package).
"""

from __future__ import annotations

import types

import torchlike_autograd as _torch

from .functions import AutogradContext, Function, UndefinedGrad
from .guards import AutoGradMode, DetectAnomalyGuard, GradMode, InferenceMode, NoGradGuard
from .handles import Tensor, TensorOptions, calling, device, dtype, requires_grad
from .modules import fft, linalg, nn, optim, special
from .passes import backward, grad

Variable, variable_list = Tensor, list


def make_variable(data, requires_grad=False):
    """A leaf with the elements of `data`."""
    return data.detach().set_requires_grad(requires_grad)


autograd = types.ModuleType(f"{__name__}.autograd", "torch::autograd.")
vars(autograd).update(backward=backward, grad=grad, Function=Function, AutogradContext=AutogradContext, Variable=Variable, variable_list=variable_list,
                      make_variable=make_variable, UndefinedGrad=UndefinedGrad, GradMode=GradMode, AutoGradMode=AutoGradMode,
                      DetectAnomalyGuard=DetectAnomalyGuard, forward_ad=types.SimpleNamespace(
    enter_dual_level=_torch.autograd.forward_ad.enter_dual_level, exit_dual_level=_torch.autograd.forward_ad.exit_dual_level))
_TYPES = ("Byte UInt8 uint8", "Char Int8 int8", "Short Int16 int16", "Int Int32 int32", "Long Int64 int64", "Half Float16 float16", "Float Float32 float32",
          "Double Float64 float64", "ComplexFloat complex64", "ComplexDouble complex128", "Bool bool", "BFloat16 bfloat16")
globals().update({f"k{name}": getattr(_torch, words.split()[-1]) for words in _TYPES for name in words.split()[:-1]})
Device, kCPU, kCUDA = _torch.device, _torch.device("cpu"), _torch.device("cuda")
kMean, kSum, kNone = "mean", "sum", "none"
indexing = types.SimpleNamespace(Slice=lambda start=None, stop=None, step=None: slice(start, stop, step))


def _writing(f):
    """`f` with the tensor that is written in front: `mul_out(out, x, y)`."""
    return lambda out, *args, **kwargs: f(*args, out=out, **kwargs)


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    if name.endswith("_out") and hasattr(_torch, name[:-4]):
        return calling(_writing(getattr(_torch, name[:-4])))
    found = getattr(_torch, name) if hasattr(_torch, name) else getattr(_torch.nn.functional, name)
    return calling(found) if callable(found) and not isinstance(found, type) else found


__all__ = ["AutoGradMode", "DetectAnomalyGuard", "GradMode", "InferenceMode", "NoGradGuard", "Tensor", "TensorOptions", "Variable", "autograd", "device",
           "dtype", "fft", "indexing", "linalg", "make_variable", "nn", "optim", "requires_grad", "special", "variable_list"]
