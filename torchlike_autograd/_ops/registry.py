"""What an operator entry is, and the checks that run when it is declared (layer 2).

One operator, one entry: the ATen schema gives identity, signature and aliasing; the decorated body is a pure JAX function
with arrays positional and everything that shapes the program by keyword.  Function, method, ``_`` twin,
``out=``, node name, saved attributes and tests are made from the entry, never written by hand.

How a body is called:
* every ``Tensor`` parameter positionally, in schema order, as an array of its final dtype (promotion has happened; `None` for an absent
  ``Tensor?``; a tuple for ``Tensor[]``); where `scalars` names a Tensor parameter a Python number may stand there and
  arrives as a 0-dim array of the promoted dtype;
* parameters named in `lift` by keyword as 0-dim arrays (runtime arguments: never part of a program's key), or `None`;
* everything else by keyword as plain hashable Python values (tuples for lists, `dtype` objects for ScalarType).
A body raises torch's exceptions itself: it runs abstractly when the call is recorded.

Complex gradients, casts, broadcasting of ranks and the reduction of broadcast gradients are done around the body.
"""

from __future__ import annotations

import enum
import functools
import inspect

from . import schema as _schema
from .memory import elementwise

__all__ = ["NONE", "OPS", "REFUSALS", "SMOOTH", "UNIMPLEMENTED", "Op", "Promote", "at", "call", "fails", "op", "real", "rule"]

SMOOTH = "smooth"
NONE = "none"  # the output never requires grad
REFUSALS = (RuntimeError, IndexError, TypeError, ValueError)  # what a pullback that is asked for may raise: backward says it, nobody else
UNIMPLEMENTED = "unimplemented"  # the output requires grad and backward raises, as in torch
BODY = "body"

OPS: dict = {}  # schema key -> Op, in order of declaration
BY_NAME: dict = {}  # public name -> [Op] in the order in which overloads are tried


class Promote(enum.Enum):
    """How inputs are cast before the body sees them."""

    NONE = "none"  # as they are
    RESULT = "result"  # all to the result type
    FLOAT = "float"  # the result type, integers and bool to the default float
    SUM = "sum"  # bool and integers to int64 unless `dtype` is given; `dtype` casts
    BOOL = "bool"  # all to bool (logical functions)
    SAME = "same"  # no cast; operands must agree (matrix products)


class rule:
    """A jvp rule: ``f(out, primals, tangents, **keywords) -> tangent of out``, linear in `tangents`.

    `primals` are the body's positional array arguments; `tangents` match them (None where the argument is integral or absent).
    """

    def __init__(self, f):
        self.f = f


class Op:
    """One operator entry; see the module docstring and `op` for the fields."""

    def __init__(self, body, schema_text, **fields):
        self.schema = _schema.parse(schema_text)
        self.key = self.schema.key
        self.name = self.schema.name
        self.body = body
        self.__dict__.update(fields)
        self.params = self.schema.params
        self.tensor_params = [p for p in self.params if p.kind.startswith("Tensor")]
        self.is_view = self.untracked or (any(r.alias for r in self.schema.returns) and not any(p.writes for p in self.params))
        self.out = self.out and not self.is_view
        self.multi = len(self.schema.returns) > 1 or (bool(self.schema.returns) and self.schema.returns[0].kind.endswith("[]"))
        self.rule = self.derivative.f if isinstance(self.derivative, rule) else None
        self.specs, self.families = {}, {}  # see spec.spec_of and symbolic.py
        _check(self)

    @functools.cached_property
    def doc(self):
        """What is said of it."""
        return inspect.getdoc(self.body)

    def __repr__(self):
        return f"<op {self.key}>"


def _parameters(body):
    """Names of the parameters of a body."""
    code = inspect.unwrap(body).__code__
    return set(code.co_varnames[:code.co_argcount + code.co_kwonlyargcount])


