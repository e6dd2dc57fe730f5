"""Tests made from one body (layer 8): a decorator gives (name, arguments, decorators) of each, a class decorator puts them in place."""

from __future__ import annotations

import functools

from ..._core import dtypes
from ..._core.devices import device


class subtest:
    """One set of arguments with a name or decorators of its own."""

    def __init__(self, arg_values, name=None, decorators=None):
        self.arg_values, self.name, self.decorators = arg_values, name, decorators or []


class _TestParametrizer:
    """A decorator that makes several tests of one: `_parametrize_test` gives (test, part of a name, keyword arguments, function to decorators) of each."""

    def _parametrize_test(self, test, generic_cls, device_cls):
        raise NotImplementedError

    def __call__(self, fn):
        inner = getattr(fn, "parametrize_fn", None)
        fn.parametrize_fn = self._parametrize_test if inner is None else functools.partial(_product, self._parametrize_test, inner)
        return fn


class parametrize(_TestParametrizer):
    """`parametrize("a,b", values)`: one test for each of the values; several decorators multiply, the outer one named first."""

    def __init__(self, arg_str, arg_values, name_fn=None):
        self.names = [s.strip() for s in arg_str.split(",") if s.strip()]
        self.values, self.name_fn = list(arg_values), name_fn

    def _parametrize_test(self, test, generic_cls, device_cls):
        for i, value in enumerate(self.values):
            decorators, name = [], None
            if isinstance(value, subtest):
                value, decorators, name = value.arg_values, value.decorators, value.name
            values = list(value) if len(self.names) > 1 else [value]
            if len(values) != len(self.names):
                raise RuntimeError(f"Expected # values == # arg names, but got: {len(values)} values and {len(self.names)} names for test {test.__name__!r}")
            if name is None:
                name = self.name_fn(*values) if self.name_fn else "_".join(_said(n, v, i) for n, v in zip(self.names, values))
            yield test, name, dict(zip(self.names, values)), functools.partial(_always, decorators)


def _always(decorators, _):
    return decorators


def _product(outer, inner, test, generic_cls, device_cls):
    for made, name, kwargs, more in inner(test, generic_cls, device_cls):
        for again, first, others, also in outer(made, generic_cls, device_cls):
            both = {**kwargs, **others}
            if len(both) != len(kwargs) + len(others):
                raise RuntimeError(f"Detected duplicate argument handling for test {test.__name__!r}")
            yield again, "_".join(x for x in (first, name) if x), both, lambda k, a=more, b=also: [*a(k), *b(k)]


def _said(name, v, i):
    if isinstance(v, dtypes.dtype):
        return str(v).split(".")[-1]
    return f"{name}_{v}".replace(".", "_") if isinstance(v, (int, float, str)) else str(v) if isinstance(v, device) else f"{name}{i}"


def reparametrize(parametrizer, adapter_fn):
    """Another decorator, whose sets of arguments went through `adapter_fn(name, arguments)`."""

    def decorate(fn):
        def variants(test, generic_cls, device_cls):
            for made, name, kwargs, decorators in parametrizer._parametrize_test(test, generic_cls, device_cls):
                for changed in filter(None, adapter_fn(name, kwargs)):  # None leaves a set out
                    yield made, changed[0], changed[1], decorators

        fn.parametrize_fn = variants
        return fn

    return decorate


def bound(test, kwargs, decorators):
    """A test with some of its arguments given."""

    @functools.wraps(test)
    def run(self, *args, **more):
        return test(self, *args, **more, **kwargs)

    run.__dict__.pop("parametrize_fn", None)
    run.__wrapped__ = None
    del run.__wrapped__
    for d in decorators:
        run = d(run)
    return run


def instantiate_parametrized_tests(generic_cls):
    """Replace every parametrised test of a class by one method for each set of arguments."""
    for name in list(vars(generic_cls)):
        test = vars(generic_cls)[name]
        variants = getattr(test, "parametrize_fn", None)
        if variants is None:
            continue
        delattr(generic_cls, name)
        for made, suffix, kwargs, decorators in variants(test, generic_cls, None):
            full = f"{name}_{suffix}" if suffix else name
            run = bound(made, kwargs, decorators(kwargs))
            run.__name__ = full
            setattr(generic_cls, full, run)
    return generic_cls
