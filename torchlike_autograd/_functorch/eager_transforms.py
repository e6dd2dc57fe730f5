"""torch._functorch.eager_transforms (layer 8)."""

from .._C._functorch import _wrap_for_grad
from .._core import levels as _levels
from .._core import publish as _publish
from .._tensor import Tensor as _Tensor
from ..autograd._func_more import functionalize
from ..autograd._transforms import ARRIVING as _ARRIVING
from ..autograd._transforms import _chosen, hessian, jacfwd, jacrev, jvp, linearize, vjp

__all__ = ["functionalize", "hessian", "jacfwd", "jacrev", "jvp", "linearize", "vjp"]


def _wrap_tensor_for_grad(maybe_tensor, level):
    """A tensor of the reverse-mode transformation of number `level`, or what is none as it is."""
    return _wrap_for_grad(maybe_tensor, level) if isinstance(maybe_tensor, _Tensor) else maybe_tensor


def _arriving(transform, x):
    """An argument inside; asked for by name, as a program may put a function of its own there, to give tensors back the class that they lose."""
    if not isinstance(x, _Tensor):
        return transform.fresh(x)
    return _wrap_tensor_for_grad(x, level=1 + _levels.running().index(transform.level))


_ARRIVING.append(_arriving)


def _as_tuple(val):
    """A tuple, of one where it is none."""
    return val if isinstance(val, tuple) else (val,)


def _slice_argnums(args, argnums, as_tuple=True):
    """The arguments of these numbers."""
    found = _chosen(argnums, args)
    return (found,) if as_tuple and isinstance(argnums, int) else found


__getattr__ = _publish.missing("torch._functorch.eager_transforms")
