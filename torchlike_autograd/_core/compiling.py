"""Compiling (layer 3): a program as a whole, the variants of a long training step in sections.

A training step is one program.  XLA takes seconds for one of hundreds of operators, and a script may have several variants of its step: the first of a loop,
one whose loss is looked at, one whose gradients are still held when it ends, those of another optimizer, of a line search.  They differ in what comes before
and after the pass that all of them have.  The second long program with a pass that was compiled before, and all that follow, are cut where these meet:

    before: what ends with an update of a leaf (a line search moves the parameters, an inner loop), or needs no gradient (data made ready)
    pass:   from the first call that is differentiated to the backward pass
    update: to the last update of a leaf
    after:  the rest

and each section is compiled once for all programs that have it: it is found by the text that XLA gets, in which numbers, arguments and results are counted
in the order of their use.  What has no variants, or is shorter, stays whole: a section costs tens of microseconds in every run, and what is not fused.
"""

from __future__ import annotations

import hashlib
import weakref

import jax
import numpy as np

from .._ops.columns import by_columns
from .._ops.conv_windows import suited
from .._ops.exact import exact
from .._ops.rewriting import holds
from .._ops.rows import by_rows
from .._ops.running import looped
from .._ops.spec import Pullback
from . import donation
from .loops import merged
from .plan import StageForm, apply_form
from .program import apply_op, guarded, reads_of, results, run_step
from .record import GRAD, LEAF
from .results import completed, only, sources_of
from .turns import rolled

SECTIONED = 200  # operators of a program that may be compiled in sections
FEW = 8  # calls before the pass that are no section of their own
# LLVM's first level of optimization writes code as fast as its third here, and the same numbers, in two thirds of the time.
OPTIONS = {"xla_allow_excess_precision": False, "xla_backend_optimization_level": 1}
# XLA's newer code for fusions takes about as long again to compile, which pays where there are exponentials, not beside convolutions (MobileNet: 19 s of
# processor time, 9 without; a U-Net 3.3 and 1.3; the steps as fast or faster.  A GPT's step would be a seventh slower).
CONVOLVING = {**OPTIONS, "xla_cpu_use_fusion_emitters": False}
_texts = weakref.WeakValueDictionary()  # hash of what XLA compiles -> what it was compiled for, with its `compiled`
_passes: set = set()  # hashes of the passes of long programs that were compiled


def forget():
    """Forget what was compiled."""
    _texts.clear()
    _passes.clear()


def build(holder, body, words, floats, arrays, heirs):
    """Compile f(floats, ints, *arrays) for a holder, which gets `compiled`, `sources` and `donates`; whether XLA had to, and the results.

    words: the numbers, of which so many are `floats`; heirs: as `donation.heirs` says.
    """

    def from_words(words, *arrays):
        if words is None:
            return body(None, None, *arrays)
        return body(_joined(words[:floats], np.float64), _joined(words[floats:], np.int64), *arrays)

    arguments = (words, *arrays)
    traced = jax.jit(from_words, keep_unused=True).trace(*arguments)  # so that its text says what it takes
    options = CONVOLVING if holds(traced.jaxpr, lambda eqn: eqn.primitive.name == "conv_general_dilated") else OPTIONS
    closed = by_columns(looped(exact(rolled(merged(suited(by_rows(traced.jaxpr)))))))
    holder.sources, chosen = sources_of(closed)
    if heirs:
        known = holder.sources or range(len(closed.jaxpr.outvars))
        holder.donates, holder.sources, chosen = donation.arranged(heirs, known, chosen if holder.sources else tuple(known), words is not None)
    if holder.sources is not None or closed is not traced.jaxpr:
        given, wanted = tuple([k + 1 for k in holder.donates]), chosen if holder.sources is not None else range(len(closed.jaxpr.outvars))
        traced = jax.jit(only(closed, wanted), donate_argnums=given, keep_unused=True).trace(*arguments)
    lowered = traced.lower()
    holder.compiled = _shared(holder, f"{words is None} {lowered.as_text()}")
    if holder.compiled is not None:
        return False, called(holder, arguments)
    holder.compiled = compiled = lowered.compile(options)
    out = called(holder, arguments)
    holder.compiled = getattr(compiled, "_call", None) or compiled  # what a call of it goes to, where JAX has that
    return True, out


