"""Every public name of PyTorch: kind, signature, members; recorded under real torch, looked up in the package.

`python -m compat_matrix names record` (an interpreter that has torch) writes `oracle_names/names.json`, one line a name;
`python -m compat_matrix names` (the package) says what is there.
"""

import ast
import importlib
import inspect
import json
import textwrap
import types
from pathlib import Path

from compat_matrix import signatures

FILE = Path(__file__).parent / "oracle_names" / "names.json"
OTHERS = FILE.with_name("others.json")
AUTOGRAD = "grad_mode functional forward_ad graph gradcheck profiler anomaly_mode function variable"
SPACES = ["torch", *(f"torch.autograd.{n}" for n in AUTOGRAD.split()), *(f"torch.{n}" for n in [
    "autograd", "func", "nn", "nn.functional", "nn.init", "nn.parameter", "nn.parallel", "nn.utils", "nn.utils.rnn", "nn.utils.parametrize",
    "nn.utils.parametrizations", "nn.utils.prune", "nn.utils.stateless", "nn.attention", "optim", "optim.lr_scheduler", "optim.swa_utils", "optim.optimizer",
    "linalg", "fft", "special", "distributions", "distributions.constraints", "distributions.transforms", "distributions.kl", "utils", "utils.data",
    "utils.data.distributed", "utils.checkpoint", "utils.dlpack", "masked", "signal.windows", "testing", "amp", "random", "overrides", "utils._pytree", "jit",
    "cuda", "backends", "types", "hub", "compiler"])]
WALKED = ("torch.nn.modules", "torch.optim")  # with every public module below them
CLASSES = [
    "torch.Tensor", "torch.nn.Module", "torch.optim.Optimizer", "torch.optim.lr_scheduler.LRScheduler", "torch.autograd.Function",
    "torch.autograd.function.FunctionCtx", "torch.autograd.graph.Node", "torch.Generator", "torch.Size", "torch.device", "torch.dtype", "torch.finfo",
    "torch.iinfo", "torch.nn.Parameter", "torch.nn.Sequential", "torch.nn.ModuleList", "torch.nn.ModuleDict", "torch.nn.ParameterList",
    "torch.nn.ParameterDict", "torch.utils.data.DataLoader", "torch.distributions.Distribution", "torch.distributions.Transform",
    "torch.nn.utils.rnn.PackedSequence"]


# Recording, under real torch

def record(torch):
    """{name: {"kind": ..., "sigs": [...], "from": ..., "value": ..., "has": [...]}} of every public name."""
    found = {}
    for space in spaces(torch):
        module = importlib.import_module(space)
        for name in public(module):
            found.setdefault(f"{space}.{name}", describe(getattr(module, name), f"{space}.{name}"))
    for path in CLASSES:
        cls = find(torch, path)
        for name in own_members(torch, cls):
            found[f"{path}.{name}"] = describe(inspect.getattr_static(cls, name), f"{path}.{name}", method=True)
    return dict(sorted(found.items()))


def spaces(torch):
    import pkgutil

    walked = [f"{root}.{m.name}" for root in WALKED for m in pkgutil.iter_modules(importlib.import_module(root).__path__) if not m.name.startswith("_")]
    return list(dict.fromkeys([*SPACES, *WALKED, *walked]))


def public(module):
    """The names that a module publishes: its `__all__`, or else what has no underscore and is torch's own."""
    own = [n for n in dir(module) if not n.startswith("_") and is_own(getattr(module, n, None), module.__name__)]
    listed = [n for n in getattr(module, "__all__", ()) if hasattr(module, n)]
    return sorted({*listed, *own} if module.__name__ == "torch" or not listed else set(listed))


def is_own(value, where):
    """Whether something was made by torch and belongs to this module."""
    if isinstance(value, types.ModuleType):
        return value.__name__ == f"{where}.{value.__name__.rpartition('.')[2]}"
    if isinstance(value, (bool, str, tuple)) or value is None:
        return False
    home = getattr(value, "__module__", None)
    if isinstance(value, (int, float)):
        return where == "torch"
    if home is None:
        return callable(value) or type(value).__module__.startswith("torch")
    if where == "torch":
        return home.startswith("torch")
    return home == where or home.startswith((where + ".", "torch._C",
        "torch._jit_internal")) or (callable(value) and home.startswith("torch.") and not isinstance(value, type)
                                                                          and where in ("torch.nn.functional", "torch.linalg", "torch.special", "torch.fft"))


def members(cls):
    """Public members of a class, its bases' included but not those of builtins and of typing."""
    bases = [b for b in cls.__mro__ if b.__module__.startswith("torch")]
    return sorted({n for b in bases for n in vars(b) if not n.startswith("_")})


