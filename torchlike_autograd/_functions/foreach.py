"""torch._foreach_*: one operation over lists of tensors (layer 7), as libraries' optimizers and gradient clipping call them.

Each is the operation on every tensor in turn; recorded together they run as one program.  Functions give a tuple, the ``_`` twins write and give the
list.  Gradients are those of the single operations; but for the extremes of numbers, nodes carry the names of these.
"""

from __future__ import annotations

import functools
import inspect
import math

from .._core.composite import COMPOSITES, composite, named
from .._core.dispatch import check_inplace, run
from .._core.numeric import check_number
from .._core.record import number_kind, record_op, thread
from .._core.storage import as_detached, write
from .._core.words import type_name
from .._ops import lists as _lists_ops
from .._ops.conventions import cxx_of
from .._ops.registry import OPS
from .._ops.spec import spec_of
from .._tensor import Tensor
from .create import full
from .pointwise import twin_of

_ops = (_lists_ops,)

UNARY = ("abs", "acos", "asin", "atan", "ceil", "cos", "cosh", "erf", "erfc", "exp", "expm1", "floor", "frac", "lgamma", "log", "log10", "log1p", "log2",
         "neg", "reciprocal", "round", "rsqrt", "sigmoid", "sign", "sin", "sinh", "sqrt", "tan", "tanh", "trunc")
BINARY = {"add": ("alpha",), "sub": ("alpha",), "mul": (), "div": (), "clamp_max": (), "clamp_min": (), "maximum": (), "minimum": (), "pow": ()}
NUMBERED = ("maximum", "minimum")  # of a list and numbers one operator, see `_ops/lists`
BY_TENSOR = ("add", "mul", "div")
TERNARY = ("addcdiv", "addcmul")
_ABSENT = object()


def _lists(name, self, *others):
    """The checked lists: tensors, at least one, as many in each."""
    _tensors(name, self)
    for x in others:
        if not isinstance(x, (list, tuple)):
            raise TypeError(f"_foreach_{name}(): argument 'self' must be tuple of Tensors, not {type_name(x)}")
    if not len(self):
        raise RuntimeError("Tensor list must have at least one tensor.")
    for x in others:
        if len(x) != len(self):
            raise RuntimeError(f"Tensor lists must have the same number of tensors, got {len(self)} and {len(x)}")
    return (self, *others)


def _tensors(name, self):
    if not isinstance(self, (list, tuple)):
        raise TypeError(f"_foreach_{name}(): argument 'self' (position 1) must be tuple of Tensors, not {type_name(self)}")
    for i, x in enumerate(self):
        if not isinstance(x, Tensor):
            raise TypeError(f"expected Tensor as element {i} in argument 0, but got {type_name(x)}")


def _taking(most):
    """torch's errors for other than one list and up to `most` - 1 arguments more that follow it, each with a default."""

    def decorate(f):
        public = f"_{f.__name__}" if f.__name__.startswith("foreach_") else f.__name__
        known = list(inspect.signature(f).parameters)

        @functools.wraps(f)
        def checked(*args, **kwargs):
            if len(args) > most:
                takes = "1 positional argument" if most == 1 else f"from 1 to {most} positional arguments"
                raise TypeError(f"{public}() takes {takes} but {len(args)} were given")
            if not args and "self" not in kwargs:
                raise TypeError(f'{public}() missing 1 required positional arguments: "self"')
            for name in kwargs:
                if name not in known:
                    raise TypeError(f"{public}() got an unexpected keyword argument '{name}'")
            return f(*args, **kwargs)

        return checked

    return decorate


def _each(name, self, other):
    """What stands on the right of each tensor."""
    _lists(name, self)
    if isinstance(other, Tensor):
        if name not in BY_TENSOR:
            return [other] * len(self)
        if other.ndim != 0:
            raise RuntimeError(f"scalar tensor expected to be 0 dim but it has {other.ndim} dimensions and {other.numel()} elements.")
        return [other] * len(self)
    if not isinstance(other, (list, tuple)):
        return [other] * len(self)
    if any(isinstance(x, Tensor) for x in other):
        for i, x in enumerate(other):
            if not isinstance(x, Tensor):
                raise TypeError(f"expected Tensor as element {i} in argument 1, but got {type_name(x)}")
        return _lists(name, self, other)[1]
    if len(other) != len(self):
        raise RuntimeError("Tensor list must have same number of elements as scalar list.")
    return other


