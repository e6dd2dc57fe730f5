"""The record: what was called, in order, not yet run (layer 3).

Words used everywhere below:

* `Value`: one immutable array, computed or pending.
* `Tape`: the record of one thread between two flushes.  Computed values have slots 0, 1, 2, ...; values that come from outside have the
  slots -1, -2, ... in order of first use.
* a tape ends (is flushed) when somebody looks at a value, when it holds too much work, and when, after a backward pass, the next step begins: a call with
  grad mode on that does not go on with the gradients alone.  One training step is one program, forward, backward and the update together.
* `Prefix`: the structure of a tape so far, a node of a trie.  Recording a call follows one edge, labelled by (what is called, slots, mode): the
  same dictionary lookup that finds the types of the results also extends the structural key, so the key of
  a whole program is one object and costs nothing to compute.  Numbers and start indices are not part of a label: their values are
  collected in `floats` and `ints`, the program's runtime arguments.
* `Step`: what one edge adds to its prefix.

A slot needs grad or not by structure (`mode` is part of the label): NOGRAD, GRAD, or LEAF (the result is a leaf that requires grad, as after an
optimizer's in-place update).  After the flush a tape that some live value still needs for a
backward pass stays as the graph: structure (prefix), the arrays kept for it (`kept`), the outside values (`inputs`).

    x, w leaves        tape slots:  -1 x   -2 w   0 = x*w   1 = sum(0)
    trie edges:        (in, x) -> (in, w) -> (mul, -1, -2, GRAD) -> (sum, 0, GRAD)
"""

from __future__ import annotations

import threading

from .._ops.held import check as check_held
from .._ops.held import reals as with_reals
from .._ops.spec import NUMBERS, HeldSpec, SayingSpec, spec_of
from . import config, errors
from .dtypes import FLOAT
from .ends import LIMIT, MORE, NOTHING, begins_a_step, is_full, setup_after
from .saying import warn
from .speed import native
from .values import GRAD, INFERENCE, INPLACE, LEAF, NOGRAD, Value, data, over_its_array  # noqa: F401 (what a record holds is imported from here)

LOCK = threading.RLock()  # one lock for all records: tapes of other threads can be read under it


class Step:
    """One recorded call: structure only.

    kind: "op" | "leaf" | "detach" | "function" | "backward"; wanted: flat inputs of an "op" through which gradient flows; packed: what torch saves for it
    went to packing hooks (saved.py).
    """

    __slots__ = ("first", "form", "ins", "kind", "mode", "needs", "out_avals", "packed", "wanted")

    def __init__(self, kind, form, ins, mode, out_avals, needs, first, wanted=()):
        self.packed = False
        self.kind, self.form, self.ins, self.mode = kind, form, ins, mode
        self.out_avals, self.needs, self.first, self.wanted = out_avals, needs, first, wanted

    def __repr__(self):
        outs = ", ".join(f"%{self.first + i}: {a}{' grad' if n else ''}" for i, (a, n) in enumerate(zip(self.out_avals, self.needs)))
        return f"{outs} = {self.kind} {self.form}{self.ins}"


class Prefix:
    """A node of the trie; `step` leads here from `parent`.

    size, inputs, numbers: counts of computed slots, outside slots and (floats, ints); weight: operators that the program would hold; turned: whether a
    backward pass is recorded; guarded: whether a call is that checks data; setup: see `setup_after`; watched: whether each call is looked at (watch.py), so
    that none is remembered; frees: first slots of the nodes that backward passes have released (retain_graph is structure); next: edges; memo, programs:
    dictionaries made when first used, as most nodes need none; notes: whether there is a memo.
    """

    __slots__ = ("aval", "first", "frees", "guarded", "inputs", "memo", "needs", "next", "notes", "numbers", "parent", "programs", "setup", "size", "step",
                 "turned", "used", "watched", "weight")

    def __init__(self, parent, step, size, inputs, numbers, weight=0):
        self.parent, self.step, self.weight = parent, step, weight
        self.size, self.inputs, self.numbers = size, inputs, numbers
        self.next, self.notes = {}, False
        self.used = 0
        if parent is None:
            self.turned, self.watched, self.frees, self.guarded, self.setup = False, False, frozenset(), False, NOTHING
            return
        self.turned, self.watched, self.frees = parent.turned, parent.watched, parent.frees
        self.setup, self.guarded = parent.setup, parent.guarded
        if type(step) is Step:
            if step.kind == "backward":
                self.turned = True
            elif step.kind == "op" and step.form.op.guard is not None:
                self.guarded = True
            if self.setup != MORE:
                self.setup = setup_after(self.setup, step)
            if len(step.out_avals) == 1:
                self.aval, self.needs, self.first = step.out_avals[0], step.needs[0], step.first

    def __getattr__(self, name):
        if name not in ("memo", "programs"):
            raise AttributeError(name)
        setattr(self, name, {})
        self.notes |= name == "memo"
        return getattr(self, name)

    def above(self, name):
        """(what the nearest node from here up remembers by a name, or None; the steps that lead from there to here)."""
        chain, node = [], self
        while node.parent is not None:
            if node.notes and (found := node.memo.get(name)) is not None:
                return found, chain[::-1]
            chain.append(node.step)
            node = node.parent
        return None, chain[::-1]

    def steps(self):
        """All steps from the root, and the avals/needs of the outside slots (cached)."""
        out = self.memo.get("steps")
        if out is None:
            before, chain = self.above("steps")
            steps, outside = before or ([], [])
            out = self.memo["steps"] = (steps + [s for s in chain if type(s) is Step], outside + [s for s in chain if type(s) is not Step])
        return out