def own_members(torch, cls):
    """Members that no other of CLASSES lists."""
    elsewhere = [find(torch, path) for path in CLASSES]
    inherited = {n for base in elsewhere if base is not cls and base in cls.__mro__ for n in members(base)}
    return [n for n in members(cls) if n not in inherited or n in vars(cls)]


def describe(value, path, method=False):
    """One name as plain data."""
    seen = {"kind": kind_of(value, method)}
    if seen["kind"] in ("function", "method", "class", "exception"):
        sigs, source = signature_of(value, path, method)
        if sigs:
            seen |= {"sigs": sigs, "from": source}
    if seen["kind"] == "constant" and isinstance(value, (int, float, str)) and value == value:
        seen["value"] = repr(value)
    if seen["kind"] in ("function", "method") and (reason := refusal(value)):
        seen["raises"] = reason
    if isinstance(value, type) and type(value) is not type:
        seen["meta"] = type(value).__name__  # a class made from this one and another must agree with it
    if isinstance(value, type) and path not in CLASSES:
        seen["has"] = asked_members(value)
    return seen


def asked_members(cls):
    """What a class must have beyond what the classes of CLASSES, their rows of their own, give it; types named inside a class do not count."""
    if type(cls).__name__ == "tensortype":
        return []
    listed = {n for b in cls.__mro__ for n in vars(b) if f"{b.__module__}.{b.__name__}" in LISTED or b.__module__ == "torch._C"}
    return [n for n in members(cls) if n not in listed and (callable(found := inspect.getattr_static(cls, n)) or isinstance(found,
        (property, staticmethod, classmethod)))
            and not isinstance(found, type) and getattr(found, "__module__", "torch") not in ("typing", "types") and "typing" not in type(found).__module__]


LISTED = ("torch.Tensor", "torch._tensor.Tensor", "torch._C.TensorBase", "torch.nn.modules.module.Module", "torch.optim.optimizer.Optimizer",
    "torch.autograd.function.FunctionCtx",
          "torch.autograd.function._HookMixin", "torch._C._FunctionBase", "torch.autograd.function.Function")


def kind_of(value, method=False):
    """function, method, property, class, exception, module, dtype or constant."""
    if isinstance(value, types.ModuleType):
        return "module"
    if isinstance(value, type):
        return "exception" if issubclass(value, BaseException) else "class"
    plain = next((c.__name__ for c in type(value).__mro__ if c.__name__ in ("dtype", "layout", "memory_format")), None)
    if plain:
        return plain
    if method and (isinstance(value, property) or type(value).__name__ in ("getset_descriptor", "member_descriptor", "cached_property")):
        return "property"
    value = getattr(value, "__func__", value)
    if callable(value):
        return "method" if method else "function"
    return "constant"


def signature_of(value, path, method):
    """(signatures as text, where they come from)."""
    value = getattr(value, "__func__", value)
    if isinstance(value, type) and value.__init__ is object.__init__ and value.__new__ is object.__new__:
        return [], None
    made = signatures.of_object(value)
    if made is not None and not signatures.is_open(signatures.parse(made) or ()):
        return [without_self(made) if method else made], "inspect"
    short = path.removeprefix("torch.")
    parsed = signatures.parsed_facts().get(short) or (signatures.parsed_facts().get(f"functional.{short[14:]}") if short.startswith("nn.functional.") else None)
    if parsed:
        return parsed, "parser"
    if path.removeprefix("torch.Tensor.") in ("atanh_", "arctanh_", "new_tensor", "new_empty_strided"):
        return [], None  # torch 2.13 documents parameters that they do not take
    documented = signatures.of_docstring(path.rpartition(".")[2], getattr(value, "__doc__", None))
    if documented:
        return documented, "doc"
    return ([without_self(made) if method else made], "inspect") if made is not None else ([], None)


def without_self(signature):
    params = signatures.parse(signature)
    if params is None:
        return signature
    return signatures.text(params[1:] if params and params[0].name in ("self", "cls", "ctx", "input") and params[0].kind == "pos" else params)


def record_others(torch, known):
    """{module: [names of it that are there and are none of its public ones]}: imports of its own, private names, modules below it."""
    import pkgutil

    found = {}
    for space in spaces(torch):
        module = importlib.import_module(space)
        below = [m.name for m in pkgutil.iter_modules(getattr(module, "__path__", []))]
        found[space] = sorted({n for n in [*dir(module), *below] if not n.startswith("__") and f"{space}.{n}" not in known})
    return found


def others(file=OTHERS):
    """The recorded names that are there without being public, by module."""
    return json.loads(file.read_text())["names"]