def _writable(self):
    """torch's error where one of the tensors may not be written: none of them is then."""
    for x in self:
        if isinstance(x, Tensor):
            check_inplace(x)


def _publish(name, f, write, alone=False):
    """The function and its twin: ``f(operation, *arguments)`` applies an operation to every tensor."""

    def foreach(self, *args, **kwargs):
        return tuple(f(named_operation(name), self, *args, **kwargs))

    def foreach_(self, *args, **kwargs):
        _tensors(f"{name}_", self)
        _writable(self)
        list(f(write, self, *args, **kwargs))
        return self

    for made, public in ((foreach, f"_foreach_{name}"), (foreach_, f"_foreach_{name}_")):
        made.__name__ = public
        made.__doc__ = f"`{name}` on every tensor of a list."
        composite(f"torch.{public}")(_taking(1)(made) if alone else made)


@functools.cache
def _against(name):
    """maximum or minimum, also of a number."""
    f = named(name)

    def operation(x, y):
        return f(x, y if isinstance(y, Tensor) else full((), y, dtype=COMPOSITES["torch.result_type"](x, y)))

    return operation


def _write_extreme(name, x, y):
    made = COMPOSITES["torch.result_type"](x, y)
    if made.category > x.dtype.category:
        own = x.dtype.char_name if isinstance(y, Tensor) else cxx_of(x.dtype)
        raise RuntimeError(f"result type {made.char_name} can't be cast to the desired output type {own}")
    return x.copy_(_against(name)(x, y))


def named_operation(name):
    """The operation on one tensor: torch's function of that name."""
    if name in ("maximum", "minimum"):
        return _against(name)
    found = COMPOSITES.get(f"torch.{name}")
    return found if found is not None else named(name)


def _twin(name):
    if name in ("maximum", "minimum"):
        return functools.partial(_write_extreme, name)
    found = COMPOSITES.get(f"Tensor.{name}_")
    return found if found is not None else twin_of(name)


def _unary(name):
    def apply(operation, self):
        return [operation(x) for x in _lists(name, self)[0]]

    _publish(name, apply, lambda x: _twin(name)(x), alone=True)


def _binary(name, extra):
    def apply(operation, self, *others, other=_ABSENT, scalar=_ABSENT, scalars=_ABSENT, exponent=_ABSENT, **options):
        given = [x for x in (*others, other, scalar, scalars, exponent) if x is not _ABSENT]
        if len(given) != 1 or set(options) - set(extra):
            raise TypeError(f"_foreach_{name}() received an invalid combination of arguments")
        if name == "pow" and not isinstance(self, (list, tuple)):
            return [operation(self, x) for x in _lists(name, given[0])[0]]
        if whole is not None:
            given = [_numbers(name, self, given[0])]
        each = _each(name, self, given[0])
        if operation is whole and not isinstance(each[0], Tensor) and all(x.dtype.is_floating_point for x in self):
            return _of_numbers(name, self, given[0])
        return [operation(x, y, **options) for x, y in zip(self, each, strict=True)]

    whole = named_operation(name) if name in NUMBERED else None
    _publish(name, apply, lambda x, *a, **k: _twin(name)(x, *a, **k))


def _numbers(name, self, given):
    """What an extreme is taken of: lists, a number for a 0-dim tensor too."""
    given = given.item() if isinstance(given, Tensor) and not given.ndim else given
    if not isinstance(given, (list, tuple, int, float, complex)):
        raise TypeError(f"_foreach_{name}() received an invalid combination of arguments - got (list, {type_name(given)})")
    if any(isinstance(y, complex) for y in (given if isinstance(given, (list, tuple)) else (given,))):
        raise NotImplementedError("clamp is not supported for complex types")
    return given


def _of_numbers(name, self, given):
    """The operator over the whole list, which has one node."""
    for x, y in zip(self, _each(name, self, given)):
        check_number(y, x.dtype)
    if isinstance(given, (list, tuple)):
        return run(spec_of(OPS[f"_foreach_{name}.ScalarList"], (("scalars", tuple(given)),), (("L", len(self)),)), self)
    return run(spec_of(OPS[f"_foreach_{name}.Scalar"], (), (("L", len(self)), number_kind(given))), (*self, given))


