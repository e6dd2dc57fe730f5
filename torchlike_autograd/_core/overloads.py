"""Operators as objects (layer 6): `torch.ops.aten.mm.default` and its like, one object each, for policies and for calling by ATen names."""

from __future__ import annotations

import functools

from .._ops.registry import BY_NAME, OPS
from .._ops.spec import spec_of
from .._tensor import Tensor
from . import bind, publish, shapes
from .dispatch import check_inplace, inplace, run
from .hot import view
from .indexing import found, put_plan, take_plan
from .overriding import ACTIVE, asked


def _with_self(call, args, /, **kwargs):
    """A call that says `self` by its name in the schema, which is the first argument of nearly every operator; Python's functions call it `input`."""
    own = kwargs.pop("self")
    return call(*args, input=own, **kwargs) if args else call(own, **kwargs)


class OpOverload:
    """One overload of an operator, callable."""

    def __init__(self, packet, overload, call):
        self._overloadpacket, self._overloadname, self._call = packet, overload, call
        self.__name__ = f"{packet.__name__}.{overload}"
        self.__module__ = f"torch._ops.{packet._namespace}"
        self.__qualname__ = self.name()

    def __call__(self, /, *args, **kwargs):
        if ACTIVE:  # subclasses and modes are told of the overload itself
            answered, out = asked(self, args, kwargs, bare={})
            if answered:
                return out
        if ("out" in kwargs) is not (self._overloadname == "out"):
            _refuse_by_schema(self, args, kwargs)
        try:
            out = self._call(*args, **kwargs) if "self" not in kwargs else _with_self(self._call, args, **kwargs)
        except TypeError:
            _refuse_by_schema(self, args, kwargs)
            raise
        return list(out) if type(out) is tuple and self._gives_list else out

    @functools.cached_property
    def _gives_list(self):
        """Whether its one result is several tensors, as far as its schema is known: a list here, a tuple of the functions."""
        try:
            return str(self._schema).endswith("[]")
        except NotImplementedError:
            return False

    @property
    def _schema(self):
        """Its schema."""
        own = getattr(self._call, "schema", None)
        return own if own is not None else SCHEMA[0](self)

    @property
    def _opname(self):
        return self._overloadpacket.__name__

    @property
    def _namespace(self):
        return self._overloadpacket._namespace

    @property
    def _name(self):
        return self.name()

    @property
    def is_view(self):
        """Whether its result shares memory with an argument that it does not write."""
        schema = self._schema
        return not schema.is_mutable and any(a.alias_info is not None for a in schema.arguments)

    @property
    def op(self):
        """What it calls."""
        return self._call

    def decompose(self, *args, **kwargs):
        """What it gives, by the operators that it is made of; NotImplemented for one that is made of none."""
        return NotImplemented if entry_of(self)[0] is not None else self(*args, **kwargs)

    @property
    def overloadpacket(self):
        """The operator of which it is an overload."""
        return self._overloadpacket

    def __deepcopy__(self, memo):
        return self

    @property
    def namespace(self):
        """"aten"."""
        return self._overloadpacket._namespace

    def name(self):
        """Its name in schemas."""
        dotted = "" if self._overloadname == "default" else f".{self._overloadname}"
        return f"{self.namespace}::{self._overloadpacket.__name__}{dotted}"

    def __str__(self):
        return f"{self.namespace}.{self.__name__}"

    def __repr__(self):
        return f"<OpOverload(op='{self.namespace}.{self._overloadpacket.__name__}', overload='{self._overloadname}')>"


SCHEMA: list = []  # what makes the schema of an overload of the table


def _refuse_by_schema(overload, args, kwargs):
    """Raise the RuntimeError of arguments that do not fit the schema, if they do not: Python's functions say it otherwise."""
    entry, inplace = entry_of(overload)
    if entry is not None and not inplace:
        overload._schema.bound(args, kwargs)


def entry_of(found):
    """(the entry of the table behind an overload, whether it is the twin) or (None, False)."""
    name, over = found._overloadpacket.__name__, "" if found._overloadname == "default" else f".{found._overloadname}"
    if found._overloadpacket._namespace != "aten":
        return None, False
    own = OPS.get(f"{name}{over}")
    if own is not None or not name.endswith("_"):
        return own, False
    return OPS.get(f"{name[:-1]}{over}"), True


