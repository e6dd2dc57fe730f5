"""Results of a map that are views of what it was given (layer 7): they share its memory after the map too, as in torch.

    r = vmap(lambda a: a[1:])(x)     inside: a -- slice --> o, a view of a;   outside: r is a view of x by one link: the map of that slice
"""

from __future__ import annotations

import jax

from .._core import shapes
from .._core.chains import REPEATING, PickSpec, _reader, _writer
from .._core.hot import make_view
from .._core.storage import cell_of
from .._ops.spec import Layout

_BITS = ("_conj", "_neg_view")  # told of by links of their own


class _Param:
    def __init__(self, name, kind):
        self.name, self.kind, self.kw_only = name, kind, False


class _MappedOp:
    """What a link needs of its operator: the body and the layout of links under a map over dim `into` of the base, which stands at `out` of the view."""

    is_view, multi, untracked = True, False, False

    def __init__(self, links, into, out):
        self.links, self.into, self.out = links, into, out
        self.count = [n for _, n in links]
        repeats = any(spec.op.name in REPEATING for spec, _ in links)
        self.name = self.key = "_as_strided" if repeats else "_mapped_view"  # the name by which a write is refused or goes through an index map
        self.lift = tuple(f"n{i}" for i in range(sum(self.count)))
        self.params = [_Param("self", "Tensor"), *(_Param(name, "int") for name in self.lift)]
        self.read = _reader(links)
        self.write = None if repeats else self._write
        self._put = None if repeats else _writer(links)

    def body(self, x, **numbers):
        """The view, as an array."""
        own = [numbers[name] for name in self.lift]
        return jax.vmap(lambda row: self.read(row, *own), self.into, self.out)(x)

    def _write(self, x, new, **numbers):
        """The base with `new` in the place of what the view shows, as an array."""
        own = [numbers[name] for name in self.lift]
        return jax.vmap(lambda row, part: self._put(row, part, *own), (self.into, self.out), self.into)(x, new)

    def layout(self, shape, strides, offset, **numbers):
        """(shape, strides, offset) of the view."""
        own, k = [numbers[name] for name in self.lift], 0
        n, step = shape[self.into], strides[self.into]
        shape, strides = _without(shape, self.into), _without(strides, self.into)
        for spec, count in self.links:
            given = Layout(spec.op, spec.pattern).arguments([None, *own[k:k + count]])[1]
            after = _placed(spec, shape, strides, offset + step, given)[2]  # where the next example begins: links that change the dtype scale the way to it
            shape, strides, offset = _placed(spec, shape, strides, offset, given)
            step = after - offset
            k += count
        return _with(shape, self.out, n), _with(strides, self.out, step), offset


def _placed(spec, shape, strides, offset, given):
    """(shape, strides, offset) of one example after a link."""
    found = spec.op.layout(shape, strides, offset, **spec.statics, **given)
    return found[spec.output] if isinstance(spec, PickSpec) else found


def _without(dims, i):
    return (*dims[:i], *dims[i + 1:])


def _with(dims, i, n):
    return (*dims[:i], n, *dims[i:])


class _MappedLink:
    """A link of a view chain made of the links that a map went through, interned."""

    _made: dict = {}
    statics: dict = {}
    bends = True  # it may show dims in another order than that of memory

    def __new__(cls, links, into, out):
        key = (links, into, out)
        found = cls._made.get(key)
        if found is None:
            found = cls._made[key] = object.__new__(cls)
            found.op = _MappedOp(links, into, out)
            found.pattern = ("T", *("i" for _ in found.op.lift))
        return found


def source_of(o, inner):
    """(which of the tensors that a map was given a result shows, the links between); None for one with memory of its own."""
    base = o if o._tl_view is None else o._tl_view.base
    at = next((i for i, t in enumerate(inner) if t is base), None) if base is not None else None  # of unsafe_split there is a view of nothing
    if at is None or (o._tl_view is not None and (o._tl_view.under is not None or not _plain(o._tl_view.chain))):
        return None
    return at, () if o._tl_view is None else o._tl_view.chain


def _plain(chain):
    """Whether links can stand under a map: each is of an operator whose strides are known."""
    return all(link.op.layout is not None and link.op.key not in _BITS for link, _ in chain)


def turn(x, into, chain):
    """Give the dims of a tensor that was mapped over `into` the order that links gave those of its examples in place."""
    def outside(dim):
        dim = shapes.wrap_dim(dim, x.ndim - 1)
        return dim if dim < into else dim + 1

    for spec, _ in chain:
        name, given = spec.op.name, dict(spec.statics)
        if name in ("transpose", "t") and x.ndim > 2:
            x.transpose_(outside(given.get("dim0", 0)), outside(given.get("dim1", 1)))
        elif name == "unsqueeze":
            at = shapes.wrap_dim(given["dim"], x.ndim)
            x.unsqueeze_(at if at < into else at + 1)
            into += at < into
        elif name == "squeeze":
            dim = given.get("dim", tuple(range(x.ndim - 1)))
            ones = sorted({outside(i) for i in ((dim,) if isinstance(dim, int) else dim) if x.shape[outside(i)] == 1})
            for i in reversed(ones):
                x.squeeze_(i)
                into -= i < into


def shown(x, into, chain, creation, r, out):
    """The result `r` of a map as a view of the tensor `x` that was mapped over `into`; `x` itself where that is what it shows."""
    if not chain and into == out:
        return x
    cell_of(x)
    link = _MappedLink(tuple([(spec, len(numbers)) for spec, numbers in chain]), into, out)
    return make_view(x, link, tuple([n for _, numbers in chain for n in numbers]), r._tl_v, creation)