def _ternary(name):
    def apply(operation, self, *given, tensor1=_ABSENT, tensor2=_ABSENT, scalars=_ABSENT, value=_ABSENT):
        given = [*given, *(x for x in (tensor1, tensor2, scalars, value) if x is not _ABSENT)]
        if not 2 <= len(given) <= 3:
            raise TypeError(f"_foreach_{name}() received an invalid combination of arguments")
        tensor1, tensor2 = given[:2]
        scalars, value = given[2] if len(given) == 3 and value is _ABSENT else _ABSENT, value
        _lists(name, self, tensor1, tensor2)
        by = scalars if scalars is not _ABSENT else 1 if value is _ABSENT else value
        if isinstance(by, Tensor):
            if not by.is_contiguous():
                raise RuntimeError("Expected scalars to be contiguous.")
            if by.ndim != 1:
                raise RuntimeError(f"Expected packed scalar Tensor to be of dimension 1. Got {by.ndim} instead.")
            if by.shape != (len(self),):
                raise RuntimeError(f"Expected length of scalars to match input of length {len(self)} but got {by.numel()} instead.")
            by = by.tolist()
        each = _each(name, self, by)
        return [operation(x, a, b, value=v) for x, a, b, v in zip(self, tensor1, tensor2, each, strict=True)]

    _publish(name, apply, lambda x, *a, **k: _twin(name)(x, *a, **k))


def _lerp(operation, self, tensors1, weights=_ABSENT, *, weight=_ABSENT):
    weights = weight if weights is _ABSENT else weights
    _lists("lerp", self, tensors1)
    each = _each("lerp", self, weights)
    return [operation(x, y, w) for x, y, w in zip(self, tensors1, each, strict=True)]


for _name in UNARY:
    _unary(_name)
for _name, _extra in BINARY.items():
    _binary(_name, _extra)
for _name in TERNARY:
    _ternary(_name)
_publish("lerp", _lerp, lambda x, *a: _twin("lerp")(x, *a))


# Reductions, copies

@composite("torch._foreach_norm")
@_taking(3)
def foreach_norm(self, ord=2, dtype=None):
    """The vector norm of every tensor."""
    _lists("norm", self)
    if ord == math.inf and any(not x.numel() for x in self):
        raise RuntimeError("_foreach_norm cannot compute the infinity norm on an empty tensor because the operation does not have an identity")
    return tuple(named("linalg_vector_norm")(x, ord, dtype=dtype) for x in self)


@composite("torch._foreach_powsum")
@_taking(3)
def foreach_powsum(self, ord=2, dtype=None):
    """The sum of |x|^ord of every tensor."""
    _lists("powsum", self)
    return tuple(named("sum")(named("pow")(named("abs")(x), ord), dtype=dtype) for x in self)


@composite("torch._foreach_max")
@_taking(1)
def foreach_max(self):
    """The largest element of every tensor."""
    _lists("max", self)
    if any(not x.numel() for x in self):
        raise RuntimeError("_foreach_max cannot compute the maximum of an empty tensor; max over zero elements is undefined.")
    return tuple(x.max() for x in self)


@composite("torch._foreach_mm")
def foreach_mm(self, mat2):
    """The matrix product of every pair."""
    return tuple(named("mm")(x, y) for x, y in zip(*_lists("mm", self, mat2), strict=True))


@composite("torch._foreach_clone")
@_taking(1)
def foreach_clone(self, *, memory_format=None):
    """A copy of every tensor."""
    return tuple(x.clone() for x in _lists("clone", self)[0])


@composite("torch._foreach_zero_")
@_taking(1)
def foreach_zero_(self):
    """Zeros written into every tensor."""
    _writable(_lists("zero_", self)[0])
    for x in self:
        x.zero_()
    return self


@composite("torch._foreach_copy_")
def foreach_copy_(self, src, non_blocking=False):
    """Every tensor overwritten with its partner."""
    _lists("copy_", self, src)
    _writable(self)
    given = thread.state.grad and next((y._tl_value() for y in src if y._tl_value().needs), None)
    for x, y in zip(self, src, strict=True):
        old = x._tl_value()
        x.copy_(y.detach())
        if given or (thread.state.grad and old.needs):
            _replace(x, record_op(_COPIED, (as_detached(x._tl_value()), old if old.needs else given))[0])
    return self


def _replace(x, v):
    """Let `x`, which was just written to, have this history: torch has no formula for the copy."""
    versions = x._tl_counter.n
    write(x, v)
    x._tl_counter.n = versions


_COPIED = spec_of(OPS["_foreach_copied"], (), ("T", "T"))


__all__ = ["foreach_clone", "foreach_copy_", "foreach_max", "foreach_mm", "foreach_norm", "foreach_powsum", "foreach_zero_", "named_operation"]