ROOT = Prefix(None, None, 0, 0, (0, 0))
ROOT_NODES = [0]  # nodes made since the trie was last cleared


def new_prefix(parent, step, n_out, n_in, floats, ints, weight=0):
    """Extend the trie by one edge."""
    ROOT_NODES[0] += 1
    numbers = parent.numbers
    if floats or ints:
        numbers = (numbers[0] + floats, numbers[1] + ints)
    return Prefix(parent, step, parent.size + n_out, parent.inputs + n_in, numbers, parent.weight + weight)


class Outside:
    """The step of a value entering the tape."""

    __slots__ = ("aval", "needs", "out_avals")

    def __init__(self, aval, needs):
        self.aval, self.needs = aval, needs
        self.out_avals = ()


serials = [0]  # tapes made so far


class Tape:
    """One thread's record since its last flush, and afterwards the graph that it left behind."""

    __slots__ = ("__weakref__", "before", "contexts", "edges", "extra", "floats", "freed", "inputs", "ints", "kept",
                 "leaves", "lines", "open", "owner", "prefix", "program", "seen", "serial", "slots", "values")

    def __init__(self, owner):
        serials[0] += 1
        self.owner = owner
        self.serial = serials[0]
        last = getattr(owner, "tape", None)
        self.before = 0 if last is None else last.before + last.prefix.size  # no fewer than the nodes that the thread made before
        self.prefix = owner.root
        self.values = []
        self.inputs = []
        self.slots = {}
        self.floats = []
        self.ints = []
        self.leaves = {}  # slot of a LEAF result -> its accumulation point
        self.seen = {}  # slot -> (counter, version), for the version check
        self.contexts = {}  # first slot of a custom Function's outputs -> its ctx
        self.extra = {}  # slot -> hooks and other observations, see nodes.py
        self.lines = {}  # slot -> place in the user's code, kept only where asked for
        self.freed = set()  # slots of nodes whose saved values were released
        self.kept = {}  # after the flush: slot -> Value (plain data) for backward
        self.program = None
        self.edges = ()  # after the flush: for each outside slot its leaf, its (tape, slot), or None
        self.open = True

    def enter(self, v) -> int:
        """The slot of a value that was not made on this tape."""
        i = self.slots.get(v)
        if i is not None:
            return i
        if v.array is None:
            v.tape.resolve(v)
        label = (v.aval, v.needs)
        prefix = self.prefix
        nxt = prefix.next.get(label)
        if nxt is None:
            nxt = prefix.next[label] = new_prefix(prefix, Outside(v.aval, v.needs), 0, 1, 0, 0)
        i = self.slots[v] = ~len(self.inputs)
        self.prefix = nxt
        self.inputs.append(v)  # last, as an interrupt comes after a call
        return i

    def resolve(self, v):
        """Run this tape because someone needs `v` now."""
        flush(self)
        if v.array is None and v.slot < len(self.values):
            read_ahead(self, v)
        if v.array is None:
            raise RuntimeError(f"internal error: the value %{v.slot} of type {v.aval} was dropped before it was read")


def slot_table(prefix):
    """[(step, needs, aval)] for the computed slots of a prefix."""
    out = prefix.memo.get("slots")
    if out is None:
        before, chain = prefix.above("slots")
        out = [*before] if before else []
        for s in chain:
            if type(s) is not Step:
                continue
            if len(s.needs) == 1:
                out.append((s, s.needs[0], s.out_avals[0]))
            else:
                out += [(s, n, a) for a, n in zip(s.out_avals, s.needs)]
        prefix.memo["slots"] = out
    return out


