"""Small programs on the host (layer 3): a traced operator run by NumPy, primitive by primitive.

Running op by op from compiled functions costs a compilation for each new shape and about ten microseconds a call; NumPy needs neither.  This is used where the
executor runs op by op on the CPU with small arrays.  The meaning is the traced program's: the same primitives in the same order.  An operator
with a primitive that is not here runs from its compiled function.
"""

from __future__ import annotations

import functools
import math
import types

import jax
import numpy as np
from jax.extend.core import Literal

from .dtypes import DOUBLED
from .host_indexed import Unsupported, add_rows, each, gather, put, scatter
from .host_linalg import FACTORISATIONS
from .host_math import BITWISE, ELEMENTWISE
from .host_threads import alone
from .host_windows import convolution
from .loops import parts

LARGEST = 1 << 25  # elements; larger arrays are left to XLA, which for once needs longer to compile an operator than NumPy to run it
LONGEST = 256  # turns of a loop; longer ones too
HEAVY = 1 << 16  # bytes of an array that is let go after its last use


def program_function(closed):
    """f(*arrays) -> list of arrays for a ClosedJaxpr, or None where a primitive is missing or an array is large."""
    try:
        return _compile(closed.jaxpr, closed.consts)
    except Unsupported:
        return None


def _compile(jaxpr, consts):
    writer = HostWriter()
    return types.FunctionType(writer.program(jaxpr, consts), writer.scope)


@functools.lru_cache(4096)
def _code(source):
    """The text of a function compiled, which takes longer than writing it: programs that differ by sizes have the same, as sizes are constants in its scope."""
    return next(c for c in compile(source, "<host>", "exec").co_consts if isinstance(c, types.CodeType))


class HostWriter:
    """Lines of Python, the functions and constants that they name, and the names that are arrays of the right type for sure.

    last: {name: the last line that has it}; heavy: names of large arrays that are made here.
    """

    def __init__(self):
        self.lines, self.scope, self.made = [], {"_as_array": _as_array, "_at": _at, "_with": _with, "_all": slice(None)}, 0
        self.arrays, self.heavy, self.last = set(), set(), {}

    def program(self, jaxpr, consts):
        """The code of a program as one Python function: a line for each primitive, a local variable for each value."""
        arguments = [f"a{i}" for i in range(len(jaxpr.invars))]
        outs = self.inline(jaxpr, consts, arguments)
        for name in self.heavy.difference(outs):
            self.lines[self.last[name]] += f"; del {name}"
        results = [name if name in self.arrays else f"_as_array({name}, {self.constant(np.dtype(v.aval.dtype))})" for name, v in zip(outs, jaxpr.outvars)]
        return _code("\n".join([f"def run({', '.join(arguments)}):", *self.lines, f"    return [{', '.join(results)}]"]))

    def constant(self, x):
        name = f"c{len(self.scope)}"
        self.scope[name] = x
        return name

    def inline(self, jaxpr, consts, arguments):
        """Write the lines of a jaxpr whose inputs have these names; returns the names of its outputs."""
        names = dict(zip(jaxpr.invars, arguments))
        names.update((v, self.constant(np.asarray(c))) for v, c in zip(jaxpr.constvars, consts))

        fills = {}  # equations that fill an array with one number

        def name_of(v):
            if isinstance(v, Literal):
                return self.literal(v)
            if v not in names:
                (names[v],) = self.line(fills[v], [name_of(fills[v].invars[0])])
            return names[v]

        for eqn in jaxpr.eqns:
            if _fills(eqn):
                fills[eqn.outvars[0]] = eqn  # written where it is read: most are only written to
                continue
            if eqn.primitive.name == "dynamic_update_slice" and eqn.invars[0] in fills and eqn.invars[0] not in names:
                names[eqn.invars[0]] = self.filled(fills.pop(eqn.invars[0]))  # the line below copies it
            numbers = fills if _takes_numbers(eqn) else ()
            ins = [self.literal(fills[v].invars[0]) if v in numbers and v not in names else name_of(v) for v in eqn.invars]
            inner = _inner(eqn)
            if inner is not None:
                names.update(zip(eqn.outvars, self.inline(inner.jaxpr, inner.consts, ins)))
                continue
            if any(math.prod(getattr(v.aval, "shape", ())) > LARGEST for v in eqn.outvars):
                raise Unsupported
            if eqn.primitive.name in _SAME:
                names.update(zip(eqn.outvars, ins))
                continue
            names.update(zip(eqn.outvars, self.line(eqn, ins)))
        return [name_of(v) for v in jaxpr.outvars]

    def literal(self, v):
        """The name of a literal's value."""
        return self.constant(value_of(v))

    def filled(self, eqn):
        """The name of an array of one known number."""
        return self.constant(filled(eqn))

    def line(self, eqn, ins):
        """Write the line of one primitive; returns the names of its outputs."""
        outs = [f"x{self.made + i}" for i in range(1, len(eqn.outvars) + 1)]
        self.made += len(outs)
        text, many = written(eqn, ins, self.constant)
        outs[-1] += "," if many else ""
        named = [name.rstrip(",") for name in outs]
        self.last.update(dict.fromkeys((*ins, *named), len(self.lines)))
        self.heavy.update(name for name, v in zip(named, eqn.outvars) if math.prod(v.aval.shape) * v.aval.dtype.itemsize >= HEAVY)
        self.lines.append(f"    {', '.join(outs)} = {text}")
        if eqn.primitive.name in _ARRAYS and eqn.outvars[0].aval.shape and eqn.outvars[0].aval.dtype in _DTYPES:
            self.arrays.add(outs[0])
        return named


