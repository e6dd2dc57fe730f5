"""What a program repeats, written as a loop (layer 3).

A Python loop leaves its operators in the record as often as it turns: forty steps of an integrator, twenty of a cell, an unrolled inner optimization, and
the backward pass of each.  XLA compiles every one of them, some 2 ms an operation.  `rolled` looks for stretches of a program that repeat and writes each as
one `lax.scan`, which is compiled once whatever it counts, and runs no slower.

1. The program is taken apart to its operations, equal ones once (`loops.Numbering`); what only changes a shape stands where its input is made.
2. Operations of one kind (primitive, parameters, types) get one letter.  A stretch that agrees with itself shifted by p letters repeats with the period p.
3. A stretch is a loop if each operand comes, in every turn, from one place: the same turn, an earlier one (carried), outside and always the same (fixed), or
   outside and another each turn (stacked).  First and last turns often differ, and stay outside.
4. What is read outside is stored for each turn, unless it is read after the last turns only: that is carried out.  A later loop that reads what an
   earlier one stored, forwards or backwards, takes it as it lies.

Elementwise chains are left alone, as XLA makes one kernel of them, but for those of more than CHAIN operations: the time that it takes grows with their square.
"""

from __future__ import annotations

import functools

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import ClosedJaxpr, Var, jaxpr_as_fun

from .loops import Numbering, type_of

FEWEST = 4  # turns of a loop
WORTH = 300  # operations that loops must save, and half of the program
STACKED = 1 << 20  # bytes that are copied to stand one after the other: 16 times that for arrays of SMALL bytes, which cost more than their bytes as they are
SMALL = 1 << 12
CHAIN = 4000

# Operations that XLA does not make part of a neighbour's kernel, and `pad`: of shifted neighbours it makes one that computes each of them several times.
_KERNELS = frozenset([
    "dot_general", "conv_general_dilated", "reduce_sum", "reduce_max", "reduce_min", "reduce_prod", "reduce_and", "reduce_or", "argmax", "argmin", "reduce",
    "pad", "reduce_window", "reduce_window_sum", "reduce_window_max", "select_and_scatter_add", "cumsum", "cumprod", "cummax", "cummin", "cumlogsumexp", "sort",
    "top_k", "gather", "scatter", "scatter-add", "scatter_mul", "scatter_min", "scatter_max", "dynamic_update_slice", "concatenate", "fft", "scan", "while",
    "cond", "cholesky", "lu", "triangular_solve", "eigh", "eig", "svd", "householder_product", "geqrf"])
# Operations that cost nothing and stand where their input is made.
_LIGHT = frozenset([
    "slice", "squeeze", "reshape", "broadcast_in_dim", "convert_element_type", "bitcast_convert_type", "transpose", "expand_dims", "iota", "copy", "rev"])


class _Flat(Numbering):
    """The operations of a program, those of the functions that it calls among them, equal ones once."""

    def __init__(self):
        super().__init__()
        self.literals, self.letters, self.pure = {}, {}, True

    def literal(self, v):
        n = super().literal(v)
        self.literals[n] = v
        return n

    def opens(self, body):
        return True

    def plain(self, eqn, read):
        self.pure = self.pure and not eqn.effects
        return super().plain(eqn, read)


