"""Registering cases: `@case("area.name")` over a generator function that takes the module.

    @case("inplace.mul")
    def _(torch):
        x = torch.ones(2).mul_(3)
        yield "value", x
        yield "version", x._version

The first part of the id is the area: a module or package of that name under `cases/`.
"""

import functools
import hashlib
import importlib
import inspect
import pkgutil
import textwrap
import types
from dataclasses import dataclass, field

from compat_matrix.observe import attempt, error, raises, warned, words

__all__ = ["Case", "areas", "attempt", "case", "error", "load", "raises", "warned", "words"]

CASES = {}
PLAIN = (str, bytes, int, float, complex, bool, type(None), tuple, list, dict)


@dataclass(frozen=True)
class Case:
    id: str
    body: types.FunctionType
    params: dict = field(default_factory=dict)

    @property
    def area(self):
        return self.id.partition(".")[0]

    def __call__(self, torch):
        return self.body(torch, **self.params)

    def fingerprint(self):
        """A hash of everything that decides what this case asks."""
        whole = "\n".join(sources(self.body)) + text(sorted(self.params.items()))
        return hashlib.sha256(whole.encode()).hexdigest()[:16]


def case(name, **params):
    """Register the decorated body as `name`; `params` are passed to it by keyword."""
    def register(body):
        if name in CASES:
            raise ValueError(f"two cases are called {name}")
        CASES[name] = Case(name, body, params)
        return body
    return register


def sources(body):
    """The text of `body`, then of the helpers and tables of the matrix that it names."""
    found, queue = {}, [body]
    while queue:
        fn = queue.pop()
        key = (fn.__module__, fn.__qualname__, fn.__code__.co_firstlineno)
        if key in found:
            continue
        found[key] = source(fn)
        for name in sorted(names(fn.__code__)):
            value = fn.__globals__.get(name)
            if isinstance(value, types.FunctionType) and is_ours(value):
                queue.append(value)
            elif name in fn.__globals__ and isinstance(value, PLAIN) and not name.startswith("__"):
                found[(fn.__module__, name, 0)] = f"{name} = {text(value)}"
    first, *others = found.values()
    return [first, *sorted(others)]


@functools.cache
def source(fn):
    """The text of a function, read once."""
    return textwrap.dedent(inspect.getsource(fn))


def text(value):
    """repr, with functions by their source instead of their address."""
    if isinstance(value, types.FunctionType):
        return inspect.getsource(value)
    if isinstance(value, dict):
        return "{" + ", ".join(f"{text(k)}: {text(v)}" for k, v in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(text, value)) + "]"
    return repr(value)


def is_ours(fn):
    return fn.__module__.startswith(("compat_matrix.cases.", "compat_matrix.probes"))


def names(code):
    """Every global name that a code object mentions, inner functions included."""
    found = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            found |= names(constant)
    return found


def areas():
    import compat_matrix.cases as package
    return sorted(m.name for m in pkgutil.iter_modules(package.__path__))


def load(only=None):
    """The cases whose id starts with `only` (an area or more of an id), in order of registration."""
    wanted = [only.partition(".")[0]] if only else areas()
    for area in wanted:
        if area not in areas():
            raise SystemExit(f"there is no area {area!r}; there are: {', '.join(areas())}")
        before = set(CASES)
        import_tree(f"compat_matrix.cases.{area}")
        astray = [n for n in set(CASES) - before if not n.startswith(area + ".")]
        if astray:
            raise ValueError(f"cases/{area} registers cases of another area: {astray}")
    return {n: c for n, c in CASES.items() if c.area in wanted and (not only or selects(only, n))}


def selects(only, name):
    return name == only or name.startswith(only + ".") or (only.count(".") and name.startswith(only))


def import_tree(name):
    module = importlib.import_module(name)
    for child in pkgutil.iter_modules(getattr(module, "__path__", [])):
        import_tree(f"{name}.{child.name}")
