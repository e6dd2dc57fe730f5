"""Programs of operators at sizes that were not seen before (layer 2).

JAX traces an operator for each shape: 1 to 8 ms with its gradient, which is most of a step whose sizes change from turn to turn, as those of sequences and
graphs do.  A call that has come with FEW sizes is traced once more with symbolic ones (those of jax.export); for further sizes its program is written from
that one, equation by equation, in a tenth of the time.  Gradients likewise, to any order.

A `Family` is a call but for its sizes: those of its arrays' dims and the numbers among its settings.  Some of its sizes stay as they are; how the others hang
together is guessed from two examples (`sizes.Relation`) and then required.  What makes that exact:
- A symbolic program is used only if what is written from it is, to the letter, what JAX traced for both examples.
- JAX decides an order of symbolic sizes where that holds for all sizes of at least 2, and refuses otherwise: the call is traced for each shape then.  That two
  sizes are equal it denies where it cannot know; every such answer is noted (`sizes.noting`) and asked again of the sizes for which a program is written.
- Sizes below 2 are structure, and no two symbols stand for the same size.
"""

from __future__ import annotations

import copy
import functools
import gc
import operator
import threading

import jax
from jax.extend.core import jaxpr_as_fun

from .._core import config, precision
from .opened import OPEN, TANGENTS
from .sizes import Relation, can, noting
from .tracing import abstract, traced
from .written import Type, writer_of

FEW = 4  # sizes of a call before symbolic ones are tried
TRIES = 8  # of a family to find symbolic programs: the first half with examples that differ least, for what changes in a loop, the others with those that differ most
EXAMPLES = 12  # that are kept meanwhile
_DIMS = frozenset(("dim", "dims", "dim0", "dim1", "dim2", "axis", "axis0", "axis1", "start_dim", "end_dim", "reduction", "groups", "itemsize", "level"))
_LOCK = threading.Lock()


class Family:
    """What is known of a call at all sizes: the first examples [(sizes, Form)], and its symbolic forms."""

    __slots__ = ("examples", "found", "tries")

    def __init__(self):
        self.examples, self.found, self.tries = [], [], 0


class Symbolic:
    """A Form at symbolic sizes: its program there, `more` that was learnt with it (whether the result is a tuple; what a pullback keeps), what writes it with
    numbers (None where that cannot be), what runs it on the host (see `_core/host_sizes.py`), and its gradients: {key: a Symbolic, or the first example, or None
    where there is none}."""

    __slots__ = ("closed", "host", "like", "more", "pulls", "relation", "writer")

    def __init__(self, relation, like, closed, more, points):
        self.relation, self.like, self.closed, self.more, self.pulls, self.host = relation, like, closed, more, {}, None
        self.writer = writer_of(relation, closed, points)

    def form(self):
        """A Form that differs from the example by its sizes."""
        out = copy.copy(self.like)
        out.avals, out.out_avals = (
            [Type(tuple(s.shape), a.dtype, a.device) for s, a in zip(types, own, strict=True)]
            for types, own in ((self.closed.in_avals, out.avals), (self.closed.out_avals, out.out_avals)))
        out.call = jaxpr_as_fun(self.closed)
        return out


class Program:
    """The program of a Form, in `_closed`: None where it is written, until somebody asks for it."""

    def __get__(self, form, owner=None):
        if form._closed is None:
            found, values = form.at
            form._closed = found.writer(values)
        return form._closed

    def __set__(self, form, closed):
        form._closed = closed


def outline(form):
    """The program of a Form, perhaps with symbols for its sizes, for those who ask how its equations hang together; None where it has none."""
    closed, at = getattr(form, "_closed", None), getattr(form, "at", None)
    return closed if closed is not None or at is None else at[0].closed


def is_written(form):
    """Whether the program of a Form is written for its sizes."""
    return getattr(form.call, "func", None) in (_call, _call_whole)


def let_go(form):
    """Let go of a program that was written: some hundred objects for each size, which the collector of garbage would look at again and again."""
    if is_written(form):
        form._closed = None


# Of operators

def program(form):
    """(the program of a plain Form, None where it is written when it is asked for; the types of its results; what calls it; whether its result is a tuple)."""
    closed, is_tuple = _program(form)
    outs = form.at[0].writer.results(form.at[1]) if closed is None else closed.out_avals
    return closed, outs, _calling(form, closed, lambda: traced(form.apply, *map(abstract, form.avals))), is_tuple


def _calling(form, closed, trace):
    """What calls a program of a Form, which is traced by then if it was written without what differentiates it."""
    if form.at is None or form.at[0].writer is None:
        return jaxpr_as_fun(closed)
    return functools.partial(_call_whole, form, trace) if form.at[0].writer.later else functools.partial(_call, *form.at)


def _call(found, values, *flat):
    return jaxpr_as_fun(found.writer(values))(*flat)


def _call_whole(form, trace, *flat):
    return jaxpr_as_fun(whole(form))(*flat)


def whole(form):
    """The program of a Form with all that is needed to differentiate it."""
    call = form.call
    if getattr(call, "func", None) is _call_whole:
        before, OPEN[0], TANGENTS[0] = (OPEN[0], TANGENTS[0]), False, 0  # as when a Form is made
        try:
            form.closed = call.args[1]()
        finally:
            OPEN[0], TANGENTS[0] = before
        form.call = jaxpr_as_fun(form.closed)
    return form.closed


def _program(form):
    family, sizes = _family_of(form)
    form.at = None if family is None else _known(family, sizes)
    written = None if form.at is None else _written(*form.at)
    if written is not None:
        return written
    if form.at is not None and form.at[0].writer is not None:
        form.at = None
    closed, out = traced(form.apply, *map(abstract, form.avals), return_shape=True)
    made = closed, isinstance(out, (tuple, list))
    if family is not None and form.at is None:
        _learn(family, form, sizes, *made)
    return made