def looks_at_sizes(eqn):
    """Whether what runs a primitive may depend on its sizes."""
    return eqn.primitive.name not in _SIZELESS


def _takes_numbers(eqn):
    """Whether a number can stand for an input that is an array of it."""
    return eqn.primitive.name == "select_n" and eqn.invars[0].aval.shape and eqn.invars[0].aval.dtype == bool


def _fills(eqn):
    """Whether an equation makes an array of one known number."""
    return eqn.primitive.name == "broadcast_in_dim" and isinstance(eqn.invars[0], Literal) and math.prod(eqn.outvars[0].aval.shape) <= LARGEST


def value_of(literal):
    """The value of a literal."""
    return np.asarray(literal.val, literal.aval.dtype)[()]


def filled(eqn):
    """The array that an equation fills with one known number."""
    return np.full(eqn.outvars[0].aval.shape, eqn.invars[0].val, eqn.outvars[0].aval.dtype)


def written(eqn, ins, constant):
    """(a primitive of inputs with these names as text, whether its results are several); constant(x) -> the name of a constant."""
    text = _expression(eqn, ins, constant)
    if text is not None:
        return text, False
    f, many = _primitive(eqn)
    return f"{constant(f)}({', '.join(ins)})", many


def _expression(eqn, ins, constant):
    """A primitive as an expression of Python, where that is the same and faster than a function of ours; else None.

    constant(x) -> the name of a constant.
    """
    name = eqn.primitive.name
    if name in _SIGNS:
        return f"{ins[0]} {_SIGNS[name]} {ins[1]}"
    if name == "select_n" and len(ins) == 3 and not eqn.invars[0].aval.shape and eqn.invars[0].aval.dtype == bool:
        return f"{ins[2]} if {ins[0]} else {ins[1]}"
    if name == "dynamic_slice":
        return f"{ins[0]}[{_window(eqn, ins[1:], eqn.params['slice_sizes'], constant)}]"
    if name == "dynamic_update_slice":
        return f"_with({ins[0]}, {ins[1]}, {_window(eqn, ins[2:], eqn.invars[1].aval.shape, constant)})"
    if name in ("squeeze", "expand_dims") or (name in _REDUCTIONS and all(eqn.invars[0].aval.shape[i] == 1 for i in eqn.params["axes"])):
        return f"{ins[0]}.reshape({constant(eqn.outvars[0].aval.shape)})"
    return None


_REDUCTIONS = {"reduce_sum", "reduce_max", "reduce_min", "reduce_prod"}
_SAME = {"stop_gradient", "copy", "copy_p", "optimization_barrier"}
_ARRAYS = {"add", "add_any", "sub", "mul", "tanh", "exp", "squeeze", "expand_dims", "reshape", "concatenate", "dot_general", "dynamic_update_slice"}
_DTYPES = {np.dtype(np.float32), np.dtype(np.float64)}
_SIZELESS = {*ELEMENTWISE, "convert_element_type", "concatenate", "transpose", "rev", "integer_pow"}
_SIGNS = {"add": "+", "add_any": "+", "sub": "-", "mul": "*", "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!="}


