"""Functions, methods, ``_`` twins and ``out=`` made from the op table (layer 6).

A public name has one or more overloads.  A call is bound by the first whose parameters take the arguments; the answer is remembered by
the types of the arguments (and by their values where they are structure), so that the second call of a kind costs a dictionary lookup.
"""

from __future__ import annotations

import operator

import numpy as np

from .._ops.registry import BY_NAME
from .._ops.schema import REQUIRED
from .._ops.spec import spec_of
from .._tensor import Tensor
from . import deprecated, devices, dtypes, errors, overriding
from .dispatch import inplace, into, run
from .hot import PLAIN, binary, twin, unary, view, with_number, wrapped
from .overriding import Overridden
from .record import number_kind
from .shapes import Ints, as_long, is_index_array

NUMBERS = (float, int, bool, complex)
_ALIASES = {"input": "self", "axis": "dim", "keepdims": "keepdim", "x": "self", "a": "self", "x1": "self", "x2": "other",
            "element": "elements", "test_element": "test_elements"}


# parameters that ATen takes as plain 64-bit integers: of tensors only those without dims stand for them; sizes and counts take any tensor of one element
PLACES = frozenset(["dim", "dim0", "dim1", "dim2", "axis0", "axis1", "source", "destination", "start_dim", "end_dim", "offset", "chunks", "dimension"])


class Mismatch(TypeError):
    """This overload does not take these arguments."""


# Converters: ATen kind -> f(value) giving the structural value, or Mismatch

def _int(x):
    if type(x) is int:
        return as_long(x)
    if isinstance(x, (bool, np.bool_)):
        raise Mismatch
    if isinstance(x, (int, np.integer)) or (isinstance(x, Tensor) and x.dtype.category == dtypes.INT and x.numel() == 1):
        return operator.index(x)
    raise Mismatch


def _bool(x):
    if isinstance(x, bool):
        return x
    raise Mismatch


def _float(x):
    if isinstance(x, (float, int, np.floating, np.integer)):
        return float(x)
    if isinstance(x, Tensor) and x.numel() == 1 and not x._tl_needs:
        return float(x.item())
    raise Mismatch


def number(x):
    """A Python number from a number, a NumPy scalar or a 0-dim tensor that needs no grad."""
    if type(x) in NUMBERS:
        if type(x) is int and not -(1 << 63) <= x < 1 << 64:
            raise errors.too_big(x)
        return x
    if isinstance(x, bool):
        return x
    if isinstance(x, (int, np.integer)):
        return int(x)
    if isinstance(x, (float, np.floating, np.bool_)):  # a bool of NumPy's is a float to torch
        return float(x)
    if isinstance(x, (complex, np.complexfloating)):
        return complex(x)
    if isinstance(x, Tensor) and x.ndim == 0 and not x._tl_needs:
        return x.item()
    raise Mismatch


def _ints(x, fill):
    if isinstance(x, (list, tuple)):
        try:
            return tuple([int(i) if k and isinstance(i, (bool, np.bool_)) else _int(operator.index(i) if is_index_array(i) else i)
                          for k, i in enumerate(x)])  # only the first says whether they are ints
        except ValueError:  # more than 64 bits: torch's TypeError says where, for a number alone it is this
            raise Mismatch from None
    if isinstance(x, Tensor) and fill is None:
        raise Mismatch
    if fill is not None:
        return (_int(x),) * fill
    raise Mismatch


def _str(x):
    if isinstance(x, str):
        return x
    raise Mismatch


def _dtype(x):
    if isinstance(x, dtypes.dtype):
        return x
    builtin = {float: dtypes.float64, int: dtypes.int64, bool: dtypes.bool_, complex: dtypes.complex128}.get(x) if isinstance(x, type) else None
    if builtin is None:
        raise Mismatch
    return builtin


