"""Hidden dims of transformations (layer 2): one mechanism for vmap and forward mode, nested freely.

A level is one transformation that is running: a map over `size` examples, or a dual level whose two rows are a primal and its tangent.  A value made under levels
is one array with a leading dim for each of them, in order of their ids; its type, a `LeveledAval`, has the shape and dtype that the user sees.  An
operator meets such types where its Form is made, nowhere else: `lifted(form, avals)` maps the plain Form by `jax.vmap` over maps and by `jax.jvp`
over dual levels.  Everything after that (tries, programs, views, writes) is as it is for any type, and the commonest calls pay nothing.

    vmap(f)(x)      x: float32[5, 3]  --Enter(0)-->  float32[3] {0: 5}   --sin-->  float32[3] {0: 5}  --Exit(0)-->  float32[5, 3]
    jvp(f)(x, t)    x, t: float32[3]  --Join(1)-->   float32[3] {1: dual} --sin--> float32[3] {1: dual} --Part(1)--> float32[3], twice

A backward pass that runs inside a level maps the pullback of the plain Form (each example, or each dual number, has a gradient of its own); one that runs
after the level ended pulls back the mapped Form (the gradient of what was shared is a sum).  `pullback` chooses, by the levels of the pass.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp

from .._core import dtypes, errors
from .opened import calling, forward
from .registry import UNIMPLEMENTED, Promote
from .spec import Form, LeveledAval, aval, leveled
from .tracing import abstract, jaxpr_of

MAP, DUAL = "map", "dual"


def levels_of(a):
    """The levels of a type: ((id, size, kind), ...), by id."""
    return a.levels if type(a) is LeveledAval else ()


def plain(a):
    """The type that the user sees."""
    return aval(a.shape, a.dtype, a.device) if type(a) is LeveledAval else a


def with_levels(a, levels):
    """A plain type under levels."""
    return leveled(plain(a), tuple(sorted(set(levels))))


def lifted(base, avals):
    """`base` at types that have more levels than it knows of."""
    key = ("lifted", avals)
    out = base._pullbacks.get(key)
    if out is None:
        out = base._pullbacks[key] = Lifted(base, avals)
    return out


def form_at(spec, avals):
    """The Form of a Spec at types some of which have levels."""
    _check_ranks(spec, avals)
    return lifted(spec.form(tuple(map(plain, avals))), avals)


_RANKS = {"mm": (2, 2), "mv": (2, 1), "bmm": (3, 3), "dot": (1, 1)}


def _check_ranks(spec, avals):
    """torch's error, inside of a map, for products of tensors with other numbers of dims, and for a dim to be squeezed that is not there."""
    if getattr(spec.op, "key", None) == "squeeze.dim":
        _check_squeezed(spec.statics["dim"], avals[0])
        return
    ranks, name = _RANKS.get(getattr(spec.op, "name", None)), getattr(spec.op, "name", None)
    have = tuple(len(a.shape) for a in avals)
    if ranks is None or have == ranks or not any(lv[2] == MAP for a in avals for lv in levels_of(a)):
        return
    if name == "dot":
        raise RuntimeError("Got wrong shapes for dot")
    raise RuntimeError(f"Shape mismatch: Got incorrect dims for {name}(a, b). a has dim {have[0]}and b has dim {have[1]}but expected them to have dim "
                       f"{ranks[0]} and dim {ranks[1]}")


def _check_squeezed(dim, a):
    n = max(len(a.shape), 1)
    if not -n <= dim < n and any(lv[2] == MAP for lv in levels_of(a)):
        raise RuntimeError(f"Dimension is out of range (expected to be in range of [{-n}, {n - 1}], but got [{dim}]")


_NO_FORWARD = ("Trying to use forward AD with {} that does not support it because it has not been implemented yet.\nPlease file an issue to PyTorch at "
               "https://github.com/pytorch/pytorch/issues/new?template=feature-request.yml so that we can prioritize its implementation")
_OUT_OF_PLACE = " or submit a PR adding the implementation to derivatives.yaml"


def _refuses_duals(op):
    """Whether torch has no forward derivative of an operator."""
    forward = getattr(op, "forward", True)
    return op.derivative == UNIMPLEMENTED or forward is False or type(forward) is str


def _no_forward(op):
    """torch's words for it: `forward` may say the operator's name in torch; one whose backward is not implemented either is told of shortly."""
    second = getattr(op, "second", None)
    if op.derivative == UNIMPLEMENTED and second is None and op.node == "torch::autograd::NotImplemented":
        second = f"aten::{op.name}"
    if op.derivative == UNIMPLEMENTED and second is not None:
        return f"Trying to use forward AD with {second} that does not support it."
    forward = getattr(op, "forward", True)
    return _NO_FORWARD.format(forward if type(forward) is str else op.name) + _OUT_OF_PLACE


