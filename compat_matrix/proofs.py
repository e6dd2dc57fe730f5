"""Which recorded cases and operator entries exercise which public names: read off their sources and tables, never by hand."""

import json
import types
from functools import cache

from compat_matrix import called, columns, names, ops
from compat_matrix import used as using
from compat_matrix.case import load, sources
from compat_matrix.case import names as code_names

ROOTS = (("torch", "torch"), ("F", "torch.nn.functional"), ("nn", "torch.nn"), ("optim", "torch.optim"), ("lr_scheduler", "torch.optim.lr_scheduler"),
         ("swa_utils", "torch.optim.swa_utils"))  # as cases and the texts in their tables call them
EVALUATED = ("torch.nn", "torch.optim", "torch.optim.lr_scheduler", "torch.optim.swa_utils", "torch.nn.functional", "torch.nn.init", "torch.distributions")
FAMILIES = {"torch.nn.Module": "torch.nn.", "torch.optim.Optimizer": "torch.optim.", "torch.autograd.function.FunctionCtx": "torch.autograd.Function",
            "torch.optim.lr_scheduler.LRScheduler": "torch.optim.lr_scheduler.",
            "torch.autograd.graph.Node": "torch.Tensor.grad_fn", "torch.distributions.Distribution": "torch.distributions.",
            "torch.distributions.Transform": "torch.distributions."}  # a class: what a case that uses it, or one made from it, names


def of_cases(known, cases=None):
    """{name: [ids of the cases that use it]}: members of Tensor by what was heard when the cases ran, other names by their texts."""
    heard = called.read()
    found, members = {}, by_case(heard)
    for id, case in (load() if cases is None else cases).items():
        for name in in_case(case, known):
            if not called.is_member(name):
                found.setdefault(name, []).append(id)
        for name in members.get(id, ()):
            if called.proved(name, id, case, heard):
                found.setdefault(name, []).append(id)
    return found


def by_case(heard):
    """{case: the members of Tensor that it calls}."""
    out = {}
    for name, ids in heard.items():
        for id in ids:
            out.setdefault(id, []).append(name)
    return out


def in_case(case, known):
    """The public names that one case uses."""
    seen = [read(text) for text in sources(case.body)] + [read(f"[{t!r}]") for t in strings(case.params)]
    texts = {t for u in seen for t in u.texts}
    inner = [read(t) for t in texts if "(" in t or "." in t]
    given = {n for f in functions(case.params) for n in code_names(f.__code__)}
    attributes = {a for u in (*seen, *inner) for a in u.attributes} | given
    paths = {t for u in inner for t in u.texts if t.startswith("torch.")}  # a program that looks a path up
    texts |= {t for u in inner for t in u.texts if t.isidentifier()}  # a program in a string, which looks names up
    found = resolve([*seen, *inner], texts | paths, attributes, known)
    called = {n for u in inner for n in u.called}  # `Linear(2, 3)` as text, evaluated in torch.nn
    called |= {a for a in attributes if f"torch.Tensor.{a}" not in known}  # `S(torch).StepLR`, where S gives torch.optim.lr_scheduler
    return found | {f"{space}.{n}" for space in EVALUATED if space in found for n in called if f"{space}.{n}" in known}


@cache
def read(text):
    """The uses of a text, none where it is no Python."""
    try:
        return using.uses(text.strip(), ROOTS)
    except (SyntaxError, ValueError, RecursionError):
        return using.uses("None")


def strings(value):
    """Every string in nested tables."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [s for pair in value.items() for s in strings(list(pair))]
    return [s for v in value for s in strings(v)] if isinstance(value, (list, tuple, set)) else []


def functions(value):
    """Every function in nested tables."""
    if isinstance(value, types.FunctionType):
        return [value]
    if isinstance(value, dict):
        return [f for v in value.values() for f in functions(v)]
    return [f for v in value for f in functions(v)] if isinstance(value, (list, tuple)) else []


def resolve(seen, texts, attributes, known):
    """Recorded names among the uses: paths, what `getattr` can reach with these strings, attributes as members of the classes in use."""
    found = {name for u in seen for path in u.names for name in beginnings(path, known)}
    for path in {p for u in seen for p in u.indirect}:
        found |= {f"{path}.{t}" for t in texts if f"{path}.{t}" in known}
    for t in texts:
        path = t if t.startswith("torch.") else f"torch.{t}"
        if "." in t and path in known:
            found.add(path)
    found |= {f"torch.Tensor.{a}" for a in attributes if f"torch.Tensor.{a}" in known}
    for cls in names.CLASSES[1:]:
        mine = {f"{cls}.{a}" for a in attributes} & known.keys()
        if mine and any(n.startswith(FAMILIES.get(cls, cls)) for n in found):
            found |= mine
    return found


def beginnings(path, known):
    """The recorded names on the way of a path."""
    parts = path.split(".")
    return [name for i in range(2, len(parts) + 1) if (name := ".".join(parts[:i])) in known]


def of_ops(known):
    """{name: [ids]}: `ops.KEY` where the samples of an entry call it, `columns.KEY` where its recorded names or twins do and torch gives an answer."""
    found = {}
    for key, entry in json.loads(ops.CALLS.read_text()).items():
        add(found, known, entry["path"], f"ops.{key}")
    for key, answer in columns.answers().items():
        for column in ("names", "twin"):
            for path, seen in answer["seen"].get(column, {}).items():
                if not (isinstance(seen, dict) and "error" in seen):
                    add(found, known, path, f"columns.{key}")
    return found


def add(found, known, path, id):
    path = path if path.startswith("torch.") else f"torch.{path}"
    if path in known:
        found.setdefault(path, []).append(id)