def _window(eqn, starts, sizes, constant):
    """The index of a window that starts at runtime; like XLA it is moved inside."""
    parts = []
    for name, n, size in zip(starts, sizes, eqn.invars[0].aval.shape):
        parts.append("_all" if n == size else f"_at({name}, {constant(n)}, {constant(size)})")
    return f"({', '.join(parts)}{',' if parts else ''})"


def _at(start, n, size):
    start = min(max(int(start), 0), size - n)
    return slice(start, start + n)


def _with(x, new, where):
    out = np.array(x)
    out[where] = new
    return out


def _inner(eqn):
    """The program that an equation calls, if it does nothing else."""
    name = eqn.primitive.name
    if name in ("jit", "pjit", "closed_call", "core_call"):
        return eqn.params.get("jaxpr") or eqn.params["call_jaxpr"]
    if name == "custom_vmap_call":
        return eqn.params["call"]
    if name == "call_hi_primitive":
        return _expanded(eqn)
    return eqn.params["call_jaxpr"] if name == "custom_jvp_call" else None


def _expanded(eqn):
    """What an operator that JAX keeps whole until it compiles (`searchsorted`, since 0.12) is made of."""
    operator = eqn.params["_prim"]
    ins = [jax.ShapeDtypeStruct(v.aval.shape, v.aval.dtype) for v in eqn.invars]
    with jax.enable_x64(True):
        return jax.make_jaxpr(lambda *xs: operator.expand(*jax.tree.unflatten(operator.in_tree, xs)))(*ins)


def _as_array(x, dtype):
    if type(x) is not np.ndarray:
        x = np.asarray(x)
    return x if x.dtype is dtype or x.dtype == dtype else x.astype(dtype)


def _primitive(eqn):
    """(function of arrays, whether it returns several)."""
    name = eqn.primitive.name
    if name in ELEMENTWISE:
        f = ELEMENTWISE[name]
        if f in BITWISE and eqn.invars[0].aval.dtype != bool:
            f = BITWISE[f]
        return f, False
    if name in MADE:
        return MADE[name](eqn.params, eqn), eqn.primitive.multiple_results
    raise Unsupported(name)


def _round(params, eqn):
    if int(params["rounding_method"]) == 1:
        return np.round
    return lambda x: np.sign(x) * np.floor(np.abs(x) + x.dtype.type(0.5))


def _convert(params, eqn):
    dtype = np.dtype(params["new_dtype"])
    source = np.dtype(eqn.invars[0].aval.dtype)
    if dtype == np.bool_:
        return lambda x: x != 0
    if source.kind == "c" and dtype.kind != "c":
        return lambda x: np.real(x).astype(dtype)
    if source.kind == "f" and dtype.kind in "iu":
        return _saturating(dtype)
    return lambda x: x.astype(dtype)


def _saturating(dtype):
    """XLA's way from floats to integers: NaN is 0, what does not fit is the bound."""
    low, high = np.iinfo(dtype).min, np.iinfo(dtype).max

    def run(x):
        wide = x.astype(np.float64)
        over, under = wide >= float(high), wide <= float(low)
        out = np.where(over | under | np.isnan(wide), 0, wide).astype(dtype)
        return np.where(over, dtype.type(high), np.where(under, dtype.type(low), out))

    return run


def _broadcast_in_dim(params, eqn):
    shape, dims = tuple(params["shape"]), params["broadcast_dimensions"]
    if any(type(n) is not int for n in shape):
        raise Unsupported

    own = [1] * len(shape)
    for i, d in enumerate(dims):
        own[d] = eqn.invars[0].aval.shape[i]
    if math.prod(own) == math.prod(shape):
        return lambda x: x.reshape(shape)

    def run(x):
        out = np.empty(shape, x.dtype)
        out[...] = x.reshape(own)
        return out

    return run


def _reduce(f):
    def make(params, eqn):
        axes, dtype = tuple(params["axes"]), np.dtype(eqn.outvars[0].aval.dtype)
        if dtype.kind == "V" or dtype.name == "bfloat16":
            raise Unsupported
        return lambda x: f(x, axis=axes).astype(dtype, copy=False)

    return make


