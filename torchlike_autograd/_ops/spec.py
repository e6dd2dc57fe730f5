"""An operator with its structure fixed (layer 2).

`Spec` = operator + statics + the pattern of its arguments; `Form` = Spec + input types.  A Form knows the output types, applies the body to
arrays with torch's casts around it, and makes its pullback, which is a Form again, so that derivatives of any order are the same thing.
Forms know nothing of Tensors, graphs or state.

Flat inputs: Tensor arguments and lifted numbers in schema order, Tensor lists spliced in.  A pattern token is "T" (array), "N" (absent),
("L", n) (list of n), or one of "f i b c" (a Python number given at run time as a 0-dim float64/int64/bool/complex128 array).
"""

from __future__ import annotations

import weakref

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import jaxpr_as_fun

from .._core import devices, dtypes, mixed
from .._core.dtypes import FLOAT
from .._core.shapes import check_bytes, check_room
from . import gradient_nodes, symbolic
from .activity import as_elsewhere, dependencies, emptied, readings, union, with_elements
from .casts import HALVES, align_ranks, casts_of, convert, is_number, jitted, wide_casts
from .exact import alone
from .no_gradient import NO_FORMULA, no_complex_gradient, refuse_again, refusing, unimplemented
from .opened import TANGENTS, calling
from .read_again import saved_again
from .registry import BODY, NONE, UNIMPLEMENTED
from .rewriting import summed_wide
from .said_without_data import formed
from .tracing import abstract, jaxpr_of, pruned, traced
from .without_data import check_gradients, place

NUMBER_DTYPES = {"f": dtypes.float64, "i": dtypes.int64, "b": dtypes.bool_, "c": dtypes.complex128}


class Aval:
    """The type of a value: interned by (shape, dtype, device)."""

    __slots__ = ("device", "dtype", "ndim", "shape")
    _interned: dict = {}

    def __repr__(self):
        return f"{self.dtype.name}{list(self.shape)}"


def aval(shape, dtype, device="cpu") -> Aval:
    """The one Aval of these properties."""
    key = (shape, dtype, device)
    out = Aval._interned.get(key)
    if out is None:
        out = Aval()
        out.shape, out.dtype, out.device, out.ndim = shape, dtype, device, len(shape)
        Aval._interned[key] = out
    return out


class LeveledAval(Aval):
    """The type of a value under transformations (see `lift.py`): shape and dtype as the user sees them; `full` has a leading dim for each of `levels`."""

    __slots__ = ("full", "levels")

    def __repr__(self):
        return f"{self.dtype.name}{list(self.shape)}{{{', '.join(f'{k}: {n}' for k, n, _ in self.levels)}}}"


def leveled(a, levels):
    """The one type of a plain one under levels ((id, size, kind), ...)."""
    if not levels:
        return a
    key = (a, levels)
    out = Aval._interned.get(key)
    if out is None:
        out = Aval._interned[key] = LeveledAval()
        out.shape, out.dtype, out.device, out.ndim = a.shape, a.dtype, a.device, a.ndim
        out.levels, out.full = levels, (*(n for _, n, _ in levels), *a.shape)
    return out


def _form_under_levels(spec, avals):
    from .lift import form_at  # cycle: levels are Forms over Forms

    return form_at(spec, avals)


NUMBERS = {k: aval((), d, "number") for k, d in NUMBER_DTYPES.items()}
NUMBER_KINDS = {v: k for k, v in NUMBERS.items()}


SPECS = weakref.WeakSet()  # all of them


class Spec:
    """Operator + statics (hashable, by name) + argument pattern; made by `spec_of` and interned per operator.  into: the dtype of a tensor that the result is
    written to, where it may be another one; None."""

    __slots__ = ("__weakref__", "bends", "checks", "forms", "guarded", "hot", "into", "layout", "lies", "links", "op", "pattern", "single_view", "statics")
    weight = 1

    def __init__(self, op, statics, pattern, into=None):
        self.op, self.statics, self.pattern, self.into = op, statics, pattern, into
        plain = not (op.is_view or op.multi or op.host) and all(type(t) is not tuple for t in pattern)
        self.hot = plain and not op.guard  # one plain result
        self.checks = op.guard is not None
        self.guarded = plain and self.checks  # one plain result, checked when it is looked at
        self.single_view = op.is_view and not (op.multi or op.host or op.guard)
        self.links = ()  # of views with several results, see storage.links
        self.bends = op.key in _BENDING
        rule = getattr(op, "lies", None)  # operators that are made of others have none
        self.lies = None if rule is None else getattr(rule, "always", False)  # whether to ask how results lie: never, where an operand does not lie by rows, always
        self.forms, self.layout = {}, None  # of its Forms
        SPECS.add(self)

    def form(self, avals) -> Form:
        """The Form for these input types; raises torch's errors for wrong shapes or dtypes."""
        out = self.forms.get(avals)
        if out is None:
            if len(avals) > 1:
                mixed.check(self.op, avals)
            out = self.forms[avals] = _form_under_levels(self, avals) if any(type(a) is LeveledAval for a in avals) else formed(self, avals, _form_class(self))
        return out

    def __repr__(self):
        return f"{self.op.key}{dict(self.statics) or ''}"