def _no_forward_error(op):
    """The error for a dual number; `in_place`: what torch says instead where the call is in place, if that is something else."""
    out = NotImplementedError(_no_forward(op))
    if op.derivative != UNIMPLEMENTED:
        out.in_place = NotImplementedError(_NO_FORWARD.format((op.forward if type(op.forward) is str else op.name) + "_") + ".")
    return out


class Lifted(Form):
    """A Form mapped over the levels that its inputs have and its own types have not."""

    __slots__ = ("base", "mapped")

    def checks(self, wanted, inplace=False, run=None):
        """As the plain Form."""
        return self.base.checks(wanted, inplace, run)

    def __init__(self, base, avals):
        if base.op.host:
            raise errors.mapped_shape(base.op.name)
        self.base, self.spec, self.op, self.avals = base, base.spec, base.op, avals
        self.layout, self.owners, self.saves, self.node, self.silent = getattr(base, "layout", None), base.owners, base.saves, base.node, base.silent
        self.casts, self.compute = getattr(base, "casts", None), getattr(base, "compute", None)
        self.tuple_out, self.diff_in, self.diff_out = True, base.diff_in, base.diff_out
        self._pullbacks, self._jit = {}, None
        Form.reset_host(self)
        extra = [[lv for lv in levels_of(a) if lv not in levels_of(b)] for a, b in zip(avals, base.avals)]
        self.mapped = tuple(sorted({lv for per in extra for lv in per}))
        if _refuses_duals(base.op) and any(lv[2] == DUAL for per in extra for lv in per):  # also of inputs that have no gradient
            raise _no_forward_error(base.op)
        if getattr(getattr(base.op, "refuses", None), "forward", False) and any(lv[2] == DUAL for per in extra for lv in per):
            base.refuse((0,))
        self.out_avals = tuple(with_levels(b, (*levels_of(b), *self._of_output(i, extra))) for i, b in enumerate(base.out_avals))
        with jax.enable_x64(True):
            self.closed = jaxpr_of(self.apply, *[abstract(a) for a in avals])
        self.call = jax.extend.core.jaxpr_as_fun(self.closed)

    def _of_output(self, i, extra):
        """The mapped levels that output `i` has: all maps, and the dual levels of inputs that it can be differentiated by."""
        forward = getattr(self.op, "forward", True)
        ins = () if callable(forward) and not forward(**self.spec.statics) else self.diff_in
        return [lv for lv in self.mapped if lv[2] == MAP or (i in self.diff_out and any(lv in extra[k] for k in ins))]

    def apply(self, *flat):
        """The results on arrays with all their dims."""
        have = [list(levels_of(a)) for a in self.avals]
        missing = [[lv for lv in levels_of(b) if lv not in h] for b, h in zip(self.base.avals, have)]
        flat = [_expanded(x, h, m) for x, h, m in zip(flat, have, missing)]
        if getattr(self.base.op, "tangent", None) is None:  # a rule of the operator's own knows what to do with all tangents
            flat, have = self._primals(flat, have, [i for i in range(len(flat)) if i not in self.diff_in])
        duals = sum(lv[2] == DUAL for lv in self.mapped)
        run = forward(self.base, duals) if duals else calling(self.base)
        return tuple(_run(run, self.mapped, [sorted((*h, *m)) for h, m in zip(have, missing)], [levels_of(a) for a in self.out_avals],
                          [levels_of(b) for b in self.base.avals], flat))

    def requiring(self, wanted, inplace=False):
        """As the plain Form."""
        return self.base.requiring(wanted, inplace)

    def reached(self, wanted, given):
        """As the plain Form."""
        return self.base.reached(wanted, given)

    def guard(self, *flat):
        """The largest of the codes."""
        only = tuple(lv for lv in self.mapped if lv[2] == MAP)
        flat, have = self._primals(flat, [list(levels_of(a)) for a in self.avals], range(len(flat)))  # they alone are checked
        code = _run(lambda *xs: [self.base.guard(*xs)], only, have, [only], [levels_of(b) for b in self.base.avals], flat)[0]
        return jnp.max(code)

    def _primals(self, flat, have, which):
        """The arrays and their levels, some of them without tangents."""
        flat, have = list(flat), [list(h) for h in have]
        for lv in [lv for lv in self.mapped if lv[2] == DUAL]:
            for i in which:
                if lv in have[i] and lv not in levels_of(self.base.avals[i]):
                    flat[i] = jax.lax.index_in_dim(flat[i], 0, have[i].index(lv), keepdims=False)
                    have[i].remove(lv)
        return flat, have

    def __repr__(self):
        return f"{self.base!r} over {', '.join(f'{k}:{n}' for k, n, _ in self.mapped)}"


