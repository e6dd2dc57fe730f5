"""torch.library (layer 8): operators of a program's own, with their kernels, gradients and rules for vmap.

What differs: an implementation that a library gives to an operator which is not defined here (of another runtime), or to one of aten for what is not here, is
kept and not used; one that would compute an operator of aten raises NotImplementedError.
"""

from __future__ import annotations

import contextlib
import functools
import weakref

from ._core import publish as _publish
from ._core.overloads import OpOverload as _OpOverload
from ._core.overloads import packet as _packet
from ._library import dispatch_keys as _keys
from ._library import operators as _operators
from ._library.custom_ops import CustomOpDef, custom_op
from ._library.infer_schema import infer_schema
from ._library.opcheck import opcheck
from ._library.operators import Operator as _Operator
from ._library.operators import of as _find
from ._library.schemas import parse as _parse

__all__ = [  # noqa: RUF022 (torch's order)
    "Library", "impl", "define", "fallthrough_kernel", "impl_abstract", "register_autocast", "register_fake", "register_torch_dispatch", "register_vmap",
    "get_ctx",
    "get_kernel", "custom_op", "triton_op", "wrap_triton", "infer_schema", "register_kernel", "register_autograd", "opcheck", "CustomOpDef"]

_RESERVED = ("prim",)
_DEFINED = weakref.WeakValueDictionary()  # {namespace: the Library that defines it}
_KEYWORD_TENSORS = "In the original definition of the op, please make your tensors not kwarg-only."
_KEYS = {"cpu": "CPU", "cuda": "CUDA", "meta": "Meta", "default": "CompositeExplicitAutograd", "xpu": "XPU", "mps": "MPS", "hpu": "HPU"}


def fallthrough_kernel():
    """Given to `Library.impl`: the key has no kernel of its own."""
    raise NotImplementedError("fallthrough_kernel() should never be called.")


class Library:
    """Operators of a namespace: definitions, and implementations by dispatch key."""

    def __init__(self, ns, kind, dispatch_key=""):
        if kind not in ("IMPL", "DEF", "FRAGMENT"):
            raise ValueError(f"Unsupported kind: {kind}")
        if ns in _RESERVED and kind in ("DEF", "FRAGMENT"):
            raise ValueError(f"{ns} is a reserved namespace. Please try creating a library with another name.")
        if kind == "DEF":
            if ns == "aten" or ns in _DEFINED:
                raise RuntimeError(
                    f"Only a single TORCH_LIBRARY can be used to register the namespace {ns}; please put all of your definitions in a single TORCH_LIBRARY "
                    "block.  If you were trying to specify implementations, consider using TORCH_LIBRARY_IMPL (which can be duplicated).  If you really "
                    "intended to define operators for a single namespace in a distributed way, you can use TORCH_LIBRARY_FRAGMENT to explicitly indicate this.")
            _DEFINED[ns] = self
        self.ns, self.kind, self.dispatch_key, self.kept = ns, kind, dispatch_key, {}
        self._defined, self._undo = [], []

    def __repr__(self):
        return f"Library(kind={self.kind}, ns={self.ns}, dispatch_key={self.dispatch_key})>"

    def define(self, schema, alias_analysis="", *, tags=()):
        """Define an operator by its schema, ``name[.overload](Tensor x, ...) -> ...``; returns its name."""
        if alias_analysis not in ("", "FROM_SCHEMA", "CONSERVATIVE"):
            raise RuntimeError(f"Invalid alias_analysis type {alias_analysis}")
        parsed = _parse(schema, self.ns)
        if _operators.OPERATORS.get(parsed.name, {}).get(parsed.overload_name) is not None:
            raise RuntimeError(f"Tried to register an operator ({parsed}) with the same name and overload name multiple times. Each overload's schema "
                               f"should only "
                               "be registered with a single call to def().")
        op = _operators.put(_Operator(parsed, tags=tags))
        self._defined.append(op)
        for (_, key), fn in _PENDING.pop((parsed.name, parsed.overload_name), {}).items():
            op.kernels.setdefault(key, fn)
        return f"{parsed.name.partition('::')[2]}{'.' + parsed.overload_name if parsed.overload_name else ''}"

    def impl(self, op_name, fn, dispatch_key="", *, with_keyset=False, allow_override=True):
        """Give an operator what computes it for a dispatch key ("CPU", "Meta", "CompositeImplicitAutograd", "Autograd", ...)."""
        if not callable(fn):
            raise TypeError(f"Input function is required to be a callable but found type {type(fn)}")
        if not isinstance(op_name, (str, _OpOverload)):
            raise RuntimeError(f"impl should be passed either a name or an OpOverload object as the first argument, got {type(op_name)}")
        name = op_name if isinstance(op_name, str) else op_name.name()
        name = name if "::" in name else f"{self.ns}::{name}"
        key = str(dispatch_key or self.dispatch_key or "CompositeImplicitAutograd").removeprefix("DispatchKey.")
        if not _keys.is_one(key):
            raise RuntimeError(f"could not parse dispatch key: {key}")
        if name.partition("::")[0] != self.ns:
            raise RuntimeError(
                f'impl("{name}", ...): Explicitly provided namespace ({name.partition("::")[0]}) in operator name does not match namespace of enclosing '
                f"TORCH_LIBRARY block ({self.ns}).  Move this definition to the TORCH_LIBRARY block corresponding to this namespace (and consider deleting the "
                "namespace from your schema string.)")
        op = _find(name)
        if self.ns == "aten" and key in ("CPU", *_operators.EVERYWHERE) and _packet(name.partition("::")[2].partition(".")[0]) is not None:
            raise NotImplementedError(f"torch.library.Library.impl: another implementation of {name} for {key}")
        if op is None:
            base, _, overload = name.partition(".")
            self.kept[name, key] = fn
            _PENDING.setdefault((base, overload), {})[name, key] = fn
            return
        if with_keyset:
            raise NotImplementedError("torch.library.Library.impl: with_keyset=True")
        before = op.kernels.get(key)
        if fn is fallthrough_kernel:
            op.kernels.pop(key, None)
        else:
            op.kernels[key] = fn
        self._undo.append((op, key, before))

    def fallback(self, fn, dispatch_key="", *, with_keyset=False):
        """NotImplementedError: there are no fallbacks for whole dispatch keys."""
        raise NotImplementedError("torch.library.Library.fallback")

    @property
    def m(self):
        """What is registered; `del` takes it back."""
        return self._undo

    @m.deleter
    def m(self):
        self._destroy()

    def _destroy(self):
        for op in self._defined:
            _operators.remove(op)
        for op, key, before in reversed(self._undo):
            op.kernels.pop(key, None)
            if before is not None:
                op.kernels[key] = before
        self._defined, self._undo = [], []
        if _DEFINED.get(self.ns) is self:
            del _DEFINED[self.ns]


