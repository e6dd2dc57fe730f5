"""Loops that a program would run twice (layer 3).

A backward pass differentiates its operators anew, from their inputs.  What that computes a second time of the forward pass is found to be the same by XLA and
runs once, except loops: the one that a derivative needs stores what its turns save, so it is another loop.  `merged` leaves the shorter one out and takes
its results from the longer one.

Values are numbered, equal numbers being equal values: by their operation, its parameters and the numbers it reads.  A loop's body is numbered with
what stays the same under the numbers it has outside, and what is carried under its place.  Two loops that start alike and whose bodies carry the same on
do so in every turn.
"""

from __future__ import annotations

import itertools

import jax
import numpy as np
from jax.extend.core import ClosedJaxpr, Jaxpr, Literal, Var, jaxpr_as_fun

_BODIES = ("jaxpr", "call_jaxpr")
_CALLS = frozenset(["jit", "pjit", "closed_call", "core_call", "custom_jvp_call", "custom_vjp_call"])


class _Node:
    """An operation of the program: an equation, the numbers that it reads and those that it makes."""

    __slots__ = ("eqn", "ins", "outs", "turn")

    def __init__(self, eqn, ins, outs):
        self.eqn, self.ins, self.outs, self.turn = eqn, ins, outs, None


class Numbering:
    def __init__(self):
        self.known, self.alive, self.count = {}, [], itertools.count()
        self.nodes, self.makers, self.arrays = [], {}, {}

    def number(self, key):
        out = self.known.get(key)
        if out is None:
            out = self.known[key] = next(self.count)
        return out

    def array(self, value):
        """The number of a constant."""
        self.alive.append(value)
        n = self.number(("array", id(value)))
        self.arrays[n] = value
        return n

    def literal(self, v):
        return self.number(("literal", type_of(v), np.asarray(v.val).tobytes()))

    def run(self, jaxpr, consts, ins, place):
        """The numbers of a jaxpr's results; `place`: whether its operations are the program's own."""
        env = dict(zip((*jaxpr.constvars, *jaxpr.invars), (*consts, *ins)))
        for eqn in jaxpr.eqns:
            read = [self.literal(v) if isinstance(v, Literal) else env[v] for v in eqn.invars]
            env.update(zip(eqn.outvars, self.equation(eqn, read, place)))
        return [self.literal(v) if isinstance(v, Literal) else env[v] for v in jaxpr.outvars]

    def equation(self, eqn, read, place):
        body = _body(eqn)
        if body is None:
            outs = self.plain(eqn, read)
        else:
            open_ = place and self.opens(body.jaxpr)
            outs = self.run(body.jaxpr, [self.array(c) for c in body.consts], read, open_)
            place = place and not open_
        if place and not all(n in self.makers for n in outs):
            node = _Node(eqn, read, outs)
            self.nodes.append(node)
            for n in outs:
                self.makers.setdefault(n, node)
        return outs

    def opens(self, body):
        """Whether the operations of a function that the program calls are looked at one by one."""
        return _loops(body)

    def plain(self, eqn, read):
        if eqn.effects:
            return [next(self.count) for _ in eqn.outvars]
        key = (eqn.primitive.name, *read, *((k, self.frozen(v)) for k, v in sorted(eqn.params.items())))
        return [self.number((key, k, type_of(v))) for k, v in enumerate(eqn.outvars)]

    def frozen(self, value):
        """Something hashable that is equal where a parameter means the same."""
        if isinstance(value, (ClosedJaxpr, Jaxpr)):
            jaxpr, consts = (value.jaxpr, value.consts) if isinstance(value, ClosedJaxpr) else (value, ())
            arguments = [self.number(("argument", k, type_of(v))) for k, v in enumerate((*jaxpr.invars, *jaxpr.constvars[len(consts):]))]
            return "jaxpr", *self.run(jaxpr, [*map(self.array, consts), *arguments[len(jaxpr.invars):]], arguments[:len(jaxpr.invars)], False)
        if isinstance(value, (tuple, list)):
            return tuple(map(self.frozen, value))
        try:
            hash(value)
        except TypeError:
            self.alive.append(value)
            return "id", id(value)
        return type(value), value

    def turn(self, node):
        """The numbers that a loop's body makes, in a turn where what it carries has the numbers of its places."""
        if node.turn is None:
            fixed, carried = parts(node.eqn)
            body = _closed(node.eqn.params["jaxpr"])
            at = [self.number(("carried", k, type_of(v))) for k, v in enumerate(body.jaxpr.invars[fixed:fixed + carried])]
            own = [self.number(("turn's", n)) for n in node.ins[fixed + carried:]]
            node.turn = self.run(body.jaxpr, map(self.array, body.consts), [*node.ins[:fixed], *at, *own], False)
        return node.turn