class _Loop:
    """Operations nodes[start : start + period * count]: the plan of one `lax.scan`."""

    def __init__(self, start, period, count):
        self.start, self.period, self.count = start, period, count
        self.registers = {}  # (place, result, distance, what it starts with; None where nobody reads that) -> index of what is carried
        self.stacks = {}  # numbers, one a turn -> index of what is stacked
        self.shifts = {}  # offsets, one row a turn -> index of theirs
        self.operands = []  # for each place of a turn, for each operand: (where from, ...)
        self.wanted = {}  # (place, result) -> turns whose result is read outside
        self.stored = {}  # (place, result) -> index of what is stored for each turn
        self.last = {}  # (place, result) -> (index of what is carried, the first turn that it holds in the end)
        self.place = {}  # number -> (turn, (place, result))

    @property
    def end(self):
        return self.start + self.period * self.count

    def reads(self):
        """The numbers of what it reads from outside."""
        out = [n for numbers in self.stacks for n in numbers]
        out += [n for *_, start in self.registers for n in start or ()]
        return out + self.fixed()

    def ends(self, nodes):
        """Decide what is stored and what is carried out."""
        held = {}
        for index, (q, r, distance, _) in enumerate(self.registers):
            held[q, r] = max(held.get((q, r), (0, 0)), (distance, index))
        for where, turns in self.wanted.items():
            if where not in held and min(turns) == self.count - 1 and not jnp.issubdtype(self.type(nodes, *where).dtype, jax.dtypes.extended):
                held[where] = 1, self.registers.setdefault((*where, 1, None), len(self.registers))
            distance, index = held.get(where, (0, 0))
            if min(turns) >= self.count - distance:
                self.last[where] = index, self.count - distance
            else:
                self.stored[where] = len(self.stored)

    def type(self, nodes, q, r):
        return nodes[self.start + q].eqn.outvars[r].aval

    def waste(self, nodes):
        """Bytes that are stored and that nobody reads."""
        types = [(self.type(nodes, *where), len(self.wanted[where])) for where in self.stored]
        return sum((self.count - turns) * a.size * a.dtype.itemsize for a, turns in types)

    def fixed(self):
        """The numbers of what is the same in every turn."""
        out = []
        for sources, _ in self.operands:
            for source in sources:
                while source[0] == "light":
                    source = source[2]
                if source[0] == "fixed":
                    out.append(source[1])
        return out

    def turns(self, nodes):
        return [nodes[k:k + self.period] for k in range(self.start, self.end, self.period)]


def rolled(closed):
    """The program with loops for what it repeats; itself where that is not worth it."""
    if _operations(closed.jaxpr) < WORTH:
        return closed
    flat = _Flat()
    ins = [flat.number(("input", k)) for k in range(len(closed.jaxpr.invars))]
    outs = flat.run(closed.jaxpr, [flat.array(c) for c in closed.consts], ins, True)
    nodes = _in_order(_needed(flat.nodes, outs)) if flat.pure else []
    loops = _loops(flat, nodes)
    owner, items, loops = _lean(nodes, loops, outs)
    saved = sum(loop.period * (loop.count - 1) for loop in loops)
    if saved < WORTH or 2 * saved < sum(not _is_number(node) for node in nodes):
        return closed
    writing = _Writing(flat, nodes, owner, items, outs)
    types = [jax.ShapeDtypeStruct(v.aval.shape, v.aval.dtype, weak_type=v.aval.weak_type) for v in closed.jaxpr.invars]
    return jax.make_jaxpr(lambda *arrays: writing.run(dict(zip(ins, arrays))))(*types)


def _is_number(node):
    """Whether an operation only takes a number out of where it comes in: XLA hardly notices."""
    return node.eqn.primitive.name in _LIGHT and node.eqn.outvars[0].aval.size == 1


def _operations(jaxpr):
    count = 0
    for eqn in jaxpr.eqns:
        inner = [v for v in eqn.params.values() if isinstance(v, ClosedJaxpr)] if eqn.primitive.name in ("jit", "pjit") else ()
        count += sum(_operations(v.jaxpr) for v in inner) if inner else 1
    return count


def _needed(nodes, outs):
    wanted, kept = set(outs), []
    for node in reversed(nodes):
        if not wanted.isdisjoint(node.outs):
            wanted.update(node.ins)
            kept.append(node)
    return kept[::-1]


def _in_order(nodes):
    """The operations, light ones directly after what they read."""
    base, keys = {}, []
    for i, node in enumerate(nodes):
        light = node.eqn.primitive.name in _LIGHT
        at = max((base.get(n, -1) for n in node.ins), default=-1) if light else i
        base.update((n, at) for n in node.outs)
        keys.append((at, light, i))
    return [nodes[i] for _, _, i in sorted(keys)]


# ---------------------------------------------------------------------------------------------------------------- what repeats

def _letters(flat, nodes):
    """One number for each operation, equal where they are of one kind."""
    known, letters = {}, []
    for node in nodes:
        eqn = node.eqn
        name = eqn.primitive.name
        params = () if _shift(eqn) is not None else tuple((k, flat.frozen(v)) for k, v in sorted(eqn.params.items()))
        key = name, params, tuple(map(type_of, eqn.invars)), tuple(map(type_of, eqn.outvars))
        letters.append(known.setdefault(key, len(known)))
    flat.letters = dict(zip(nodes, letters))
    return np.array(letters, np.int32)


