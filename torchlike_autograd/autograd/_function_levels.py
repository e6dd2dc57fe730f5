"""Custom Functions under transformations (layer 7).

Levels are met from the innermost out.  A reverse-mode level records the Function's node, around a forward that the levels outside of it run; a map calls the
Function's `vmap` on whole batches, or with `generate_vmap_rule` the forward as it is, whose operators map themselves; a dual level runs the Function on
primals and its `jvp` on tangents.
"""

from __future__ import annotations

from typing import NamedTuple
from weakref import ref

from .._core import belonging, duals, levels, parts, tangents_off, walls
from .._core.dtypes import FLOAT
from .._core.pytree import broadcast, flatten, unflatten
from .._core.record import thread
from .._core.saved import placed
from .._core.storage import as_detached, cell_of
from .._functions.create import zeros_like
from .._tensor import Tensor, wrap
from ._kept import Kept, keep
from ._transforms import make_dual, unpack
from ._vmap import enter, leave
from .grad_mode import set_grad_enabled

_MORE = "For more details, please see https://pytorch.org/docs/main/notes/extending.func.html"

LOWERED = "lowered"  # in a thread's extra: the reverse-mode levels whose rules run what is around them
NEEDS_SETUP = ("In order to use an autograd.Function with functorch transforms (vmap, grad, jvp, jacrev, ...), it must override the setup_context "
               f"staticmethod. {_MORE}")


class VmapInfo(NamedTuple):
    """What a `vmap` staticmethod is told."""

    batch_size: int
    randomness: str


def _met(args):
    """The running levels that matter to these arguments, innermost first."""
    flat = [a for a in flatten(tuple(args))[0] if isinstance(a, Tensor)]
    return [lv for lv in reversed(levels.running()) if lv.kind == "grad" or any(levels.has(a._tl_value(), lv) for a in flat)]


def node_class(cls):
    """The class of a Function's nodes; inside a reverse-mode level it has the name of what torch generates there."""
    if not any(lv.kind == "grad" for lv in levels.running()):
        return cls._backward_cls
    out = cls.__dict__.get("_generated_cls")
    if out is None:
        out = cls._generated_cls = type(f"{cls.__name__}GeneratedBackward", (cls._backward_cls,), {})
    return out


def applied(cls, args, kwargs, split, apply):
    """(results,) where a map or a dual level answers; None where the Function is to be recorded as usual. apply(cls, args, kwargs, split) -> (results, ctx)."""
    if cls._tl_single_level:
        return None if thread.state.grad else (_without_gradients(cls, args, kwargs, split, apply),)
    ours = (level.randomness == "jvp" if level.kind == levels.DUAL else level.randomness is not levels.OLD for level in levels.running())
    if not split and (thread.state.extra.get(levels.FUNCTIONALIZED) or any(ours)):
        raise RuntimeError(NEEDS_SETUP)
    if any(lv.kind == levels.MAP and lv.randomness is not levels.OLD for lv in levels.running()):
        _generated(cls)     # torch asks for it whether or not the map goes over an argument
    for level in _met(args):
        if level.kind == "grad":
            return None
        if level.kind == levels.DUAL:
            return (_pushed(cls, level, args, kwargs, split, apply, levels.shares(level.key)),)
        if level.randomness is levels.OLD:
            return None
        if not _generated(cls):
            return (_mapped(cls, level, args),)
    return None


def _without_gradients(cls, args, kwargs, split, apply):
    """What a Function of one level gives under no_grad: the levels outside have it recorded, and that one does not."""
    with set_grad_enabled(True):
        out, _ = apply(cls, args, kwargs, split)
    flat, tree = flatten(out)
    lowered = thread.state.extra.get(LOWERED, ())
    inner = [lv for lv in levels.running() if lv.kind == "grad" and lv not in lowered][-1:]
    return unflatten([wrap(walls.ended(inner, o._tl_value())) if isinstance(o, Tensor) and o._tl_value().needs else o for o in flat], tree)


