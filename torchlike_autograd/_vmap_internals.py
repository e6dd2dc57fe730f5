"""torch._vmap_internals (layer 8): the old entry to `torch.vmap`, still used by programs."""

from __future__ import annotations

from ._core import levels
from .autograd._vmap import vmap as _new_vmap

__all__ = ["vmap"]


def vmap(func, in_dims=0, out_dims=0):
    """`torch.vmap` as it was: a Function inside runs as it is, and nothing is drawn at random."""
    return _new_vmap(func, in_dims, out_dims, levels.OLD)


def _vmap(func, in_dims=0, out_dims=0, allow_none_pass_through=False):
    """`torch.vmap(func, in_dims, out_dims)`; results that are None are not passed through."""
    if allow_none_pass_through:
        raise NotImplementedError("torch._vmap_internals._vmap(allow_none_pass_through=True) is not there yet")
    return vmap(func, in_dims, out_dims)
