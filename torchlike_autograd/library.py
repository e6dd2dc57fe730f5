"""torch.library (layer 8): operators of a program's own, with their gradients.

What differs: a kernel may not write to its arguments (`mutates_args` must be empty); what tracers would ask for (`register_fake`) is kept and not used, for
operators that are not there too.
"""

from __future__ import annotations

import inspect

from ._core import publish as _publish
from ._tensor import Tensor
from .autograd.function import Function

__all__ = ["CustomOpDef", "Library", "custom_op", "register_autograd", "register_fake", "register_kernel", "register_vmap"]

OPERATORS: dict = {}  # {"namespace::name": CustomOpDef}


class CustomOpDef:
    """An operator made by `custom_op`, callable."""

    def __init__(self, name, fn):
        self._qualname, self._fn, self._kernels = name, fn, {}
        self._backward = self._setup = self.fake = self.vmap = None
        self._signature = inspect.signature(fn)
        self.__name__, self.__doc__ = name.rpartition("::")[2], fn.__doc__

    def __repr__(self):
        return f"<CustomOpDef({self._qualname})>"

    def __call__(self, *args, **kwargs):
        bound = self._signature.bind(*args, **kwargs)
        bound.apply_defaults()
        return self._function(bound.kwargs).apply(*bound.args)

    def _kernel(self, args):
        kinds = [a.device.type for a in args if isinstance(a, Tensor)]
        return self._kernels.get(kinds[0] if kinds else "cpu", self._fn)

    def _function(self, only):
        """The Function of a call; only: what it was given for the parameters that are passed by keyword alone."""
        def forward(*args):
            return self._kernel(args)(*args, **only)

        def setup_context(ctx, inputs, output):
            if self._setup is not None:
                self._setup(ctx=ctx, inputs=inputs, output=output, **({"keyword_only_inputs": only} if only else {}))

        def backward(ctx, *grads):
            if self._backward is None:
                raise RuntimeError(f"Trying to backward through {self._qualname} but no autograd formula was registered. "
                                   "Please use register_autograd to add one.")
            return self._backward(ctx, *grads)

        body = {"forward": staticmethod(forward), "setup_context": staticmethod(setup_context), "backward": staticmethod(backward)}
        if self.vmap is not None:
            body["vmap"] = staticmethod(lambda info, in_dims, *args: self.vmap(info, in_dims, *args, **only))
        return type(self.__name__, (Function,), body)

    def register_autograd(self, backward, /, *, setup_context=None):
        """`backward(ctx, *grads)` gives the gradients of all arguments; `setup_context(ctx, inputs, output)` keeps what it needs."""
        self._backward, self._setup = backward, setup_context

    def register_fake(self, fn, /):
        """Shapes without data: kept, not used."""
        self.fake = fn
        return fn

    def register_vmap(self, func=None):
        """``func(info, in_dims, *args)`` gives (results, their mapped dims) under torch.vmap."""
        self.vmap = func
        return func if func is not None else self.register_vmap

    def register_kernel(self, device_types, func=None, /):
        """What computes it on some kinds of devices."""
        def keep(f):
            for kind in [device_types] if isinstance(device_types, str) else device_types or ["cpu"]:
                self._kernels[kind] = f
            return f

        return keep if func is None else keep(func)


def custom_op(name, fn=None, /, *, mutates_args, device_types=None, schema=None, tags=None):
    """A decorator (or a function of `fn`) that makes an operator ``torch.ops.namespace.name``."""
    def make(f):
        if list(mutates_args):
            raise NotImplementedError(f"torch.library.custom_op: {name} writes to its arguments {list(mutates_args)!r}, which is not supported here")
        if "::" not in name:
            raise ValueError(f"Expected `name` to be of the form `namespace::name`, got {name!r}")
        out = OPERATORS[name] = CustomOpDef(name, f)
        return out

    return make if fn is None else make(fn)


def _of(op):
    if isinstance(op, CustomOpDef):
        return op
    name = op if isinstance(op, str) else str(op).replace(".", "::", 1).removesuffix(".default")
    if name not in OPERATORS:  # of a library that PyTorch would load; torch says here that it does not exist
        OPERATORS[name] = CustomOpDef(name, _foreign(name))
    return OPERATORS[name]


def _foreign(name):
    def call(*args, **kwargs):
        raise NotImplementedError(f"torch.ops.{name.replace('::', '.')}: its kernel is in a library for PyTorch's own runtime")

    return call


class Library:
    """A library of operators: what it registers for operators of other runtimes is kept and not used; it defines none of its own here."""

    def __init__(self, ns, kind, dispatch_key=""):
        self.ns, self.kind, self.dispatch_key, self.kept = ns, kind, dispatch_key, {}

    def define(self, schema, alias_analysis="", *, tags=()):
        """NotImplementedError: use `custom_op`."""
        raise NotImplementedError(f"torch.library.Library.define: {schema}; use torch.library.custom_op")

    def impl(self, op_name, fn, dispatch_key="", *, with_keyset=False, allow_override=False):
        """Kept, not used."""
        self.kept[str(op_name), dispatch_key or self.dispatch_key] = fn


def register_autograd(op, backward, /, *, setup_context=None, lib=None):
    """Give an operator its gradients."""
    _of(op).register_autograd(backward, setup_context=setup_context)


def register_fake(op, func=None, /, *, lib=None, _stacklevel=1, allow_override=False):
    """Shapes without data: kept, not used."""
    return (lambda f: _of(op).register_fake(f)) if func is None else _of(op).register_fake(func)


def register_kernel(op, device_types, func=None, /, *, lib=None):
    """What computes an operator on some kinds of devices."""
    return _of(op).register_kernel(device_types, func) if func is not None else _of(op).register_kernel(device_types)


def register_vmap(op, func=None, /, *, lib=None):
    """``func(info, in_dims, *args)`` gives (results, their mapped dims) of an operator under torch.vmap."""
    return _of(op).register_vmap(func) if func is not None else _of(op).register_vmap


__getattr__ = _publish.missing("torch.library")