_BENDING = {"transpose.int", "t", "permute", "diagonal", "unfold", "_as_strided"}  # views that may show dims in another order than that of memory


class HeldSpec(Spec):
    """A Spec with numbers that have to fit a dtype (held.py)."""
    __slots__ = ()


class SayingSpec(Spec):
    """A Spec that warns at every call for some types."""
    __slots__ = ()

    def texts(self, avals):
        """The warnings that come with a call."""
        return self.op.says(avals[0], self.statics)


def spec_of(op, statics: tuple, pattern: tuple, into=None) -> Spec:
    """The interned Spec; `statics` is a tuple of (name, value)."""
    key = (pattern, statics, *[type(v) for _, v in statics]) if into is None else (into, pattern, statics, *[type(v) for _, v in statics])  # 1, 1.0 and True are equal
    out = op.specs.get(key)
    if out is None:
        held = getattr(op, "holds", None) is not None and not NUMBER_DTYPES.keys().isdisjoint(pattern)
        kind = HeldSpec if held else Spec if getattr(op, "says", None) is None else SayingSpec
        out = op.specs[key] = kind(op, dict(statics), pattern, into)
    return out


class Layout:
    """How flat inputs become the body's arguments, from the pattern."""

    def __init__(self, op, pattern):
        self.slots = []  # (param, token, first flat index or None)
        flat = 0
        for param, token in zip((p for p in op.params if p.kind.startswith("Tensor") or p.name in op.lift), pattern):
            if token[0] == "N":
                self.slots.append((param, token, None))
            elif isinstance(token, tuple):
                self.slots.append((param, token, flat))
                flat += token[1]
            else:
                self.slots.append((param, token, flat))
                flat += 1
        self.size = flat

    def owner(self):
        """Parameter name of each flat input."""
        out = []
        for param, token, first in self.slots:
            if first is not None:
                out += [param.name] * (token[1] if isinstance(token, tuple) else 1)
        return out

    def arguments(self, flat):
        """(positional, keywords) for the body."""
        args, kwargs = [], {}
        for param, token, first in self.slots:
            if token[0] == "N":
                value = None
            elif isinstance(token, tuple):
                value = tuple(None if x is None else x for x in flat[first:first + token[1]])
            else:
                value = flat[first]
            if param.kind.startswith("Tensor"):
                args.append(value)
            else:
                kwargs[param.name] = value
        return args, kwargs


_UNKNOWN = object()