def called(holder, arguments):
    """All results of what was compiled."""
    out = holder.compiled(*arguments)
    if holder.sources is None:
        return out
    return completed(holder.sources, out, arguments if arguments[0] is not None else arguments[1:])


def _shared(holder, text):
    """What another holder was compiled to that differs in nothing that runs: the first step of a training loop often, whose record begins with other things.

    Of a function that the program calls back the text does not say which.
    """
    if "callback" in text:
        return None
    key = hashlib.sha256(text.encode()).digest()
    return getattr(_texts.setdefault(key, holder), "compiled", None)


def _joined(words, dtype):
    return jax.lax.bitcast_convert_type(words, dtype)


# Sections

def cut(steps):
    """The steps of a training step as sections, in order; one where there is no backward pass or nothing to cut."""
    passes = [i for i, s in enumerate(steps) if is_pass(s)]
    if not passes:
        return [steps]
    end = passes[-1] + 1
    start = next((i for i, s in enumerate(steps) if _is_differentiated(s)), 0)
    start = max([start, *(i + 1 for i, s in enumerate(steps[:end]) if _updates(s))])
    if start >= passes[0] or start < FEW:  # an update between passes: what comes before belongs to them
        start = 0
    last = max([end, *(i + 1 for i, s in enumerate(steps) if _updates(s))])
    return [part for part in (steps[:start], steps[start:end], steps[end:last], steps[last:]) if part]


def is_pass(step):
    """Whether a step is a backward pass, or a stage of one whose record has ended."""
    return step.kind == "backward" or isinstance(step.form, (StageForm, Pullback))


def _is_differentiated(step):
    return step.kind == "op" and step.mode == GRAD and True in step.needs


def _updates(step):
    return step.kind == "op" and step.mode == LEAF


class Section:
    """Some steps of a program.

    arguments: slots read from before; outs: those that are read later; numbers: the floats among the numbers used, and the ints; rows: where these are among
    the words of the program; sent: the words last seen on the device and those of this section.
    """

    __slots__ = ("__weakref__", "arguments", "compiled", "donates", "guarded", "numbers", "outs", "rows", "sent", "sources", "steps")

    def __init__(self, steps, wanted, floats):
        self.steps, self.guarded = steps, guarded(steps)
        made = {s.first + i: None for s in steps for i in range(len(s.out_avals))}
        roots = {c for s in steps if s.kind == "backward" for c in s.form.cots}  # results often: the loss
        self.arguments = tuple([r for r in dict.fromkeys(r for s in steps for r in reads_of(s)) if r not in made])
        self.outs = tuple([m for m in made if m in wanted or m in roots])
        self.numbers = _numbers({t for s in steps for t in _tokens(s)})
        self.rows = np.array([*self.numbers[0], *(floats + k for k in self.numbers[1])], np.intp)
        self.compiled = self.sources = self.sent = None
        self.donates = ()

    def key(self):
        """A hash of its structure, nearly always its own, in which slots and numbers are counted in the order of their use."""
        own = {}

        def at(x):
            return own.setdefault(x, len(own))

        parts = []
        for step in self.steps:
            ins = tuple([(t[0], at(t)) if type(t) is tuple else at(t) for t in step.ins])
            form = len(step.form.visits) if step.kind == "backward" else step.form
            outs = [at(s) for s in step.form.outs] if step.kind == "backward" else ()
            parts.append((form, ins, step.mode, *outs))
            own.update((step.first + i, len(own) + i) for i in range(len(step.out_avals)))
        return hash(tuple(parts))

    def words(self, words):
        """The numbers of this section among those of the program; once where they are the same array on the device."""
        if not len(self.rows):
            return None
        if type(words) is np.ndarray:
            return words[self.rows]
        if self.sent is None or self.sent[0] is not words:
            self.sent = words, jax.device_put(np.asarray(words)[self.rows])
        return self.sent[1]

    def passed(self):
        """The arguments that are results too."""
        first = -2 if len(self.rows) else -1
        return [self.arguments[first - k] for k in self.sources or () if type(k) is int and k < 0]

    def body(self, floats, ints, *arrays):
        """What is compiled."""
        env = dict(zip(self.arguments, arrays))
        floats, ints = ({k: _entry(v, i) for i, k in enumerate(known)} for known, v in zip(self.numbers, (floats, ints)))
        for step in self.steps:
            run_step(step, env, floats, ints, apply_op, apply_form)
        return results(self, env, floats, ints)