def type_of(v):
    """What two equal values have in common; avals know meshes too."""
    a = v.aval
    return (a.shape, a.dtype, a.weak_type) if hasattr(a, "weak_type") else a


def _body(eqn):
    """The jaxpr that an equation stands for, closed; None where it is an operation of its own."""
    if eqn.primitive.name not in _CALLS or eqn.effects:
        return None
    body = next((eqn.params[k] for k in _BODIES if k in eqn.params), None)
    return _closed(body) if isinstance(body, ClosedJaxpr) or (isinstance(body, Jaxpr) and not body.constvars) else None


def _closed(body):
    return ClosedJaxpr(body, ()) if isinstance(body, Jaxpr) else body


def parts(eqn):
    """How many inputs of a loop are the same in every turn, and how many values it carries."""
    p = eqn.params
    if "num_carry" in p:
        return p["num_consts"], p["num_carry"]
    fixed, carried, _ = p["ft_in"].unpack()  # since JAX 0.12
    return len(fixed), len(carried)


def _loops(jaxpr):
    """How many loops of known length a jaxpr has."""
    count = 0
    for eqn in jaxpr.eqns:
        if eqn.primitive.name == "scan":
            count += not eqn.effects
        elif (body := _body(eqn)) is not None:
            count += _loops(body.jaxpr)
    return count


def _is_loop(node):
    return node.eqn.primitive.name == "scan" and not node.eqn.effects


def _same(numbering, short, long):
    """Whether a loop does in every turn what another one does too, so that all of its results are carried or stored there."""
    p, q = short.eqn.params, long.eqn.params
    if short is long or (p["length"], p["reverse"]) != (q["length"], q["reverse"]):
        return False
    (fixed, carried), (others, most) = parts(short.eqn), parts(long.eqn)
    if carried > most or short.ins[fixed:fixed + carried] != long.ins[others:others + carried]:
        return False
    made, kept = numbering.turn(short), numbering.turn(long)
    return made[:carried] == kept[:carried] and set(made).issubset(kept)


def _replacements(numbering):
    """{node of a loop that is left out: (the one that takes its place, where its results stand there)}."""
    loops = [*filter(_is_loop, numbering.nodes)]
    out = {}
    for short in loops:
        long = next((n for n in loops if n not in out and _same(numbering, short, n)), None)
        places = None if long is None else _places(numbering, short, long)
        if places is not None:
            out[short] = long, places
    return out


def _places(numbering, short, long):
    """Where a loop's results stand among those of another, which stores from now on what it only carried; None where that cannot be written."""
    (_, carried), (_, others) = parts(short.eqn), parts(long.eqn)
    places = [*range(carried)]
    for n in short.turn[carried:]:
        if n not in long.turn[others:] and not _store(numbering, long, long.turn.index(n)):
            return None
        places.append(long.turn.index(n, others))
    return places