class Form:
    """A Spec at given input types; `call(*arrays)` runs it and returns a list of results (also while tracing)."""

    __slots__ = ("_closed", "_guard", "_host", "_jit", "_pullbacks", "at", "avals", "call", "casts", "compute", "diff_in", "diff_out", "layout", "node", "op", "out_avals",
                 "owners", "saves", "silent", "spec", "tuple_out")
    closed = symbolic.Program()

    def __init__(self, spec, avals):
        self.spec, self.avals, self.op = spec, avals, spec.op
        self.layout = self._layout()
        self.owners = self.layout.owner()
        self._pullbacks, self._jit, self._host, self._guard = {}, None, _UNKNOWN, _UNKNOWN
        self.casts, self.compute = casts_of(self)
        if self.compute in HALVES and (self.op.opmath or getattr(self.op, "wide", ())):
            self.casts = wide_casts(self)
        check = getattr(spec.op, "check", None)
        if check is not None:
            check(dict(zip(self.owners, avals)), self.compute, spec.statics)
        self.node = spec.op.node
        device = spec.statics.get("device") or (devices.common(avals) if all(a.device != "meta" for a in avals) else place(self))
        self.closed, outs, self.call, self.tuple_out = symbolic.program(self)
        for o in outs:
            (check_room if device == "cpu" and not spec.op.is_view else check_bytes)(o.shape, o.dtype.itemsize)
        self.out_avals = tuple(aval(tuple(o.shape), dtypes.from_numpy_dtype(o.dtype), device) for o in outs)
        self.diff_in, self.diff_out = self._differentiable()
        self.saves = spec.op.saves
        self.silent = getattr(spec.op, "silent", None) is not None and spec.op.silent(*avals, **spec.statics)

    def _layout(self):
        spec = self.spec
        if spec.layout is None:
            spec.layout = Layout(spec.op, spec.pattern)
        return spec.layout

    def _differentiable(self):
        op = self.op
        if op.derivative == NONE:
            return (), ()
        fixed = op.nondiff(**self.spec.statics) if callable(op.nondiff) else op.nondiff
        ins = tuple(i for i, a in enumerate(self.avals) if not is_number(a) and a.dtype.category >= FLOAT and self.owners[i] not in fixed)
        outs = tuple(i for i, a in enumerate(self.out_avals) if a.dtype.category >= FLOAT and i not in op.nondiff_out)
        return ins, outs

    def undefined(self):
        """The flat inputs whose gradient is undefined, as one of them has no elements."""
        names = getattr(self.op, "empty", None)
        if type(names) is not tuple:
            return ()
        found = tuple(i for i, owner in enumerate(self.owners) if owner in names)
        return found if any(0 in self.avals[i].shape for i in found) else ()

    def _cast(self, flat):
        """The arrays in the types that the operator computes in."""
        return [x if d is None else convert(x, d) for x, d in zip(flat, self.casts)]

    def apply(self, *flat):
        """The operator on arrays of the declared types."""
        flat = align_ranks(self, self._cast(flat))
        half = self.op.opmath and self.compute is not None and self.compute in (dtypes.float16, dtypes.bfloat16)
        if half:
            flat = [x.astype(np.float32) if x.dtype == self.compute.np else x for x in flat]
        args, kwargs = self.layout.arguments(flat)
        out = _body(self.op, args, {**kwargs, **self.spec.statics})
        if half:
            out = jax.tree.map(lambda o: o.astype(self.compute.np) if o.dtype == np.float32 else o, out)
        return out if self.spec.into is None else convert(out, self.spec.into)

    def guard(self, *flat, library=jnp):
        """The code of the operator's data-dependent check; library: whose arrays these are."""
        args, kwargs = self.layout.arguments(flat if library is np else self._cast(flat))
        return library.asarray(self.op.guard(*args, **{**kwargs, **self.spec.statics}), np.int64)

    def guard_error(self, code):
        """The exception that a code stands for."""
        return self.op.guard_error(code, *[a.shape for a in self.avals if not is_number(a)], **self.spec.statics)

    def host(self, compile_host):
        """The operator on NumPy arrays as `compile_host` makes it (None where it cannot), made once."""
        if self._host is _UNKNOWN:
            self._host = compile_host(self)
        return self._host

    def reset_host(self):
        """Forget what `host` and `guard_on_host` made."""
        self._host = self._guard = _UNKNOWN

    def guard_on_host(self, compile_host, ins):
        """`guard` of NumPy arrays, as `host` runs the operator."""
        if type(self) is Form and getattr(self.op.guard, "of_arrays", False):  # it looks at shapes and integers: no types to cast to
            return self.guard(*ins, library=np)
        if self._guard is _UNKNOWN:
            self._guard = compile_host(closed := traced(self.guard, *ins)) or jax.jit(jaxpr_as_fun(closed))
        return self._guard(*ins)[0]

    def jit(self):
        """The compiled operator, for op-by-op execution."""
        if self._jit is None:
            on_host = self.out_avals and self.out_avals[0].device == "cpu"
            self._jit = jitted(jaxpr_as_fun(alone(symbolic.whole(self))) if on_host else self.call, self.avals)
        return self._jit

    def pullback(self, wanted: tuple, given: tuple):
        """The Form computing gradients of flat inputs `wanted` from those of outputs `given`: f(*gs, *ins)."""
        key = (wanted, given)
        out = self._pullbacks.get(key)
        if out is None:
            if self.op.derivative == UNIMPLEMENTED:
                raise unimplemented(self.op)
            self.refuse(wanted)
            check_gradients(self, wanted)
            out = self._pullbacks[key] = Pullback(self, wanted, given)
        return out

    def refuse(self, wanted):
        """Raise where torch's gradient of these inputs fails."""
        if getattr(self.op, "refuses", None) is not None:
            self.op.refuses(dict(zip(self.owners, self.avals)), self.out_avals[0], {self.owners[i] for i in wanted}, **self.spec.statics)

    def requiring(self, wanted, inplace=False):
        """The outputs that require grad where the inputs `wanted` do."""
        return self.diff_out

    def reached(self, wanted, given):
        """Those of the inputs `wanted` that the outputs `given` depend on."""
        return tuple(i for i in wanted if i in given) if getattr(self.op, "pairwise", False) else wanted

    def kept(self, wanted, inplace=False):
        """(flat inputs, outputs) that torch would save for the gradients of `wanted`, numbers too; inplace: it keeps a copy of the input that is written to."""
        out = self._pullbacks.get(("kept", wanted, inplace))
        if out is None:
            out = self._pullbacks["kept", wanted, inplace] = self._kept(wanted, inplace)
        return out

    def _kept(self, wanted, inplace):
        ins, outs = set(), set()
        for i in wanted:
            for name in self.saves.get(self.owners[i], ()):
                if name.startswith("result"):
                    outs.add(int(name[6:] or 0))
                elif name == "factors":  # of the same list, multiplied from the left: what comes after, and the first for the second
                    own = [k for k, owner in enumerate(self.owners) if owner == self.owners[i]]
                    ins.update(own[:1] + own[2:] if i in own[1:2] else own[own.index(i) + 1:])
                else:
                    ins.update(k for k, owner in enumerate(self.owners) if owner == name and not (inplace and k == 0))
        return ins, outs

    def checks(self, wanted, inplace=False, run=None):
        """The flat inputs of which later writes are errors; run: those of `wanted` whose gradients are asked for."""
        return self.kept(wanted, inplace)[0]

    def __repr__(self):
        return f"{self.spec}({', '.join(map(repr, self.avals))}) -> {', '.join(map(repr, self.out_avals))}"