class OpOverloadPacket:
    """An operator with its overloads as attributes; calling it picks one."""

    def __init__(self, namespace, name, call, made):
        self._namespace, self.__name__, self._call, self._made = namespace, name, call, made
        self.__module__ = f"torch._ops.{namespace}"

    def __call__(self, /, *args, **kwargs):
        if ACTIVE:
            answered, out = asked(self, args, kwargs, bare={})
            if answered:
                return out
        try:
            out = self._call(*args, **kwargs) if "self" not in kwargs else _with_self(self._call, args, **kwargs)
        except TypeError:
            alone = self._alone
            if alone is not None:
                _refuse_by_schema(alone, args, kwargs)
            raise
        return list(out) if type(out) is tuple and self._made and getattr(self, next(iter(self._made)))._gives_list else out

    @property
    def _alone(self):
        """Its one overload, where PyTorch has no other either, as of views: all others have one that writes into `out=`."""
        if len(self._made) != 1:
            return None
        only = getattr(self, *self._made)
        entry, _ = entry_of(only)
        return only if entry is not None and entry.is_view else None

    @property
    def _writes(self):
        """Whether there is an overload `out`: of operators of the table that are no views and do not write to themselves."""
        found = [entry_of(getattr(self, name))[0] for name in ("Tensor", "default") if name in self._made]
        return not self.__name__.endswith("_") and any(entry is not None and not entry.is_view for entry in found)

    def __deepcopy__(self, memo):
        return self

    @property
    def op(self):
        """What it calls."""
        return self._call

    @property
    def _qualified_op_name(self):
        return f"{self._namespace}::{self.__name__}"

    def overloads(self):
        """The names of the overloads that are known here."""
        return list(self._made)

    def __getattr__(self, overload):
        if overload.startswith("_"):  # also a copy that has nothing yet is asked for these
            raise AttributeError(f"'{type(self).__name__}' object has no attribute '{overload}'")
        if overload == "out" and self._writes:
            out = OpOverload(self, overload, self._call)
            setattr(self, overload, out)
            return out
        if overload not in self._made:
            raise AttributeError(f"The underlying op of '{self._namespace}.{self.__name__}' has no overload name '{overload}'")
        out = OpOverload(self, overload, self._made[overload])
        setattr(self, overload, out)
        return out

    def __str__(self):
        return f"{self._namespace}.{self.__name__}"

    def __repr__(self):
        return f"<OpOverloadPacket(op='{self._namespace}.{self.__name__}')>"


def _slice(self, dim=0, start=None, end=None, step=1):
    """A view of every `step`-th element along a dim."""
    if self.ndim == 0:
        raise IndexError("slice() cannot be applied to a 0-dim tensor.")
    dim = shapes.wrap_dim(dim, self.ndim)
    if step <= 0:
        raise RuntimeError("slice step must be positive")
    found = range(*slice(start, end, step).indices(self.shape[dim]))
    return view(spec_of(OPS["_slice"], (("dim", dim), ("length", len(found)), ("step", step)), ("T", "i")), self, found.start)


def _factors(given, input, sizes):
    """The factors of all dims, of which some may be missing; None where all are."""
    if all(f is None for f in given):
        return None
    return [out / n if f is None else f for f, out, n in zip(given, sizes, input.shape[2:])]


