"""Moving and converting Modules (layer 8): `_apply` and what is written with it."""

from __future__ import annotations

import builtins

from ... import __future__
from ..._core import devices, dtypes, words
from ..._core.nothing import no_data
from ..._core.saying import warn
from ..._tensor import Tensor
from ..._tensor_members import _has_compatible_shallow_copy_type
from ...autograd.grad_mode import no_grad
from ...utils._python_dispatch import is_traceable_wrapper_subclass
from ...utils._swap import put_in
from ..parameter import Parameter


def _apply(self, fn, recurse=True):
    """Put fn(tensor) into every parameter, gradient and buffer; parameters keep their identity, unless `torch.__future__` says otherwise."""
    if recurse:
        for module in self.children():
            module._apply(fn)
    for name, p in self._parameters.items():
        if p is None:
            continue
        with no_grad():
            new = fn(p)
        # Of a subclass that is made of several tensors, `.data` would be only one.
        if __future__.get_swap_module_params_on_conversion() or is_traceable_wrapper_subclass(new):
            _swap(self, name, p, new, fn)
        else:
            self._parameters[name] = _put(p, new, fn)
    for name, b in self._buffers.items():
        if b is not None:
            self._buffers[name] = fn(b)
    return self


def _takes(old, new):
    """Whether a tensor can and shall stay the object that it is when it has other contents."""
    return _has_compatible_shallow_copy_type(old, new) and not __future__.get_overwrite_module_params_on_conversion()


def _put(p, new, fn):
    """The parameter with other contents, or another one in its place; and so its gradient."""
    grad, out = p.grad, p
    if not _takes(p, new):
        out = Parameter(new, p.requires_grad)
    elif new is not p:
        p.data = new
    if grad is None:
        return out
    with no_grad():
        new = fn(grad)
    if not _takes(grad, new):
        out.grad = new.requires_grad_(grad.requires_grad)
    else:
        if new is not grad:
            grad.data = new
        out.grad = grad
    return out


def _swap(module, name, p, new, fn):
    """What a parameter and a new one are changes places, the gradient's too."""
    grad, p.grad = p.grad, None
    try:
        put_in(p, Parameter(new, p.requires_grad))
    except Exception as e:
        p.grad = grad
        raise RuntimeError(f"_apply(): Couldn't swap {type(module).__name__}.{name}") from e
    if grad is not None:
        with no_grad():
            moved = fn(grad)
            if moved is not grad:
                put_in(grad, moved.requires_grad_(grad.requires_grad))
        p.grad = grad


def cuda(self, device=None):
    """Move to a GPU; torch's error where there is none."""
    if device is not None and not devices_there():
        raise RuntimeError("Cannot access accelerator device when none is available.")
    return self._apply(lambda t: t.cuda(device))


def devices_there():
    """Whether tensors can live on a GPU."""
    from ... import cuda as there

    return there.is_available()


def ipu(self, device=None):
    """Move to an IPU: there is none."""
    raise RuntimeError("PyTorch is not linked with support for ipu devices")


def xpu(self, device=None):
    """Move to an XPU: there is none."""
    raise AssertionError("Torch not compiled with XPU enabled")


def mtia(self, device=None):
    """Move to an MTIA device: there is none."""
    raise AssertionError("Torch not compiled with MTIA enabled. Ensure you have `import mtia.host_runtime.torch_mtia.dynamic_library` in your python src "
                         "file and include `//mtia/host_runtime/torch_mtia:torch_mtia` as your target dependency!")


def cpu(self):
    """Move to the host."""
    return self._apply(lambda t: t.cpu())


def type(self, dst_type):
    """Convert all parameters and buffers."""
    return self._apply(lambda t: t.type(dst_type))


def _floats_to(self, dtype):
    return self._apply(lambda t: t.to(dtype) if t.is_floating_point() else t)


def float(self):
    """Floating point parameters and buffers as float32."""
    return _floats_to(self, dtypes.float32)


def double(self):
    """Floating point parameters and buffers as float64."""
    return _floats_to(self, dtypes.float64)


def half(self):
    """Floating point parameters and buffers as float16."""
    return _floats_to(self, dtypes.float16)


def bfloat16(self):
    """Floating point parameters and buffers as bfloat16."""
    return _floats_to(self, dtypes.bfloat16)


def to_empty(self, *, device, recurse=True):
    """Parameters and buffers of the same shapes with unspecified values."""
    from ... import empty_like

    return self._apply(lambda t: empty_like(t, device=device), recurse=recurse)


def to(self, *args, **kwargs):
    """to(device, dtype, non_blocking), to(dtype), to(tensor), to(memory_format=...): convert floating point tensors and move all."""
    device, dtype, form = _asked(args, kwargs)
    if dtype is not None:
        if not (dtype.is_floating_point or dtype.is_complex):
            raise TypeError(f"nn.Module.to only accepts floating point or complex dtypes, but got desired dtype={dtype}")
        if dtype.is_complex:
            warn("Complex modules are a new feature under active development whose design may change, and some modules might not work as expected when "
                 "using complex tensors as parameters or buffers. Please file an issue at "
                 "https://github.com/pytorch/pytorch/issues/new?template=bug-report.yml if a complex module does not work as expected.")

    def convert(t):
        wanted = dtype if dtype is not None and (t.is_floating_point() or t.is_complex()) else None
        if form is not None and t.dim() in (4, 5):
            return t.to(device, wanted, memory_format=form)
        if device is None:
            return t if wanted is None else t.to(wanted)
        if t.is_meta and device.type != "meta":
            raise no_data(" Please use torch.nn.Module.to_empty() instead of torch.nn.Module.to() when moving module from meta to a different device.")
        return t.to(device) if wanted is None else t.to(device, wanted)

    return self._apply(convert)


_TO = tuple(words.Signature(f"({head}, bool non_blocking = False, bool copy = False, *, torch.memory_format memory_format = None)")
            for head in ("torch.device device = None, torch.dtype dtype = None", "torch.dtype dtype", "Tensor tensor"))


def _asked(args, given):
    """(device, dtype, memory format) of the arguments of `to`."""
    if len(args) > 4:
        raise TypeError(f"to() takes from 0 to 4 positional arguments but {len(args)} were given")
    if args and isinstance(args[0], (bool, builtins.float, complex)):  # torch takes a number for a tensor to be like
        like = dtypes.bool_ if isinstance(args[0], bool) else dtypes.float64 if isinstance(args[0], builtins.float) else dtypes.complex128
        return None, like, given.get("memory_format")
    refused = words.complaint("to", True, _TO, args, given)
    if refused is not None:
        raise refused
    if given.get("copy") is not None or len(args) > (2 if isinstance(args[0] if args else None, (Tensor, dtypes.dtype)) else 3):
        raise RuntimeError(".to() does not accept copy argument")
    device, dtype = given.get("device"), given.get("dtype")
    for a in (*args, given.get("tensor")):
        if isinstance(a, Tensor):
            device, dtype = a.device, a.dtype
        elif isinstance(a, dtypes.dtype):
            dtype = a
        elif isinstance(a, (str, devices.device)) or (isinstance(a, int) and not isinstance(a, bool)):
            device = a
    return (None if device is None else devices.device(device)), dtype, given.get("memory_format")


def share_memory(self):
    """`share_memory_` of every tensor."""
    return self._apply(lambda t: t.share_memory_())


METHODS = (_apply, cuda, ipu, xpu, mtia, cpu, type, float, double, half, bfloat16, to_empty, to, share_memory)