def _expanded(x, have, missing):
    """An array given the dims of levels that the Form expects of it."""
    for lv in missing:
        have = sorted((*have, lv))
        at = have.index(lv)
        x = jnp.broadcast_to(jnp.expand_dims(x, at), (*x.shape[:at], lv[1], *x.shape[at:])) if lv[2] == MAP else jnp.stack([x, jnp.zeros_like(x)], at)
    return x


def _run(call, mapped, have, outs, own, flat):
    """`call` under the levels `mapped`, outermost first; have: levels of each array; outs: levels of each result; own: those that `call` itself knows."""
    if not mapped:
        return list(call(*flat))
    level, rest = mapped[0], mapped[1:]
    axes = [h.index(level) if level in h and level not in o else None for h, o in zip(have, own)]
    left = [[lv for lv in h if lv != level or k is None] for h, k in zip(have, axes)]
    inner_outs = [tuple(lv for lv in o if lv != level) for o in outs]
    places = [o.index(level) if level in o else None for o in outs]

    def inner(*xs):
        return _run(call, rest, left, inner_outs, own, list(xs))

    if level[2] == MAP:
        return jax.vmap(inner, in_axes=tuple(axes), out_axes=places, axis_size=level[1])(*flat)
    return _dual(inner, axes, places, flat)


def _dual(inner, axes, places, flat):
    duals = [i for i, k in enumerate(axes) if k is not None]
    primals = [jax.lax.index_in_dim(x, 0, k, keepdims=False) if k is not None else x for x, k in zip(flat, axes)]
    if all(p is None for p in places):
        return inner(*primals)

    def of_duals(*xs):
        full = list(primals)
        for i, x in zip(duals, xs):
            full[i] = x
        return tuple(o for o, p in zip(inner(*full), places) if p is not None), tuple(o for o, p in zip(inner(*full), places) if p is None)

    out, tangents, others = jax.jvp(of_duals, [primals[i] for i in duals], [jax.lax.index_in_dim(flat[i], 1, axes[i], keepdims=False) for i in duals], has_aux=True)
    pairs, rest = iter(zip(out, tangents)), iter(others)
    return [next(rest) if p is None else jnp.stack(next(pairs), p) for p in places]


def pullback(form, wanted, given, active):
    """The pullback of a recorded Form in a pass that runs inside the levels `active`: mapped over those when it is recorded."""
    form = inside(form, active)
    return form.inside(wanted, given) if isinstance(form, Move) and form.level[2] == DUAL and form.level in active else form.pullback(wanted, given)


def inside(form, active):
    """The Form that is pulled back in such a pass: without the levels of the pass; a Move into or out of a dual one of them as it is."""
    base = getattr(form, "base", None)
    if isinstance(base, Move) and base.level[2] == DUAL and base.level in active:
        return base
    if type(form) is not Lifted or not any(lv in active for lv in form.mapped):
        return form
    ended = tuple(with_levels(a, [lv for lv in levels_of(a) if lv not in active or lv in levels_of(b)]) for a, b in zip(form.avals, form.base.avals))
    return base if ended == base.avals else lifted(base, ended)


# Entering and leaving a level

class _MoveOp:
    """What the operators below look like to the rest."""

    def __init__(self, name, node):
        self.key = self.name = name
        self.node, self.derivative, self.promote = node, "body", Promote.NONE
        self.params, self.saves, self.bake = (), {}, {}
        self.nondiff = self.nondiff_out = self.lift = self.scalars = self.uncast = ()
        self.rule, self.opmath, self.is_view, self.host, self.promote_with = None, False, False, False, None
        self.multi, self.guard, self.zero_second, self.fields = False, None, False, None
        self.specs = {}


_OPS = {"enter": _MoveOp("_enter_level", "ViewBackward0"), "exit": _MoveOp("_exit_level", "ViewBackward0"), "join": _MoveOp("_make_dual", "ViewBackward0"),
        "primal": _MoveOp("_unpack_primal", "torch::autograd::Identity"), "tangent": _MoveOp("_unpack_tangent", "AliasBackward0"),
        "still": _MoveOp("_computed_still", "torch::autograd::Identity"), "ended": _MoveOp("_ended_primal", "torch::autograd::Identity"),
        "again": _MoveOp("_joined_again", "ViewBackward0")}


_HIDDEN = {"primal": "ended", "join": "again"}