threads = [0]  # states made so far: one thread alone needs no lock


class ThreadState:
    """What belongs to one thread: the open tape and the modes."""

    __slots__ = ("anomaly", "calls", "extra", "grad", "inference", "root", "saved_hooks", "tape")

    def __init__(self):
        threads[0] += 1
        self.root = ROOT  # where its tapes begin
        self.tape = Tape(self)
        self.grad = True
        self.inference = False
        self.anomaly = None
        self.saved_hooks = ()  # never changed: a backward pass remembers it by the object
        self.calls = 0
        self.extra = {}


begun: list = []  # called with the state of each further thread: what is set for the whole process


class _Thread(threading.local):
    def __init__(self):
        self.state = ThreadState()
        for f in begun:
            f(self.state)


thread = _Thread()

# Set by execute.py: flush(tape) runs what is pending on it; read_ahead(tape, v) computes a value of a tape that is being run further down the stack.
flush = read_ahead = None


def on_flush(f, ahead):
    """Install the executor."""
    global flush, read_ahead
    flush, read_ahead = f, ahead


# Set by watch.py: record_watched(state, spec, ins, mode) records a call on a watched tape.
record_watched = None


def on_watched(f):
    """Install what watches calls."""
    global record_watched
    record_watched = f


def record_op(spec, ins, mode=None):
    """Record `spec` on `ins` (Values and numbers, flat); returns the list of result Values.

    mode: NOGRAD, GRAD or LEAF; by default the thread's grad mode.
    """
    th = thread.state
    if mode is None:
        mode = th.grad
    with LOCK:
        tape = th.tape
        if begins_a_step(tape, spec, ins, mode):  # asked before its inputs enter the tape, which would make it another one
            flush(tape)
            tape, ins = th.tape, [x.late() if type(x) is Value else x for x in ins]
        label, numbers = label_of(tape, spec, mode, ins)
        if numbers is not None and any(map(beyond, numbers)):
            spec, ins = _as_floats(spec, ins)
            label, numbers = label_of(tape, spec, mode, ins)
        nxt = tape.prefix.next.get(label)
        out = None if nxt is None else _append(tape, nxt, numbers)
        return _record_new(th, spec, ins, mode) if out is None else out


def label_of(tape, spec, mode, ins):
    """(label of a call, its runtime numbers or None)."""
    label, numbers = [spec, mode], None
    for x in ins:
        if type(x) is Value:
            label.append(x.slot if x.tape is tape else tape.enter(x))
        elif numbers is None:
            numbers = [x]
        else:
            numbers.append(x)
    return tuple(label), numbers


def _append(tape, nxt, numbers):
    """The results of a call, None where `follow` says False."""
    step = nxt.step
    slot = step.first
    out = []
    for a, n in zip(step.out_avals, step.needs):
        out.append(Value(a, n, tape, slot))
        slot += 1
    return out if follow(tape, nxt, out, numbers) else None


def follow(tape, nxt, made, numbers=None, start=None):
    """A tape goes along an edge, which gives it these Values; numbers are refused before anything changes.

    False, and nothing done, where it is no longer where the edge begins (start: where that is several edges before): the handler of a signal or a finalizer
    has recorded something or looked.  These come after calls, so there is none between the changes: structure and contents are of one length.
    """
    floats, ints = split_numbers(numbers) if numbers is not None else ((), ())
    if tape.prefix is not (start or nxt.parent) or not tape.open:
        return False
    tape.floats += floats
    tape.ints += ints
    tape.prefix = nxt
    tape.values += made
    return True


def _record_new(th, spec, ins, mode):
    """A call not seen after this prefix, a full tape, or immediate execution."""
    while True:
        try:
            out = _record_now(th, spec, ins, mode)
        except Captured:
            ins = [_plain(x) if type(x) is Value and x.needs & INFERENCE else x for x in ins]
            continue
        if out is not None:
            return out
        ins = [x.late() if type(x) is Value else x for x in ins]


def _plain(x):
    return record_alias(x, "detach") if x.array is None else over_its_array(x)