def _family_of(form):
    spec, op = form.spec, form.op
    families = getattr(op, "families", None)
    if families is None or OPEN[0] or TANGENTS[0] or op.host:
        return None, ()
    sizes, key = [n for a in form.avals for n in a.shape], [spec.pattern, spec.into, config.default_dtype(), precision.meaning()]
    if 0 in sizes or not sizes:
        return None, ()
    key += [(a.dtype, a.device, len(a.shape)) for a in form.avals]
    for name, value in spec.statics.items():
        if _is_size(name, value):
            sizes += (value,) if type(value) is int else value
            key.append((name, None if type(value) is int else len(value)))
        else:
            key.append((name, type(value), value))
    key = tuple(key)
    family = families.get(key)
    if family is None:
        family = families[key] = Family()
    return family, tuple(sizes)


def _written(found, values):
    """(None, what was learnt with the program) of a symbolic form whose program is written at these values; None where it is traced."""
    return (None, found.more) if found.writer is not None and found.writer.fits(values) else None


def _known(family, sizes):
    """(the symbolic form that these sizes are of, its symbols' values), or None."""
    for found in family.found:
        values = found.relation.values(sizes)
        if values is not None:
            return found, values
    return None


def _learn(family, form, sizes, closed, is_tuple):
    """Note an example, and try symbolic sizes when there are enough."""
    if family.tries == TRIES:
        return
    examples = family.examples
    if len(examples) < FEW - 1:
        examples.append((sizes, form))
        return
    pick = sorted(examples, key=lambda e: sum(map(operator.ne, e[0], sizes)), reverse=family.tries >= TRIES // 2)
    other, example, relation = next(((other, e, r) for other, e in pick if (r := Relation.of(other, sizes)) is not None), (None, None, None))
    if relation is not None:
        family.tries += 1
        found = _attempt(_symbolic, form, closed, is_tuple, relation, relation.values(sizes), relation.values(other), example)
        if found is not None:
            family.found.append(found)
            form.at = found, found.relation.values(sizes)
            if example.at is None or example.at[0].writer is None:  # else its program may have been let go, and comes from what it was written from
                example.at = found, found.relation.values(other)
    if family.tries == TRIES:
        examples.clear()
    else:
        examples[:] = [*examples[1 - EXAMPLES:], (sizes, form)]


def _attempt(f, *args):
    """f(*args); None where that meets what symbolic sizes cannot do, of which there is no end: a body may do anything with an int."""
    if not can() or not _LOCK.acquire(blocking=False):
        return None
    collects = gc.isenabled()
    gc.disable()
    try:
        return f(*args)
    except Exception:
        return None
    finally:
        _LOCK.release()
        gc.collect(0)  # JAX keeps errors that it catches in circles with their frames, which hold what is alive in those that called
        if collects:
            gc.enable()


def _symbolic(form, closed, is_tuple, relation, values, others, example):
    try:
        own = _traced_at(form, relation)
    except jax.errors.InconclusiveDimensionOperation:  # something is small beside these sizes
        relation = relation.of_larger(min(*values, *others))
        own = _traced_at(form, relation)
    found = Symbolic(relation, form, own, is_tuple, [(values, closed), (others, example.closed)])
    return found if relation.holds(values) and relation.holds(others) else None


def _traced_at(form, relation):
    symbolic = _at(form, relation.symbolic())
    with noting(relation):
        return traced(symbolic.apply, *map(abstract, symbolic.avals))


def _at(form, sizes):
    """A Form with other sizes in its types and settings, to be traced."""
    left, out = iter(sizes), copy.copy(form)
    out.avals = [Type(tuple(next(left) for _ in a.shape), a.dtype, a.device) for a in form.avals]
    out.spec = copy.copy(form.spec)
    out.spec.statics = {
        k: v if not _is_size(k, v) else next(left) if type(v) is int else tuple(next(left) for _ in v) for k, v in form.spec.statics.items()}
    return out


def _is_size(name, value):
    """Whether a setting is a size or several, going by its name and type: some are not, which costs an attempt."""
    return name not in _DIMS and (type(value) is int or (type(value) is tuple and len(value) > 0 and all(type(n) is int for n in value)))


# Of gradients

def gradients(pull, key, trace):
    """(the program of a pullback, None where it is written when it is asked for; what calls it; what it keeps).

    trace(form) -> (program, what it keeps), for the Form whose gradients these are, or it at symbolic sizes; key: what `trace` depends on beside that.
    """
    closed, keep = _gradients(pull, key, trace)
    return closed, _calling(pull, closed, lambda: trace(pull.inner)[0]), keep


def _gradients(pull, key, trace):
    inner, pull.at = getattr(pull.inner, "at", None), None
    if inner is None or OPEN[0] or TANGENTS[0]:
        return trace(pull.inner)
    found, values = inner
    known = found.pulls.get(key, ())
    if isinstance(known, Symbolic) and found.relation.holds(values):
        pull.at = known, values
        written = _written(*pull.at)
        if written is not None:
            return written
        pull.at = None
    closed, keep = trace(pull.inner)
    if known == ():
        found.pulls[key] = values, closed, keep
    elif type(known) is tuple and known[0] != values:
        new = found.pulls[key] = _attempt(_symbolic_pull, pull, found, trace, [(values, closed, keep), known])
        pull.at = None if new is None else (new, values)
    return closed, keep


def _symbolic_pull(pull, found, trace, points):
    with noting(found.relation):
        own, keep = trace(found.form())
    new = Symbolic(found.relation, pull, own, keep, [(values, closed) for values, closed, _ in points])
    return new if new.writer is not None and all(keep == other for _, _, other in points) else None