def _upsampling(name, call):
    """The packet of an upsampling: with a factor for each dim by its name, or with a list of them in the place of the sizes (`vec`)."""
    corners = ("align_corners",) * ("nearest" not in name)

    def aligned(args, kwargs):
        return [args[i] if i < len(args) else kwargs.pop(word) for i, word in enumerate(corners)], args[len(corners):]

    def default(input, output_size, *args, **kwargs):
        flags, scales = aligned(args, kwargs)
        words = {3: ("scales",), 4: ("scales_h", "scales_w"), 5: ("scales_d", "scales_h", "scales_w")}.get(input.ndim, ())
        for k in kwargs:
            if k not in words:
                raise RuntimeError(f"Unknown keyword argument '{k}' for operator 'aten::{name}'.")
        return call(input, output_size, *flags, _factors([*scales, *(kwargs.get(k) for k in words[len(scales):])], input, output_size))

    def vec(input, output_size, *args, **kwargs):
        flags, rest = aligned(args, kwargs)
        factors = rest[0] if rest else kwargs["scale_factors"]
        if (output_size is None) == (factors is None):
            raise RuntimeError("Must specify exactly one of output_size and scale_factors")
        return call(input, [int(n * f) for n, f in zip(input.shape[2:], factors)] if output_size is None else output_size, *flags, factors)

    def either(*args, **kwargs):
        last = args[-1] if len(args) > 2 else None
        sizes = args[1] if len(args) > 1 else kwargs.get("output_size")
        return (vec if "scale_factors" in kwargs or sizes is None or isinstance(last, (list, tuple)) else default)(*args, **kwargs)

    return OpOverloadPacket("aten", name, either, {"default": default, "vec": vec})


def _index(self, indices):
    """What index tensors take, None standing for whole dims."""
    if not indices:
        raise IndexError("at least one index must be provided")
    return self[tuple(slice(None) if i is None else i for i in indices)]


def _index_put(self, indices, values, accumulate=False):
    """A copy with values written (or added) at index tensors, None standing for whole dims."""
    return run(*put_plan(self, found(indices), values, accumulate))


def _index_put_(self, indices, values, accumulate=False):
    """The same in place."""
    check_inplace(self, (values,))
    return inplace(*put_plan(self, found(indices), values, accumulate), self)


def _renamed(key, spec):
    """The spec of the same call of an operator with a node of its own; a mask of one value is written as such."""
    if spec.op.key not in ("_index", "_index_put"):
        return spec
    return spec_of(OPS[key], tuple(spec.statics.items()), spec.pattern)


def _unsafe_index(self, indices):
    """`index` with its own node."""
    spec, flat = take_plan(self, found(indices))
    return run(_renamed("_unsafe_index", spec), flat)


def _unsafe_index_put(self, indices, values, accumulate=False):
    """`index_put` with its own node."""
    spec, flat = put_plan(self, found(indices), values, accumulate)
    return run(_renamed("_unsafe_index_put", spec), flat)


def _index_put_impl(self, indices, values, accumulate=False, unsafe=False):
    """`index_put_` with its own node."""
    check_inplace(self, (values,))
    spec, flat = put_plan(self, found(indices), values, accumulate)
    return inplace(_renamed("_index_put_impl", spec), flat, self)


def _absent(name):
    def call(*args, **kwargs):
        raise NotImplementedError(f"torch.ops.aten.{name}: not here")

    return call


_MADE = {"slice": {"Tensor": _slice}, "index": {"Tensor": _index}, "index_put": {"default": _index_put}, "index_put_": {"default": _index_put_},
         "_unsafe_index": {"Tensor": _unsafe_index}, "_unsafe_index_put": {"default": _unsafe_index_put}, "_index_put_impl_": {"default": _index_put_impl},
         **{n: {"default": _absent(n)} for n in ("_sparse_addmm", "_sparse_mm_reduce_impl")}}


_packets: dict = {}


def packet(name):
    """The one object of a name: of the table, or of a function or method built on it (then with a default overload alone); None where there is none."""
    if name not in _packets:
        _packets[name] = _packet(name)
    return _packets[name]


_ALL = ("Scalar", "List", "ScalarList", "Tensor")
_FOREACH = {**dict.fromkeys(("add", "div", "mul"), _ALL), **dict.fromkeys(("clamp_max", "clamp_min", "maximum", "minimum", "sub", "lerp"), _ALL[:3]),
            **dict.fromkeys(("addcdiv", "addcmul"), ("Scalar", "ScalarList", "Tensor")), **dict.fromkeys(("norm", "powsum"), ("Scalar",)),
            "pow": (*_ALL[:3], "ScalarAndTensor")}  # operators over lists by what stands second, if anything does


