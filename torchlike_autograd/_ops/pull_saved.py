"""Pullbacks that read what a node saved (layer 2).

A plain pullback reads the operator's inputs only: where torch saves the result of `exp`, it computes `exp` again.  That is the same number unless
somebody stands in the way: packing hooks may hand back something else than was packed, and the gradient is computed from that.  A
`SavedPullback` takes, after the cotangents, the saved inputs, what else it needs of the inputs, and the saved results:

* a result that the gradient is a function of is cut out of the program: the equation that makes it is dropped, its name becomes an argument;
* where JAX computes a gradient from the input that torch computes from the result, there is torch's formula (`FROM_RESULT`);
* any other input that torch's own formula does without is read from the record, as it was.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax.extend.core import ClosedJaxpr, DropVar, Literal, jaxpr_as_fun

from . import symbolic
from .casts import is_number
from .lift import inside
from .registry import REFUSALS
from .rewriting import summed_wide
from .saved_names import NAMES
from .spec import Pullback, _conj, _conj_unsigned, _has_zero_second, _only_moves, read_whole
from .tracing import abstract, jaxpr_of, pruned, traced

FROM_RESULT = {  # operator: the gradient from the cotangent and the result, where JAX's is a function of the input
    "relu": lambda g, y: jnp.where(y <= 0, 0, g).astype(g.dtype),
    "reciprocal": lambda g, y: -g * jnp.conj(y * y),
}


class SavedPullback(Pullback):
    """f(*cotangents, *kept inputs, *results) -> gradients of `wanted`.

    saved: flat inputs that torch saves; results: outputs that it saves; `keep` and `own` say which of them are read.
    """

    __slots__ = ("own", "results", "saved")

    def __init__(self, form, wanted, given, saved, results):
        self.saved, self.results = saved, results
        super().__init__(form, wanted, given)
        if self.elsewhere is not None:
            self.elsewhere = SavedPullback(self.elsewhere.inner, wanted, given, saved, results)
        with jax.enable_x64(True):
            self._trace_saved(form)

    def _trace_saved(self, form):
        fixed = self.wanted if _has_zero_second(form) and form.op.zero_second not in (True, None) else read_whole(form, self.wanted)
        also, own = (self.elsewhere.keep, self.elsewhere.own) if self.elsewhere is not None else ((), ())
        keep = [True] * len(self.given) + [i in also or (i in fixed and i in self.saved) for i in range(len(form.avals))] + [k in own for k in self.results]
        key = self.wanted, self.given, self.saved, self.results, tuple(keep)
        self.closed, self.call, (self.keep, self.own) = symbolic.gradients(self, key, lambda form: self._program(form, keep))
        self._describe(form, tuple(form.out_avals[i] for i in self.given))

    def _program(self, form, keep):
        """(the program, (the inputs and the results that it reads)), of which those that `keep` says stay."""
        known = FROM_RESULT.get(form.op.name) if self.results == (0,) and 0 not in self.saved else None
        types = [abstract(a) for a in (*(form.out_avals[i] for i in self.given), *form.avals, *(form.out_avals[i] for i in self.results))]
        closed, used = pruned(self._with_statistics(form, _without_results(self._both(form, known), types, len(self.results)), types), keep)
        n = len(self.given)
        last = n + len(form.avals)
        read = tuple(i for i, u in enumerate(used[n:last]) if u), tuple(k for k, u in zip(self.results, used[last:]) if u)
        return closed, read

    def _with_statistics(self, form, closed, types):
        """The program with saved results that nobody can differentiate, a mean or a deviation, as the functions of the inputs that they are: torch's formula
        of second order knows that too."""
        last = len(self.given) + len(form.avals)
        kinds = [k not in form.diff_out and form.out_avals[k].dtype.is_floating_point for k in self.results]
        if not any(kinds):
            return closed

        def run(*flat):
            ins = flat[len(self.given):last]
            own = [_statistic(form, k, ins, r) if kind else r for k, kind, r in zip(self.results, kinds, flat[last:])]
            return jaxpr_as_fun(closed)(*flat[:last], *own)

        return traced(run, *types)

    def _describe(self, form, gs):
        self.avals = (*gs, *(form.avals[i] for i in self.keep), *(form.out_avals[k] for k in self.own))
        self.owners = [f"g{i}" for i in range(len(gs))] + [f"x{i}" for i in self.keep] + [f"r{k}" for k in self.own]
        self.saves = {o: tuple(self.owners) for o in self.owners}
        self.diff_in = self._active(form)
        self.passes = ()

    def _both(self, form, known):
        """f(*gs, *ins, *results) -> (outputs that are saved, gradients)."""
        wanted, given, n, m = self.wanted, self.given, len(self.given), len(form.avals)

        def run(*flat):
            gs, ins, own = flat[:n], list(flat[n:n + m]), flat[n + m:]
            if known is not None:
                return [], [known(gs[0], own[0])]

            def outputs(*diff):
                full = list(ins)
                for i, x in zip(wanted, diff):
                    full[i] = x
                outs = form.call(*full)
                return [outs[i] for i in given], [outs[k] for k in self.results]

            _, pull, made = jax.vjp(outputs, *[ins[i] for i in wanted], has_aux=True)
            gs = [_conj(g) for g in gs]
            back = _conj if _only_moves(pull, gs) else _conj_unsigned
            return made, [back(g) for g in summed_wide(pull, gs)]

        return run


def _statistic(form, k, ins, result):
    """The `result` that was saved, with the derivative of output `k` by the inputs."""

    @jax.custom_jvp
    def saved(result, *ins):
        return result

    @saved.defjvp
    def _(primals, tangents):
        return saved(*primals), jax.jvp(lambda *ins: form.call(*ins)[k], primals[1:], tangents[1:])[1]

    return saved(result, *ins)


def _without_results(f, types, n):
    """The program of the gradients with the last `n` arguments in the place of the results that `f` computes."""
    shapes = []

    def inlined(*xs):
        closed, shape = jaxpr_of(f, *xs, return_shape=True)
        shapes.append(shape)
        return _evaluate(closed.jaxpr, closed.consts, xs, {})

    flat = traced(inlined, *types)
    jaxpr = flat.jaxpr
    cut = len(jaxpr.outvars)
    made = len(jax.tree.leaves(shapes[0][0]))
    results, gradients = jaxpr.outvars[:made], jaxpr.outvars[made:cut]
    stand = dict(zip(_plain(results, jaxpr), jaxpr.invars[len(jaxpr.invars) - n:])) if made else {}
    if not stand:
        return ClosedJaxpr(jaxpr.replace(outvars=gradients, debug_info=jaxpr.debug_info.with_unknown_names()), flat.consts)
    shapes, own = _shaped(jaxpr, stand)
    stand |= own
    eqns = [*shapes, *(e.replace(invars=[v if isinstance(v, Literal) else stand.get(v, v) for v in e.invars]) for e in jaxpr.eqns)]
    outs = [v if isinstance(v, Literal) else stand.get(v, v) for v in gradients]
    return ClosedJaxpr(jaxpr.replace(eqns=eqns, outvars=outs, debug_info=jaxpr.debug_info.with_unknown_names()), flat.consts)


def _shaped(jaxpr, stand):
    """What stands for a result before its last changes of shape and dtype: (equations that make it from the argument for the result, {variable: what stands
    for it})."""
    makers, eqns, out = {v: e for e in jaxpr.eqns for v in e.outvars}, [], {}
    for v, given in stand.items():
        e = makers.get(v)
        while e is not None and e.primitive.name in _LAST and not isinstance(e.invars[0], Literal) and e.invars[0] in makers and _alike(v, e.invars[0]):
            v = e.invars[0]
            shape, dtype = v.aval.shape, v.aval.dtype
            again = jaxpr_of(lambda x, shape=shape, dtype=dtype: jax.lax.reshape(jax.lax.convert_element_type(x, dtype), shape),
                             jax.ShapeDtypeStruct(given.aval.shape, given.aval.dtype)).jaxpr.eqns
            for equation in again:
                eqns.append(equation.replace(invars=[given]))
                given = out[v] = equation.outvars[0]
            e = makers.get(v)
    return eqns, out


_LAST = ("squeeze", "reshape", "convert_element_type")


def _alike(a, b):
    """Whether both hold real numbers or both complex ones."""
    return jnp.issubdtype(a.aval.dtype, jnp.complexfloating) is jnp.issubdtype(b.aval.dtype, jnp.complexfloating)


def _plain(results, jaxpr):
    """The variables of the results; one that is an input or a literal stands for itself and is not cut."""
    return [None if isinstance(v, Literal) or v in jaxpr.invars else v for v in results]


_CALLS = ("jit", "pjit", "closed_call", "core_call")  # a call with a derivative of its own stays one


def _evaluate(jaxpr, consts, args, seen):
    """The results of a program, equation by equation."""
    env = dict(zip(jaxpr.constvars, consts))
    env.update(zip(jaxpr.invars, args))

    def read(v):
        return v.val if isinstance(v, Literal) else env[v]

    for eqn in jaxpr.eqns:
        ins = [read(v) for v in eqn.invars]
        inner = eqn.params.get("jaxpr") or eqn.params.get("call_jaxpr") if eqn.primitive.name in _CALLS else None
        if inner is not None:
            closed = inner if hasattr(inner, "consts") else ClosedJaxpr(inner, ())
            outs = _evaluate(closed.jaxpr, closed.consts, ins, seen)
        else:
            outs = _once(eqn, ins, seen, jaxpr)
        env.update(zip(eqn.outvars, outs))
    return [read(v) for v in jaxpr.outvars]


def _once(eqn, ins, seen, jaxpr):
    """The results of an equation, those of an equal one before where there was one."""
    try:
        key = (eqn.primitive, tuple(_same(x) for x in ins), str(eqn.params))
        hash(key)
    except TypeError:
        key = None
    out = seen.get(key) if key is not None else None
    if out is None:
        out = _alone(eqn, ins, jaxpr)
        if key is not None:
            seen[key] = out
            seen.setdefault("held", []).append(ins)  # ids stay what they are
    return out


def _alone(eqn, ins, jaxpr):
    """The results of one equation of a program."""
    if not eqn.primitive.name.startswith("custom_"):
        out = eqn.primitive.bind(*ins, **eqn.params)
        return out if eqn.primitive.multiple_results else [out]
    args = {v: x for v, x in zip(eqn.invars, ins) if not isinstance(v, Literal)}
    outs = [v for v in eqn.outvars if type(v) is not DropVar]
    program = jaxpr.replace(constvars=[], invars=list(args), outvars=outs, eqns=[eqn], debug_info=jaxpr.debug_info.with_unknown_names())
    made = iter(jaxpr_as_fun(ClosedJaxpr(program, ()))(*args.values()))
    return [None if type(v) is DropVar else next(made) for v in eqn.outvars]


def _same(x):
    return x if isinstance(x, (int, float, bool, complex)) else id(x)


def saved_places(form, wanted):
    """What torch saves for the gradients of `wanted`, in the order in which it packs: ("in", flat input) by name, then ("out", output) by name."""
    key = ("places", wanted)
    out = form._pullbacks.get(key)
    if out is None:
        out = form._pullbacks[key] = _places(form, wanted)
    return out


def _places(form, wanted):
    if isinstance(form, Pullback):
        try:
            ins, outs = form.pullback(wanted, form.diff_out).keep, ()
        except REFUSALS:  # backward says it
            ins, outs = (), ()
    else:
        ins, outs = form.kept(wanted)
    ins = sorted((i for i in ins if not is_number(form.avals[i])), key=lambda i: (form.owners[i], i))
    return (*(("in", i) for i in ins), *(("out", k) for k in sorted(outs, key=lambda k: result_name(form.op, k))))


def result_name(op, k):
    """torch's name of an output."""
    returns = op.schema.returns
    if len(returns) == 1:
        return returns[0].name or "result"
    named = op.fields[k] if op.fields is not None else None
    return returns[k].name or (named if named and f"*{named}" in NAMES.get(op.node, "").split() else f"result{k}")


def saved_pullback(step, wanted, given, places=None, active=()):
    """The pullback of a step that reads what stands in `places` (default: all that torch saves) from elsewhere, in a pass inside the levels `active`."""
    form = inside(step.form, active) if active else step.form
    if places is None:
        places = saved_places(form, step.wanted)
    key = ("saved", wanted, given, places)
    out = form._pullbacks.get(key)
    if out is None:
        form.pullback(wanted, given)  # raises what it refuses
        saved, results = frozenset(i for side, i in places if side == "in"), tuple(k for side, k in places if side == "out")
        out = form._pullbacks[key] = SavedPullback(form, wanted, given, saved, results)
    return out


__all__ = ["SavedPullback", "result_name", "saved_places", "saved_pullback"]
