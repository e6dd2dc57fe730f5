"""torch._functorch.deprecated (layer 8): where PyTorch keeps what the package `functorch` has of torch.func's transformations."""

from ..functorch import (  # noqa: F401
    combine_state_for_ensemble,
    functionalize,
    grad,
    grad_and_value,
    hessian,
    jacfwd,
    jacrev,
    jvp,
    make_functional,
    make_functional_with_buffers,
    vjp,
    vmap,
)
