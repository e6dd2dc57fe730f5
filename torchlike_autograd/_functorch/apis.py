"""torch._functorch.apis (layer 8)."""

from ..autograd._transforms import grad, grad_and_value
from ..autograd._vmap import vmap

__all__ = ["chunk_vmap", "grad", "grad_and_value", "vmap"]


def chunk_vmap(func, in_dims=0, out_dims=0, randomness="error", chunks=2):
    """`vmap` in so many chunks."""
    if chunks == 1:
        return vmap(func, in_dims, out_dims, randomness)

    def wrapped(*args, **kwargs):
        from ..autograd._vmap import _process

        size = _process(func, in_dims, args)[0]
        return vmap(func, in_dims, out_dims, randomness, chunk_size=-(-size // chunks))(*args, **kwargs)

    return wrapped
