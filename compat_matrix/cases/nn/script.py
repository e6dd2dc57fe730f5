"""Cases of torch.nn as small programs: `look(label, function)` yields what the function gives, raises or warns."""

import collections
import importlib
import types
import warnings

from compat_matrix.case import attempt, case
from compat_matrix.observe import Seen, words

EXTRA = ("nn.utils.rnn", "nn.utils.prune", "nn.utils.parametrize", "nn.utils.parametrizations", "nn.utils.stateless", "nn.utils.fusion", "nn.parameter")


def script(name, text):
    """Register a program; it sees torch, nn, F, mm (torch.nn.modules.module) and the names of nn.parameter and nn.utils.rnn."""
    case(name, text=text)(run_script)


def run_script(torch, text):
    seen = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.manual_seed(0)
        exec(compile(text, "script", "exec"), names_of(torch, seen))
    yield from seen


def names_of(torch, seen):
    """What a program sees."""
    def add(label, found):
        same = sum(name.partition(" #")[0] == label for name, _ in seen)
        seen.append((f"{label} #{same + 1}" if same else label, found))

    def look(label, f):
        torch.manual_seed(0)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            found = attempt(lambda: plain(torch, f()))
        add(label, found)
        said = [(w.category.__name__, words(str(w.message))) for w in caught 
                if w.category is not ResourceWarning and "different programs" not in str(w.message)]  # those are not about the call
        if said:
            add(f"{label} warned", said)

    def note(*found):
        add("note", plain(torch, found))

    env = {"torch": torch, "nn": torch.nn, "F": torch.nn.functional, "look": look, "note": note, "collections": collections, "warnings": warnings}
    for path in EXTRA:
        try:
            module = importlib.import_module(f"{torch.__name__}.{path}")
        except ModuleNotFoundError:
            continue
        if path in ("nn.utils.rnn", "nn.parameter"):
            env.update({n: getattr(module, n) for n in module.__all__})
    env["mm"] = importlib.import_module(f"{torch.__name__}.nn.modules.module")
    return env


def plain(torch, value):
    """A result as plain data: modules by their repr, other objects by their type's name."""
    if isinstance(value, getattr(torch.nn.parameter, "UninitializedTensorMixin", ())):
        return repr(value)
    if value is None or isinstance(value, (bool, int, float, complex, str, Seen, torch.Tensor, torch.Size, torch.dtype, torch.device)):
        return value
    if isinstance(value, torch.nn.Module):
        return words(repr(value))
    if isinstance(value, tuple):
        return tuple(plain(torch, v) for v in value)
    if isinstance(value, dict):
        return {plain(torch, k): plain(torch, v) for k, v in value.items()}
    if isinstance(value, (list, type({}.keys()), type({}.values()), type({}.items()), types.GeneratorType)) or type(value).__name__.startswith("odict_"):
        return [plain(torch, v) for v in value]
    if isinstance(value, (set, frozenset)):
        return {plain(torch, v) for v in value}
    if isinstance(value, type):
        return f"the class {value.__name__}"
    return f"a {type(value).__name__}"