def forward(cls, args, plain):
    """The outputs of `cls.forward(*args)` inside a reverse-mode level, as the levels outside of it run it."""
    met = [lv for lv in _met(args) if lv.kind != "grad"]
    with set_grad_enabled(any(lv.kind == levels.DUAL and _differentiated(lv, args) for lv in met)):
        for level in met:
            if level.kind == levels.DUAL:
                return _pushed(cls, level, args, {}, True, plain, levels.shares(level.key))
            if level.randomness is not levels.OLD and not _generated(cls):
                return _mapped(cls, level, args)
        extra = thread.state.extra
        before = extra.get(belonging.LOWERED, ())
        extra[belonging.LOWERED] = [lv for lv in levels.running() if lv.kind == "grad"]
        try:
            return cls.forward(*args)
        finally:
            extra[belonging.LOWERED] = before


def _differentiated(level, args):
    """Whether what is around a dual level differentiates any of these."""
    values = [a._tl_value() for a in flatten(tuple(args))[0] if isinstance(a, Tensor)]
    return belonging.reaches(values, [leaf for lv in belonging.inside(level) for leaf in lv.leaves])


def around(v):
    """Whether what is around the innermost dual level of a result of a forward has recorded it, and the reverse-mode levels inside of that one."""
    key = levels.dual(v) if v.needs and v.leaf is None else None
    level = None if key is None else next((lv for lv in levels.running() if lv.key == key), None)
    return level is not None, () if level is None else belonging.inside(level)


def _generated(cls):
    from .function import Function  # cycle: Functions are applied under levels

    own = cls.vmap is not Function.vmap
    if own and cls.generate_vmap_rule:
        raise RuntimeError(f"You tried to vmap over {cls.__name__}, but it has both generate_vmap_rule=True and an overridden vmap staticmethod. Please set "
                           f"generate_vmap_rule=False or delete the overridden vmap staticmethod to avoid ambiguity. {_MORE}")
    if not own and not cls.generate_vmap_rule:
        raise RuntimeError(f"You tried to vmap over {cls.__name__}, but it does not have vmap support. Please override and implement the vmap staticmethod or "
                           f"set generate_vmap_rule=True. {_MORE}")
    return not own


def no_tensors(kwargs):
    """NotImplementedError where a Function that a map goes over is given tensors by keyword."""
    if any(isinstance(x, Tensor) for x in kwargs.values()) and any(lv.kind == levels.MAP and lv.randomness is not levels.OLD for lv in levels.running()):
        raise NotImplementedError(f"Run vmap on autograd.Function with kwarg-only Tensor args. Please do not pass kwarg-only Tensors to autograd.Function. "
                                  f"Got: {kwargs}")


def _mapped(cls, level, args):
    """The Function's own rule, called outside of the map."""
    leaves, shape = flatten(tuple(args))
    own = [isinstance(a, Tensor) and levels.has(a._tl_value(), level) for a in leaves]
    dims = [levels.dim_of(a._tl_value(), level) if mine else None for a, mine in zip(leaves, own)]
    whole = unflatten([a if d is None else leave(level, a, d) for a, d in zip(leaves, dims)], shape)
    in_dims = unflatten(dims, shape)
    stands = [(w, w._tl_value(), a, d) for w, a, d in zip(flatten(whole)[0], leaves, dims) if d is not None]
    found = cls.vmap(VmapInfo(level.size, level.randomness), in_dims, *whole)
    if not isinstance(found, tuple) or len(found) != 2:
        got = f"{len(found)} returns" if isinstance(found, tuple) else f"a {type(found)}"
        raise RuntimeError("Expected the vmap staticmethod to have two returns, an output and out_dims with pytree structure compatible with the output. Got "
                           f"{got} instead")
    out, dims = found
    flat, tree = flatten(out)
    places = broadcast(dims, tree)
    if places is None:
        raise RuntimeError(f"The autograd.Function's vmap staticmethod returned an incompatible (output, out_dims) tuple. Expected out_dims={dims} to be "
                           f"compatible with the structure of `output`. out_dims has structure {flatten(dims)[1]} but output has structure {tree}. {_MORE}")
    for w, before, a, d in stands:
        if duals.written(w, w._tl_value(), before):     # outside they are other tensors, here they share memory
            a.copy_(enter(level, w, d))
    given = {id(w): a for w, _, a, _ in stands}
    return unflatten([o if d is None or not isinstance(o, Tensor) else given[id(o)] if id(o) in given else enter(level, o, _place(d, o.dim()))
                      for o, d in zip(flat, places)], tree)


def _place(d, ndim):
    if not -ndim <= d < ndim:
        raise IndexError(f"Dimension out of range (expected to be in range of [{-ndim}, {ndim - 1}], but got {d})")
    return d % ndim


