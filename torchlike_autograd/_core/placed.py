"""Programs whose values do not all live on the host (layer 3): on one accelerator, spread over many devices, on several devices, or traced by JAX.

A program is cut into pieces, each for one place; values go from piece to piece where they are needed.  An operator runs where the types of its inputs
say (`devices.common`), what has no inputs where it is used, and a value is brought to where its type says when somebody holds it.  Almost always there is
one piece:

    cuda:0   one compiled program for that device
    cpu@0    one program that XLA partitions, compiled for the shardings of what goes in; new values of leaves and gradients keep the sharding of their leaf
    traced   no program: the operators are applied to JAX's tracers and become part of what JAX traces
    meta     no program and nothing to run: the results are types alone (nothing.py)

Types name the devices and not how values are spread over them: a piece finds its program by the shardings of its arguments.
"""

from __future__ import annotations

import contextlib
import functools
import time
import warnings

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec, SingleDeviceSharding

from .._ops.exact import exact
from .._ops.opened import OPEN, calling
from .._ops.spec import aval
from . import devices
from .dtypes import int64
from .loops import merged
from .nothing import Nothing, no_data
from .plan import StageForm, number_of
from .record import LEAF, slot_table
from .results import only
from .turns import rolled


@contextlib.contextmanager
def _nothing():
    yield


@functools.cache
def host_device():
    """Where host values go: None where that is JAX's default."""
    return None if jax.default_backend() == "cpu" else jax.local_devices(backend="cpu")[0]


def on_device(array):
    """A NumPy array as JAX's, of its own dtype, on the host's first device."""
    put = _quick_put()
    return _put(array) if put is None else put(array)


def _put(array):
    with jax.enable_x64(True):
        return jax.device_put(array, host_device())


@functools.cache
def _quick_put():
    """What jax.device_put of a NumPy array ends in (3 us of its 20 to 30), None where this JAX has it elsewhere or otherwise."""
    try:
        from jaxlib._jax import batched_device_put

        device = host_device() or jax.local_devices()[0]
        sharding, devices, committed = SingleDeviceSharding(device), [device], host_device() is not None

        def put(array):
            return batched_device_put(_shaped(array.shape, array.dtype), sharding, [array], devices, committed, enable_x64=True)

        wide = np.array([1 << 40, 7])
        probe, same = put(wide), _put(wide)
        alike = probe.aval == same.aval and probe.sharding == same.sharding and probe.on_device_size_in_bytes() == same.on_device_size_in_bytes()
    except Exception:
        return None
    return put if alike and np.array_equal(np.asarray(probe), wide) else None


@functools.lru_cache(1024)
def _shaped(shape, dtype):
    return jax.core.ShapedArray(shape, dtype)


def on_host():
    """Run what has no arguments on the host too."""
    d = host_device()
    return _nothing() if d is None else jax.default_device(d)


def target(key):
    """The jax.Device of a key, or the sharding that repeats a value on all of its devices."""
    if "@" not in key:
        return devices.jax_device(key)
    return NamedSharding(Mesh(np.array(devices.members_of(key)), ("all",)), PartitionSpec())


def adopt(a, key):
    """An array where a key says, itself if it is there."""
    if key == "traced":
        return a
    if key == "meta" or type(a) is Nothing:
        return _without_data(a, key)
    if isinstance(a, jax.Array):
        if isinstance(a, jax.core.Tracer):
            return a
        there = devices.members_of(key) if "@" in key else (devices.jax_device(key),)
        if len(a.sharding.device_set) == len(there) and a.sharding.device_set == set(there):
            return a
        if not a.is_fully_addressable or not _local(there):
            a = np.asarray(a)
    with jax.enable_x64(True):
        return jax.device_put(a, target(key))


def _without_data(a, key):
    """An array on "meta"; torch's error for one that would have to come from there."""
    if key != "meta":
        raise no_data()
    return a if type(a) is Nothing else Nothing(a.shape, a.dtype)