class MoveSpec:
    """One way into or out of a level: `how` ("enter", "exit" by a dim; "join", "primal", "tangent"; "still": the primal of what was computed with forward
    mode off, whose gradients have tangents nevertheless), interned; hidden: a "primal" or "join" that is no node, what a tensor is after its level has
    ended or after a part of it was written to."""

    _made: dict = {}
    pattern, statics, weight, hot, single_view = ("T",), {}, 1, False, False

    def __new__(cls, how, level, dim=0, hidden=False):
        key = (how, level, dim, hidden)
        out = cls._made.get(key)
        if out is None:
            out = cls._made[key] = object.__new__(cls)
            out.how, out.level, out.dim, out.op, out.forms = how, level, dim, _OPS[_HIDDEN[how] if hidden else how], {}
        return out

    def form(self, avals):
        """The Form: on the types that this move knows, mapped over all other levels."""
        out = self.forms.get(avals)
        if out is None:
            own = tuple(with_levels(a, [lv for lv in levels_of(a) if lv == self.level]) for a in avals)
            out = self.forms[avals] = Move(self, avals) if own == avals else lifted(self.form(own), avals)
        return out

    def __repr__(self):
        return f"{self.how} level {self.level[0]}"


class Move(Form):
    """A MoveSpec at types without other levels."""

    __slots__ = ("level",)

    def __init__(self, spec, avals):
        self.spec, self.op, self.avals, self.level = spec, spec.op, avals, spec.level
        self.layout, self.owners, self.saves, self.node, self.silent = None, [f"x{i}" for i in range(len(avals))], {}, spec.op.node, False
        self.casts, self.compute, self.tuple_out = (), None, True
        self._pullbacks, self._jit = {}, None
        Form.reset_host(self)
        with jax.enable_x64(True):
            self.closed = jaxpr_of(self.apply, *[abstract(a) for a in avals])
        self.call = jax.extend.core.jaxpr_as_fun(self.closed)
        a, full = avals[0], tuple(self.closed.out_avals[0].shape)
        inside = spec.how in ("enter", "join")
        self.out_avals = (with_levels(aval(full[1:] if inside else full, a.dtype, a.device), (spec.level,) if inside else ()),)
        self.diff_in = tuple(i for i, x in enumerate(avals) if x.dtype.category >= dtypes.FLOAT)
        self.diff_out = (0,) if self.diff_in else ()

    def apply(self, x, t=None):
        """The array with its new dims."""
        how, dim = self.spec.how, self.spec.dim
        inside = bool(levels_of(self.avals[0]))
        if how == "enter":
            return (jnp.moveaxis(x, dim, 0),)
        if how == "exit":
            if not inside:
                x = jnp.broadcast_to(x, (self.level[1], *x.shape))
            return (jnp.moveaxis(x, 0, dim),)
        if how == "join":
            return (jnp.stack([x, t]),)
        return (x[1 if how == "tangent" else 0],)

    def inside(self, wanted, given):
        """The pullback in a pass that runs inside this dual level: the gradient of the primal is that of the dual number."""
        out = self._pullbacks.get(("inside", wanted))
        if out is None:
            out = self._pullbacks["inside", wanted] = Through(self, wanted)
        return out


class Through(Form):
    """Gradients of a join inside its level: the one of the primal as it is, none for the tangent; of a primal and of "still" the one there is."""

    __slots__ = ("keep", "passes", "refuses", "wanted")
    weight = 1

    def __init__(self, form, wanted):
        if form.spec.how not in ("join", "primal", "still"):
            raise NotImplementedError("a backward pass inside a dual level from a dual tensor through a tangent that was unpacked there")
        self.op, self.spec, self.wanted, self.keep, self.passes, self.refuses = _OPS["primal"], self, wanted, (), (), False
        of = form.avals[0] if form.spec.how == "join" else form.out_avals[0]
        self.avals, self.owners, self.saves, self.node, self.silent = (of,), ["g0"], {}, "AliasBackward0", False
        self._pullbacks, self._jit, self.tuple_out = {}, None, True
        Form.reset_host(self)
        with jax.enable_x64(True):
            self.closed = jaxpr_of(lambda g: tuple(g if i == 0 else jnp.zeros_like(g) for i in wanted), abstract(of))
        self.call = jax.extend.core.jaxpr_as_fun(self.closed)
        self.out_avals = tuple(of for _ in wanted)
        self.diff_in, self.diff_out = (0,), tuple(range(len(wanted)))

    def form(self, avals):
        """At types with levels too."""
        return self if avals == self.avals else lifted(self, avals)

    @property
    def hot(self):
        return False


__all__ = ["DUAL", "MAP", "Lifted", "Move", "MoveSpec", "Through", "form_at", "inside", "levels_of", "lifted", "plain", "pullback", "with_levels"]
