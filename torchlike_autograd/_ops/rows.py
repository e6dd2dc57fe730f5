"""Gathers and scatters of single elements whose index is a spread vector, written as those of whole rows (layer 2).

    out.scatter_add(0, idx[:, None].expand_as(src), src)

as graph networks say it names each element by its place in every dim, and XLA takes them one by one (float32, 10000x64: 1.3 ms).  Where the traced program shows
that the index is the same along a dim, in which the elements lie as they do in the operand, that dim goes along as a window (0.1 ms).  Each element meets the
same ones in the same order, so that nothing changes in the numbers.

Gathers of rows at places that are part of the program, as interpolation makes them, are kept out of what XLA fuses: there it reads element by element, again
for each that needs it (float32, 4x3x256x256 to 224x224 with antialiasing: 40 ms, alone 1.4 ms), and takes twice as long to compile it.
"""

from __future__ import annotations

import functools
from typing import NamedTuple

from jax import lax
from jax.extend.core import Literal

from .rewriting import called, holds, rewritten

_SCATTERS = {"scatter", "scatter-add", "scatter_add", "scatter-mul", "scatter_mul", "scatter-min", "scatter_min", "scatter-max", "scatter_max"}
_SAME = {"convert_element_type", "copy", "copy_p", "stop_gradient"}
LARGE = 4096  # elements of a result that is kept apart
_ELEMENTWISE = {"add", "sub", "mul", "max", "min", "clamp", "lt", "ge", "select_n"}


class Spread(NamedTuple):
    """What is known of an array of integers: the dims along which it may vary; the dim whose positions it holds; of a concatenation along the last dim its parts;
    whether it is part of the program.
    """

    varies: frozenset
    counts: int | None = None
    parts: tuple = ()
    fixed: bool = False


def by_rows(closed):
    """A traced program in which such gathers and scatters take rows, at any depth; itself where it has none."""
    if not holds(closed, lambda eqn: _concerned(eqn) or _is_large(eqn)):
        return closed
    found = {}
    _look(closed.jaxpr, found, {v: Spread(frozenset(range(v.aval.ndim)), fixed=True) for v in closed.jaxpr.constvars})
    return rewritten(closed, lambda eqn: found.get(id(eqn))) if any(found.values()) else closed


def _concerned(eqn):
    name = eqn.primitive.name
    return (name == "gather" or name in _SCATTERS) and eqn.invars[1].aval.ndim > 2 and eqn.invars[1].aval.shape[-1] > 1


def _is_large(eqn):
    return eqn.primitive.name == "gather" and eqn.params["dimension_numbers"].offset_dims and eqn.outvars[0].aval.size >= LARGE


def _look(jaxpr, found, known):
    """Put the function that stands for a gather or scatter in `found`, by its id; what is known of the program's results.  A program that is called twice has one."""
    for eqn in jaxpr.eqns:
        made = called(eqn, lambda jaxpr, inputs: _look(jaxpr, found, inputs), lambda v: _known(v, known))
        if _is_large(eqn) and _known(eqn.invars[1], known).fixed:
            found[id(eqn)] = functools.partial(_apart, eqn)
        elif _concerned(eqn):
            dims = _rows(eqn, _known(eqn.invars[1], known))
            rule = functools.partial(_taken, eqn, dims) if dims else None
            found[id(eqn)] = rule if id(eqn) not in found or (rule and found[id(eqn)] and found[id(eqn)].args[1:] == (dims,)) else None
        elif made is None:
            made = [_made(eqn, known)]
        known.update((v, k) for v, k in zip(eqn.outvars, made or ()) if k is not None)
    return [_known(v, known) for v in jaxpr.outvars]


def _known(v, known):
    if isinstance(v, Literal):
        return Spread(frozenset())
    return known.get(v) or Spread(frozenset(range(len(getattr(v.aval, "shape", ())))))