_PENDING: dict = {}  # {(name, overload): implementations given before it is defined}
_KEPT: dict = {}  # {namespace: the Library of what is defined by qualified name}


@contextlib.contextmanager
def _scoped_library(*args, **kwargs):
    out = Library(*args, **kwargs)
    try:
        yield out
    finally:
        out._destroy()


def _parts(qualname):
    parts = qualname.split("::")
    if len(parts) != 2:
        raise ValueError(f'Expected `qualname` to be of the form "namespace::name", but got {qualname}. The qualname passed to the torch.library APIs '
                         f'must consist '
                         "of a namespace and a name, e.g. aten::sin")
    return parts


def _library(namespace):
    if namespace not in _KEPT:
        _KEPT[namespace] = Library(namespace, "FRAGMENT")
    return _KEPT[namespace]


@functools.singledispatch
def define(qualname, schema, *, lib=None, tags=()):
    """Define an operator ``namespace::name`` by its schema ``(Tensor x) -> Tensor``; with a Library first, a decorator of what computes it."""
    if not isinstance(qualname, str):
        raise ValueError(f"define(qualname, schema): expected qualname to be instance of str, got {type(qualname)}")
    namespace, name = _parts(qualname)
    if not schema.startswith("(") or ")->" not in schema.replace(" ", ""):
        raise ValueError(f'define(qualname, schema, ...): expected schema to look like e.g. "(Tensor x) -> Tensor" but got "{schema}"')
    (lib or _library(namespace)).define(name + schema, alias_analysis="", tags=tags)


@define.register
def _(lib: Library, schema, alias_analysis=""):
    def wrap(f):
        lib.impl(lib.define(schema, alias_analysis), f)
        return f

    return wrap


@functools.singledispatch
def impl(qualname, types, func=None, *, lib=None):
    """Give an operator what computes it on kinds of devices ("cpu", "cuda", "default") or for a dispatch key; a decorator without `func`."""
    namespace, _ = _parts(qualname)
    keys = [_KEYS.get(t, t) for t in ((types,) if isinstance(types, str) else types)]

    def keep(f):
        for key in keys:
            (lib or _library(namespace)).impl(qualname, f, key)
        return f

    return keep if func is None else keep(func) and None