def _entry(vector, k):
    return jax.lax.squeeze(jax.lax.slice_in_dim(vector, k, k + 1), (0,))


def _numbers(tokens):
    """(places of the floats, of the ints) that tokens name; a complex number is two floats."""
    floats = {k for kind, k in tokens if kind in "fc"} | {k + 1 for kind, k in tokens if kind == "c"}
    return sorted(floats), sorted({k for kind, k in tokens if kind not in "fc"})


def _tokens(step):
    own = [t for t in step.ins if type(t) is tuple]
    if step.kind != "backward":
        return own
    return own + [t for v in step.form.visits for t in (v.step.ins[i] for i in v.pull.keep) if type(t) is tuple]


class Sections:
    """What stands in the place of a compiled program: its sections, one after the other; f(words, *arrays) -> list of results."""

    def __init__(self, program, floats):
        wanted, sections = set(program.outs), []
        for steps in reversed(cut(program.steps)):
            sections.append(Section(steps, wanted, floats))
            wanted.update(sections[-1].arguments)
        self.sections, self.arguments, self.outs = sections[::-1], program.arguments, program.outs

    @classmethod
    def of(cls, program, floats):
        """The sections of a program; None for one that is compiled whole."""
        if program.prefix.weight <= SECTIONED:
            return None
        made = cls(program, floats)
        if len(made.sections) == 1 or sum(bool(s.guarded) for s in made.sections) > 1 or not _came_before(made):
            return None
        return made

    def build(self, words, arrays, heirs):
        """Compile what is not; (operators that XLA compiled, places of arguments that give their memory away, results)."""
        env, codes, weight = dict(zip(self.arguments, arrays)), [], 0
        lent, given, passed = {self.arguments[k]: self.outs[place] for k, place in heirs.items()}, [], set()
        for i, s in enumerate(self.sections):
            held = passed.union(*(t.arguments for t in self.sections[i + 1:]))
            own = {k: s.outs.index(lent[r]) for k, r in enumerate(s.arguments) if r in lent and r not in held and lent[r] in s.outs}
            new, out = build(s, s.body, s.words(words), len(s.numbers[0]), [env[r] for r in s.arguments], own)
            weight += new and sum(len(getattr(step.form, "visits", "1")) for step in s.steps)
            passed.update(s.passed())
            given += [self.arguments.index(s.arguments[k]) for k in s.donates]
            _keep(s, out, env, codes)
        return weight, tuple(sorted(given)), [env[s] for s in self.outs] + codes

    def __call__(self, words, *arrays):
        env, codes = dict(zip(self.arguments, arrays)), []
        for s in self.sections:
            _keep(s, called(s, (s.words(words), *[env[r] for r in s.arguments])), env, codes)
        return [env[s] for s in self.outs] + codes


def _came_before(sections):
    """Whether the pass of a program was compiled as part of another one; from now on it was."""
    keys = [s.key() for s in sections.sections if any(map(is_pass, s.steps))]
    known = all(k in _passes for k in keys)
    if len(_passes) > 4096:
        _passes.clear()
    _passes.update(keys)
    return known


def _keep(section, out, env, codes):
    env.update(zip(section.outs, out))
    if section.guarded:
        codes.append(out[-1])


__all__ = ["OPTIONS", "Sections", "build", "called", "forget", "is_pass"]