def convert(param, x):
    """A structural value from an argument."""
    kind = param.kind
    if isinstance(x, Tensor) and x.ndim and kind == "int" and param.name in PLACES:
        raise Mismatch
    if x is None:
        if param.optional or param.default is None:
            return None
        if param.kind == "int[]" and param.default == ():  # the parser reads an empty default as None
            return ()
        raise Mismatch
    if kind == "int":
        return _int(x)
    if kind == "bool":
        return _bool(x)
    if kind == "float":
        return _float(x)
    if kind == "Scalar":
        return number(x)
    if kind == "int[]":
        return _ints(x, param.fill)
    if kind == "str":
        return _str(x)
    if kind == "ScalarType":
        return _dtype(x)
    if kind in ("float[]", "Scalar[]", "bool[]"):
        if not isinstance(x, (list, tuple)):
            raise Mismatch
        return tuple(float(i) if kind == "float[]" else i for i in x)
    if kind == "Device":
        return str(devices.device(x))
    return x


_NUMBERS = ("alpha", "beta", "value")  # never None in torch; where it is a default here nothing is to be multiplied


def bind(op, args, kwargs, spread=True):
    """(spec, flat) of a call, or Mismatch; `spread`: whether ints may stand one by one for a list of them, as in methods."""
    params = op.params
    values = _assign(op, params, args, kwargs, spread)
    statics, pattern, flat = [], [], []
    for p in params:
        x = values.get(p.name, REQUIRED)
        if x is None and p.name in _NUMBERS:
            raise Mismatch
        if x is REQUIRED:
            x = p.default
            if x is REQUIRED:
                raise Mismatch
        if p.kind == "Tensor":
            _bind_tensor(op, p, x, pattern, flat)
        elif p.kind.startswith("Tensor"):
            _bind_list(p, x, pattern, flat)
        elif p.name in op.lift:
            _bind_number(op, p, x, pattern, flat, statics)
        else:
            statics.append((p.name, convert(p, x)))
    return spec_of(op, tuple(statics), tuple(pattern)), flat


def _one_int(x):
    return isinstance(x, (int, np.integer)) or is_index_array(x) or (isinstance(x, Tensor) and x.numel() == 1)


def _assign(op, params, args, kwargs, spread=True):
    if spread and op.varargs and args[1:] and all(_one_int(a) for a in args[1:]) and not isinstance(args[1], bool):
        args = (args[0], (args[1], *(int(a) if isinstance(a, bool) else a for a in args[2:])))  # only the first says whether they are ints
    n = sum(not p.kw_only for p in params)
    if len(args) > n:
        raise Mismatch
    values = dict(zip([p.name for p in params], args))
    for k, x in kwargs.items():
        name = k if any(p.name == k for p in params) else _ALIASES.get(k, k)
        if name in values or not any(p.name == name for p in params):
            raise Mismatch
        if k == "self" and not spread and params[0].kind == "Tensor":  # a tensor's name in Python is `input`
            raise Mismatch
        values[name] = x
    return values


def _bind_tensor(op, p, x, pattern, flat):
    if isinstance(x, Tensor):
        pattern.append("T")
        flat.append(x)
    elif x is None and (p.optional or p.default is None):
        pattern.append("N")
    elif p.name in op.scalars:
        x = number(x)
        pattern.append(number_kind(x))
        flat.append(x)
    else:
        raise Mismatch


def _bind_list(p, x, pattern, flat):
    if not isinstance(x, (list, tuple)) or not all(isinstance(t, Tensor) for t in x):
        raise Mismatch
    pattern.append(("L", len(x)))
    flat.extend(x)


def _bind_number(op, p, x, pattern, flat, statics):
    if x is None:
        if not (p.optional or p.default is None):
            raise Mismatch
        pattern.append("N")
        return
    x = _int(x) if p.kind == "int" else _float(x) if p.kind == "float" else number(x)
    bake = op.bake.get(p.name)
    if bake is not None and bake(x, flat):
        pattern.append("N" + number_kind(x))  # 1, 1.0 and True are equal as keys
        statics.append((p.name, x))
        return
    pattern.append(number_kind(x))
    flat.append(x)


# Error text of a call that no overload takes

_KIND_WORDS = {"Tensor": "Tensor", "Tensor[]": "tuple of Tensors", "int": "int", "int[]": "tuple of ints", "bool": "bool", "float": "float",
               "Scalar": "Number", "str": "str", "ScalarType": "torch.dtype", "Device": "torch.device"}