def _check(entry):
    if entry.key in OPS:
        raise ValueError(f"operator {entry.key} is declared twice")
    names = {p.name for p in entry.params}
    body_names = _parameters(entry.body)
    if names != body_names:
        raise ValueError(f"{entry.key}: the body takes {sorted(body_names)}, the schema {sorted(names)}")
    for field in ("lift", "scalars"):
        for name in getattr(entry, field):
            if name not in names:
                raise ValueError(f"{entry.key}: {field} names {name!r}, which is no parameter")
    for wrt, kept in entry.saves.items():
        for name in (wrt, *kept):
            if name not in names and name != "factors" and not name.startswith("result"):
                raise ValueError(f"{entry.key}: saves names {name!r}, which is no parameter")
    if not entry.samples:
        raise ValueError(f"{entry.key} has no samples")
    if entry.kinks is None:
        raise ValueError(f"{entry.key}: say kinks=[...] or kinks=SMOOTH")


def op(schema, *, node=None, promote=Promote.NONE, saves=None, derivative=BODY, lift=(), scalars=(), aliases=(), names=None,
       promote_with=None, inplace=None, out=True, samples=(), kinks=None, errors=(), write=None, layout=None, nondiff=(),
       nondiff_out=(), bake=None, opmath=None, fields=None, result_name=None, varargs=None, multi_view=False, method=True, function=True, host=False,
       guard=None, guard_error=None, zero_second=None, second=None, silent=None, empty=None, refuses=None, refuses_again=None, refuse=None, check=None, says=None, wide=(), untracked=False,
       forward=True, tangent=None, holds=None, real_only=False, sparse=None, lies=BODY, uncast=(), pairwise=False, refuses_data=None):
    """Declare an operator.

    schema: the ATen schema; node: `grad_fn` name (None with derivative=NONE); promote: see `Promote`; saves: {differentiated
    input: (what torch keeps for its gradient, ...)}, with "result" (or "result0", "result1", ...) for outputs and "factors" for the other tensors of a list: only those that torch saves
    (they drive the version check and the "second time" error); derivative: BODY (the body's own JAX derivative is torch's), `rule(f)`, NONE or
    UNIMPLEMENTED; lift: scalar and integer parameters passed as runtime arguments; scalars: Tensor parameters where a Python number may stand;
    aliases: further public names ("clip", "special.expit", "linalg.norm"); names: replaces the default public names
    ("torch.X" and "Tensor.X"); promote_with: parameters that take part in promotion (default: every Tensor parameter and every
    number standing for one); inplace: make the ``X_`` twin (default: for promoted operators with one output);
    out: make ``out=``; samples/kinks/errors: data for the tests; write: for views,
    ``write(base, new, **keywords)`` puts a new view value back into the base (default: scatter by an index map);
    layout: for views, ``layout(shape, strides, offset, **keywords) -> (shape, strides, offset)`` in elements;
    nondiff: Tensor parameters that get no gradient although floating, or ``nondiff(**statics)`` that names them; nondiff_out: indices of outputs that do not require grad; bake: {name:
    predicate} lifted values that become structure where the predicate holds; opmath: compute half
    precision in float32 (default: for promoted operators); fields: names of the named tuple returned, with result_name its type;
    varargs: name of an int[] parameter that may be given as separate arguments (view, permute); multi_view: outputs are several views of
    one input (in-place on them is an error); host: the body runs on concrete NumPy arrays (data-dependent shapes);
    guard: for errors that depend on data, ``guard(*arrays, **keywords) -> integer``, 0 where all is well; it runs with the program, and the next
    look raises ``guard_error(code, *shapes of the arrays, **statics)``; zero_second: torch's gradient is an operator with a (zero) derivative of its own,
    as for relu, so that it requires grad although it depends on its input only through comparisons
    (or ``zero_second(*types, **statics)`` saying where; the input is kept for it then;
    by default where `second` is given);
    second: the operator of torch's gradient where that has no derivative, or {parameter: operator}: backward through it raises; silent: ``silent(*types, **statics)`` says where torch sends
    an undefined gradient on, which counts as none; empty: where an operand has no elements torch's gradient is "constant" (no function of the inputs), or
    has a gradient of its own for none of them ("once"; with elements it has one for what it read), or there is none for the parameters named; refuses: ``refuses(types, result type, parameters, **statics)`` raises where torch's gradient of these parameters fails; refuses_again:
    ``refuses_again(parameters whose gradients are differentiated, parameters given)`` where the derivative of gradients fails; check: ``check(types, result dtype, statics)``
    raises for types that torch refuses before it casts; types: {parameter: Aval of what stands there}, device "number" for Python numbers;
    says: ``says(type of the first input, statics)``, the texts of the warnings that come with every such call; wide: operands
    that, as a number or 0-dim, are not rounded to half precision before the computation in float32 (lifted parameters are not, but for alpha); untracked: the
    outputs share memory with the input but are no views for autograd (give layout); refuse: ``refuse({output: cotangent}, outputs)`` raises for arrays
    of cotangents that torch looks at before it computes a gradient; it is called where a complex output has a cotangent;
    forward: False where torch has no forward derivative and refuses dual numbers, or the name that it says then;
    or ``forward(**statics)``, false where it gives no tangent;
    tangent: a jvp rule (as `rule` takes it) for forward mode, where torch's tangent is not what its gradient is the transpose of; BODY: the body asks for it;
    holds: {lifted parameter: how (see held.py) its number must fit the result's dtype}: one that does not fit is refused at each call;
    sparse: the option that asks for a sparse gradient of the first input;
    lies: how the results lie in memory (memory.py): asked where an operand does not lie row by row, or each time where it says so; None: they always lie
    row by row (default: element by element for promoted operators, None for others);
    uncast: parameters that take part in promotion but reach the body as they are;
    refuses_data: (``which(**statics)``, ``f({parameter: array}, shape of the first input, **statics)``), where the gradient of the parameter that `which` names,
    or None, has no derivative for some data: f is called before that would be computed, and raises;
    pairwise: each result depends on the input in its own place alone;
    real_only: complex results that would require grad are refused (under that name, where it is one).
    """

    def declare(body):
        promoted = promote in (Promote.RESULT, Promote.FLOAT, Promote.BOOL)
        entry = Op(
            body, schema, node=node, promote=promote, saves=dict(saves or {}), derivative=derivative, lift=tuple(lift), scalars=tuple(scalars),
            aliases=tuple(aliases), names=names, promote_with=promote_with, inplace=promoted if inplace is None else inplace, out=out,
            samples=samples, kinks=kinks, errors=errors, write=write, layout=layout, nondiff=nondiff if callable(nondiff) else tuple(nondiff),
            nondiff_out=tuple(nondiff_out), bake=dict(bake or {}), opmath=promoted if opmath is None else opmath, fields=fields, result_name=result_name,
            varargs=varargs, multi_view=multi_view, method=method, function=function, host=host, guard=guard, guard_error=guard_error, zero_second=zero_second,
            second=second, silent=silent, empty=empty, refuses=refuses, refuses_again=refuses_again, refuse=refuse, check=check, says=says, wide=tuple(wide), untracked=untracked, forward=forward, tangent=tangent,
            holds=holds, real_only=real_only, sparse=sparse, uncast=tuple(uncast), pairwise=pairwise, refuses_data=refuses_data, lies=(elementwise if promoted else None) if lies is BODY else lies)
        OPS[entry.key] = entry
        BY_NAME.setdefault(entry.name, []).append(entry)
        body.op = entry
        return body

    return declare


# Samples: data that the tests turn into tensors of either module.

class real:
    """Random reals of a shape in [low, high), the same for everyone (seeded by position)."""

    def __init__(self, *shape, low=-2.0, high=2.0, dtype="float64", grad=True):
        self.shape, self.low, self.high, self.dtype, self.grad = shape, low, high, dtype, grad


class at:
    """Given values: a flat list, or nested lists."""

    def __init__(self, *values, dtype="float64", grad=True):
        self.values = values[0] if len(values) == 1 and isinstance(values[0], list) else list(values)
        self.dtype, self.grad = dtype, grad


class call:
    """Arguments of one call."""

    def __init__(self, *args, **kwargs):
        self.args, self.kwargs = args, kwargs


class fails:
    """A call that must raise `kind` with `message` in its text."""

    def __init__(self, call, kind, message=""):
        self.call, self.kind, self.message = call, kind, message