def _made(eqn, known):
    """What is known of the result of an equation; None for nothing."""
    name = eqn.primitive.name
    if name == "iota":
        d = eqn.params["dimension"]
        return Spread(frozenset([d]), d)
    if name in _SAME:
        return _known(eqn.invars[0], known)
    if name == "broadcast_in_dim":
        return _moved(_known(eqn.invars[0], known), eqn.invars[0].aval.shape, eqn.outvars[0].aval.shape, eqn.params["broadcast_dimensions"])
    if name in ("reshape", "squeeze", "expand_dims"):
        old, new = (v.aval.shape for v in (eqn.invars[0], eqn.outvars[0]))
        if [n for n in old if n != 1] != [n for n in new if n != 1]:
            return None
        places = iter([d for d, n in enumerate(new) if n != 1])
        return _moved(_known(eqn.invars[0], known), old, new, [next(places) if n != 1 else None for n in old])
    if name == "concatenate" and eqn.params["dimension"] == eqn.outvars[0].aval.ndim - 1 and all(v.aval.shape[-1] == 1 for v in eqn.invars):
        parts = tuple([_known(v, known) for v in eqn.invars])
        return Spread(frozenset().union(*[p.varies for p in parts], [eqn.params["dimension"]]), None, parts)
    if name in _ELEMENTWISE and eqn.outvars[0].aval.shape:
        return Spread(frozenset().union(*[_known(v, known).varies for v in eqn.invars]))
    return None


def _moved(spread, old, new, places):
    """What is known of an array whose dims stand in these places of another shape."""
    varies = frozenset([places[d] for d in spread.varies if old[d] != 1])
    counts = spread.counts
    return Spread(varies, places[counts] if counts is not None and old[counts] == new[places[counts] or 0] and places[counts] is not None else None, fixed=spread.fixed)


def _layout(eqn):
    """(dims of the operand that the index names, those with no window, dims of the result or the updates with windows), without shared dims; None with such."""
    n = eqn.params["dimension_numbers"]
    if eqn.primitive.name == "gather":
        return None if n.operand_batching_dims else (n.start_index_map, n.collapsed_slice_dims, n.offset_dims)
    return None if n.operand_batching_dims else (n.scatter_dims_to_operand_dims, n.inserted_window_dims, n.update_window_dims)


def _rows(eqn, index):
    """[(part of the index, dim of the index)] that become windows."""
    layout, shape = _layout(eqn), eqn.invars[1].aval.shape
    if layout is None or len(index.parts) != shape[-1]:
        return []
    named, single, _ = layout
    found = []
    for k, part in enumerate(index.parts):
        p = part.counts
        if p is not None and named[k] in single and p < len(shape) - 1 and shape[p] <= eqn.invars[0].aval.shape[named[k]] \
                and not any(p in other.varies for i, other in enumerate(index.parts) if i != k):
            found.append((k, p))
    found = found[:-1] if len(found) == len(index.parts) else found
    return found if _in_order(eqn, found) else []


def _spots(eqn):
    """The dims of the result or the updates that go along with the dims of the index."""
    whole = (eqn.outvars[0] if eqn.primitive.name == "gather" else eqn.invars[2]).aval.ndim
    return [i for i in range(whole) if i not in _layout(eqn)[2]]


def _in_order(eqn, rows):
    """Whether the windows' dims follow each other as those of the operand do."""
    named, single, windows = _layout(eqn)
    at = dict(zip([d for d in range(eqn.invars[0].aval.ndim) if d not in single], windows))
    at.update((named[k], _spots(eqn)[p]) for k, p in rows)
    places = [at[d] for d in sorted(at)]
    return places == sorted(places)


def _apart(eqn, x, index):
    return lax.optimization_barrier(eqn.primitive.bind(x, index, **eqn.params))


def _taken(eqn, rows, x, index, *updates):
    """The gather or scatter with windows over these dims."""
    named, single, windows = _layout(eqn)
    spots, parts, dims = _spots(eqn), [k for k, _ in rows], [p for _, p in rows]
    kept = [k for k in range(index.shape[-1]) if k not in parts]
    index = lax.slice(index, (0,) * index.ndim, [1 if d in dims else n for d, n in enumerate(index.shape)])
    columns = [lax.slice_in_dim(index, k, k + 1, axis=index.ndim - 1) for k in kept]
    less = lax.squeeze(columns[0] if len(columns) == 1 else lax.concatenate(columns, index.ndim - 1), dims)
    gone = [named[k] for k in parts]
    named, single = tuple([named[k] for k in kept]), tuple([d for d in single if d not in gone])
    windows = tuple(sorted([*windows, *[spots[p] for p in dims]]))
    params = dict(eqn.params)
    if not updates:
        sizes = list(params["slice_sizes"])
        for d, p in zip(gone, dims):
            sizes[d] = eqn.invars[1].aval.shape[p]
        params["slice_sizes"] = tuple(sizes)
        params["dimension_numbers"] = lax.GatherDimensionNumbers(windows, single, named)
    else:
        params["dimension_numbers"] = lax.ScatterDimensionNumbers(windows, single, named)
    return eqn.primitive.bind(x, less, *updates, **params)


__all__ = ["by_rows"]