def _signature(op, method):
    parts, star = [], False
    for p in op.params[1:] if method else op.params:
        if p.kw_only and not star:
            parts.append("*")
            star = True
        text = f"{_KIND_WORDS.get(p.kind, p.kind)} {'input' if p.name == 'self' else p.name}"
        parts.append(text if p.default is REQUIRED and not p.optional else f"{text} = {None if p.default is REQUIRED else p.default}")
    if op.out and not method:
        parts += ["Tensor out = None"] if star else ["*", "Tensor out = None"]
    return f"({', '.join(parts)})"


def _paths(name, method):
    if method:
        return (f"Tensor.{name}",)
    for part in ("linalg", "special"):
        if name.startswith(f"{part}_"):
            return (f"torch.{part}.{name[len(part) + 1:]}",)
    return f"torch.{name}", f"torch.nn.functional.{name}", f"torch._C._nn.{name}"


def _recorded(name, args, kwargs, method):
    """torch's TypeError by the signatures that are recorded of a function, or None."""
    from . import words

    for path in _paths(name, method):
        found = words.known(path)
        error = words.complaint(*found, args[1:] if method else args, kwargs, method) if found is not None else None
        if error is not None:
            return error
    return None


def no_match(name, ops, args, kwargs, method):
    """torch's TypeError for arguments that fit no overload."""
    from . import words

    error = _recorded(name, args, kwargs, method)
    if error is not None:
        return error
    shown = args[1:] if method else args
    signatures = [words.Signature(_signature(o, method)) for o in ops]
    error = words.complaint(name, len(ops) > 1, signatures, shown, kwargs, method)
    if error is not None:
        return error
    got = ", ".join([words.type_name(a) for a in shown] + [f"{k}={words.type_name(v)}" for k, v in kwargs.items()])
    return TypeError(f"{name}() received an invalid combination of arguments - got ({got}), but expected {signatures[0].text}")


def resolve(name, ops, args, kwargs, method=False, spread=True):
    """(spec, flat) by the first overload that takes the arguments."""
    for op in ops:
        try:
            return bind(op, args, kwargs, spread)
        except Mismatch:
            continue
    raise no_match(name, ops, args, kwargs, method)


# Remembering how a kind of call was bound

def _of_lists(pick, table, every):
    """What is known of a call with lists, as of one with tuples; None for one with arrays in them."""
    try:
        return table.get(pick([tuple(x) if type(x) is list else x for x in every]))
    except TypeError:
        return None


class Recipes:
    """Answers of `resolve` for calls of one kind: the same types, names and structural values; tensors and runtime numbers may differ."""

    __slots__ = ("kinds", "known", "method", "name", "ops", "policy", "public")

    def __init__(self, name, ops, method):
        self.name, self.ops, self.method = name, ops, method
        self.known = {}  # what `make_function` remembers
        self.policy = None  # while autocast is on, what casts the arguments of a call and raises `Overridden` with its result
        self.public = None  # the function that `__torch_function__` is told of; None for one that only the package calls
        self.kinds = {}  # (types, names, types of keywords) -> (picker of structure, {values: (spec, picker of flat, its places)}, places of structure)

    def find(self, args, kwargs):
        """(spec, flat) of a call."""
        if kwargs:
            every = (*args, *kwargs.values())
            kind = (*map(type, every), *kwargs)
        else:
            every = args
            kind = (*map(type, args),)
        known = self.kinds.get(kind)
        if known is not None:
            pick, table, _ = known
            try:
                found = table.get(pick(every))
            except TypeError:
                found = _of_lists(pick, table, every)
            if found is not None:
                return found[0], found[1](every)
        if self.public is not None and overriding.ACTIVE:
            overriding.checked_find(self.public, args, kwargs)
        if self.policy is not None:
            self.policy(args, kwargs)
        if self.method and not (args and isinstance(args[0], Tensor)):
            overriding.with_foreign(self.public, args, kwargs)
            raise errors.unbound(self.name, args)
        try:
            spec, flat = resolve(self.name, self.ops, args, kwargs, self.method, self.method or self.public is None)
        except TypeError:
            if self.public is not None:
                overriding.with_foreign(self.public, args, kwargs)
            again = deprecated.modern(self.name, self.method, args, kwargs)
            if again is None:
                raise
            return self.find(*again)
        if not overriding.ACTIVE or not (overriding.MODES or any(map(overriding.overrides, map(type, every)))):
            self._learn(kind, every, spec, flat)
        return spec, flat

    def _learn(self, kind, every, spec, flat):
        chosen, used, numeric = [], set(), _numeric(spec.op, kind, len(every))
        for x in flat:
            i = next((i for i, y in enumerate(every) if y is x and i not in used and (isinstance(x, Tensor) or i in numeric)), None)
            if i is None:
                return  # converted on the way in, or part of a list
            used.add(i)
            chosen.append(i)
        fixed = tuple(i for i, x in enumerate(every) if i not in used or (spec.op.bake and not isinstance(x, Tensor)))
        values = [Ints(x) if type(x) in (list, tuple) else x for x in every]
        if not all(_plain(values[i]) for i in fixed):
            return
        known = self.kinds.get(kind)
        if known is None or known[2] != fixed:
            known = self.kinds[kind] = (_picker(fixed), {}, fixed)
        if len(known[1]) > 256:
            known[1].clear()
        known[1][known[0](values)] = (spec, _picker(chosen), tuple(chosen))