def like(array, v):
    """A host array where a Value's contents are, spread as they are."""
    key = v.aval.device
    if key == "cpu" or key == "traced":
        return array
    if key == "meta":
        return Nothing(array.shape, array.dtype)
    if v.array is None:
        v.tape.resolve(v)
    with jax.enable_x64(True):
        return jax.device_put(array, v.array.sharding)


def _local(members):
    return all(d.process_index == jax.process_index() for d in members)


class Op:
    """One operator of a program laid out in the open: f(*ins) -> list of results.

    ins, outs: tokens; like: (output, token whose sharding it keeps) pairs.
    """

    __slots__ = ("device", "f", "form", "ins", "like", "outs")

    def __init__(self, f, form, ins, outs, device, like=()):
        self.f, self.form, self.ins, self.outs, self.device, self.like = f, form, ins, outs, device, like


class _Laid:
    """The operators of a program, stages opened; tokens are slots, (kind, place) of numbers, and objects for what lies between."""

    def __init__(self, program):
        self.prefix, self.table = program.prefix, slot_table(program.prefix)
        self.outside = program.prefix.steps()[1]
        self.ops, self.same, self.types, self.made = [], {}, {}, {}  # made: {token: where its operator runs}
        for step in program.steps:
            getattr(self, f"_{step.kind}", self._alias)(step)

    def type_of(self, token):
        if type(token) is int:
            return self.outside[-token - 1].aval if token < 0 else self.table[token][2]
        return self.types[token]

    def place_of(self, token):
        """Where a token is: where it is made, which its type need not say (the gradient of a host value that came from several devices)."""
        return self.made.get(token) or devices.place(self.type_of(token).device)

    def name(self, token):
        return self.same.get(token, token)

    def _run(self, op):
        op.device = devices.place(op.device)  # for a program it is one place, whose ever the values are
        self.ops.append(op)
        self.made.update(dict.fromkeys(op.outs, op.device))

    def _alias(self, step):
        for i, s in enumerate(step.ins[-len(step.out_avals):] if step.kind == "function" else step.ins):
            self.same[step.first + i] = self.name(s)

    def _op(self, step):
        outs = [step.first + i for i in range(len(step.out_avals))]
        ins = [s if type(s) is tuple else self.name(s) for s in step.ins]
        if type(step.form) is StageForm:
            self._stage_form(step.form, ins, outs)
            return
        if step.form.op.name == "_to_device" and devices.is_single(self.place_of(ins[0])) and devices.is_single(step.form.out_avals[0].device):
            self.same[outs[0]] = ins[0]  # who reads it brings it where it is needed
            return
        self._add(step.form, ins, outs, _likes(step, ins, outs))

    def _add(self, form, ins, outs, like=()):
        for token, a in zip(outs, form.out_avals):
            self.types[token] = a
        where = form.out_avals[0].device
        if form.op.name != "_spread":
            where = "meta" if any(a.device == "meta" for a in (*form.avals, *form.out_avals)) else devices.common(form.avals)
        self._run(Op(lambda *x: calling(form)(*x), form, ins, outs, where, like))
        return outs

    def _pull(self, form, gs, ins):
        return self._add(form, [*gs, *ins], [object() for _ in form.out_avals])

    def _sum(self, a, b):
        out = object()
        self.types[out] = self.type_of(a)
        self._run(Op(lambda x, y: [jax.numpy.add(x, y)], None, [a, b], [out], devices.common([self.type_of(a), self.type_of(b)])))
        return out

    def _backward(self, step):
        outs = step.form.run(self.name, lambda t: t, [self.name(s) for s in step.ins], self._pull, self._sum)
        for i, (token, slot) in enumerate(zip(outs, step.form.outs)):
            self._give(token, step.first + i, self.name(slot))

    def _stage_form(self, form, ins, outs):
        for token, slot in zip(form.run(ins, self._pull, self._sum), outs):
            self._give(token, slot, None)

    def _give(self, token, slot, like):
        """A gradient that leaves a stage; spread as what it is the gradient of."""
        a = self.type_of(token)
        if "@" not in a.device or like is None:
            self.same[slot] = token
            return
        self.types[slot] = a
        self._run(Op(lambda x: [x], None, [token], [slot], a.device, ((slot, like),)))


