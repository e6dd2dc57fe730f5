"""The package `functorch` that comes with PyTorch (layer 8): the transformations of torch.func under their first names, which are deprecated."""

import functools as _functools

from .. import func as _func
from .._core import publish as _publish
from .._core.saying import warn as _warn
from .._functorch import make_functional as _modules
from .._functorch.make_functional import FunctionalModule, FunctionalModuleWithBuffers

__all__ = ["FunctionalModule", "FunctionalModuleWithBuffers", "combine_state_for_ensemble", "functionalize", "grad", "grad_and_value", "hessian", "jacfwd",
           "jacrev", "jvp", "make_functional", "make_functional_with_buffers", "make_fx", "vjp", "vmap"]


def _deprecated(f, name, new):
    @_functools.wraps(f)
    def wrapped(*args, **kwargs):
        _warn(f"We've integrated functorch into PyTorch. As the final step of the integration, `functorch.{name}` is deprecated as of PyTorch 2.0 and will be "
              f"deleted in a future version of PyTorch >= 2.3. Please use `{new}` instead; see the PyTorch 2.0 release notes and/or the `torch.func` migration "
              "guide for more details https://pytorch.org/docs/main/func.migrating.html", FutureWarning)
        return f(*args, **kwargs)

    return wrapped


vmap = _deprecated(_func.vmap, "vmap", "torch.vmap")
functionalize, grad, grad_and_value, hessian, jacfwd, jacrev, jvp, vjp = (
    _deprecated(getattr(_func, n), n, f"torch.func.{n}") for n in ("functionalize", "grad", "grad_and_value", "hessian", "jacfwd", "jacrev", "jvp", "vjp"))
make_functional = _deprecated(_modules.make_functional, "make_functional", "torch.func.functional_call")
make_functional_with_buffers = _deprecated(_modules.make_functional_with_buffers, "make_functional_with_buffers", "torch.func.functional_call")
combine_state_for_ensemble = _deprecated(_modules.combine_state_for_ensemble, "combine_state_for_ensemble", "torch.func.stack_module_state")


def make_fx(*args, **kwargs):
    """NotImplementedError."""
    raise NotImplementedError("functorch.make_fx: nothing traces Python here; use jax.make_jaxpr on torchlike_autograd.interop's functions")


__getattr__ = _publish.missing("functorch")
