"""torch._functorch.eager_transforms (layer 8)."""

from .._core import publish as _publish
from ..autograd._func_more import functionalize
from ..autograd._transforms import _chosen, hessian, jacfwd, jacrev, jvp, linearize, vjp

__all__ = ["functionalize", "hessian", "jacfwd", "jacrev", "jvp", "linearize", "vjp"]


def _as_tuple(val):
    """A tuple, of one where it is none."""
    return val if isinstance(val, tuple) else (val,)


def _slice_argnums(args, argnums, as_tuple=True):
    """The arguments of these numbers."""
    found = _chosen(argnums, args)
    return (found,) if as_tuple and isinstance(argnums, int) else found


__getattr__ = _publish.missing("torch._functorch.eager_transforms")