def _likes(step, ins, outs):
    """((output, what it is the next value of), ...) of a step that updates leaves."""
    if step.mode != LEAF and not hasattr(step.form.op, "updates"):
        return ()
    updates = getattr(step.form.op, "updates", None) or {0: 0}
    return tuple((outs[o], ins[i]) for o, i in updates.items() if step.form.out_avals[o].shape == step.form.avals[i].shape)


class Piece:
    """Operators for one place.

    reads: (token, whether it comes from elsewhere); gives: tokens; lends: those read whose memory may be used again; variants: shardings of the
    arguments -> (callable, compiled program).
    """

    def __init__(self, key):
        self.key, self.ops, self.reads, self.gives, self.numbers, self.variants, self.made = key, [], (), (), False, {}, set()
        self.lends, self.sent = (), (None, None)

    @property
    def tokens(self):
        """The tokens of what comes in."""
        return [t for t, _ in self.reads]

    def take(self, op, free):
        """Add an operator, and before it what has no inputs and is used by it."""
        for t in op.ins:
            if t in free and t not in self.made:
                self.take(free[t], free)
        self.ops.append(op)
        self.made.update(op.outs)

    def close(self, used, laid, elsewhere):
        """Say what comes in and what goes out; `elsewhere`: tokens that another piece gives too, and has to."""
        types = laid.type_of
        reads = dict.fromkeys(t for op in self.ops for t in op.ins if type(t) is not tuple and t not in self.made)
        if "@" in self.key:
            reads.update(dict.fromkeys(t for op in self.ops for _, t in op.like if type(t) is int and t < 0))
        self.reads = tuple((t, laid.place_of(t) != self.key) for t in reads)
        self.numbers = any(type(t) is tuple for op in self.ops for t in op.ins)
        self.gives = tuple(dict.fromkeys(t for op in self.ops for t in op.outs if t in used and t not in elsewhere))
        if self.key == "meta":
            self.reads, self.numbers = (), False
            self.types = {t: Nothing(types(t).shape, types(t).dtype.np) for t in self.gives}

    def apply(self, floats, ints, arrays, known=None):
        """The results, from arrays or tracers; known: {token: sharding} of what has to be spread in a certain way."""
        env = dict(zip(self.tokens, arrays))
        for op in self.ops:
            ins = [number_of(t, floats, ints) if type(t) is tuple else env[t] for t in op.ins]
            env.update(zip(op.outs, op.f(*ins)))
            for out, _ in op.like if known else ():
                if out in known:
                    env[out] = jax.lax.with_sharding_constraint(env[out], known[out])
        return [env[t] for t in self.gives]

    def _known(self, shardings):
        """{token: sharding} of what comes in, of what is spread as something else is, and of what a sharding was asked for."""
        out = {t: s for t, s in zip(self.tokens, shardings) if isinstance(s, NamedSharding)}
        for op in self.ops:
            if op.form is not None and op.form.op.name == "_spread":
                asked = op.form.spec.statics.get("sharding")
                out.update((t, asked) for t in op.outs if _splits(asked, op.form.out_avals[0].shape))
            out.update((t, out[like]) for t, like in op.like if like in out)
        return out

    def run(self, words, n, env, count, program):
        """Compute `gives` into `env`."""
        if self.key == "meta":
            env.update(self.types)
            return
        if self.key == "traced":
            floats = ints = None
            if words is not None:
                words = np.array(words)
                floats, ints = words[:n].view(np.float64).reshape(-1), words[n:].view(np.int64).reshape(-1)
            self.inline(floats, ints, env)
            return
        args = [adopt(env[t], self.key) if moves else env[t] for t, moves in self.reads]
        words = self._brought(words) if self.numbers else None
        out = self._variant(words, n, args, count, program)(words, *args)
        env.update(zip(self.gives, out))

    def _brought(self, words):
        """The numbers of the program; on its device where they are those of the last run, which are on the host's then."""
        if type(words) is np.ndarray or "@" in self.key:
            return np.asarray(words)
        if self.sent[0] is not words:
            self.sent = words, adopt(words, self.key)
        return self.sent[1]

    def inline(self, floats, ints, env):
        """Apply the operators to tracers, in the widths that JAX is set to."""
        was, OPEN[0] = OPEN[0], True
        try:
            with outside(), warnings.catch_warnings():
                warnings.filterwarnings("ignore", "Explicitly requested dtype")
                floats, ints, *arrays = map(_narrowed, (floats, ints, *(env[t] for t, _ in self.reads)))
                env.update(zip(self.gives, self.apply(floats, ints, arrays)))
        finally:
            OPEN[0] = was

    def _variant(self, words, n, args, count, program):
        spread = "@" in self.key
        label = tuple([a.sharding for a in args]) if spread else None
        found = self.variants.get(label)
        if found is None:
            start = time.perf_counter()
            with jax.enable_x64(True), _nothing() if spread else jax.default_device(devices.jax_device(self.key)):
                found = self.variants[label] = self._compile(words, n, args, label)
            count(program, start)
        return found[0]

    def _compile(self, words, n, args, shardings):
        known = {} if shardings is None else self._known(shardings)

        def f(words, *arrays):
            floats, ints = (None, None) if words is None else (_joined(words[:n], np.float64), _joined(words[n:], np.int64))
            return self.apply(floats, ints, arrays, known)

        rest = target(self.key) if shardings == () else None  # nothing comes in: all of it everywhere
        whole = [known.get(t, rest) for t in self.gives]
        lent = tuple(i + 1 for i, t in enumerate(self.tokens) if t in self.lends)
        traced = jax.jit(f, out_shardings=whole, donate_argnums=lent).trace(words, *args)
        closed = merged(traced.jaxpr)
        if shardings is None:
            closed = rolled(closed)
        if _is_on_host(self.key):
            closed = exact(closed)
        if closed is not traced.jaxpr:
            traced = jax.jit(only(closed, range(len(whole))), out_shardings=whole, donate_argnums=lent).trace(words, *args)
        compiled = traced.lower().compile({"xla_allow_excess_precision": False})  # a cast to half precision and back rounds
        return getattr(compiled, "_call", None) or compiled, compiled