class Whole:
    """The dual tensors of torch.autograd.forward_ad whose primals a Function is called with: its node leads to them and saves them, so that its gradients,
    computed in the same level, have tangents.

    tensors: {id of a primal: the dual tensor}, values: {id of a primal: the Value that leads there}; saving: what the node saves, inner: by the id of an
    output the Value that forward gave, once it is recorded.
    """

    def __init__(self, level, args, parts):
        self.tensors = {id(p): a for a, (p, _) in zip(args, parts) if isinstance(a, Tensor) and levels.has(a._tl_value(), level)}
        part = levels.MoveSpec("primal", level.key, hidden=True)
        self.values = {k: levels.record_op(part, [a._tl_value()])[0] for k, a in self.tensors.items()}
        self.level, self.saving, self.inner = level, (), {}

    def keep(self, ctx, outs, joined, tangents):
        """Save the dual tensors in the place of their primals, once the outputs are joined, and let them be what forward put on the ctx itself."""
        twins = self.tensors | {id(o): j for o, j in zip(outs, joined)}
        ctx.__dict__.update({name: twins[id(x)] for name, x in ctx.__dict__.items() if isinstance(x, Tensor) and id(x) in twins})
        beside = {id(o): t for o, t in zip(outs, tangents) if isinstance(t, Tensor)}

        def kept(ctx, t, outputs, inner):
            tangent = beside.get(id(t))
            return Kept(ctx, t, outputs, inner) if tangent is None else KeptBeside(ctx, t, outputs, inner, self.level, tangent._tl_value())

        ctx._tl_saved = keep(ctx, [self.tensors.get(id(t), t) for t in self.saving], outs if self.inner else (), self.inner, kept)


class KeptBeside(Kept):
    """A saved output with a tangent in a level: its contents, and its place in the graph (None: it is what is held)."""

    __slots__ = ("level", "place", "tangent")

    def __init__(self, ctx, t, outputs, inner, level, tangent):
        super().__init__(ctx, t, outputs, inner)
        computed = tangent.needs and tangent.leaf is None
        self.level, self.tangent = level, as_detached(tangent) if computed else tangent
        self.place = (ref(tangent), (tangent.tape, tangent.slot)) if computed else None

    def release(self):
        """Forget it."""
        super().release()
        self.tangent = self.place = None

    def unpack(self, ctx):
        """The tensor, a dual one as long as the level runs."""
        t = super().unpack(ctx)
        if self.level not in levels.running():
            return t
        tangent = self.tangent if self.place is None else self.place[0]()
        return wrap(levels.move("join", self.level, [t._tl_value(), placed(self.tangent, self.place[1]) if tangent is None else tangent]))


def _pushed(cls, level, args, kwargs, split, apply, shows=False):
    """The Function on primals and its jvp on tangents; shows: its node is of dual tensors."""
    from .function import forget  # cycle: Functions are applied under levels

    shared = levels.shares(level.key)
    take = duals.shared if shared else _parts
    given = [take(level, a) if isinstance(a, Tensor) else (_primals(level, a), None) for a in args]
    whole = Whole(level, args, given) if shows and thread.state.grad and any(isinstance(a, Tensor) and a._tl_value().needs for a in args) else None
    out, ctx = apply(cls, tuple(p for p, _ in given), kwargs, split, whole)
    missing = zeros_like if ctx.materialize_grads else lambda p: None
    tangents = [None if not isinstance(p, Tensor) else missing(p) if t is None and p.dtype.category >= FLOAT else t for p, t in given]
    ctx.__dict__["_tl_in_jvp"] = True
    versions = [None if t is None else cell_of(t) and t._tl_counter.n for t in tangents]
    try:
        with tangents_off.Off():      # as in torch: the rule itself is not pushed forward by levels around this one
            found = cls.jvp(ctx, *tangents)
    finally:
        del ctx.__dict__["_tl_in_jvp"]
    outs = out if isinstance(out, tuple) else (out,)
    ts = found if isinstance(found, tuple) else (found,)
    if len(ts) != len(outs):
        raise RuntimeError(f"Function's jvp returned an invalid number of forward gradients (expected {len(outs)} but got {len(ts)})")
    for i, t in enumerate(ts):
        if not (t is None or isinstance(t, Tensor)):
            raise RuntimeError(f"expected Variable or None (got {type(t).__name__}) for grad output {i}.")
    _check_aliases(ctx, [p for p, _ in given], tangents, outs, ts, versions)
    dirty = {id(p): a for (p, _), a in zip(given, args) if any(p is d for d in ctx.dirty_tensors)}
    constant = {id(o) for o in ctx.non_differentiable}
    joined = tuple(dirty[id(o)] if shared and id(o) in dirty else _joined(level, i, o, t, id(o) in constant) for i, (o, t) in enumerate(zip(outs, ts)))
    if dirty and not shared:
        joined = tuple(dirty[id(o)].copy_(j) if id(o) in dirty else j for o, j in zip(outs, joined))
    if whole is not None:
        whole.keep(ctx, outs, joined, ts)
    forget(ctx)
    return joined if isinstance(out, tuple) else joined[0]


