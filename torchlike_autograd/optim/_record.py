"""A whole parameter group as one recorded call (layer 8).

`update(name, options, numbers, items)` records the step of all parameters at once: their values, gradients and states are inputs, their next values are
results, and each is written to its tensor as any in-place operator writes.  Nothing is looked at: the update belongs to the program of the training step.
The step counts of a group that advance together are one value, computed once.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

from .._core import dispatch
from .._core.record import INPLACE, LEAF, NOGRAD, Counter, record_op
from .._core.storage import read, write
from .._ops.registry import Promote
from .._ops.spec import Form, Spec
from .._tensor import Tensor
from ._rules import IN_HALF, RULES

__all__ = ["update"]

SCALARS = ("step", "mu_product", "eta", "mu")  # states of no dims, computed from numbers alone: equal where they were equal


class _GroupOp:
    """The operator of one algorithm with options, over a number of parameters."""

    is_view = host = untracked = False
    guard = rule = promote_with = None
    zero_second = opmath = False
    multi = True
    derivative, promote = "body", Promote.NONE
    params = lift = scalars = uncast = ()
    node = "OptimizerBackward0"

    def __init__(self, key, body, nondiff_out, differentiable):
        self.key = self.name = key
        self.body = body
        self.saves, self.bake, self.specs = {}, {}, {}
        self.nondiff = () if differentiable else ("x",)
        self.nondiff_out = nondiff_out


class _FlatLayout:
    """Inputs go to the body as they are."""

    def __init__(self, n):
        self.n = n

    def owner(self):
        """One name for all."""
        return ["x"] * self.n

    def arguments(self, flat):
        """(positional, keywords)."""
        return list(flat), {}


class _GroupForm(Form):
    __slots__ = ()

    def _layout(self):
        return _FlatLayout(len(self.avals))


class _GroupSpec(Spec):
    __slots__ = ("weight",)

    def form(self, avals):
        out = self.forms.get(avals)
        if out is None:
            out = self.forms[avals] = _GroupForm(self, avals)
        return out


_specs: dict = {}


def _spec(name, options, number_names, kinds, differentiable):
    """kinds: for each parameter the names of its own states, and before them the names of those shared by all."""
    key = (name, options, number_names, kinds, differentiable)
    out = _specs.get(key)
    if out is None:
        shared, each = kinds
        places, first = [], len(shared)
        for names in each:
            places.append(first)
            first += 1 + len(names)
        states = _counts(shared, each) if differentiable else tuple(i for i in range(first) if i not in places)
        body = _body(RULES[name], dict(options), number_names, shared, each)
        out = _specs[key] = _GroupSpec(_GroupOp(f"{name}[{len(each)}]", body, states, differentiable), {}, ())
        out.op.updates, out.op.more = _updates(len(shared), each), _more_writes(name, dict(options))
        out.weight = len(each)
    return out


def _counts(shared, each):
    """Places of results that have no gradient even in a step that is differentiated: step counts and what is computed from them alone."""
    names = [*shared, *[n for own in each for n in ("", *own)]]
    return tuple(i for i, n in enumerate(names) if n in SCALARS)


def _updates(shared, each):
    """{result: input} of each parameter's next value and states, whose shardings are the parameter's."""
    out, result, place = {}, shared, shared
    for names in each:
        out.update(dict.fromkeys(range(result, result + 1 + len(names)), place))
        result += 1 + len(names)
        place += 2 + len(names)  # a parameter comes in with its gradient
    return out


def _body(rule, options, number_names, shared, each):
    def body(*flat):
        k = len(flat) - len(number_names)
        numbers = {name: x.astype(np.float64).reshape(()) for name, x in zip(number_names, flat[k:])}
        common = dict(zip(shared, flat))
        i, results = len(shared), []
        for names in each:
            p, g, own = flat[i], flat[i + 1], dict(zip(names, flat[i + 2:]))
            i += 2 + len(names)
            new, states = _on_reals(rule, p, g, {**common, **own}, numbers, options)
            if not results:
                results = [states[s] for s in shared]
            results += [new, *[states[s] for s in names]]
        return tuple(results)

    return body


def _on_reals(rule, p, g, s, n, o):
    """The rule on real arrays: a complex parameter is a pair of real ones."""
    if p.dtype.itemsize == 2 and rule not in [RULES[name] for name in IN_HALF]:
        more = {} if o.get("fused") else {"half": p.dtype}  # a fused kernel rounds once, other operators each
        wide = {k: x if k in SCALARS else x.astype(np.float32) for k, x in s.items()}
        new, states = rule(p.astype(np.float32), g.astype(np.float32), wide, n, {**o, **more})
        return new.astype(p.dtype), {k: x if k in SCALARS else x.astype(s[k].dtype) for k, x in states.items()}
    if not jnp.iscomplexobj(p):
        return rule(p, g, s, n, o)
    new, states = rule(_pairs(p), _pairs(g), {k: _pairs(x) for k, x in s.items()}, n, o)
    return _joined(new), {k: _joined(x) if x.ndim and jnp.iscomplexobj(s.get(k, p)) else x for k, x in states.items()}


def _pairs(x):
    return jnp.stack((jnp.real(x), jnp.imag(x)), -1) if jnp.iscomplexobj(x) else x


def _joined(x):
    return jax.lax.complex(x[..., 0], x[..., 1])


def _value(t):
    return t._tl_v if t._tl_cell is None else read(t)


def update(name, options, numbers, items, mode):
    """Record one step of `items`: (parameter, its Value, its gradient, dict of states, names of its states) each.

    options: tuple of (name, value), structure; numbers: dict of floats and 1-element Tensors, data; mode: LEAF for leaves that require grad, NOGRAD for
    others, INPLACE for a step that is differentiated.
    """
    _, _, _, first, names = items[0]
    shared, each = _arranged(names, items)
    spec = _spec(name, options, tuple(numbers), (shared, each), mode == INPLACE)
    flat = [_value(first[s]) for s in shared]
    for (_, v, g, state, _), own in zip(items, each):
        flat.append(v)
        flat.append(g._tl_v if g._tl_cell is None else read(g))
        for s in own:
            t = state[s]
            flat.append(t._tl_v if t._tl_cell is None else read(t))
    for x in numbers.values():
        flat.append(_value(x) if isinstance(x, Tensor) else float(x))
    if mode == INPLACE:
        for item in items:
            dispatch.check_inplace(item[0])
    results = record_op(spec, flat, mode)
    more = spec.op.more
    if more:
        for item in items:  # before the write, which takes the version that it makes down
            t = item[0]
            if t._tl_counter is None:
                t._tl_counter = Counter()
            t._tl_counter.n += more
    _write_all(results, items, shared, each, mode)


def _more_writes(name, options):
    """How often PyTorch's step writes to a parameter besides once, which its version counts."""
    if name not in _OFTEN:
        return 0
    return _OFTEN[name] + bool(options.get("decoupled") and options.get("weight_decay"))