def _is_on_host(key):
    return (devices.members_of(key)[0] if "@" in key else devices.jax_device(key)).platform == "cpu"


def _splits(sharding, shape):
    """Whether a result of this shape can lie as a sharding says, which takes equal parts."""
    if not isinstance(sharding, NamedSharding):
        return False
    try:
        sharding.shard_shape(shape)
    except ValueError:
        return False
    return True


def _narrowed(a):
    """An array in the widths that JAX is set to."""
    if a is None:
        return None
    want = jax.dtypes.canonicalize_dtype(a.dtype)
    return a if a.dtype == want else a.astype(want) if isinstance(a, np.ndarray) else jax.lax.convert_element_type(a, want)


def _joined(words, dtype):
    return jax.lax.bitcast_convert_type(words, dtype)


def _cut(laid):
    """The pieces of a program in the order in which they run, and {token: op} of what has no inputs."""
    free, level, pieces = {}, {}, {}
    for op in laid.ops:
        if all(type(t) is tuple or t in free for t in op.ins) and op.device == "cpu":
            free.update(dict.fromkeys(op.outs, op))
            continue
        at = 0
        for t in op.ins:
            if t in level:
                depth, key = level[t]
                at = max(at, depth if key == op.device else depth + 1)
        level.update(dict.fromkeys(op.outs, (at, op.device)))
        pieces.setdefault((at, op.device), Piece(op.device)).take(op, free)
    return _merged(sorted(pieces.items(), key=lambda k: k[0][0])), free


