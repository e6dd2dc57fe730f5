"""Chains of views as operators: one that reads a view from its base, one that writes it back (layer 4).

They are interned by the specs that they are made of.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp

from .._ops.lift import form_at
from .._ops.registry import Promote
from .._ops.shape import from_bytes, to_bytes
from .._ops.spec import Form, Layout, LeveledAval, Spec, spec_of
from . import dtypes, shapes
from .plan import COPY_SLICES


class _ChainOp:
    """An operator made of view operators: `replay` reads the view from the base, `put` writes it back."""

    def __init__(self, chain_specs, body, node, saves):
        self.key = self.name = f"{node}[{', '.join(s.op.name for s in chain_specs)}]"
        self.body, self.node, self.saves, self.links = body, node, saves, ()  # links: (spec, how many numbers) of what a view is read again by
        self.params = self.tensor_params = ()
        self.derivative, self.promote = "body", Promote.NONE
        self.nondiff = self.nondiff_out = self.lift = self.scalars = self.uncast = ()
        self.rule, self.opmath, self.is_view, self.host, self.promote_with = None, False, False, False, None
        self.multi = False
        self.bake, self.guard, self.zero_second = {}, None, False
        self.specs = {}


BEYOND_STRIDES = ("_conj", "_neg_view", "view_as_real", "view_as_complex")  # views that strides and an offset do not describe


class _ChainSpec(Spec):
    """Spec whose flat inputs go to the body as they are; apart: the first link beyond strides, where there is more than one node when it is replayed."""

    __slots__ = ("apart", "arity")

    def form(self, avals):
        out = self.forms.get(avals)
        if out is None:
            out = self.forms[avals] = form_at(self, avals) if any(type(a) is LeveledAval for a in avals) else _ChainForm(self, avals)
        return out


class _FlatLayout:
    def __init__(self, names):
        self.names = names

    def owner(self):
        return self.names

    def arguments(self, flat):
        return list(flat), {}


class _ChainForm(Form):
    __slots__ = ()

    def _layout(self):
        names = ["self", "src"][: self.spec.arity]
        return _FlatLayout(names + [f"n{i}" for i in range(len(self.avals) - self.spec.arity)])


_replays: dict = {}
_puts: dict = {}


def replay_spec(chain, name=None):
    key = (name, *(s for s, _ in chain))
    out = _replays.get(key)
    if out is None:
        out = _replays[key] = _chain_spec(key[1:], _reader(_raw([(s, len(n)) for s, n in chain])), "AsStridedBackward0", {}, 1)
        out.op.name = name or out.op.name
        out.op.links = [(s, len(n)) for s, n in chain]
    return out


def put_spec(chain, name=None):
    key = (name, *(s for s, _ in chain))
    out = _puts.get(key)
    if out is None:
        out = _puts[key] = _chain_spec(key[1:], _writer(_raw([(s, len(n)) for s, n in chain])), COPY_SLICES, {}, 2)
        out.op.name = name or out.op.name
    return out


def _chain_spec(key, body, node, saves, arity):
    spec = _ChainSpec(_ChainOp(key, body, node, saves), {}, ())
    spec.arity = arity
    spec.apart = next((i for i, link in enumerate(key) if link.op.name in BEYOND_STRIDES), None)
    return spec


def _apply_link(spec, x, numbers):
    args, kwargs = _link_arguments(spec, x, numbers)
    return spec.op.body(*args, **kwargs, **spec.statics)


def _link_arguments(spec, x, numbers):
    return Layout(spec.op, spec.pattern).arguments([x, *numbers])


def _raw(links):
    """The same links; memory that is shown as truth values and then as something else stays bytes in between, which may be others than 0 and 1."""
    last = max((i for i, (spec, _) in enumerate(links) if spec.op.name == "_view_dtype"), default=0)
    return [(_as_bytes(spec) if i < last else spec, n) for i, (spec, n) in enumerate(links)]


def _as_bytes(spec):
    if spec.op.name != "_view_dtype" or spec.statics["dtype"] is not dtypes.bool_:
        return spec
    return spec_of(spec.op, tuple({**spec.statics, "dtype": dtypes.uint8}.items()), spec.pattern)


def _reader(links):
    def body(base, *numbers):
        x, k = base, 0
        for spec, n in links:
            x = pick(spec, _apply_link(spec, x, numbers[k:k + n]))
            k += n
        return x

    return body


def pick(spec, out):
    return out[spec.output] if isinstance(spec, PickSpec) else out


class PickSpec:
    """Output `output` of a multi-output view operator, as a link of a chain."""

    bends = False
    _made: dict = {}

    def __new__(cls, spec, output):
        key = (spec, output)
        out = cls._made.get(key)
        if out is None:
            out = cls._made[key] = object.__new__(cls)
            out.spec, out.output = spec, output
            out.op, out.statics, out.pattern = spec.op, spec.statics, spec.pattern
        return out


def recorded(link, numbers):
    """The spec by which a link alone is recorded."""
    if isinstance(link, PickSpec):
        return link.spec
    return link if isinstance(link, Spec) else replay_spec(((link, numbers),))  # one made of the links that a map went through has no types of its own


def links(spec, n):
    """A link for each of the first n results (or more) of a view operator with several."""
    if len(spec.links) < n:
        spec.links = tuple([PickSpec(spec, i) for i in range(n)])
    return spec.links


REPEATING = ("expand", "unfold", "_as_strided")  # views that may show one element several times


def _writer(links):
    if any(spec.op.name in REPEATING for spec, _ in links):
        return _mapped_writer(links)

    def body(base, src, *numbers):
        steps, x, k = [], base, 0
        for spec, n in links:
            own = numbers[k:k + n]
            steps.append((spec, x, own))
            x = pick(spec, _apply_link(spec, x, own))
            k += n
        new = src
        for spec, x, own in reversed(steps):
            new = _put_link(spec, x, new, own)
        return new

    return body


def _mapped_writer(links):
    """Through views that may repeat elements: one write by the index map of all links from the first such one, before it link by link."""
    start = next(i for i, (spec, _) in enumerate(links) if spec.op.name in REPEATING)
    before, count = _writer(links[:start]) if start else None, sum(n for _, n in links[:start])
    first, reader = _reader(links[:start]), _reader([link for link in links[start:] if link[0].op.name != "_view_dtype"])
    names = {link.op.name for link, _ in links[start:]}
    signed = not names.isdisjoint(BEYOND_STRIDES)
    bytewise = names.isdisjoint(_SIGNED) and "_view_dtype" in names

    def body(base, src, *numbers):
        _refuse_repeats(links, base.shape)
        x = first(base, *numbers[:count])
        if bytewise:
            where = _bytes_through(links[start:], jnp.arange(shapes.numel(x.shape) * x.dtype.itemsize).reshape(*x.shape, x.dtype.itemsize), numbers[count:])
            src, flat = to_bytes(src), to_bytes(x).reshape(-1)
        elif signed:
            where, src, flat = _parts(reader(_numbered(x), *numbers[count:])), _parts(src), _parts(x).reshape(-1)
            where, src = jnp.abs(where).astype(int) - 1, jnp.where(where < 0, -src, src)
        else:
            where, flat = reader(jnp.arange(shapes.numel(x.shape)).reshape(x.shape), *numbers[count:]), x.reshape(-1)
        new = flat.at[where.reshape(-1)].set(src.reshape(-1), unique_indices=True)
        if bytewise:
            new = from_bytes(new.reshape(*x.shape, x.dtype.itemsize), dtypes.from_numpy_dtype(x.dtype))
        elif signed and jnp.iscomplexobj(x):
            new = jax.lax.complex(new[::2], new[1::2])
        new = new.reshape(x.shape)
        return new if before is None else before(base, new, *numbers[:count])

    return body


_SIGNED = ("_conj", "_neg_view")


def _bytes_through(links, where, numbers):
    """The places of bytes, a last dim for those of each element, through links that may show them as elements of other sizes."""
    k = 0
    for spec, n in links:
        name, own = spec.op.name, numbers[k:k + n]
        if name == "_view_dtype":
            where = where if spec.statics["dtype"].itemsize == where.shape[-1] else where.reshape(*where.shape[:-2], -1, spec.statics["dtype"].itemsize)
        elif name == "view_as_real":
            where = where.reshape(*where.shape[:-1], 2, -1)
        elif name == "view_as_complex":
            where = where.reshape(*where.shape[:-2], -1)
        else:
            where = jax.vmap(lambda x, spec=spec, own=own: pick(spec, _apply_link(spec, x, own)), in_axes=-1, out_axes=-1)(where)
        k += n
    return where


def _numbered(x):
    """Numbers of elements from 1 on, those of complex ones for their two parts, as views take them that show parts of elements or turn their sign."""
    if not jnp.iscomplexobj(x):
        return jnp.arange(1, shapes.numel(x.shape) + 1, dtype=jnp.float64).reshape(x.shape)
    return jax.lax.complex(*jnp.arange(1, 2 * shapes.numel(x.shape) + 1, dtype=jnp.float64).reshape(-1, 2).T).reshape(x.shape)


def _parts(x):
    """The parts of complex elements as a last dim."""
    return jnp.stack((x.real, x.imag), -1) if jnp.iscomplexobj(x) else x


def written_repeats():
    return RuntimeError("unsupported operation: more than one element of the written-to tensor refers to a single memory location. Please clone() the tensor "
                        "before performing the operation.")


def _refuse_repeats(links, shape):
    """torch's error for a write to a tensor that shows one element several times."""
    strides, offset = shapes.contiguous_strides(shape), 0
    for spec, _ in links:
        out = spec.op.layout(shape, strides, offset, **spec.statics, **dict.fromkeys(spec.op.lift, 0))
        shape, strides, offset = pick(spec, out)
    if 0 not in shape and any(s == 0 and n > 1 for n, s in zip(shape, strides)):
        raise written_repeats()


def _put_link(spec, x, new, numbers):
    write = spec.op.write
    _, kwargs = _link_arguments(spec, x, numbers)
    if write is not None and not isinstance(spec, PickSpec):
        return write(x, new, **kwargs, **spec.statics)
    index = jnp.arange(shapes.numel(x.shape)).reshape(x.shape)
    where = pick(spec, _apply_link(spec, index, numbers))
    return x.reshape(-1).at[where.reshape(-1)].set(new.reshape(-1)).reshape(x.shape)
