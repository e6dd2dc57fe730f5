"""torch's words for wrong arguments of composites (layer 7): looked for only after a call has failed."""

from __future__ import annotations

import functools
from types import SimpleNamespace

from .._core import bind
from .._core.bind import Mismatch
from .._core.composite import composite
from .._core.words import respelled_by, type_name
from .._ops.schema import REQUIRED, parse
from .._tensor import Tensor


def signature(text):
    """A stand-in for an operator: the schema of a composite."""
    schema = parse(text + " -> Tensor")
    return SimpleNamespace(name=schema.name, params=schema.params, lift=(), scalars=(), out=False, varargs=None, key=schema.name, bake={})


def published(*schemas, paths=None):
    """Publish a composite under torch.X and Tensor.X (or `paths`); its schemas serve to explain calls that fail with a TypeError."""
    forms = [signature(s) for s in schemas]
    name = forms[0].name

    def decorate(f):
        for path in paths or (f"torch.{name}", f"Tensor.{name}"):
            composite(path)(_explaining(f, name, forms, path.startswith("Tensor.")))
        return f

    return decorate


def _explaining(f, name, forms, method):
    names = {"input" if p.name == "self" else p.name for form in forms for p in form.params}

    @functools.wraps(f)
    def function(*args, **kwargs):
        try:
            return f(*args, **kwargs)
        except (TypeError, AttributeError):
            spelled = respelled_by(names, f, kwargs) if kwargs else None
            error = complaint(name, forms, args, kwargs, method) if spelled is None else None
            if error is None and spelled is None:
                raise
        if spelled is not None:
            return function(*args, **spelled)
        raise error

    function.__name__ = function.__qualname__ = name
    return function


def complaint(name, forms, args, kwargs, method):
    """torch's TypeError for arguments that fit none of the schemas; None where one fits."""
    kwargs = {k: v for k, v in kwargs.items() if k != "out"}
    if any(_fits(form, args, kwargs) for form in forms):
        return None
    for k, x in enumerate(args):
        if k < len(forms[0].params) and forms[0].params[k].kind == "Tensor[]" and isinstance(x, (list, tuple)):
            wrong = next(((i, t) for i, t in enumerate(x) if not isinstance(t, Tensor)), None)
            if wrong is not None:
                return TypeError(f"expected Tensor as element {wrong[0]} in argument {k}, but got {type_name(wrong[1])}")
    return bind.no_match(name, forms, args, kwargs, method)


def _fits(form, args, kwargs):
    try:
        values = bind._assign(form, form.params, args, kwargs)
        for p in form.params:
            x = values.get(p.name, p.default)
            if x is REQUIRED:
                if not p.optional:
                    return False
            elif p.kind == "Tensor":
                bind._bind_tensor(form, p, x, [], [])
            elif p.kind.startswith("Tensor"):
                bind._bind_list(p, x, [], [])
            else:
                bind.convert(p, x)
    except Mismatch:
        return False
    return True


__all__ = ["complaint", "published", "signature"]