def _merged(pieces):
    """Pieces of one place as one, where nothing elsewhere has to run between them: [((level, key), Piece)], in order."""
    out = []
    for i, ((_, key), piece) in enumerate(pieces):
        for (_, other), later in pieces[i + 1:]:
            if other == key:
                later.ops[:0], later.made = piece.ops, later.made | piece.made
                break
            if any(t in piece.made for op in later.ops for t in op.ins):
                out.append(piece)
                break
        else:
            out.append(piece)
    return out


def _finish(pieces, free, wanted):
    """Let one piece give what has no inputs and somebody holds: the only one, or one on the host; returns {token: piece}."""
    owner, made = {}, [t for t in wanted if t in free]
    if made and (len(pieces) != 1 or pieces[0].key in ("traced", "meta")):
        pieces.insert(0, Piece("cpu"))
    for t in made:
        owner[t] = pieces[0]
        if t not in pieces[0].made:
            pieces[0].take(free[t], free)
    return owner


class Placed:
    """What stands in the place of a compiled program; f(words, *arrays) -> list of results."""

    def __init__(self, program, floats, count):
        laid = _Laid(program)
        self.program, self.floats, self.count = program, floats, count
        outs = [(laid.name(s), devices.place(laid.table[s][2].device)) for s in program.outs]
        self.guards = _together(laid, [_guard(laid, s) for s in program.guarded])
        wanted = {*(t for t, _ in outs), *self.guards}
        self.pieces, free = _cut(laid)
        owner = _finish(self.pieces, free, wanted)
        across = [t for p in self.pieces if p.key != "meta" for op in p.ops for t in op.ins if t not in p.made]
        for p in self.pieces:
            p.close(wanted.union(across), laid, {t for t in free if owner.get(t) is not p})
        self.pieces = [p for p in self.pieces if p.gives]
        place = {t: p.key for p in self.pieces for t in p.gives}
        self.outs = [(t, key, (place.get(t) or laid.place_of(t)) != key) for t, key in outs]

    def lend(self, heirs):
        """Let arguments that are replaced give their memory to what replaces them; the places of those that do.

        heirs: as `donation.heirs` finds them.  One gives where one piece alone reads it, where it is, and gives its heir.
        """
        passed, given = {*(t for t, _, _ in self.outs), *self.guards}, []
        for place, result in sorted(heirs.items()):
            token = self.program.arguments[place]
            readers = [p for p in self.pieces if token in p.tokens]
            if token in passed or len(readers) != 1 or readers[0].key == "traced":
                continue
            piece = readers[0]
            if (token, False) in piece.reads and self.outs[result][0] in piece.gives:
                piece.lends += (token,)
                given.append(place)
        return tuple(given)

    def __call__(self, words, *arrays):
        env = dict(zip(self.program.arguments, arrays))
        for piece in self.pieces:
            piece.run(words, self.floats, env, self.count, self.program)
        return self._results(env)

    def _results(self, env):
        out = [adopt(env[t], key) if moves else env[t] for t, key, moves in self.outs]
        if self.program.guarded:
            codes = [env[t] for t in self.guards]
            if len(codes) == 1 and isinstance(codes[0], jax.Array) and codes[0].ndim:
                codes[0].copy_to_host_async()  # not waited for: a step on an accelerator ends before its device does
                out.append(codes[0])
            else:
                out.append(np.array([0 if isinstance(c, (jax.core.Tracer, Nothing)) else int(c) for c in codes]))  # what is traced cannot be looked at
        return out

    def run_eagerly(self, program, floats, ints, arrays):
        """The same, operator by operator."""
        env = dict(zip(self.program.arguments, arrays))
        for piece in self.pieces:
            if piece.key == "traced":
                piece.inline(floats, ints, env)
                continue
            if piece.key == "meta":
                env.update(piece.types)
                continue
            here = dict(env)
            with _nothing() if "@" in piece.key else jax.default_device(devices.jax_device(piece.key)):
                for op in piece.ops:
                    ins = [number_of(t, floats, ints) if type(t) is tuple else adopt(here[t], piece.key) for t in op.ins]
                    ins = _on_one_mesh(ins) if "@" in piece.key else ins
                    here.update(zip(op.outs, op.form.jit()(*ins) if hasattr(op.form, "jit") else op.f(*ins)))
            env.update((t, here[t]) for t in piece.gives)
        return self._results(env)