def _parts(level, x):
    """`unpack`, the primal without the maps that the tangent alone is under (those of `jacfwd`): no example of it is another one."""
    p, t = unpack(level, x)
    v = None if t is None else levels.shared_primal(x._tl_value(), parts.primal_maps(x._tl_value(), level.key), p._tl_value())
    return p if v is None else wrap(v), t


def _primals(level, a):
    """An argument that is no tensor, with the primals of what is in it."""
    leaves, tree = flatten(a)
    return unflatten([unpack(level, x)[0] if isinstance(x, Tensor) else x for x in leaves], tree) if any(isinstance(x, Tensor) for x in leaves) else a


def _check_aliases(ctx, primals, tangents, outs, ts, versions):
    """What forward writes to or shows as a view, the jvp must write to or show likewise; versions: those of the tangents before."""
    for o, t in zip(outs, ts):
        if not isinstance(o, Tensor) or t is None:
            continue
        if any(o is d for d in ctx.dirty_tensors):
            given, before = next(((t0, n) for p, t0, n in zip(primals, tangents, versions) if p is o), (None, None))
            if given is not None and (t is not given or t._tl_counter.n == before):
                raise RuntimeError("An inplace custom Function is not modifying the forward mode gradients inplace. If the forward is modifying an input "
                                   "inplace, then the jvp function must modify the corresponding gradient inplace.")
        elif o._is_view() and isinstance(t, Tensor):
            given = next((t0 for p, t0 in zip(primals, tangents) if isinstance(p, Tensor) and o._base is (p if p._base is None else p._base)), None)
            if given is not None:
                _check_view(t, given)


def _check_view(t, given):
    """torch's rules for the tangent of an output that is a view of an input with the tangent `given`."""
    if not t._is_view():
        raise RuntimeError("A custom Function's forward is returning a view (or an input as-is) but the jvp is not returning a view.")
    if given._is_view() and t._base is not given._base:
        raise RuntimeError("A custom Function is returning a view but the jvp is not returning a view of the same base as the given grad input.")
    if not given._is_view() and t._base is not given:
        raise RuntimeError("A custom Function is returning a view but the jvp is not returning a view of the given grad input.")


def _joined(level, i, o, t, constant):
    if t is None:
        return o
    if constant or not isinstance(o, Tensor) or o.dtype.category < FLOAT:
        raise RuntimeError(f"Function's jvp returned a gradient at position {i}, but  the corresponding forward output is not a differentiable Tensor."
                           "You should return None at that position instead.")
    return duals.make(level, o, t, False) if levels.shares(level.key) and t.shape == o.shape and t.dtype == o.dtype else make_dual(level, o, t)


def reduced(v, a, active):
    """A gradient that has levels which its input (of type `a`) has not: the sum over those that have ended; those of the pass stay."""
    mine = levels.levels_of(a)
    for k, n, kind in reversed(levels.levels_of(v.aval)):
        if (k, n, kind) in mine or (active is not None and (k, n, kind) in active):
            continue
        if kind == levels.DUAL:
            if levels.shares((k, n, kind)):  # of a pass that is not inside of the level: of a tangent, say
                v = levels.record_op(levels.MoveSpec("primal", (k, n, kind)), [v])[0]
                continue
            raise NotImplementedError("a backward pass through a custom Function on dual tensors after their level has ended")
        v = wrap(levels.record_op(levels.MoveSpec("exit", (k, n, kind), 0), [v])[0]).sum(0)._tl_value()
    return v