_FEW = 64


def _sum(params, eqn):
    """NumPy adds in pairs along the last dims only, along others one by one: few floats are added in their precision, many in double."""
    shape, axes, dtype = eqn.invars[0].aval.shape, tuple(params["axes"]), np.dtype(eqn.outvars[0].aval.dtype)
    if dtype.kind not in "fc" or sorted(axes) == list(range(len(shape)))[len(shape) - len(axes):] or math.prod(shape[i] for i in axes) <= _FEW:
        return _reduce(np.add.reduce)(params, eqn)
    wide = DOUBLED.get(dtype.name, dtype)
    return lambda x: np.add.reduce(x, axis=axes, dtype=wide).astype(dtype, copy=False)


def _reduce_order(f):
    def make(params, eqn):
        axes = tuple(params["axes"])
        if 0 in eqn.invars[0].aval.shape:
            raise Unsupported
        return lambda x: f(x, axis=axes)

    return make


def _dot_general(params, eqn):
    dtype = np.dtype(eqn.outvars[0].aval.dtype)
    if dtype.name == "bfloat16" or dtype == np.float16:
        raise Unsupported
    made = _dot_of_one_dtype(params, eqn, dtype)
    if all(v.aval.dtype == dtype for v in eqn.invars):
        return made
    return lambda a, b: made(a.astype(dtype, copy=False), b.astype(dtype, copy=False))  # half precision multiplied in float32


def _dot_of_one_dtype(params, eqn, dtype):
    ((lc, rc), (lb, rb)) = params["dimension_numbers"]
    work = math.prod(eqn.outvars[0].aval.shape) * math.prod(eqn.invars[0].aval.shape[i] for i in lc)
    if not lb:
        return alone(_product(tuple(lc), tuple(rc), *(len(v.aval.shape) for v in eqn.invars), dtype), work)
    nl, nr = len(eqn.invars[0].aval.shape), len(eqn.invars[1].aval.shape)
    left = [*lb, *(i for i in range(nl) if i not in lb and i not in lc), *lc]
    right = [*rb, *rc, *(i for i in range(nr) if i not in rb and i not in rc)]
    shape = eqn.outvars[0].aval.shape
    batch = math.prod(shape[: len(lb)])
    inner = math.prod(eqn.invars[0].aval.shape[i] for i in lc)
    rows = math.prod(eqn.invars[0].aval.shape[i] for i in range(nl) if i not in lb and i not in lc)
    columns = math.prod(eqn.invars[1].aval.shape[i] for i in range(nr) if i not in rb and i not in rc)

    def run(a, b):
        a = np.transpose(a, left).reshape(batch, rows, inner)
        b = np.transpose(b, right).reshape(batch, inner, columns)
        return np.matmul(a, b).reshape(shape)

    return alone(run, work)


def _product(lc, rc, nl, nr, dtype):
    """A contraction without batch dims."""
    if nl > 2 or nr > 2 or len(lc) > 1:
        return lambda a, b: np.tensordot(a, b, (lc, rc)).astype(dtype, copy=False)
    if not lc:
        return lambda a, b: np.multiply.outer(a, b).astype(dtype, copy=False)
    dot = np.dot  # of two arrays of `dtype` it is one, and so is what becomes of a number
    if lc[0] == nl - 1:
        return dot if rc[0] == 0 else lambda a, b: dot(a, b.T)
    return (lambda a, b: dot(a.T, b)) if rc[0] == 0 else lambda a, b: dot(a.T, b.T)


def _slice(params, eqn):
    strides = params["strides"] or (1,) * len(params["start_indices"])
    where = tuple(slice(a, b, s) for a, b, s in zip(params["start_indices"], params["limit_indices"], strides))
    return lambda x: x[where]


def _pad(params, eqn):
    config, shape = params["padding_config"], eqn.outvars[0].aval.shape
    edges = [(max(lo, 0), max(hi, 0)) for lo, hi, _ in config]
    padded = [n + (n - 1) * mid + lo + hi if n else lo + hi for n, (lo, hi), (_, _, mid) in zip(eqn.invars[0].aval.shape, edges, config)]
    inside = tuple(slice(lo, lo + (n - 1) * (mid + 1) + 1 if n else lo, mid + 1)
                   for (lo, _), (_, _, mid), n in zip(edges, config, eqn.invars[0].aval.shape))
    left = tuple(slice(max(-lo, 0), max(-lo, 0) + n) for (lo, _, _), n in zip(config, shape))  # what negative padding takes off

    def run(x, value):
        out = np.full(padded, value, x.dtype)
        out[inside] = x
        return out[left]

    return run


