"""The package `functorch` that comes with PyTorch (layer 8): the transformations of torch.func under their first names."""

from ._core import publish as _publish
from .func import functional_call, grad, grad_and_value, hessian, jacfwd, jacrev, jvp, linearize, stack_module_state, vjp, vmap

__all__ = ["functional_call", "grad", "grad_and_value", "hessian", "jacfwd", "jacrev", "jvp", "linearize", "stack_module_state", "vjp", "vmap"]
__getattr__ = _publish.missing("functorch")
