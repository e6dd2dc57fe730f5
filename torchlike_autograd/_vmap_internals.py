"""torch._vmap_internals (layer 8): the old entry to `torch.vmap`, still used by programs."""

from __future__ import annotations

from .autograd._vmap import vmap

__all__ = ["vmap"]


def _vmap(func, in_dims=0, out_dims=0, allow_none_pass_through=False):
    """`torch.vmap(func, in_dims, out_dims)`; results that are None are not passed through."""
    if allow_none_pass_through:
        raise NotImplementedError("torch._vmap_internals._vmap(allow_none_pass_through=True) is not there yet")
    return vmap(func, in_dims, out_dims)