def _concatenate(params, eqn):
    axis = params["dimension"]
    return lambda *xs: np.concatenate(xs, axis=axis)


def _split(params, eqn):
    ends = np.cumsum(params["sizes"]).tolist()
    parts = [(*[slice(None)] * params["axis"], slice(start, end)) for start, end in zip([0, *ends], ends)]
    return lambda x: [x[part] for part in parts]


def _stack(params, eqn):
    axis = params["axis"]
    return lambda *xs: np.stack(xs, axis)


def _tile(params, eqn):
    reps = tuple(params["reps"])
    return lambda x: np.tile(x, reps)


def _unstack(params, eqn):
    axis = params["axis"]
    return lambda x: list(np.moveaxis(x, axis, 0))


def _scan(params, eqn):
    """A loop of known length: the body is run turn by turn."""
    n, (consts, carried) = params["length"], parts(eqn)
    if n > LONGEST:
        raise Unsupported
    body, firsts = _body(params["jaxpr"]), consts + carried
    turns = range(n - 1, -1, -1) if params["reverse"] else range(n)
    results = [v.aval for v in eqn.outvars[carried:]]

    def run(*ins):
        known, carry, along = ins[:consts], list(ins[consts:firsts]), ins[firsts:]
        outs = [np.empty(a.shape, a.dtype) for a in results]
        for i in turns:
            made = body(*known, *carry, *[x[i] for x in along])
            carry = made[:carried]
            for out, value in zip(outs, made[carried:]):
                out[i] = value
        return [*carry, *outs]

    return run


def _cond(params, eqn):
    branches = [_body(b) for b in params["branches"]]
    return lambda which, *ins: branches[min(max(int(which), 0), len(branches) - 1)](*ins)


def _while(params, eqn):
    n, m = params["cond_nconsts"], params["body_nconsts"]
    more, turn = _body(params["cond_jaxpr"]), _body(params["body_jaxpr"])
    if params["cond_jaxpr"].out_avals[0].shape:
        raise Unsupported  # a batch of conditions

    def run(*ins):
        known, given, carry = ins[:n], ins[n:n + m], ins[n + m:]
        while more(*known, *carry)[0]:
            carry = turn(*given, *carry)
        return list(carry)

    return run


def _linear_solve(params, eqn):
    """The solution as it is computed; what its derivatives would need is left out."""
    lengths = params["const_lengths"]
    solve, first, given = _body(params["jaxprs"].solve), lengths.matvec + lengths.vecmat, sum(lengths)
    return lambda *ins: solve(*ins[first:first + lengths.solve], *ins[given:])


def _platform(params, eqn):
    """Which branch is for the CPU."""
    index = np.int32(next(i for i, names in enumerate(params["platforms"]) if names is None or "cpu" in names))
    return lambda: index


def _body(jaxpr):
    """The function of an inner program, closed or not."""
    return _compile(getattr(jaxpr, "jaxpr", jaxpr), getattr(jaxpr, "consts", ()))


def _sort(params, eqn):
    axis, dtype = params["dimension"], np.dtype(eqn.invars[0].aval.dtype)
    if params["num_keys"] != 1 or dtype.kind not in "iufb" or dtype.itemsize == 2:
        raise Unsupported

    def run(*xs):
        order = np.argsort(xs[0], axis, kind="stable")
        return [np.take_along_axis(x, order, axis) for x in xs]

    return run


def _top_k(params, eqn):
    """In XLA's total order of floats: a NaN is first or, with a sign, last, and -0 comes after 0."""
    k, axis, dtype = params["k"], params["axis"], np.dtype(eqn.invars[0].aval.dtype)
    bits = np.dtype(f"i{dtype.itemsize}")
    if dtype.kind not in "if" or dtype.itemsize == 2:
        raise Unsupported

    def run(x):
        key = np.ascontiguousarray(x).view(bits).reshape(x.shape)
        if dtype.kind == "f":
            key = np.where(key < 0, key ^ np.iinfo(bits).max, key)
        first = np.take(np.argsort(~key, axis, kind="stable"), np.arange(k), axis)
        return np.take_along_axis(x, first, axis), first.astype(eqn.outvars[1].aval.dtype)

    return run


