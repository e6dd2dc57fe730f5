"""torch.func (layer 8)."""

from .autograd._stateless import functional_call, stack_module_state
from .autograd._transforms import grad, grad_and_value, hessian, jacfwd, jacrev, jvp, linearize, vjp, vmap

__all__ = ["functional_call", "grad", "grad_and_value", "hessian", "jacfwd", "jacrev", "jvp", "linearize", "stack_module_state", "vjp", "vmap"]
