"""Public paths to functions (layer 6): the op table and the composites poured into modules and the Tensor class, by name."""

from __future__ import annotations

import importlib
import pkgutil
from types import FunctionType

from . import bind, twins
from .composite import COMPOSITES

_loaded = []
_table: dict = {}


def load_all():
    """Import every module of operators and composites once; {dotted path: function}."""
    if not _loaded:
        _loaded.append(True)
        root = __package__.rpartition(".")[0]
        for folder in ("_ops", "_functions"):
            package = importlib.import_module(f"{root}.{folder}")
            for module in pkgutil.iter_modules(package.__path__):
                importlib.import_module(f"{package.__name__}.{module.name}")
        _fill()
    return _table


def _fill():
    made = {}
    for path, ops in bind.public_names().items():
        name = path.rpartition(".")[2]
        method = path.startswith("Tensor.")
        part = path.split(".")[-2]
        if part in ("linalg", "special"):
            name = f"{part}_{name}"  # as torch names it in messages
        key = (name, tuple(ops), method)
        if key not in made:
            made[key] = bind.make_function(name, ops, method)
        _table[path] = made[key]
        here = [o for o in ops if o.inplace]
        if here and (method or path[len("torch."):] + "_" in twins.FUNCTIONS) and f"{path}_" not in _table and path.count(".") == 1:
            _table[f"{path}_"] = bind.make_inplace(name, ops)
    for path, f in COMPOSITES.items():
        if path.endswith("_") and path.startswith("torch.") and path.count(".") == 1 and path[len("torch."):] not in twins.FUNCTIONS \
                and not path.startswith("torch._foreach_"):
            continue
        _table[path] = f if path.rpartition(".")[2] in _PLAIN or type(f) is not FunctionType else _explained(path, f)


_PLAIN = frozenset(("reshape", "view", "matmul", "linear", "to", "contiguous", "backward"))  # used too often for a wrapper


def _explained(path, f):
    from . import words

    return f if words.known(words.METHOD_OF.get(path, path)) is None else words.explaining(path, f)


def install(namespace, prefix):
    """Add every function published directly under `prefix` to a module's namespace; returns their names."""
    names = []
    for path, f in load_all().items():
        where, _, name = path.rpartition(".")
        if where == prefix:
            namespace[name] = f
            names.append(name)
    return names


def missing(module):
    """A module `__getattr__` that names what is not there."""

    def __getattr__(name):
        raise AttributeError(f"module '{module}' has no attribute '{name}'")

    return __getattr__