def _bitcast(params, eqn):
    dtype = np.dtype(params["new_dtype"])
    if dtype.itemsize != np.dtype(eqn.invars[0].aval.dtype).itemsize:
        raise Unsupported
    return lambda x: np.ascontiguousarray(x).view(dtype).reshape(np.shape(x))  # made contiguous, a number becomes a row


def _empty(params, eqn):
    aval = eqn.outvars[0].aval
    return lambda: np.zeros(aval.shape, aval.dtype)


def _iota(params, eqn):
    shape, d, dtype = params["shape"], params["dimension"], np.dtype(params["dtype"])
    own = [1] * len(shape)
    own[d] = shape[d]
    value = np.broadcast_to(np.arange(shape[d], dtype=dtype).reshape(own), shape)
    return lambda: value


def _cumulative(f):
    def make(params, eqn):
        axis, back, wide = params["axis"], params["reverse"], DOUBLED.get(eqn.outvars[0].aval.dtype.name)
        if not back:
            return lambda x: f(x, axis=axis, dtype=wide).astype(x.dtype)
        return lambda x: np.flip(f(np.flip(x, axis), axis=axis, dtype=wide), axis).astype(x.dtype)

    return make


def _argreduce(f):
    def make(params, eqn):
        (axis,), dtype = params["axes"], np.dtype(params["index_dtype"])
        return lambda x: f(x, axis=axis).astype(dtype)

    return make


def _shift_right(kind):
    def make(params, eqn):
        if np.dtype(eqn.invars[0].aval.dtype).kind != kind:
            raise Unsupported
        return np.right_shift

    return make


def _integer_pow(params, eqn):
    y = params["y"]
    if y >= 0:
        return lambda x: x**y
    return lambda x: (1 / x**-y).astype(x.dtype)


def _reshape(params, eqn):
    shape, order = tuple(eqn.outvars[0].aval.shape), params.get("dimensions")
    if order is not None:
        return lambda x: np.transpose(x, order).reshape(shape)
    return lambda x: x.reshape(shape)


MADE = {
    "round": _round, "convert_element_type": _convert, "broadcast_in_dim": _broadcast_in_dim, "reduce_sum": _sum,
    "reduce_prod": _reduce(np.multiply.reduce), "reduce_max": _reduce_order(np.maximum.reduce), "reduce_min": _reduce_order(np.minimum.reduce),
    "reduce_and": _reduce(np.logical_and.reduce), "reduce_or": _reduce(np.logical_or.reduce),
    "dot_general": _dot_general, "conv_general_dilated": convolution, "slice": _slice, "pad": _pad,
    "concatenate": _concatenate, "stack": _stack, "unstack": _unstack, "tile": _tile, "gather": gather, "scatter": scatter(put),
    "scatter-add": scatter(each(np.add), add_rows), "scatter-mul": scatter(each(np.multiply)), "scatter-min": scatter(each(np.minimum)),
    "scatter-max": scatter(each(np.maximum)), "scan": _scan, "cond": _cond, "sort": _sort, "top_k": _top_k, "bitcast_convert_type": _bitcast, "split": _split,
    "while": _while, "iota": _iota, "cumsum": _cumulative(np.cumsum),
    "cumprod": _cumulative(np.cumprod), "cummax": _cumulative(np.maximum.accumulate), "cummin": _cumulative(np.minimum.accumulate),
    "shift_right_arithmetic": _shift_right("i"), "shift_right_logical": _shift_right("u"),
    "argmax": _argreduce(np.argmax), "argmin": _argreduce(np.argmin), "integer_pow": _integer_pow,
    "reshape": _reshape, "custom_linear_solve": _linear_solve, "platform_index": _platform, "empty": _empty, "empty2": _empty, **FACTORISATIONS,
    "transpose": lambda p, e: (lambda x, perm=tuple(p["permutation"]): x.transpose(perm)),
    "rev": lambda p, e: (lambda x, dims=tuple(p["dimensions"]): np.flip(x, dims)),
}