_OFTEN = {"adam": 0, "nadam": 1, "radam": 0, "asgd": 1}


_arrangements: dict = {}


def _arranged(names, items):
    """(names of the states that all items share, for each item the names of the others)."""
    shared = tuple([s for s in SCALARS if s in names and _one_value(s, items)])
    if any(item[4] is not names for item in items):
        return shared, tuple([tuple([s for s in item[4] if s not in shared]) for item in items])
    key = names, shared, len(items)
    out = _arrangements.get(key)
    if out is None:
        out = _arrangements[key] = (shared, (tuple([s for s in names if s not in shared]),) * len(items))
    return out


def _one_value(name, items):
    v = items[0][3][name]._tl_v
    for item in items:
        t = item[3].get(name)
        if t is None or t._tl_v is not v or t._tl_cell is not None:
            return False
    return True


def _write_all(results, items, shared, each, mode):
    it = iter(results)
    common = [next(it) for _ in shared]
    for (p, old, _, state, _), names in zip(items, each):
        _write_param(p, old, next(it), mode)
        for s in names:
            write(state[s], next(it))
    for s, v in zip(shared, common):
        for item in items:
            t = item[3][s]
            write(t, v) if len(items) == 1 else _share(t, v)


def _share(t, v):
    """Let one of several tensors that count together show their next value."""
    counter = t._tl_counter
    if counter is None:
        counter = t._tl_counter = Counter()
    t._tl_v = v
    counter.n += 1


def _write_param(p, old, new, mode):
    if mode == LEAF:
        new.leaf = old.leaf
        new.tape.leaves[new.slot] = old.leaf
    elif mode == NOGRAD:
        new = dispatch.keep_history(new, old, p)
    write(p, new)
