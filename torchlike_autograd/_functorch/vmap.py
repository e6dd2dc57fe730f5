"""torch._functorch.vmap (layer 8)."""

from __future__ import annotations

from .._core import levels
from .._core import publish as _publish
from .._core.pytree import broadcast, flatten, unflatten
from .._tensor import Tensor
from ..autograd._vmap import enter, leave, vmap

vmap_impl = vmap
in_dims_t = int | tuple
out_dims_t = int | tuple[int, ...]


def lazy_load_decompositions():
    """Nothing to load."""


def _check_randomness_arg(randomness):
    if randomness not in ("error", "different", "same"):
        raise RuntimeError(f"Only allowed values for randomness are 'error', 'different', or 'same'. Got {randomness}")


def get_chunk_sizes(total_elems, chunk_size):
    """The sizes of chunks, the last one what is left."""
    whole, rest = divmod(total_elems, chunk_size)
    return [chunk_size] * whole + [rest] * bool(rest)


def restore_vmap(func, in_dims, batch_size, randomness):
    """A function that maps `func` and gives (results, the dim of each that is mapped: 0, or None for one that is the same for all)."""

    def wrapped(*args, **kwargs):
        flat, tree = flatten(args)
        dims = broadcast(in_dims, tree)
        with levels.enter(levels.MAP, batch_size, randomness) as level:
            inner = [x if d is None or not isinstance(x, Tensor) else enter(level, x, d) for x, d in zip(flat, dims)]
            outs, out_tree = flatten(func(*unflatten(inner, tree), **kwargs))
            mine = [isinstance(o, Tensor) and levels.has(o._value(), level) for o in outs]
            outs = [leave(level, o, 0) if m else o for o, m in zip(outs, mine)]
        return unflatten(outs, out_tree), unflatten([0 if m else None for m in mine], out_tree)

    return wrapped


__getattr__ = _publish.missing("torch._functorch.vmap")