_SUMS = {"sum", "nansum", "prod", "cumsum", "cumprod"}


class _RealForm(Form):
    """That of an operator which torch differentiates for some results only; a class of its own, so that no shortcut decides what requires grad."""

    def requiring(self, wanted, inplace=False):
        """As elsewhere, where no result is complex; torch 2.13 does not ask in place.  Sums of floats that come out as integers are refused."""
        if not self.diff_out and self.op.name in _SUMS:
            raise RuntimeError(f"Autograd not support dtype: {self.out_avals[0].dtype.char_name}")
        if getattr(self.op, "real_only", False) and not inplace and any(a.dtype.is_complex for a in self.out_avals):
            raise no_complex_gradient(self.op)
        return self.diff_out


PLAIN = (Form, _RealForm)


def _form_class(spec):
    """The class of a Spec's Forms."""
    said = spec.statics.get("dtype") if spec.op.name in _SUMS else None
    return _RealForm if getattr(spec.op, "real_only", False) or (said is not None and said.category < FLOAT) else Form


class PullbackOp:
    """What a pullback looks like to the rest: an operator without a schema of its own."""

    def __init__(self, form, wanted):
        self.name = self.key = f"{form.op.key}~"
        second = getattr(form.op, "second", None)
        self.second = second[form.owners[wanted[-1]]] if isinstance(second, dict) else second
        self.node = form.op.node if self.second is None else f"{form.node[:-1]}Backward0" if self.second.startswith("_") else NO_FORMULA
        self.derivative = "body" if self.second is None else UNIMPLEMENTED
        self.saves, self.is_view, self.multi = {}, False, True
        self.guard, self.zero_second, self.host = None, True, False
        self.forward = form.op
        self.empty = emptied(form)
        self.apart = self.empty not in (None, "constant") or form.op.node in gradient_nodes.WHOLE


def _gradient_nodes(form, wanted):
    """torch's name for the node of each gradient of a form."""
    form = getattr(form, "base", form)
    node = form.op.node
    if not isinstance(form, Pullback):
        return gradient_nodes.together([gradient_nodes.first(node, form.owners[i], _settings(form)) for i in wanted])
    return gradient_nodes.together([gradient_nodes.second(node, *_input_behind(form, i)) for i in wanted])