def _over_lists(name):
    """The packet of `_foreach_*`, whose results are lists there, or nothing where they are written in place."""
    function = publish.load_all().get(f"torch.{name}")
    if function is None:
        return None

    def call(*args, **kwargs):
        out = function(*args, **kwargs)
        return None if name.endswith("_") else list(out) if isinstance(out, tuple) else out

    overloads = _FOREACH.get(name.removeprefix("_foreach_").removesuffix("_"), ("default",))
    return OpOverloadPacket("aten", name, call, dict.fromkeys([o for o in overloads if o != "ScalarAndTensor" or not name.endswith("_")], call))


# Operators of two tensors that have an overload for a number by its own name, too, and that which serves it here.  Those compared (and of bits) are told apart
# when they are called; the others take the number as a tensor.
_BITS = ("bitwise_and", "bitwise_or", "bitwise_xor")
COMPARED = frozenset(("eq", "ne", "lt", "le", "gt", "ge", *_BITS))
_BY_NUMBERS = {**{n: {"Scalar": "Tensor"} for n in ("add", "mul", *COMPARED)}, **{n: {"Scalar": "Tensor", "Scalar_Tensor": "Tensor"} for n in _BITS},
               "div": {"Scalar": "Tensor", "Scalar_mode": "Tensor_mode"}, "where": dict.fromkeys(("ScalarOther", "ScalarSelf", "Scalar"), "self")}


def of_number(found):
    """(the entry of the table that serves an overload for numbers, whether it is the twin, the parameters that are numbers), or Nones."""
    name, inplace = found._overloadpacket.__name__, found._overloadpacket.__name__.endswith("_")
    served = _BY_NUMBERS.get(name.removesuffix("_"), {}).get(found._overloadname)
    if served is None or found.namespace != "aten":
        return None, False, None
    numbers = {"Scalar_Tensor": ("self",), "ScalarSelf": ("self",), "Scalar": ("self", "other")[name != "where":]}.get(found._overloadname, ("other",))
    return OPS[f"{name.removesuffix('_')}.{served}"], inplace, numbers


def _with_numbers(name, made):
    """The overloads with those by which a number is given: one entry of the table serves both."""
    return made | {new: made[old] for new, old in _BY_NUMBERS.get(name, {}).items() if old in made}


_OF_NN = frozenset(("adaptive_avg_pool2d", "adaptive_avg_pool3d", "one_hot", "pad", "relu6"))  # functions that PyTorch's operator takes the arguments of


def _packet(name):
    if name in _MADE:
        return OpOverloadPacket("aten", name, next(iter(_MADE[name].values())), _MADE[name])
    if name.startswith("_foreach_"):
        return _over_lists(name)
    if name.endswith("_"):
        plain = packet(name[:-1])
        method = publish.load_all().get(f"Tensor.{name}")
        return method and OpOverloadPacket("aten", name, method, dict.fromkeys(plain.overloads() if plain is not None else ["default"], method))
    ops = [op for op in BY_NAME.get(name, ()) if op.tensor_params] or None  # the table's ways to fill memory are its own
    table = publish.load_all()
    call = table.get(f"torch.{name}") or table.get(f"Tensor.{name}") or table.get(f"torch.ops.aten.{name}") or table.get(f"torch._C._nn.{name}") or (
        table.get(f"torch.nn.functional.{name}") if name in _OF_NN else getattr(Tensor, name, None))
    if call is None and ops is None:
        return None
    made = {op.schema.overload or "default": bind.make_function(name, [op]) for op in ops or ()}
    if call is None or name == "norm":  # torch.norm is made of other operators
        call = bind.make_function(name, ops)
    if name.startswith(("upsample_", "_upsample_")) and not name.endswith("_backward"):
        return _upsampling(name, call)
    return OpOverloadPacket("aten", name, call, _with_numbers(name, made or {"default": call}))


_OWN = ("_put", "_graft", "_merged", "_cast", "_copy_", "_ones", "_zeros", "_drawn", "_filled", "_whole")


def overload(name):
    """The object of an operator of the table; None for those without a name in torch."""
    if name not in OPS or name.startswith(_OWN):
        return None
    base, _, over = name.partition(".")
    found = packet(base)
    return None if found is None else getattr(found, over or "default", None)


__all__ = ["COMPARED", "OpOverload", "OpOverloadPacket", "entry_of", "of_number", "overload", "packet"]