def _record_now(th, spec, ins, mode):
    """The results; None where a signal's handler or a finalizer came between."""
    tape = th.tape
    label, numbers = label_of(tape, spec, mode, ins)
    held = False
    if type(spec) is HeldSpec:
        again = with_reals(spec, avals_of(ins), ins)
        if again is not None:
            return record_op(*again, mode)
        held = check_held(spec, avals_of(ins), ins)
    elif type(spec) is SayingSpec:
        held = _said(spec, avals_of(ins))
    if tape.prefix.watched:
        return record_watched(th, spec, ins, mode)
    if IMMEDIATE[0]:
        key = ("immediate", label)
        nxt = tape.prefix.next.get(key)
        out = _append(tape, nxt or extend(tape, label, spec, ins, mode, key), numbers)
        if out is not None:
            flush(tape)
        return out
    if is_full(tape, spec, ins, mode):
        flush(tape)  # the edge is never added, so that this is asked again
        tape, ins = th.tape, [x.late() if type(x) is Value else x for x in ins]
        label, numbers = label_of(tape, spec, mode, ins)
        nxt = tape.prefix.next.get(label)
        if nxt is not None:
            return _append(tape, nxt, numbers)
    key = ("held", label) if held else None  # where no shortcut finds it
    nxt = (tape.prefix.next.get(key) if held else None) or extend(tape, label, spec, ins, mode, key)
    if th.tape is not tape:  # somebody ran it meanwhile: tracing an operator may call anything, by the collector
        return record_op(spec, [x.late() if type(x) is Value else x for x in ins], mode)
    return _append(tape, nxt, numbers)


def _said(spec, avals):
    """Give the warnings of a call; whether there are any, which the next call has to give again."""
    spec.form(avals)  # what torch refuses comes first
    texts = spec.texts(avals)
    for text in texts:
        warn(text)
    return bool(texts)


IMMEDIATE = [config.get("execution") == "immediate"]


def _follow(name, value):
    if name == "execution":
        IMMEDIATE[0] = value == "immediate"
        LIMIT[0] = config.get("record_limit")
        ROOT.next.clear()
    elif name == "record_limit":
        LIMIT[0] = value


config.on_change(_follow)


def record_one(spec, ins, mode=None):
    """`record_op` for an operator with one result."""
    return record_op(spec, ins, mode)[0]


LEAST, MOST_SIGNED, MOST = -(1 << 63), (1 << 63) - 1, (1 << 64) - 1  # integers that a program takes; those above MOST_SIGNED keep their bits as int64
MOST_FLOAT32, INFINITY = (2 - 2**-23) * 2.0**127, float("inf")


def beyond(x):
    """Whether a number is looked at in every call: an int that has no 64 bits with a sign, or a float that float32 cannot hold."""
    return (type(x) is int and x > MOST_SIGNED) or (type(x) is float and MOST_FLOAT32 < abs(x) < INFINITY)


def _as_floats(spec, ins):
    """A call with a number that is looked at: refused where it does not fit; an integer above MOST_SIGNED is a float beside tensors that are no integers."""
    if type(spec) is HeldSpec:
        check_held(spec, avals_of(ins), ins)
    big = [type(x) is int and MOST_SIGNED < x <= MOST for x in ins if type(x) is not Value]
    if not any(big):
        return spec, ins
    types = [x.aval.dtype for x in ins if type(x) is Value] or [d for d in (spec.statics.get("dtype"),) if d is not None]
    if all(d.category < FLOAT for d in types):
        return spec, ins
    big = iter(big)
    pattern = tuple("f" if type(t) is str and t in "fibc" and next(big) else t for t in spec.pattern)
    return spec_of(spec.op, tuple(spec.statics.items()), pattern, spec.into), [float(x) if type(x) is int and MOST_SIGNED < x <= MOST else x for x in ins]


def split_numbers(numbers):
    """(floats, ints) that runtime numbers add to the program's arguments, in order; an integer that has no 64 bits is refused."""
    floats, ints = [], []
    for x in numbers:
        t = type(x)
        if t is float:
            floats.append(x)
        elif t is int or t is bool:
            if t is int and not LEAST <= x <= MOST:
                raise errors.too_big(x)
            ints.append(x)
        else:
            floats += x.real, x.imag
    return floats, ints


def number_kind(x):
    """The pattern token of a Python number."""
    t = type(x)
    return "f" if t is float else "i" if t is int else "b" if t is bool else "c"


def avals_of(ins):
    return tuple([x.aval if type(x) is Value else NUMBERS[number_kind(x)] for x in ins])


