"""torch.func (layer 8)."""

from .autograd._func_more import debug_unwrap, functionalize, rearrange, replace_all_batch_norm_modules_
from .autograd._stateless import functional_call, stack_module_state
from .autograd._transforms import grad, grad_and_value, hessian, jacfwd, jacrev, jvp, linearize, vjp, vmap

__all__ = ["debug_unwrap", "functional_call", "functionalize", "grad", "grad_and_value", "hessian", "jacfwd", "jacrev", "jvp", "linearize", "rearrange",
           "replace_all_batch_norm_modules_", "stack_module_state", "vjp", "vmap"]