@impl.register
def _(lib: Library, name, dispatch_key=""):
    def wrap(f):
        lib.impl(name, f, dispatch_key)
        return f

    return wrap


# By name: of operators that are there, or of a library that PyTorch would load, for which torch says that it does not exist

def _of(op):
    found = _find(op)
    if found is None:
        name = op if isinstance(op, str) else op.name()
        found = _operators.put(_foreign(name))
    return found


class _Foreign(_Operator):
    """An operator whose kernel is elsewhere: what is registered for it is kept."""

    def __call__(self, *args, **kwargs):
        raise NotImplementedError(f"torch.ops.{self.schema.name.replace('::', '.')}: its kernel is in a library for PyTorch's own runtime")


def _foreign(name):
    base, _, overload = name.removesuffix(".default").partition(".")
    return _Foreign(_parse(f"{base}{'.' + overload if overload else ''}() -> ()"))


def register_autograd(op, backward, /, *, setup_context=None, lib=None):
    """Give an operator its gradients: `backward(ctx, *grads)`; `setup_context(ctx, inputs, output)` keeps what it needs."""
    if isinstance(op, CustomOpDef):
        op.register_autograd(backward, setup_context=setup_context)
        return
    found = _of(op)
    if found.schema.is_mutable:
        raise RuntimeError(f"Cannot register autograd formula for non-functional operator {op} with schema {found.schema}. Please create a functional "
                           f"operator and "
                           "register an autograd formula for that.")
    found.schema.refuse_keyword_tensors("register_autograd", f"{_KEYWORD_TENSORS} Got: {found.schema}")
    found.backward, found.setup = backward, setup_context


def register_fake(op, func=None, /, *, lib=None, _stacklevel=1, allow_override=True):
    """What gives shapes without data, for tensors of device "meta"; a decorator without `func`."""
    def keep(f):
        _of(op).fake = f
        return f

    return keep if func is None else keep(func)


impl_abstract = register_fake


def register_kernel(op, device_types, func=None, /, *, lib=None):
    """What computes an operator on some kinds of devices."""
    def keep(f):
        for kind in [device_types] if device_types is None or isinstance(device_types, str) else device_types:
            _of(op).kernels["" if kind is None else kind.upper()] = f
        return f

    return keep if func is None else keep(func)


def register_autocast(op, device_type, cast_inputs, /, *, lib=None):
    """Cast floating-point arguments to a dtype where autocast is in force on a kind of device."""
    if device_type not in ("cpu", "cuda"):
        raise ValueError(f"Unknown device type: {device_type}")
    _of(op).casts[device_type] = cast_inputs


def register_vmap(op, func=None, /, *, lib=None):
    """``func(info, in_dims, *args)`` gives (results, their mapped dims) of an operator under torch.vmap."""
    def keep(f):
        found = _find(op)
        if found is None:
            namespace, name = _parts(op)
            raise AttributeError(f"'_OpNamespace' '{namespace}' object has no attribute '{name}'")
        if not isinstance(op, CustomOpDef):
            found.schema.refuse_keyword_tensors("register_vmap", f"{_KEYWORD_TENSORS} Got: {found.schema}")
        found.vmap = f
        return f

    return keep if func is None else keep(func)


def register_torch_dispatch(op, torch_dispatch_class, func=None, /, *, lib=None):
    """NotImplementedError: classes are not dispatched to here."""
    raise NotImplementedError("torch.library.register_torch_dispatch")


def get_ctx():
    """None: no tracer asks for shapes that depend on data."""


def get_kernel(op, dispatch_key):
    """What computes an operator for a dispatch key."""
    found = _find(op)
    key = str(dispatch_key).removeprefix("DispatchKey.")
    if found is None or key not in found.kernels:
        raise RuntimeError(f"operator {op} does not have a kernel registered for dispatch key {key}")
    return found.kernels[key]


def triton_op(name, fn=None, /, *, mutates_args, schema=None):
    """As `custom_op`, with the schema of the annotations: only a tracer, which is not here, looks at what such an operator is made of."""
    return custom_op(name, fn, mutates_args=mutates_args)


def wrap_triton(triton_kernel, /):
    """NotImplementedError: Triton kernels run in PyTorch's own runtime."""
    raise NotImplementedError("torch.library.wrap_triton")


__getattr__ = _publish.missing("torch.library")
