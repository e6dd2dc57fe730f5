"""torch._functorch.vmap (layer 8)."""

from __future__ import annotations

import contextlib
from collections import OrderedDict

from .._C._functorch import _add_batch_dim, _remove_batch_dim, _vmap_decrement_nesting, _vmap_increment_nesting, is_batchedtensor
from .._core import levels
from .._core import publish as _publish
from .._core.pytree import broadcast, flatten, unflatten
from .._tensor import Tensor
from ..autograd._vmap import ARRIVING, STEPS, _dims_out, _leaf_out, _number, _process, enter, leave, vmap
from ..autograd._vmap import name_of as _get_name  # noqa: F401
from ..utils._pytree import _broadcast_to_and_flatten, tree_flatten, tree_unflatten  # noqa: F401

# A program may put a function of its own in the place of `_add_batch_dim`, to give tensors back the class that they lose in a map: it is asked for by name.
ARRIVING.append(lambda level, x, d: _add_batch_dim(x, d, _number(level)))

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


@contextlib.contextmanager
def vmap_increment_nesting(batch_size, randomness):
    """Run inside a map over `batch_size` examples; gives its number."""
    try:
        yield _vmap_increment_nesting(batch_size, randomness)
    finally:
        _vmap_decrement_nesting()


# The steps of a map.  A program that maps containers of its own puts functions of its own in their place (tensordict does); they see calls with such
# containers, those with tensors in Python's containers stay here, where results are views.

def _process_batched_inputs(in_dims, args, func):
    """(number of examples, the dim of each leaf, leaves, structure) of the arguments, checked."""
    return (*_process(func, in_dims, args)[:3], tree_flatten(args)[1])


def _create_batched_inputs(flat_in_dims, flat_args, vmap_level, args_spec):
    """The arguments inside of a map."""
    return tree_unflatten([x if d is None else _add_batch_dim(x, d, vmap_level) for d, x in zip(flat_in_dims, flat_args)], args_spec)


def _unwrap_batched(batched_outputs, out_dims, vmap_level, batch_size, func):
    """The results outside of a map."""
    flat, tree = flatten(batched_outputs)
    level = levels.running()[vmap_level - 1]
    return unflatten([_leaf_out(func, level, o, d) for o, d in zip(flat, _dims_out(func, out_dims, tree))], tree)


_STEPS = _process_batched_inputs, _create_batched_inputs, _unwrap_batched
_LEAVES = (Tensor, int, float, complex, str, bytes, type(None))


def _steps(x):
    now = _process_batched_inputs, _create_batched_inputs, _unwrap_batched
    return None if now == _STEPS or _of_python(x) else now


def _of_python(x):
    """Whether it is made of tensors, numbers and texts in Python's own containers."""
    if isinstance(x, (list, tuple)):
        return all(map(_of_python, x))
    return all(map(_of_python, x.values())) if type(x) in (dict, OrderedDict) else isinstance(x, _LEAVES)


STEPS.append(_steps)


def _maybe_remove_batch_dim(name, batched_output, vmap_level, batch_size, out_dim):
    """A result of the function `name` outside of its map; anything where `out_dim` is None.  ValueError for what cannot leave."""
    if out_dim is None:
        if isinstance(batched_output, Tensor) and is_batchedtensor(batched_output):
            raise ValueError(f"vmap({name}, ...): `{name}` can not return a BatchedTensor when out_dim is None")
        return batched_output
    if not isinstance(batched_output, Tensor):
        raise ValueError(f"vmap({name}, ...): `{name}` must only return Tensors, got type {type(batched_output)}. Did you mean to set out_dims= to None for "
                         "output?")
    return _remove_batch_dim(batched_output, vmap_level, batch_size, out_dim)


def restore_vmap(func, in_dims, batch_size, randomness):
    """A function that maps `func` and gives (results, the dim of each that is mapped: 0, or None for one that is the same for all)."""

    def wrapped(*args, **kwargs):
        flat, tree = flatten(args)
        dims = broadcast(in_dims, tree)
        with levels.enter(levels.MAP, batch_size, randomness) as level:
            inner = [x if d is None or not isinstance(x, Tensor) else enter(level, x, d) for x, d in zip(flat, dims)]
            outs, out_tree = flatten(func(*unflatten(inner, tree), **kwargs))
            dims = [levels.dim_of(o._tl_value(), level) if isinstance(o, Tensor) and levels.has(o._tl_value(), level) else None for o in outs]
            outs = [o if d is None else leave(level, o, d) for o, d in zip(outs, dims)]
        return unflatten(outs, out_tree), unflatten(dims, out_tree)

    return wrapped


__getattr__ = _publish.missing("torch._functorch.vmap")