def write(found, version, file=FILE):
    file.parent.mkdir(exist_ok=True)
    rows = [f"{json.dumps(k)}: {json.dumps(v, separators=(',', ':'))}" for k, v in found.items()]
    file.write_text(f'{{"torch": {json.dumps(version)}, "names": {{\n' + ",\n".join(rows) + "\n}}\n")


def read(file=FILE):
    """The recorded names."""
    return json.loads(file.read_text())["names"]


# Looking, in either module

def refusal(value):
    """The words of a function that does nothing but raise NotImplementedError (a class: in `__init__` or `__new__`), or None."""
    if isinstance(value, types.ModuleType):  # that of `torch.classes` has every attribute
        return None
    value = getattr(value, "__func__", value)
    if isinstance(value, type):
        value = vars(value).get("__init__") or vars(value).get("__new__")
    value = inspect.unwrap(value) if callable(value) else value
    code = getattr(value, "__code__", None)
    if code is None or len(code.co_code) > 200 or not ({"NotImplementedError"} & set(code.co_names) or len(code.co_names) == 1):
        return None
    body = body_of(code)
    if len(body) != 1:
        return None
    if isinstance(body[0], (ast.Expr, ast.Return)):  # hands everything on to one that refuses: `_refuse("symbolic_trace")`
        call = body[0].value
        target = getattr(value, "__globals__", {}).get(call.func.id) if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) else None
        return refusal(target) if isinstance(target, types.FunctionType) and target is not value else None
    if not isinstance(body[0], ast.Raise) or body[0].exc is None or "NotImplementedError" not in code.co_names:
        return None
    text = [n.value for n in ast.walk(body[0].exc) if isinstance(n, ast.Constant) and isinstance(n.value, str)]
    return "".join(text) or None  # a bare NotImplementedError is what a base class has


def body_of(code):
    """The statements of a function without its docstring; [] where its source cannot be had."""
    try:
        body = ast.parse(textwrap.dedent(inspect.getsource(code))).body[0].body
    except (OSError, SyntaxError, AttributeError, TypeError):
        return []
    return [s for s in body if not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))]


def find(torch, path):
    """The object of a path that begins with "torch"; raises what Python raises."""
    found, done = torch, torch.__name__
    for name in path.split(".")[1:]:
        done = f"{done}.{name}"
        try:
            found = inspect.getattr_static(found, name) if isinstance(found, type) and name in dir(found) else getattr(found, name)
        except AttributeError:
            if not isinstance(found, types.ModuleType):
                found = shadowed(done, name)
                continue
            try:
                found = importlib.import_module(done)
            except ImportError:
                raise AttributeError(f"module {done.rpartition('.')[0]!r} has no attribute {name!r}") from None
    return found


def shadowed(path, name):
    """What a module holds that a function of the same name hides (torch.autograd.gradcheck); AttributeError where there is none."""
    where = path.rpartition(".")[0]
    try:
        return getattr(importlib.import_module(where), name)
    except ImportError:
        raise AttributeError(f"{where!r} has no attribute {name!r}") from None


class Ours:
    """The package as the names see it: objects, and the signatures of what is made from the op table."""

    def __init__(self, torch):
        from torchlike_autograd._core import bind, publish

        publish.load_all()
        self.torch, self.ops = torch, bind.public_names()

    def signatures(self, path, value, method):
        short = path.removeprefix("torch.") if path.startswith("torch.Tensor.") else path
        ops = self.ops.get(short) or (self.ops.get(short[:-1]) if short.endswith("_") else None)
        own = signatures.of_object(getattr(value, "__func__", value))
        if ops and (own is None or signatures.is_open(signatures.parse(own) or ())):
            return [of_op(op, method) for op in ops]
        return [] if own is None else [without_self(own) if method else own]


def of_op(op, method):
    """The signature that an operator entry declares; a default of None means absent there."""
    from torchlike_autograd._ops.schema import REQUIRED

    params = [signatures.Param("input" if p.name == "self" else p.name, "kw" if getattr(p, "kw_only", False) else "pos",
        None if p.default is REQUIRED else signatures.UNKNOWN if p.default is None else signatures.plain(p.default))
              for p in op.params if p.name != "out"]
    if method:
        params = params[1:]
    elif op.out:
        params.append(signatures.Param("out", "kw", "None"))
    if op.varargs and params and params[-1].name == op.varargs:
        params[-1] = signatures.Param(op.varargs, "var")
    return signatures.text(params)


def main(arguments):
    """`names record` or `names`."""
    if arguments[:1] == ["record"]:
        from compat_matrix.record import find_torch

        torch = find_torch()
        found = record(torch)
        write(found, torch.__version__.partition("+")[0])
        write(record_others(torch, found), torch.__version__.partition("+")[0], OTHERS)
        print(f"{len(found)} names recorded")
        return 0
    from compat_matrix import states

    return states.main(arguments)
