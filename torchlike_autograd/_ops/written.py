"""Programs of symbolic sizes, written with numbers (layer 2)."""

from __future__ import annotations

import dataclasses
import functools
import operator
import re

import jax
import numpy as np
from jax.extend.core import ClosedJaxpr, Jaxpr, Literal, Var

from . import tracing
from .sizes import function


class Type:
    """The type of an array."""

    __slots__ = ("device", "dtype", "ndim", "shape")

    def __init__(self, shape, dtype, device=None):
        self.shape, self.dtype, self.device, self.ndim = shape, dtype, device, len(shape)


def writer_of(relation, closed, points):
    """What writes a program if it gives that of each of the points [(values, program)], else None."""
    writer = Writer(relation, closed)
    good = not writer.fails and all(values is not None and _same(writer(values), program) for values, program in points)
    return writer if good else None


def _same(a, b):
    return _text(a) == _text(b) and len(a.consts) == len(b.consts) and all(np.array_equal(x, y) for x, y in zip(a.consts, b.consts))


def _text(program):
    """A program as JAX writes it, but for what has no meaning: the types of integers that are parameters, names of rules, lines."""
    return _IDLE.sub(r"\1", str(program))


_BEYOND = 1 << 63
_IDLE = re.compile(r"np\.int64\((-?\d+)\)|jvp=\w+|\s+")
_TRACERS = frozenset((("custom_jvp_call", "jvp_jaxpr_fun"),))


@functools.cache
def _never():
    """What stands where JAX keeps what traces a derivative."""
    def f(*_):
        raise AssertionError("a program that is not whole was differentiated")

    return tracing.linear_util.wrap_init(f, debug_info=tracing.DebugInfo("symbolic", "never", None, None))