def _on_one_mesh(ins):
    """Arrays of an operator, those that lie whole on the mesh over which one is spread: JAX says where the results lie on the mesh of the first."""
    mesh = next((a.sharding.mesh for a in ins if _on_mesh(a) and not a.is_fully_replicated), None)
    if mesh is None:
        return ins
    whole = NamedSharding(mesh, PartitionSpec())
    return [jax.device_put(a, whole) if _on_mesh(a) and a.is_fully_replicated and a.sharding.mesh != mesh else a for a in ins]


def _on_mesh(a):
    return isinstance(a, jax.Array) and not isinstance(a, jax.core.Tracer) and isinstance(a.sharding, NamedSharding)


def _guard(laid, step):
    """The token of the code of a guarded call."""
    out, ins = object(), [s if type(s) is tuple else laid.name(s) for s in step.ins]
    where = "meta" if step.form.out_avals[0].device == "meta" else devices.common(step.form.avals)
    laid.types[out] = aval((), int64, where)
    laid.ops.append(Op(lambda *x: [step.form.guard(*x)], None, ins, [out], devices.place(where)))
    return out


def _together(laid, codes):
    """[a token of all the codes] where they are found at one place that computes, else their tokens."""
    places = {op.device for op in laid.ops[-len(codes):]} if codes else ()
    if len(places) != 1 or not places.isdisjoint(("traced", "meta")):
        return codes
    out, (where,) = object(), places
    laid.types[out] = aval((len(codes),), int64, where)
    laid.ops.append(Op(lambda *found: [jax.numpy.stack(found)], None, list(codes), [out], where))
    return [out]


def of(program, floats, count):
    """The Placed of a program, made once."""
    if type(program.placed) is not Placed:
        program.placed = Placed(program, floats, count)
    return program.placed


cuts = [False]  # whether something was detached, or computed where nothing is recorded for gradients, while JAX was tracing: its derivative does not see that
_ambient: list = []  # what JAX was tracing when each of the running functions was called


def cut(ends=True):
    """Remember that gradients end here, where JAX is tracing a function."""
    if ends and _ambient:
        cuts[0] = True


@contextlib.contextmanager
def inside(trace):
    """Run torch-style code that JAX is tracing: what is concrete is computed, what is traced goes to `trace`."""
    _ambient.append((trace, jax.config.jax_enable_x64))
    try:
        with jax.core.eval_context():
            yield
    finally:
        _ambient.pop()


@contextlib.contextmanager
def outside():
    """Back to what JAX was tracing."""
    if not _ambient:
        raise RuntimeError("a value that JAX was tracing is used after its function (`interop.as_jax_function`) has returned")
    from jax._src import core  # JAX has no public name for this

    trace, wide = _ambient[-1]
    with core.set_current_trace(trace), jax.enable_x64(wide):
        yield


def current_trace():
    """What JAX is tracing now."""
    from jax._src import core

    return core.trace_ctx.trace


def tracing():
    """Whether JAX is tracing or transforming in this thread."""
    from jax._src import core

    return not isinstance(core.trace_ctx.trace, core.EvalTrace)


__all__ = ["Placed", "adopt", "current_trace", "cut", "host_device", "inside", "like", "of", "on_host", "outside", "target", "tracing"]