def extend(tape, label, spec, ins, mode, key=None):
    """The slow path: a call not seen after this prefix; types are inferred, errors raised, an edge added."""
    form = spec.form(avals_of(ins))
    wanted = tuple([i for i in form.diff_in if type(ins[i]) is Value and ins[i].needs])
    needing = mode == LEAF or (mode & GRAD and wanted)
    needing = needing and (mode == LEAF or not _inference_alone(spec.op, form, ins))
    having = () if not needing else form.requiring(wanted, mode is INPLACE) if wanted else form.diff_out
    needs = tuple([i in having for i in range(len(form.out_avals))])
    if mode is INFERENCE or (spec.op.is_view and not needing):
        made = (ins[0].needs if spec.op.is_view else mode) & INFERENCE
        needs = (INFERENCE if made else False,) * len(needs)
    elif needing and mode != LEAF:
        _refuse_inference(form, wanted, ins, mode)
    prefix = tape.prefix
    slots, floats, ints = (label[2:], 0, 0) if len(label) == len(ins) + 2 else _places(prefix, label, ins)
    step = Step("op", form, slots, mode, form.out_avals, needs, prefix.size, wanted)
    nxt = prefix.next[key or label] = new_prefix(prefix, step, len(form.out_avals), 0, floats, ints, spec.weight)
    return nxt


def _places(prefix, label, ins):
    """(slots of Values and places of numbers, in order; how many floats and ints there are)."""
    slots, it, floats, ints = [], iter(label[2:]), 0, 0
    nf, ni = prefix.numbers
    for x in ins:
        if type(x) is Value:
            slots.append(next(it))
        else:
            kind = number_kind(x)
            if kind in "ib":
                slots.append((kind, ni + ints))
                ints += 1
            else:
                slots.append((kind, nf + floats))
                floats += 1 if kind == "f" else 2
    return tuple(slots), floats, ints


def _inference_alone(op, form, ins):
    """Whether a call has inference tensors alone, of which torch records nothing, also where they require grad; a number in a tensor's place is another."""
    tensors = {p.name for p in getattr(op, "params", ()) if p.kind.startswith("Tensor")}
    return bool(tensors) and op.name[-7:] != "_number" and all(x.needs & INFERENCE if type(x) is Value else o not in tensors for x, o in zip(ins, form.owners))


class Captured(Exception):
    """An inference tensor that only the node of a transformation would keep: there it is another tensor."""


def _refuse_inference(form, wanted, ins, mode):
    """torch's error for a node that would keep an inference tensor."""
    made = [i for i, x in enumerate(ins) if type(x) is Value and x.needs & INFERENCE]
    if made and not form.kept(wanted, mode == INPLACE)[0].isdisjoint(made):
        from .belonging import within  # cycle: transformations stand on the record

        raise Captured if within([ins[i] for i in wanted]) else errors.inference_saved()


def alias_edge(tape, v, kind):
    """The edge of `record_alias`."""
    slot = v.slot if v.tape is tape else tape.enter(v)
    label = (kind, slot)
    prefix = tape.prefix
    nxt = prefix.next.get(label)
    if nxt is None:
        step = Step(kind, None, (slot,), LEAF if kind == "leaf" else NOGRAD, (v.aval,), (kind != "detach",), prefix.size)
        nxt = prefix.next[label] = new_prefix(prefix, step, 1, 0, 0, 0)
    return nxt


def record_alias(v, kind) -> Value:
    """A new slot with the array of `v`: kind "leaf" (requires grad, history cut) or "detach" (no grad)."""
    with LOCK:
        tape = thread.state.tape
        nxt = alias_edge(tape, v, kind)
        out = Value(v.aval, nxt.needs, tape, nxt.first)
        return out if follow(tape, nxt, (out,)) else record_alias(v, kind)


if native is not None:
    record_op_general, record_op = record_op, native.record_op


class Counter:
    """A version counter, shared by a storage's tensors; `writer` is a weak reference to the last value written that requires grad."""

    __slots__ = ("n", "writer")
    inference = False

    def __init__(self, n=0):
        self.n = n
        self.writer = None


class InferenceCounter(Counter):
    """The counter of an inference tensor: counting is writing, which is refused outside of inference mode."""

    __slots__ = ("_n",)
    inference = True

    @property
    def n(self):
        return self._n

    @n.setter
    def n(self, value):
        if not thread.state.inference:
            raise errors.inference_written()
        self._n = value

    def __init__(self, n=0):
        self._n = n
        self.writer = None


class DataCounter(Counter):
    """The counter of the `data` of an inference tensor and of what it was detached to, outside of the mode: torch counts anew, and lets them be written."""

    __slots__ = ()
    inference = True


def counter_of(v) -> Counter:
    """A counter for a tensor that was never written or viewed, by the Value that it was made with."""
    return InferenceCounter() if v.needs is INFERENCE else Counter()


def mark_seen(v, counter):
    """Tell `v` (and its tape) which storage version it shows."""
    mark_as(v, (counter, counter.n))


def mark_as(v, seen):
    """Tell `v` (and its tape, by which what saves `v` is checked) that it shows a version: (counter, number)."""
    v.seen = seen
    if v.tape is not None:
        v.tape.seen[v.slot] = seen