def _shift(eqn):
    """Where a slice is taken or laid, for those that may differ from turn to turn in nothing else; else None."""
    if eqn.primitive.name == "slice" and set(eqn.params["strides"] or (1,)) == {1}:
        return tuple(eqn.params["start_indices"])
    if eqn.primitive.name == "pad" and all(inner == 0 <= min(low, high) for low, high, inner in eqn.params["padding_config"]):
        return tuple([low for low, _, _ in eqn.params["padding_config"]])
    return None


def _repeats(letters, kernels, start, end):
    """Stretches (start, period, count) of letters[start:end] that repeat, those that save most first; kernels: how many stand before each letter."""
    part, found = letters[start:end], []
    for period in range(1, len(part) // FEWEST + 1):
        same = part[:-period] == part[period:]
        edges = np.flatnonzero(np.diff(np.concatenate(([0], same.view(np.int8), [0]))))
        begins, counts = edges[::2], (edges[1::2] - edges[::2]) // period + 1
        for k in np.flatnonzero(counts >= FEWEST).tolist():
            count, at = int(counts[k]), start + int(begins[k])
            if period * count > CHAIN or kernels[at] < kernels[at + period]:
                found.append(((count - 1) * period, -period, at, count))
    return [(at, -period, count) for _, period, at, count in sorted(found, reverse=True)[:12]]


def _loops(flat, nodes):
    """The loops of a program, none overlapping, in its order."""
    if len(nodes) < WORTH:
        return []
    letters, found, stretches = _letters(flat, nodes), [], [(0, len(nodes))]
    kernels = np.cumsum([False, *(node.eqn.primitive.name in _KERNELS for node in nodes)])
    while stretches:
        start, end = stretches.pop()
        loop = next((x for r in _repeats(letters, kernels, start, end) if (x := _loop(flat, nodes, *r)) is not None), None)
        if loop is not None:
            found.append(loop)
            stretches += [(start, loop.start), (loop.end, end)]
    return sorted(_cheap(found, nodes), key=lambda loop: loop.start)


def _light(loop, flat, numbers):
    """The source of operands that one light operation makes outside: it moves into the loop; else None."""
    makers = [flat.makers.get(n) for n in numbers]
    if None in makers or makers[0].eqn.primitive.name not in _LIGHT or len(makers[0].ins) != 1 or len({flat.letters.get(m) for m in makers}) > 1:
        return None
    source = _source(loop, flat, tuple([m.ins[0] for m in makers]))
    return None if source is None else ("light", makers[0], source, _shifted(loop, [_shift(m.eqn) for m in makers]))


def _cheap(loops, nodes):
    """Those that need not copy much to have what they stack one after the other."""
    sizes = {n: v.aval.size * v.aval.dtype.itemsize for node in nodes for n, v in zip(node.ins, node.eqn.invars)}
    stored = {n for loop in loops for n in loop.place}
    def cheap(loop):
        copied = [sizes[n] for numbers in loop.stacks for n in numbers if n not in stored]
        return sum(copied) <= STACKED * (16 if max(copied, default=0) <= SMALL else 1)

    return [loop for loop in loops if cheap(loop)]


def _loop(flat, nodes, start, period, count):
    """The plan of a stretch, without first or last turns that differ; None where it is no loop."""
    for first, last in ((0, 0), (1, 0), (0, 1), (1, 1), (2, 0), (2, 1), (2, 2)):
        if count - first - last >= FEWEST:
            loop = _Loop(start + first * period, period, count - first - last)
            if _planned(loop, flat, nodes):
                return loop
    return None


def _planned(loop, flat, nodes):
    """Find where each operand comes from; False where that differs from turn to turn."""
    turns = loop.turns(nodes)
    for t, turn in enumerate(turns):
        for q, node in enumerate(turn):
            loop.place.update((n, (t, (q, r))) for r, n in enumerate(node.outs))
    for q in range(loop.period):
        column = [turn[q] for turn in turns]
        sources = [_source(loop, flat, numbers) for numbers in zip(*(node.ins for node in column))]
        if None in sources:
            return False
        shifts = [_shift(node.eqn) for node in column]
        loop.operands.append((sources, _shifted(loop, shifts)))
    return True


def _shifted(loop, shifts):
    """The index of offsets that differ from turn to turn; None where they do not."""
    return None if len(set(shifts)) == 1 else loop.shifts.setdefault(tuple(shifts), len(loop.shifts))


def _source(loop, flat, numbers):
    """Where an operand comes from: ("fixed", number), ("same", place, result), ("carried", index), ("stacked", index), ("light", node, source, offsets).

    None where that differs from turn to turn.
    """
    places = [loop.place.get(n) for n in numbers]
    if all(p is None for p in places):
        if len(set(numbers)) == 1:
            return "fixed", numbers[0]
        return _light(loop, flat, numbers) or ("stacked", loop.stacks.setdefault(numbers, len(loop.stacks)))
    if len(set(numbers)) == 1 or places[-1] is None:
        return None
    turn, where = places[-1]
    distance = len(numbers) - 1 - turn
    if any(p is not None for p in places[:distance]) or any(p != (t, where) for t, p in enumerate(places[distance:])):
        return None
    if not distance:
        return "same", *where
    return "carried", loop.registers.setdefault((*where, distance, numbers[:distance]), len(loop.registers))


def _items(nodes, loops):
    """The operations outside of loops, and the loops, in order."""
    at = 0
    for loop in loops:
        yield from nodes[at:loop.start]
        yield loop
        at = loop.end
    yield from nodes[at:]


def _read(nodes, loops, outs):
    """The items that are needed; each loop learns what it must store."""
    owner = {n: loop for loop in loops for n in loop.place}
    wanted, kept = set(), []
    for loop in loops:
        loop.wanted, loop.stored, loop.last = {}, {}, {}

    def want(numbers):
        wanted.update(numbers)
        for n in numbers:
            if n in owner:
                turn, where = owner[n].place[n]
                owner[n].wanted.setdefault(where, set()).add(turn)

    want(outs)
    for item in reversed([*_items(nodes, loops)]):
        if isinstance(item, _Loop):
            want(item.reads())
        elif wanted.isdisjoint(item.outs):
            continue
        else:
            want(item.ins)
        kept.append(item)
    for loop in loops:
        loop.ends(nodes)
    return owner, kept[::-1]


def _lean(nodes, loops, outs):
    """Who owns which number, the items that are needed, and the loops that do not store much in vain."""
    while True:
        owner, items = _read(nodes, loops, outs)
        lean = [loop for loop in loops if loop.waste(nodes) <= STACKED]
        if len(lean) == len(loops):
            return owner, items, loops
        loops = lean


# ---------------------------------------------------------------------------------------------------------------- writing it

class _Writing:
    """Runs the program under JAX's tracing, loops as loops."""

    def __init__(self, flat, nodes, owner, items, outs):
        self.flat, self.nodes, self.outs = flat, nodes, outs
        self.owner, self.items = owner, items
        self.ends, self.results = {}, {}  # loop -> what it carried in the end, and what it stored

    def run(self, env):
        self.env = {**env, **self.flat.arrays}
        for item in self.items:
            if isinstance(item, _Loop):
                self.loop(item)
            else:
                self.env.update(zip(item.outs, _bind(item.eqn, [self.value(n) for n in item.ins])))
        return [self.value(n) for n in self.outs]

    def value(self, n):
        """An array; what a loop stored for one turn is taken from there."""
        if n in self.flat.literals:
            return self.flat.literals[n].val
        if n not in self.env:
            loop = self.owner[n]
            turn, where = loop.place[n]
            if where in loop.last:
                index, first = loop.last[where]
                self.env[n] = self.ends[loop][index][turn - first]
            else:
                self.env[n] = jax.lax.index_in_dim(self.results[loop][loop.stored[where]], turn, keepdims=False)
        return self.env[n]

    def loop(self, loop):
        fixed = {n: self.value(n) for n in loop.fixed()}
        starts = [self.starts(loop, *register) for register in loop.registers]
        stacks = [self.stack(numbers) for numbers in loop.stacks]
        offsets = [jnp.asarray(rows, jnp.int32) for rows in loop.shifts]
        kinds = self.nodes[loop.start:loop.start + loop.period]

        def turn(held, own):
            here = _Turn(fixed, held, *own)
            for node, (sources, shifted) in zip(kinds, loop.operands):
                here.made.append(here.run(node.eqn, [here.operand(source) for source in sources], shifted))
            held = [[*chain[1:], here.made[q][r]] for chain, (q, r, _, _) in zip(held, loop.registers)]
            return held, [here.made[q][r] for q, r in loop.stored]

        self.ends[loop], self.results[loop] = jax.lax.scan(turn, starts, (stacks, offsets), length=loop.count)

    def starts(self, loop, q, r, distance, numbers):
        """What a carried chain begins with: zeros where only its end is read."""
        if numbers is None:
            a = loop.type(self.nodes, q, r)
            return [jnp.zeros(a.shape, a.dtype)]
        return [self.value(n) for n in numbers]

    def stack(self, numbers):
        """Arrays one after the other; a run of what one loop stored is taken as it lies, or turned round."""
        parts = []
        for run in _runs([self.lying(n) for n in numbers], numbers):
            loop, k, at, step, length, first = run
            if loop is None or length == 1:
                literal = self.flat.literals.get(first)
                one = self.value(first) if literal is None else np.asarray(literal.val, literal.aval.dtype)
                parts.append(jax.lax.expand_dims(one, (0,)))
            else:
                low = at if step > 0 else at - length + 1
                part = jax.lax.slice_in_dim(self.results[loop][k], low, low + length)
                parts.append(part if step > 0 else jax.lax.rev(part, (0,)))
        return parts[0] if len(parts) == 1 else jax.lax.concatenate(parts, 0)

    def lying(self, n):
        """(loop, index of what it stored, turn) of a number that a loop stores; else None."""
        loop = self.owner.get(n)
        if loop is None:
            return None
        turn, where = loop.place[n]
        return (loop, loop.stored[where], turn) if where in loop.stored else None


class _Turn:
    """What one turn of a loop reads and makes."""

    def __init__(self, fixed, held, stacked, offsets):
        self.fixed, self.held, self.stacked, self.offsets = fixed, held, stacked, offsets
        self.made, self.light = [], {}

    def operand(self, source):
        kind, a, *b = source
        if kind == "same":
            return self.made[a][b[0]]
        if kind == "carried":
            return self.held[a][0]
        if kind == "light":
            if source not in self.light:
                self.light[source] = self.run(a.eqn, [self.operand(b[0])], b[1])[0]
            return self.light[source]
        return self.fixed[a] if kind == "fixed" else self.stacked[a]

    def run(self, eqn, reads, shifted):
        return _bind(eqn, reads) if shifted is None else [_moved(eqn, reads, self.offsets[shifted])]


def _runs(lying, numbers):
    """Neighbours that lie one after the other: [loop, index, first turn, step, length, first number]."""
    out = []
    for where, n in zip(lying, numbers):
        if where is None:
            out.append([None, 0, 0, 0, 1, n])
            continue
        last = out[-1] if out else None
        if last is not None and (last[0], last[1]) == where[:2]:
            step = where[2] - last[2] if last[4] == 1 else last[3]
            if abs(step) == 1 and where[2] == last[2] + step * last[4]:
                last[3], last[4] = step, last[4] + 1
                continue
        out.append([*where, 1, 1, n])
    return out


def _bind(eqn, reads):
    """The results of one operation, run as a program of its own: JAX's own way of running an equation is not public."""
    ins, outs = [Var(v.aval) for v in eqn.invars], [Var(v.aval) for v in eqn.outvars]
    alone = _nothing().replace(invars=ins, outvars=outs, eqns=[eqn.replace(invars=ins, outvars=outs)])
    return jaxpr_as_fun(ClosedJaxpr(alone, ()))(*reads)


@functools.cache
def _nothing():
    return jax.make_jaxpr(lambda: ())().jaxpr


def _moved(eqn, reads, offsets):
    """A slice or a padding whose place is known at run time."""
    starts = [offsets[d] for d in range(offsets.shape[0])]
    shape = eqn.outvars[0].aval.shape
    if eqn.primitive.name == "slice":
        return jax.lax.dynamic_slice(reads[0], starts, shape)
    return jax.lax.dynamic_update_slice(jax.lax.broadcast(reads[1], shape), reads[0], starts)


__all__ = ["rolled"]