class Writer:
    """Writes a program of symbolic sizes with their values.

    fails: whether it holds something else that may depend on them; later: whether it has a rule for its derivative, which JAX keeps as what traces it: such a
    program can be run but not differentiated (see `whole`).
    """

    def __init__(self, relation, closed):
        self.kind, self.closed = type(relation.symbols[0]), closed
        self.fails, self.later = False, False
        self.texts, self.places = {}, {}  # what JAX writes for a size -> its place among the sizes; id of a size -> that place
        self.types, self.known = [], {}  # the types with sizes, each once; id of a type -> its place there
        self.changing = {}  # id of an equation -> its parameters that are not as they are at all sizes
        self._look(closed)
        self.symbols = len(relation.symbols)
        self.sizes = function(self.texts, self.symbols)

    def _look(self, value):
        """Collect what depends on sizes; whether something does."""
        if type(value) is self.kind:
            self.places[id(value)] = self.texts.setdefault(str(value), len(self.texts))
            return True
        if isinstance(value, (ClosedJaxpr, Jaxpr)):  # two classes, or one since JAX 0.12
            value = value.jaxpr if isinstance(value, ClosedJaxpr) else value
            return True in [self._look(v.aval) for v in (*value.invars, *value.constvars, *value.outvars)] + list(map(self._equation, value.eqns))
        if isinstance(value, (tuple, list)):
            return True in list(map(self._look, value))
        if isinstance(value, jax.core.ShapedArray):
            return self._look(value.shape) and self._type(value)
        if dataclasses.is_dataclass(value):
            return self._look(list(vars(value).values()))
        if (callable(value) and not isinstance(value, type)) or hasattr(value, "call_wrapped"):
            self.fails = True  # a function that may remember sizes
        return False

    def _equation(self, eqn):
        name = eqn.primitive.name
        self.later |= name == "custom_jvp_call"
        changing = self.changing[id(eqn)] = [k for k, p in eqn.params.items() if (name, k) in _TRACERS or self._look(p)]
        return True in [self._look(v.aval) for v in eqn.outvars] or bool(changing)

    def _type(self, aval):
        if id(aval) not in self.known:
            place = next((i for i, a in enumerate(self.types) if a == aval), len(self.types))
            self.types += [aval] if place == len(self.types) else []
            self.known[id(aval)] = place
        return True

    def __call__(self, values, origins=None):
        """The program at these values of the symbols; origins: a list that gets (equation, or literal that stands for one; the symbolic equation)."""
        n = self.sizes(*values)
        return ClosedJaxpr(self._jaxpr(self.closed.jaxpr, n, self._types_at(n), origins), self.closed.consts)

    def _types_at(self, n):
        return functools.cache(lambda: [a.update(shape=self.shape(a, n)) for a in self.types])

    def shape(self, aval, n):
        """That of a type at sizes `n`."""
        return tuple([n[self.places[id(d)]] if type(d) is self.kind else d for d in aval.shape])

    def fits(self, values):
        """Whether the sizes at these values have 64 bits at most."""
        n = self.sizes(*values)
        return not n or -_BEYOND <= min(n) <= max(n) < _BEYOND

    def results(self, values):
        """The types of the program's results at these values."""
        n = self.sizes(*values)
        return [Type(self.shape(v.aval, n), v.aval.dtype) for v in self.closed.jaxpr.outvars]

    @functools.cached_property
    def elements(self):
        """f(*values) -> those of the largest array whose type has sizes."""
        most = ["*".join(f"({d})" for d in a.shape) for a in self.types]
        largest = function([f"max([0, {', '.join(most)}])"], self.symbols)
        return lambda *values: largest(*values)[0]

    def places_in(self, value):
        """The places among the sizes that something of the symbolic program depends on."""
        if type(value) is self.kind:
            return {self.places[id(value)]}
        if isinstance(value, (tuple, list)):
            return set().union(*map(self.places_in, value))
        if isinstance(value, (ClosedJaxpr, Jaxpr)):
            return set(self.places.values())
        inner = value.shape if isinstance(value, jax.core.ShapedArray) else list(vars(value).values()) if dataclasses.is_dataclass(value) else ()
        return self.places_in(inner)

    def _jaxpr(self, jaxpr, n, types, origins=None):
        names, eqns, known, now = {}, [], self.known, types()

        def new(v):
            place = known.get(id(v.aval))
            names[v] = out = Var(v.aval if place is None else now[place])
            return out

        def named(v):
            return v if type(v) is Literal else names[v]

        constvars, invars = list(map(new, jaxpr.constvars)), list(map(new, jaxpr.invars))
        for eqn in jaxpr.eqns:
            number = self.number(eqn, names, n)
            if number is not None:
                names[eqn.outvars[0]] = made = number
            else:
                inputs = [named(v) for v in eqn.invars]
                made = eqn.replace(invars=inputs, outvars=[new(v) for v in eqn.outvars], params=self.params(eqn, n, types, origins))
                eqns.append(made)
            if origins is not None:
                origins.append((made, eqn))
        return jaxpr.replace(constvars=constvars, invars=invars, eqns=eqns, outvars=list(map(named, jaxpr.outvars)))

    def params(self, eqn, n, types=None, origins=None):
        """The parameters of an equation at sizes `n`."""
        params, changing = eqn.params, self.changing[id(eqn)]
        if not changing:
            return params
        types = types or self._types_at(n)
        name = eqn.primitive.name
        return {**params, **{k: _never() if (name, k) in _TRACERS else self._value(params[k], n, types, origins) for k in changing}}

    def number(self, eqn, names, n):
        """The literal that an equation stands for which reads a size, converts or divides some; None for others."""
        name = eqn.primitive.name
        if name == "dim_as_value":
            return Literal(np.int64(n[self.places[id(eqn.params["dim"])]]), eqn.outvars[0].aval)
        if name not in ("convert_element_type", "div"):
            return None
        ins, aval = [v if type(v) is Literal else names[v] for v in eqn.invars], eqn.outvars[0].aval
        if any(type(v) is not Literal for v in ins) or all(map(operator.is_, ins, eqn.invars)):
            return None
        if name == "convert_element_type":
            return Literal(np.asarray(ins[0].val).astype(aval.dtype)[()], aval)
        return Literal(np.divide(*[v.val for v in ins]), aval) if aval.dtype == np.float64 else None  # as Python divides sizes

    def _value(self, value, n, types, origins):
        if type(value) is self.kind:
            return n[self.places[id(value)]]
        if type(value) in (tuple, list):
            return type(value)([self._value(v, n, types, origins) for v in value])
        if isinstance(value, ClosedJaxpr):
            return ClosedJaxpr(self._jaxpr(value.jaxpr, n, types, origins), value.consts)
        if isinstance(value, Jaxpr):
            return self._jaxpr(value, n, types, origins)
        return types()[self.known[id(value)]] if id(value) in self.known else value