def _input_behind(form, i):
    """The operator's input that is input `i` of a pullback (of a pullback, ...), None for a cotangent, and the operator's settings."""
    owner = True  # as long as it is neither a cotangent nor a result
    while isinstance(form, Pullback):
        if owner:
            owner, i = form.owners[i][0] not in "gr", int(form.owners[i][1:])
        form = getattr(form.inner, "base", form.inner)
    return form.owners[i] if owner else None, _settings(form)


def _settings(form):
    return getattr(form.spec, "statics", None) or {}


class Pullback(Form):
    """f(*cotangents of `given`, *inputs) -> gradients of `wanted`; unused inputs are dropped (`keep`)."""

    __slots__ = ("elsewhere", "given", "inner", "keep", "masks", "passes", "refuses", "wanted")
    weight = 1
    checks = saved_again

    def __init__(self, form, wanted, given):
        self.inner, self.wanted, self.given = form, wanted, given
        self.op = PullbackOp(form, wanted)
        self.spec = self
        self.node, self.silent = _gradient_nodes(form, wanted) if self.op.second is None else self.op.node, False
        self._pullbacks, self._jit, self._host, self._guard = {}, None, _UNKNOWN, _UNKNOWN
        gs = tuple(form.out_avals[i] for i in given)
        with jax.enable_x64(True):
            self.elsewhere = with_elements(form, wanted, given)
            fixed = wanted if _has_zero_second(form) and form.op.zero_second not in (True, None) else read_whole(form, wanted)
            fixed = (*fixed, *self.elsewhere.keep) if self.elsewhere is not None else fixed
            self._trace(fixed)
        self.avals = (*gs, *(form.avals[i] for i in self.keep))
        self.owners = [f"g{i}" for i in range(len(gs))] + [f"x{i}" for i in self.keep]
        self.saves = {o: tuple(self.owners) for o in self.owners}
        self.out_avals = tuple(form.avals[i] for i in wanted)
        self.tuple_out = True
        self.diff_in = self._active(form)
        self.diff_out = tuple(range(len(wanted)))
        self.refuses = refusing(form, given)
        self.passes = gradient_nodes.passed(symbolic.outline(self).jaxpr, len(gs)) if form.op.node in gradient_nodes.PASSING else ()

    def _trace(self, fixed):
        """Make the program, where the differentiated inputs `fixed` stay."""
        wanted, given, n = self.wanted, self.given, len(self.given)

        def trace(form):
            types = [abstract(a) for a in (*(form.out_avals[i] for i in given), *form.avals)]
            closed = traced(lambda *flat: _vjp(form, wanted, given, flat[:n], flat[n:]), *types)
            closed, used = pruned(closed, [True] * n + [i in fixed for i in range(len(form.avals))])
            return closed, tuple(i for i, u in enumerate(used[n:]) if u)

        self.closed, self.call, self.keep = symbolic.gradients(self, (wanted, given, fixed), trace)

    def pullback(self, wanted, given):
        """As of any Form, where torch's gradients can be differentiated."""
        refuse_again(self, given)
        return super().pullback(wanted, given)

    def form(self, avals):
        """Itself: a pullback has one set of types; mapped where they have more levels."""
        if avals != self.avals and any(type(a) is LeveledAval for a in avals):
            from .lift import lifted  # cycle: levels are Forms over Forms

            return lifted(self, avals)
        return self

    def _active(self, form):
        """The inputs that the gradients depend on; `masks` says which of them each does, None where all depend on all."""
        self.masks = None if _has_zero_second(form) or _whole_elsewhere(self.elsewhere) else as_elsewhere(self, self.elsewhere) or dependencies(symbolic.outline(self).jaxpr)
        if form.op.node in gradient_nodes.WHOLE:
            self.masks = None
        all_of = -1 if self.masks is None else union(self.masks)
        return tuple(i for i, a in enumerate(self.avals) if not is_number(a) and a.dtype.category >= FLOAT and all_of >> i & 1)

    def requiring(self, wanted, inplace=False):
        """The gradients that depend on one of `wanted`."""
        if self.masks is None:
            return self.diff_out
        some = union(1 << i for i in wanted)
        return tuple(k for k, m in enumerate(self.masks) if m & some)

    def reached(self, wanted, given):
        """Gradients are nodes of their own in torch: one is not reached through another."""
        masks = self.masks
        if self.op.empty not in (None, "constant") and any(0 in a.shape for a in self.inner.avals):
            return tuple(i for i in wanted if i < len(self.given))
        if self.op.apart and self.elsewhere is not None:
            other = self.elsewhere
            found = {other.owners[i] for i in other.reached(tuple(range(len(other.avals))), given)}
            return tuple(i for i in wanted if self.owners[i] in found)
        if masks is None:
            if self.elsewhere is not None or self.op.second is not None or callable(getattr(self.inner.op, "zero_second", None)):
                return wanted  # operators of their own in torch, which read their input whatever becomes of it
            masks = readings(symbolic.outline(self).jaxpr)
        some = union(masks[k] for k in given)
        return tuple(i for i in wanted if some >> i & 1)

    def apply(self, *flat):
        """The gradients from cotangents and all of the inputs (before the unused ones are dropped)."""
        n = len(self.given)
        return _vjp(self.inner, self.wanted, self.given, flat[:n], flat[n:])

    def __repr__(self):
        return f"pullback[{self.inner.spec}]({', '.join(map(repr, self.avals))})"


