"""Sizes that are symbols of jax.export (layer 2): how those of a call hang together, and what was taken for granted about them."""

from __future__ import annotations

import contextlib
import functools
import operator

import jax
import numpy as np

LARGEST = 2**31 - 1  # size that a symbol stands for, so that 32 bits hold its indices; the least is 2


class Relation:
    """How the sizes of a call hang together: each is a number, a symbol's value times a factor and plus a number, or the product of two such.

    terms: of each size an int, (factor, symbol, number) or (term, term); places: of each symbol, a size that it is; least: of the symbols' values.
    """

    def __init__(self, terms, places, least=2):
        self.terms, self.places, self.least = terms, places, least
        self.denied, self.test = {}, None  # equalities that were denied: {difference: None}; the test that they do not hold

    @functools.cached_property
    def scope(self):
        return jax.export.SymbolicScope([f"d{i} {bound}" for i in range(len(self.places)) for bound in (f">= {self.least}", f"<= {LARGEST}")])

    @functools.cached_property
    def symbols(self):
        return [jax.export.symbolic_shape(f"d{i}", scope=self.scope)[0] for i in range(len(self.places))]

    @classmethod
    def of(cls, a, b):
        """That of two examples, None where sizes below 2 change."""
        known, bases = {}, []
        for x, y in sorted({*zip(a, b)}, key=lambda p: (p[1], p[0])):
            if x == y:
                known[x, y] = y
                continue
            if x < 2 or y < 2:
                return None
            known[x, y] = _term(known, bases, x, y)
            if known[x, y] == (1, len(bases), 0):
                bases.append((x, y))
        pairs = list(zip(a, b))
        out = cls([known[p] for p in pairs], [pairs.index(p) for p in bases])
        return out if bases and None not in (out.values(a), out.values(b)) else None

    def of_larger(self, least):
        """The same for symbols of at least this value."""
        return Relation(self.terms, self.places, least)

    def symbolic(self):
        """The sizes with symbols."""
        return [_value(t, self.symbols) for t in self.terms]

    def values(self, sizes):
        """The symbols' values at these sizes, None where these are not related so."""
        d = tuple([sizes[i] for i in self.places])
        if min(d) < self.least or max(d) > LARGEST or len({*d}) < len(d):
            return None
        related = all(n == _value(t, d) for n, t in zip(sizes, self.terms))
        return d if related and self.holds(d) else None

    def deny(self, a, b):
        """Note that a symbolic size was taken for another number."""
        b = int(b) if isinstance(b, (bool, np.integer, float, np.floating)) and b % 1 == 0 else b
        difference = a - b if type(b) in (int, type(a)) else 1
        if type(difference) is type(a):
            self.denied[str(difference)], self.test = None, None

    def holds(self, values):
        """Whether no equality that was denied while tracing is true of these values."""
        if self.test is None:
            self.test = function(self.denied, len(self.places))
        try:
            return 0 not in self.test(*values)
        except ArithmeticError:  # a remainder of nothing
            return False


def _value(term, d):
    """The size of a term, of symbols or of their values."""
    if type(term) is int:
        return term
    return term[0] * d[term[1]] + term[2] if len(term) == 3 else _value(term[0], d) * _value(term[1], d)


def _term(known, bases, x, y):
    for k, (a, b) in enumerate(bases):
        if x % a == 0 and y % b == 0 and x // a == y // b:
            return x // a, k, 0
    changing = [(p, t) for p, t in known.items() if type(t) is tuple]
    for (a, b), s in changing:
        for (c, d), t in changing:
            if a * c == x and b * d == y:
                return s, t
    for k, (a, b) in enumerate(bases):
        if 0 < x - a == y - b <= 2:
            return 1, k, x - a
    return 1, len(bases), 0


def function(expressions, n):
    """f(*values of n symbols) -> the values of symbolic sizes, from how JAX writes them."""
    text = ", ".join(str(e).replace("^", "**") for e in expressions)
    return eval(f"lambda {', '.join(f'd{i}' for i in range(n))}: ({text}{',' if text else ''})",
                {"floordiv": operator.floordiv, "mod": operator.mod, "max": max, "min": min, "__builtins__": {}})


@contextlib.contextmanager
def noting(relation):
    """Note which equalities of this relation's sizes JAX denies without knowing, and that it takes a size for true."""
    kind, pairs = type(relation.symbols[0]), []
    equal, before = kind.__eq__, vars(kind).get("__bool__")

    def noted(a, b):
        out = equal(a, b)
        if not out and a.scope is relation.scope:
            pairs.append((a, b))
        return out

    def true(a):
        if a.scope is relation.scope:
            pairs.append((a, 0))
        return True

    kind.__eq__, kind.__bool__ = noted, true
    try:
        yield
    finally:  # of what fails, too: JAX remembers some of its answers
        kind.__eq__, kind.__bool__ = equal, before
        if before is None:
            del kind.__bool__
        for a, b in pairs:
            for n in b.flat if isinstance(b, np.ndarray) else (b,):
                relation.deny(a, n)


@functools.cache
def can():
    """Whether this JAX tells sizes, and writes them, as it is taken for granted here."""
    relation = Relation.of((4, 6), (6, 9))
    (a, b), kind = relation.symbols, type(relation.symbols[0])
    with noting(relation):
        answers = (a == 3, a == b, a * b == b * a, a - b == 0, bool(a))
    relation.denied[str(a * a // 2 + b % 3)] = None
    return answers == (False, False, True, False, True) and kind is type(a * b) and function(relation.denied, 2)(5, 7) == (2, -2, 5, 13)
