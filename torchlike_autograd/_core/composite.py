"""Public functions written in terms of operators (layer 6): no entry of their own in the op table, hence no node of their own.

`@composite("torch.reshape", "Tensor.reshape")` publishes a Python function under these paths; `named("mul")` is the function of an operator's name (all
overloads), to be called inside composites.  A composite takes and returns Tensors and checks its arguments with torch's words.
"""

from __future__ import annotations

from .._ops.registry import BY_NAME
from . import bind
from .overriding import copied

COMPOSITES: dict = {}  # dotted public path -> function
_functions: dict = {}
_kinds: dict = {}  # function -> whether it is published as a method


def composite(*paths):
    """Publish the decorated function under dotted public paths ("torch.X", "Tensor.X", "torch.nn.functional.X", "torch.linalg.X")."""

    def publish(f):
        for path in paths:
            if path in COMPOSITES:
                raise ValueError(f"{path} is published twice")
            COMPOSITES[path] = _of_kind(f, path.startswith("Tensor."))
        return f

    return publish


def _of_kind(f, is_method):
    """`f` as a method or as a function: in PyTorch these are two, and who is told of a call can tell which it was."""
    if _kinds.setdefault(f, is_method) is is_method:
        return f
    out = copied(f)
    out.__dict__.update(f.__dict__)
    return out


def named(name):
    """The function over all overloads of an operator name, made once (when it is first called, if its family is not loaded yet)."""
    if name in BY_NAME:
        return _function(name)

    def function(*args, **kwargs):
        return _function(name)(*args, **kwargs)

    function.__name__ = name
    return function


def _function(name):
    f = _functions.get(name)
    if f is None:
        f = _functions[name] = bind.make_function(name, BY_NAME[name])
    return f