def _vjp(form, wanted, given, gs, ins):
    def outputs(*diff):
        full = list(ins)
        for i, x in zip(wanted, diff):
            full[i] = x
        outs = calling(form)(*full)
        return [outs[i] for i in given]

    at = tuple(ins[i] for i in wanted)
    pull = jax.linear_transpose(lambda *ts: jax.jvp(outputs, at, ts)[1], *at)
    # torch's gradient of a real loss is the conjugate of JAX's
    gs = [_conj(g) for g in gs]
    back = _conj if _only_moves(pull, gs) else _conj_unsigned
    return tuple(back(g) for g in summed_wide(pull, gs))


def _conj(x):
    return jnp.conj(x) if jnp.iscomplexobj(x) else x


def _has_zero_second(form):
    """Whether the gradient of a Form requires grad whatever it depends on."""
    said = form.op.zero_second
    if said is None:
        return getattr(form.op, "second", None) is not None
    return said(*form.avals, **form.spec.statics) if callable(said) else said


def read_whole(form, wanted):
    """The differentiated inputs that torch's one operator for all gradients reads, whichever of these are asked for."""
    if form.op.node not in gradient_nodes.WHOLE and getattr(form.op, "second", None) is None:
        return ()
    read = {name for names in form.op.saves.values() for name in names}
    return tuple(i for i in wanted if form.owners[i] in read)


def _whole_elsewhere(other):
    """Whether a pullback depends on all that it reads where there are elements."""
    return other is not None and other.masks is None


def _conj_unsigned(x):
    """The conjugate with imaginary parts of zero positive, as a product with a conjugate mostly has them."""
    return jax.lax.complex(jnp.real(x), 0 - jnp.imag(x)) if jnp.iscomplexobj(x) else x


_COMPUTE = frozenset([
    "mul", "div", "dot_general", "pow", "integer_pow", "exp", "cumprod", "conj", "pad", "scatter", "scatter-add", "scatter_add", "dynamic_update_slice",
    "select_n"])


def _only_moves(pull, gs):
    """Whether a pullback of complex cotangents only moves, adds and negates them, so that zeros keep their signs (what fills or computes gives positive ones)."""
    if not any(jnp.iscomplexobj(g) for g in gs):
        return False
    return not any(eqn.primitive.name in _COMPUTE for eqn in jaxpr_of(pull, gs).eqns)


def _body(op, args, kwargs):
    rule = op.rule if not TANGENTS[0] or op.tangent in (None, BODY) else op.tangent
    if rule is None:
        return op.body(*args, **kwargs)
    return _with_rule(op, rule, args, kwargs)


def _with_rule(op, rule, args, kwargs):
    """The body under its jvp rule; absent arguments and lifted keywords are closed over or passed along."""
    lifted = [k for k in op.lift if kwargs.get(k) is not None and hasattr(kwargs[k], "dtype")]
    statics = {k: v for k, v in kwargs.items() if k not in lifted}
    leaves, tree = jax.tree.flatten(tuple(args))

    def split(flat):
        own = jax.tree.unflatten(tree, flat[: len(leaves)])
        return own, {**statics, **dict(zip(lifted, flat[len(leaves):]))}

    @jax.custom_jvp
    def f(*flat):
        own, kw = split(flat)
        return op.body(*own, **kw)

    @f.defjvp
    def _(primals, tangents):
        out = f(*primals)
        own, kw = split(primals)
        clean = [None if t.dtype == jax.dtypes.float0 else t for t in tangents[: len(leaves)]]
        return out, rule(out, own, jax.tree.unflatten(tree, clean), **kw)

    return f(*leaves, *[kwargs[k] for k in lifted])