def _picker(places):
    """f(sequence) -> the tuple of what stands at these places."""
    if len(places) == 1:
        i = places[0]
        return lambda every: (every[i],)
    return operator.itemgetter(*places) if places else lambda every: ()


def _numeric(op, kind, n):
    """Places among the arguments of a call where a number is a runtime number."""
    names = kind[n:]
    given = [p.name for p in op.params][: n - len(names)] + [_ALIASES.get(k, k) if all(p.name != k for p in op.params) else k for k in names]
    return {i for i, name in enumerate(given) if name in op.lift or name in op.scalars}


def _plain(x):
    if type(x) is Ints:
        return all(type(i) is int for i in x)
    return x is None or type(x) in (int, float, bool, complex, str, dtypes.dtype, type)


# Making the public functions

MADE: list = []  # Recipes of every function here, for autocast
MAKING: list = []  # f(recipes), while autocast is on: overloads are made when they are first named, which may be inside of it


def make_function(name, ops, method=False, register=True):
    """The function (or method) `name` over its overloads.

    `known` holds calls that need no binding: by the type of the one further argument where that is a tensor or a runtime number, or by the further
    arguments themselves (with their types: 1, 1.0 and True are equal) where they are structure.
    """
    recipes = Recipes(name, ops, method)
    writing = [o for o in ops if o.out]  # the overloads that take `out`
    writers = recipes if len(writing) in (0, len(ops)) else Recipes(name, writing, method)
    known = recipes.known
    if register:
        for made in (recipes,) if writers is recipes else (recipes, writers):
            MADE.append(made)
            for told in MAKING:
                told(made)

    def function(*args, **kwargs):
        if not kwargs:
            n = len(args)
            if n == 2:
                x, y = args
                if type(x) in PLAIN:
                    kind = type(y)
                    spec = known.get(kind)
                    if spec is not None:
                        return binary(spec, x, y) if kind in PLAIN else with_number(spec, x, y)
                    if kind is int:
                        spec = known.get((kind, y))
                        if spec is not None:
                            return view(spec, x) if spec.op.is_view else unary(spec, x)
            elif n == 1:
                x = args[0]
                if type(x) in PLAIN:
                    spec = known.get(None)
                    if spec is not None:
                        return unary(spec, x)
        elif not method and "out" in kwargs:
            return with_out(args, **kwargs)
        try:
            spec, flat = recipes.find(args, kwargs)
        except Overridden as e:
            return e.result
        if len(flat) == 1:
            if spec.single_view:
                if not kwargs:
                    _remember(known, spec, args, flat)
                return view(spec, flat[0])
            if spec.hot:
                if not kwargs:
                    _remember(known, spec, args, flat)
                return unary(spec, flat[0])
        elif spec.hot and not kwargs and len(flat) == 2 == len(args):
            _remember(known, spec, args, flat)
        return run(spec, flat)

    def with_out(args, out, **kwargs):
        if recipes.public is not None and (overriding.ACTIVE or not isinstance(out, (Tensor, tuple, list, type(None)))):
            done, result = overriding.asked(recipes.public, args, {**kwargs, "out": out})
            if done:
                return result
        try:
            spec, flat = (writers if out is None or writers.policy is None else Recipes(name, writing, method)).find(args, kwargs)
        except Overridden as e:
            return e.result
        except TypeError:
            raise no_match(name, ops, args, {**kwargs, "out": out}, method) from None
        if not spec.op.out or (flat and not isinstance(flat[0], Tensor) and spec.op.name in _TENSOR_FIRST):
            raise no_match(name, ops, args, {**kwargs, "out": out}, method)
        if out is None:
            return run(spec, flat)
        if not isinstance(out, (list, tuple) if spec.op.multi else Tensor):
            error = _recorded(name, args, {**kwargs, "out": out}, method)
            if error is not None:
                raise error
        return into(name, spec, flat, out)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = ops[0].doc
    function.ops, function.known, function.kinds, function.recipes = ops, known, recipes.kinds, recipes
    return wrapped(function, known, recipes.kinds, binds=method or name in PYTHONS)