def _store(numbering, node, k):
    """Make a loop store a result of each turn, of which it gave the last only; False where JAX would write it otherwise."""
    eqn, (fixed, carried) = node.eqn, parts(node.eqn)
    p, run = eqn.params, jaxpr_as_fun(_closed(eqn.params["jaxpr"]))

    def loop(*ins):
        def turn(held, own):
            out = run(*ins[:fixed], *held, *own)
            return out[:carried], [*out[carried:], out[k]]

        last, kept = jax.lax.scan(turn, [*ins[fixed:fixed + carried]], [*ins[fixed + carried:]], p["length"], p["reverse"], p["unroll"])
        return [*last, *kept]

    made = jax.make_jaxpr(loop)(*[jax.ShapeDtypeStruct(v.aval.shape, v.aval.dtype, weak_type=v.aval.weak_type) for v in eqn.invars])
    if made.consts or len(made.eqns) != 1 or made.eqns[0].outvars != made.jaxpr.outvars or not all(v in made.jaxpr.invars for v in made.eqns[0].invars):
        return False
    longer, at = made.eqns[0], {v: i for i, v in enumerate(made.jaxpr.invars)}
    order = [at[v] for v in longer.invars]
    node.eqn = longer.replace(invars=[eqn.invars[i] for i in order], source_info=eqn.source_info)
    new = next(numbering.count)
    node.ins, node.outs, node.turn = [node.ins[i] for i in order], [*node.outs, new], [*node.turn, node.turn[k]]
    numbering.makers[new] = node
    return True


class _Rewriting:
    """The program written anew, operation by operation."""

    def __init__(self, numbering, ins, jaxpr):
        self.makers, self.instead = numbering.makers, _replacements(numbering)
        self.consts = {n: (Var(jax.typeof(a)), a) for n, a in numbering.arrays.items()}
        self.variables = {**{n: v for n, (v, _) in self.consts.items()}, **dict(zip(ins, jaxpr.invars))}
        self.eqns = []

    def write(self, node):
        """Write one operation unless its results are there."""
        if all(n in self.variables for n in node.outs):
            return
        if node not in self.instead or not self.replaced(node, *self.instead[node]):
            self.copy(node)

    def replaced(self, short, long, places):
        """Write a loop that comes later, with what it reads; False where it reads what the one that it replaces makes."""
        before = [] if all(n in self.variables for n in long.outs) else self.needs(long)
        if short in before:
            return False
        for node in before:
            self.copy(node)
        self.variables.update((n, self.variables[long.outs[k]]) for n, k in zip(short.outs, places))
        return True

    def copy(self, node):
        ins = [v if isinstance(v, Literal) else self.variables[n] for v, n in zip(node.eqn.invars, node.ins)]
        outs = [Var(v.aval) for v in node.eqn.outvars]
        self.eqns.append(node.eqn.replace(invars=ins, outvars=outs))
        for n, v in zip(node.outs, outs):
            self.variables.setdefault(n, v)

    def needs(self, node):
        """The operations to write before one, itself last, each after what it reads."""
        order, seen, stack = [], set(), [(node, False)]
        while stack:
            here, done = stack.pop()
            if done:
                order.append(here)
            elif here not in seen:
                seen.add(here)
                stack.append((here, True))
                stack.extend((self.makers[n], False) for n in here.ins if n not in self.variables and n in self.makers)
        return order


def merged(closed):
    """The program without the loops whose results another loop of it has too; itself where there are none."""
    jaxpr = closed.jaxpr
    count = _loops(jaxpr)
    if count < 2:
        return closed
    numbering = Numbering()
    ins = [numbering.number(("input", k)) for k in range(len(jaxpr.invars))]
    outs = numbering.run(jaxpr, map(numbering.array, closed.consts), ins, True)
    out = _Rewriting(numbering, ins, jaxpr)
    if not out.instead and sum(map(_is_loop, numbering.nodes)) == count:
        return closed
    for node in numbering.nodes:
        out.write(node)
    outvars = [v if isinstance(v, Literal) else out.variables[n] for v, n in zip(jaxpr.outvars, outs)]
    consts = out.consts.values()
    return ClosedJaxpr(jaxpr.replace(constvars=[v for v, _ in consts], eqns=out.eqns, outvars=outvars), [a for _, a in consts])


__all__ = ["Numbering", "merged", "parts", "type_of"]
