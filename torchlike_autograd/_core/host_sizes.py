"""Programs of symbolic sizes on the host (layer 3): compiled once for all sizes.

A program that is written for its sizes (`_ops/symbolic.py`) would be compiled for the host at each of them: the same text, with other constants.  Here the text
is made at the first sizes, with a note of which constants come from which symbolic equation.  At other sizes these constants alone are made anew, from the
equation with numbers for the symbols, as `host.py` would make them, and remembered for the sizes that they depend on.  Where the text of a line would be
another one, the program is written and compiled for itself.
"""

from __future__ import annotations

import types
from typing import NamedTuple

from jax.extend.core import Literal

from .._ops import symbolic
from .._ops.written import Type
from .host import LARGEST, HostWriter, filled, looks_at_sizes, program_function, value_of, written
from .host_indexed import Unsupported

MOST = 256  # sizes for which the constants of a line are remembered


def host_function(form):
    """f(*arrays) -> list of arrays for a Form, or None where the host lacks a primitive or an array is large."""
    if not symbolic.is_written(form):
        return program_function(form.closed)
    found, values = form.at
    if found.host is None:
        found.host = OfSizes(found.writer)
    out = found.host(values)
    if out is None:
        out = program_function(form.closed)
    symbolic.let_go(form)
    return out


class OfSizes:
    """f(values of the symbols) -> f(*arrays) -> list of arrays, or None where the program at these sizes has to be compiled for itself."""

    def __init__(self, sizes):
        self.sizes, self.text = sizes, None  # False where it was found that there is none

    def __call__(self, values):
        text = self.text
        if text is False or self.sizes.elements(*values) > LARGEST:
            return None
        try:
            if text is None:
                self.text = False
                text = self.text = _Text(self.sizes, values)
            return text.at(self.sizes.sizes(*values))
        except (Unsupported, _OtherwiseError):
            return None


class _OtherwiseError(Exception):
    """The text is not the same at all sizes."""


class _Text(HostWriter):
    """The text of a program, made at some sizes, and its `lines` whose constants depend on sizes."""

    def __init__(self, sizes, values):
        super().__init__()
        self.sizes, self.lines_of_sizes = sizes, []
        origins = []
        closed = sizes(values, origins)
        self.origins = {id(made): eqn for made, eqn in origins}
        self.numbers = {eqn.outvars[0]: eqn for made, eqn in origins if isinstance(made, Literal)}
        self.code = self.program(closed.jaxpr, closed.consts)
        del self.origins  # ids of what is let go

    def at(self, n):
        """The function at sizes `n`."""
        scope = dict(self.scope)
        for line in self.lines_of_sizes:
            scope.update(line.constants(n))
        return types.FunctionType(self.code, scope)

    def literal(self, v):
        name = super().literal(v)
        if id(v) in self.origins:
            self._note(_Number, self.origins[id(v)], (name,))
        return name

    def filled(self, eqn):
        name = super().filled(eqn)
        self._note(_Filled, self._origin(eqn), (name,))
        return name

    def line(self, eqn, ins):
        first = len(self.scope)
        named = super().line(eqn, ins)
        text, origin = self.lines[-1].partition(" = ")[2], self._origin(eqn)
        if looks_at_sizes(eqn):
            self._note(_Line, origin, tuple(self.scope)[first:], ins, text)
        self.heavy.update(name for name, v in zip(named, origin.outvars) if self.sizes.places_in(v.aval))  # perhaps so
        return named

    def _origin(self, eqn):
        if id(eqn) not in self.origins:
            raise _OtherwiseError  # of a program that is made on the way
        return self.origins[id(eqn)]

    def _note(self, kind, origin, names, *more):
        numbers = self._behind(origin)
        places = set().union(*(self.sizes.places_in([v.aval for v in (*e.invars, *e.outvars)]) for e in (*numbers, origin)),
                             *(self.sizes.places_in(e.params[k]) for e in (*numbers, origin) for k in self.sizes.changing[id(e)]))
        if places:
            self.lines_of_sizes.append(kind(self.sizes, origin, numbers, sorted(places), names, *more))

    def _behind(self, eqn):
        """The equations of the numbers that an equation reads, in their order."""
        found = []
        for v in eqn.invars:
            if not isinstance(v, Literal) and v in self.numbers:
                found += [*self._behind(self.numbers[v]), self.numbers[v]]
        return found


class _Constants:
    """The constants `names` of an equation, which reads the `numbers` and depends on the sizes at `places`."""

    def __init__(self, sizes, eqn, numbers, places, names):
        self.sizes, self.eqn, self.numbers, self.places, self.names = sizes, eqn, numbers, places, names
        self.known = {}  # sizes -> constants

    def constants(self, n):
        """{name: value} at sizes `n`."""
        key = tuple([n[i] for i in self.places])
        out = self.known.get(key)
        if out is None:
            if len(self.known) >= MOST:
                self.known.clear()
            out = self.known[key] = dict(zip(self.names, self._made(self._values(n), n), strict=True))
        return out

    def _values(self, n):
        found = {}
        for eqn in self.numbers:
            found[eqn.outvars[0]] = self.sizes.number(eqn, found, n)
        return found

    def _equation(self, values, n):
        """The equation at sizes `n`."""
        ins = [v if isinstance(v, Literal) else values.get(v) or self._value(v, n) for v in self.eqn.invars]
        return _Equation(self.eqn.primitive, self.sizes.params(self.eqn, n), ins, [self._value(v, n) for v in self.eqn.outvars])

    def _value(self, v, n):
        return _Value(Type(self.sizes.shape(v.aval, n), v.aval.dtype))


class _Value(NamedTuple):
    aval: Type


class _Equation(NamedTuple):
    primitive: object
    params: dict
    invars: list
    outvars: list


class _Number(_Constants):
    """A size as a number."""

    def _made(self, values, n):
        return [value_of(self.sizes.number(self.eqn, values, n))]


class _Filled(_Constants):
    """An array of one number."""

    def _made(self, values, n):
        return [filled(self._equation(values, n))]


class _Line(_Constants):
    """What the line of a primitive reads, of the inputs `ins`, if its text stays the same."""

    def __init__(self, *args):
        *first, self.ins, self.text = args
        super().__init__(*first)

    def _made(self, values, n):
        found, names = [], iter(self.names)

        def constant(x):
            found.append(x)
            return next(names, None)

        if written(self._equation(values, n), self.ins, constant)[0] != self.text or len(found) < len(self.names):
            raise _OtherwiseError
        return found


__all__ = ["host_function"]