_TENSOR_FIRST = frozenset(("bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_left_shift", "bitwise_right_shift"))  # a number goes first only without `out`
PYTHONS = frozenset(("split",))  # functions of the table that PyTorch has in Python


def _remember(known, spec, args, flat):
    """Note a call of the kinds that `known` holds."""
    x = args[0]
    if type(x) not in PLAIN or flat[0] is not x or overriding.MODES:
        return
    if len(args) == 1:
        if spec.hot:
            known[None] = spec
    elif len(args) == 2:
        y, kind = args[1], type(args[1])
        if len(flat) == 2:
            if flat[1] is y and (kind in PLAIN or (kind in NUMBERS and not spec.op.bake)):
                known[kind] = spec
        elif kind is int and len(known) < 256:
            known[kind, y] = spec


def make_inplace(name, ops):
    """The ``name_`` twin."""
    ops = [o for o in ops if o.inplace]
    recipes, known = Recipes(name + "_", ops, True), {}

    def function(self, *args, **kwargs):
        if not kwargs and len(args) < 2:
            y = args[0] if args else None
            spec = known.get(type(y))
            if spec is not None and (y is not None or not args) and type(self) in PLAIN:
                return twin(spec, self, y, inplace)
        try:
            spec, flat = recipes.find((self, *args), kwargs)
        except Overridden as e:
            return e.result
        if overriding.MODES:
            return inplace(spec, flat, self)
        if len(args) == 1 and not kwargs and len(flat) == 2 and flat[0] is self and flat[1] is args[0] and spec.hot and not spec.op.bake:
            if type(args[0]) in PLAIN or type(args[0]) in NUMBERS:
                known[type(args[0])] = spec
        elif not args and not kwargs and len(flat) == 1 and spec.hot:
            known[type(None)] = spec
        return inplace(spec, flat, self)

    function.__name__ = function.__qualname__ = name + "_"
    function.ops, function.known, function.recipes = ops, known, recipes
    return wrapped(function, known, recipes.kinds, "write")


def public_names():
    """{dotted public path: [ops]} of the whole table."""
    out: dict = {}
    for name, ops in BY_NAME.items():
        for op in ops:
            names = op.names
            if names is None:
                names = ([f"torch.{name}"] if op.function else []) + ([f"Tensor.{name}"] if op.method else [])
            for path in names:
                out.setdefault(path, []).append(op)
            for alias in op.aliases:
                targets = [alias] if "." in alias else ([f"torch.{alias}"] if op.function else []) + ([f"Tensor.{alias}"] if op.method else [])
                for path in targets:
                    out.setdefault(path if path.startswith(("torch.", "Tensor.")) else f"torch.{path}", []).append(op)
    return out


__all__ = ["make_function", "make_inplace", "public_names", "resolve"]
