"""vmap (layer 7): each mapped argument moves into a level (`_core/levels.py`), the function runs once, its results move out.

What the function sees has the shape of one example.  A mapped argument that it writes to is written back when it has run.
"""

from __future__ import annotations

import functools

from .._core import duals, levels, rng, shapes
from .._core.composite import named
from .._core.pytree import broadcast, flatten, unflatten
from .._tensor import Tensor, wrap
from ._mapped_views import shown, source_of, turn

RANDOMNESS = ("error", "different", "same")
STEPS: list = []  # f(arguments or results): the (process, create, unwrap) that a program put in the place of torch._functorch.vmap's, if these are for them


def name_of(func):
    """A function's name in messages."""
    if isinstance(func, functools.partial):
        return f"functools.partial({name_of(func.func)}, ...)"
    return getattr(func, "__name__", None) or repr(func)


def vmap(func, in_dims=0, out_dims=0, randomness="error", *, chunk_size=None):
    """A function that maps `func` over dim `in_dims` of its tensors and stacks its results at `out_dims`.

    randomness: "error", "same" or "different" for examples; chunk_size: examples at a time (None: all).
    """
    if randomness not in RANDOMNESS and randomness is not levels.OLD:
        raise RuntimeError(f"Only allowed values for randomness are 'error', 'different', or 'same'. Got {randomness}")
    if not (chunk_size is None or chunk_size > 0):
        raise ValueError(f"vmap: chunk_size should be None or greater than 0. (got {chunk_size})")

    @functools.wraps(func)
    def wrapped(*args, **kwargs):
        _check_out_dims(func, out_dims)
        steps = _steps_for(args)
        mapped, (size, dims, flat, tree) = (_mapped, _process(func, in_dims, args)) if steps is None else (_mapped_by(steps), steps[0](in_dims, args, func))
        if chunk_size is None or chunk_size >= size:
            return mapped(func, size, dims, flat, tree, out_dims, randomness, kwargs)
        return _in_chunks(mapped, func, size, dims, flat, tree, out_dims, randomness, kwargs, chunk_size)

    return wrapped


def _steps_for(x):
    return STEPS[-1](x) if STEPS else None


def _number(level):
    """What torch's functions know a running level by."""
    return 1 + levels.running().index(level)


def _mapped_by(steps):
    """`_mapped` through the functions of a program: what they make of containers of their own is none of ours."""

    def mapped(func, size, dims, flat, tree, out_dims, randomness, kwargs):
        with levels.enter(levels.MAP, size, randomness) as level:
            level.arrived = []
            out = func(*steps[1](dims, flat, _number(level), tree), **kwargs)
            made = steps[2](out, out_dims, _number(level), size, func)
        for x, d, t, v in level.arrived:
            _written_back(level, x, d, t, v)
        return made

    return mapped


def _mapped(func, size, dims, flat, tree, out_dims, randomness, kwargs):
    with levels.enter(levels.MAP, size, randomness) as level:
        inner = [x if d is None else _example(level, x, d) for x, d in zip(flat, dims)]
        before = [None if d is None else t._tl_v for t, d in zip(inner, dims)]
        out = func(*unflatten(inner, tree), **kwargs)
        steps = _steps_for(out)
        if steps is None:
            outs, out_tree = flatten(out)
            places = _dims_out(func, out_dims, out_tree)
            results = [_leaf_out(func, level, o, d) for o, d in zip(outs, places)]
        else:
            made = steps[2](out, out_dims, _number(level), size, func)
    for x, d, t, v in zip(flat, dims, inner, before):
        if d is not None:
            _written_back(level, x, d, t, v)
    if steps is not None:
        return made
    mapped = [(x, d, t) for x, d, t in zip(flat, dims, inner) if d is not None]
    return unflatten(_as_views(mapped, outs, results, places), out_tree)


def _written_back(level, x, d, t, before):
    """Let the argument `x` have what its example `t` was written, and the dims that it was given in place."""
    turned = t._tl_view is not None and t._tl_view.base is None  # a view of itself
    now = t._tl_cell.value if turned else t._tl_value()
    if duals.written(t, now, before):
        x.copy_(leave(level, wrap(now), d))
    if turned:
        turn(x, d, t._tl_view.chain)


def _as_views(mapped, outs, results, places):
    """The results, which share the memory of the arguments or of the other results that they show; mapped: (tensor, its dim, what stands for it inside)."""
    mapped = [*mapped, *((r, 0, o) for o, r, d in zip(outs, results, places) if d == 0 and o._tl_view is None and r._tl_view is None)]
    inner, made = [t for _, _, t in mapped], {}
    for o, r, d in zip(outs, results, places):
        if d is not None and (id(o), d) not in made:
            made[id(o), d] = _as_view(mapped, inner, o, r, d)
    return [r if d is None else made[id(o), d] for o, r, d in zip(outs, results, places)]


def _as_view(mapped, inner, o, r, d):
    found = source_of(o, inner)
    if found is None:
        return r
    at, chain = found
    return shown(*mapped[at][:2], chain, None if o._tl_view is None else o._tl_view.creation, r, shapes.wrap_dim(d, r.ndim))


def _example(level, x, d):
    """One example of a mapped argument, with the strides that it has in memory: they decide what can be viewed."""
    t = ARRIVING[-1](level, x, d)
    if d or x._tl_laid is not None or x._tl_view is not None:
        strides, offset = x._tl_geometry()
        own = strides[:d] + strides[d + 1:]
        if offset or not shapes.is_contiguous(t._tl_v.aval.shape, own):
            t._tl_laid = own, offset
    level.examples[id(t)] = x, t._tl_v
    return t


def enter(level, x, dim=0):
    """A tensor inside a level, mapped over `dim`."""
    return wrap(levels.move("enter", level, [x._tl_value()], dim))


ARRIVING = [enter]  # what moves a mapped argument into a level


def leave(level, x, dim=0):
    """A tensor outside of the level, its dim at `dim`; one that is not mapped is expanded."""
    return wrap(levels.move("exit", level, [x._tl_value()], shapes.wrap_dim(dim, x.ndim + 1)))


def _process(func, in_dims, args):
    """(size, dim of each leaf, leaves, structure), checked."""
    name = name_of(func)
    if not isinstance(in_dims, int) and not isinstance(in_dims, tuple):
        raise ValueError(f"vmap({name}, in_dims={in_dims}, ...)(<inputs>): expected `in_dims` to be int or a (potentially nested) tuple matching the structure "
                         f"of inputs, got: {type(in_dims)}.")
    if not args:
        raise ValueError(f"vmap({name})(<inputs>): got no inputs. Maybe you forgot to add inputs, or you are trying to vmap over a function with no inputs. "
                         "The latter is unsupported.")
    flat, tree = flatten(args)
    dims = broadcast(in_dims, tree)
    if dims is None:
        raise ValueError(f"vmap({name}, in_dims={in_dims}, ...)(<inputs>): in_dims is not compatible with the structure of `inputs`. in_dims has structure "
                         f"{flatten(in_dims)[1]} but inputs has structure {tree}.")
    dims = [_checked_dim(name, in_dims, x, d) for x, d in zip(flat, dims)]
    sizes = [x.size(d) for x, d in zip(flat, dims) if d is not None]
    if not sizes:
        raise ValueError("vmap: Expected at least one Tensor to vmap over")
    if any(n != sizes[0] for n in sizes):
        raise ValueError(f"vmap: Expected all tensors to have the same size in the mapped dimension, got sizes {sizes} for the mapped dimension")
    return sizes[0], dims, flat, tree


def _checked_dim(name, in_dims, x, d):
    where = f"vmap({name}, in_dims={in_dims}, ...)(<inputs>): Got in_dim={d} for"
    if d is None:
        return None
    if not isinstance(d, int):
        raise ValueError(f"{where} an input but in_dim must be either an integer dimension or None.")
    if not isinstance(x, Tensor):
        raise ValueError(f"{where} an input but the input is of type {type(x)}. We cannot vmap over non-Tensor arguments, please use None as the "
                         "respective in_dim")
    if d < -x.dim() or d >= x.dim():
        raise ValueError(f"{where} some input, but that input is a Tensor of dimensionality {x.dim()} so expected in_dim to satisfy "
                         f"-{x.dim()} <= in_dim < {x.dim()}.")
    return d % x.dim()


def _check_out_dims(func, out_dims):
    if isinstance(out_dims, int):
        return
    if not all(d is None or isinstance(d, int) for d in flatten(out_dims)[0]):
        raise ValueError(f"vmap({name_of(func)}, ..., out_dims={out_dims}): `out_dims` must be an int, None or a python collection of ints representing where "
                         "in the outputs the vmapped dimension should appear.")


def _dims_out(func, out_dims, tree):
    if tree.kind is None and type(out_dims) is tuple and len(out_dims) == 1:
        return list(out_dims)
    dims = broadcast(out_dims, tree)
    if dims is None:
        raise ValueError(f"vmap({name_of(func)}, ..., out_dims={out_dims})(<inputs>): out_dims is not compatible with the structure of `outputs`. out_dims has "
                         f"structure {flatten(out_dims)[1]} but outputs has structure {tree}.")
    return dims


def _leaf_out(func, level, o, d):
    name = name_of(func)
    if d is None:
        if isinstance(o, Tensor) and levels.has(o._tl_value(), level):
            raise ValueError(f"vmap({name}, ...): `{name}` can not return a BatchedTensor when out_dim is None")
        return o
    if not isinstance(o, Tensor):
        raise ValueError(f"vmap({name}, ...): `{name}` must only return Tensors, got type {type(o)}. Did you mean to set out_dims= to None for output?")
    return leave(level, o, d) if levels.has(o._tl_value(), level) else _expanded(level, o, shapes.wrap_dim(d, o.ndim + 1))


def _expanded(level, o, d):
    """What is the same for all examples, shown for each of them."""
    return o.unsqueeze(d).expand(*o.shape[:d], level.size, *o.shape[d:]) if d else o.expand(level.size, *o.shape)


def _in_chunks(mapped, func, size, dims, flat, tree, out_dims, randomness, kwargs, chunk_size):
    parts, stream = [], rng.states() if randomness == "same" else None
    for start in range(0, size, chunk_size):
        n = min(chunk_size, size - start)
        if stream is not None:
            rng.put_back(stream)  # the same numbers for the examples of every chunk
        own = [x if d is None else x.narrow(d, start, n) for x, d in zip(flat, dims)]
        parts.append(flatten(mapped(func, n, dims, own, tree, out_dims, randomness, kwargs)))
    tree_out = parts[0][1]
    cat = named("cat")
    return unflatten([outs[0] if d is None else cat(list(outs), d)
                      for d, outs in zip(_dims_out(func, out_dims, tree_out), zip(*[p[0] for p in parts]))], tree_out)
