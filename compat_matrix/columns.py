"""What the op table is asked beyond values and gradients: forward mode, dtype rules, every public name, in-place twins, `out=`, views, the random stream.

`observe(torch, entry, paths)` asks either module; `python -m compat_matrix columns record` stores torch's answers (real torch), `python -m compat_matrix
columns` compares.
"""

import json
import warnings
from functools import cache

from compat_matrix import ops
from compat_matrix.compare import differences
from compat_matrix.observe import attempt, encode, look

PATHS, ANSWERS = ops.FOLDER / "paths.json", ops.FOLDER / "columns.json"
DTYPES = ("float32", "float64", "float16", "bfloat16", "int64", "int32", "uint8", "bool", "complex64", "complex128")
DUALS = 3  # calls asked in forward mode
COLUMNS = ("forward mode", "dtype rules", "names", "twin", "out=", "views", "random stream")


def published():
    """{key: public paths of the entry and of its twin} from the package's table."""
    from torchlike_autograd._core import bind, publish

    table, found = publish.load_all(), {}
    for path, entries in bind.public_names().items():
        for op in entries:
            found.setdefault(op.key, []).append(path)
            if f"{path}_" in table and op.inplace:
                found[op.key].append(f"{path}_")
    return found


def observe(torch, entry, paths):
    """{column: answer} of one entry."""
    seen = {"forward mode": [ask(lambda c=c: tangents(torch, entry["path"], c)) for c in entry["calls"][:DUALS]]}
    call = entry["calls"][0]
    seen["dtype rules"] = {d: ask_class(lambda d=d: dtype_of(torch, entry["path"], call, d)) for d in DTYPES} if castable(call) else {}
    main = ask(lambda: by_path(torch, entry["path"], call))
    for path in paths:
        if path == entry["path"]:
            continue
        column = "twin" if path.endswith("_") else "names"
        found = ask(lambda path=path: by_path(torch, path, call))
        seen.setdefault(column, {})[path] = "same" if not differences(main, found) else found
    seen["out="] = ask(lambda: into(torch, entry["path"], call))
    seen["views"] = ask(lambda: aliasing(torch, entry["path"], call))
    seen["random stream"] = ask(lambda: stream(torch, entry["path"], call))
    return json.loads(json.dumps(seen))


def ask(fn):
    """What fn returns as plain data, or the error."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ops.attempt(fn)


def ask_class(fn):
    """The same with the class of an error alone: dtypes are refused in many words."""
    found = ask(fn)
    return {"refused": "error"} if isinstance(found, dict) and "error" in found else found


def parts(out):
    return list(out) if isinstance(out, (tuple, list)) else [out]


def replaced(torch, value, change):
    """Nested arguments with every tensor changed."""
    if isinstance(value, torch.Tensor):
        return change(value)
    if isinstance(value, (list, tuple)) and type(value) in (list, tuple):
        return type(value)(replaced(torch, v, change) for v in value)
    return value


def built(torch, call, change):
    """(args, kwargs) of a call with tensors changed."""
    args = [replaced(torch, ops.build(torch, a, []), change) for a in call["args"]]
    return args, {k: replaced(torch, ops.build(torch, {"dtype": v} if k == "dtype" and isinstance(v, str) else v, []), change) for k,
        v in call["kwargs"].items()}


def tangents(torch, path, call):
    """Tangents of the results for fixed tangents of everything that takes part in gradients; "none" where nothing does."""
    fw = torch.autograd.forward_ad
    with fw.dual_level():
        asked = []

        def dual(t):
            if not t.requires_grad:
                return t
            asked.append(t)
            return fw.make_dual(t.detach(), ops.weights(torch, t))
        args, kwargs = built(torch, call, dual)
        if not asked:
            return "none"
        out = ops.find(torch, path)(*args, **kwargs)
        found = [fw.unpack_dual(o).tangent if isinstance(o, torch.Tensor) else None for o in parts(out)]
        return [None if t is None else encode(torch, t.detach()) for t in found]


def castable(call):
    return any(isinstance(a, dict) and a.get("of") == "float64" for a in call["args"])


def cast(x, dtype):
    """Float64 tensors of a call's data as tensors of another dtype, with values that it has."""
    if isinstance(x, dict) and x.get("of") == "float64":
        values = [float(v) if isinstance(v, str) else v for v in x["tensor"]]
        if not dtype.startswith(("float", "bfloat", "complex")):
            values = [abs(int(v)) + 1 if v == v and abs(v) < 100 else 1 for v in values]
        return {**x, "tensor": [bool(v) for v in values] if dtype == "bool" else values, "of": dtype, "grad": False}
    if isinstance(x, dict) and ("list" in x or "tuple" in x):
        return {k: [cast(y, dtype) for y in v] for k, v in x.items()}
    return x


def dtype_of(torch, path, call, dtype):
    """The dtypes of the results for arguments of a dtype."""
    out = ops.run(torch, path, {"args": [cast(a, dtype) for a in call["args"]], "kwargs": {k: cast(v, dtype) for k, v in call["kwargs"].items()}}, [])
    look(out)
    return [str(o.dtype).removeprefix("torch.") if isinstance(o, torch.Tensor) else type(o).__name__ for o in parts(out)]


def by_path(torch, path, call):
    """Value and gradient by another public name; a twin writes to a copy, of which the version is seen too."""
    leaves = []
    args = [ops.build(torch, a, leaves) for a in call["args"]]
    kwargs = {k: ops.build(torch, {"dtype": v} if k == "dtype" and isinstance(v, str) else v, leaves) for k, v in call["kwargs"].items()}
    twin = path.endswith("_")
    if twin:
        args = [args[0].clone(), *args[1:]]
    out = ops.find(torch, path)(*args, **kwargs)
    seen = {"out": encode(torch, out)}
    if twin:
        seen |= {"itself": out is args[0], "version": out._version, "node": out.grad_fn.name() if out.grad_fn else None}
    outs = [o for o in parts(out) if isinstance(o, torch.Tensor) and o.requires_grad]
    if outs and leaves:
        found = attempt(lambda: ops.gradients(torch, outs, leaves, False))
        seen["first"] = [encode(torch, g) for g in found] if isinstance(found, list) else found
    return seen


def into(torch, path, call):
    """The call with `out=` tensors of no elements."""
    args, kwargs = built(torch, call, lambda t: t.detach())
    plain = ops.find(torch, path)(*args, **kwargs)
    if not isinstance(plain, torch.Tensor):
        return "not one tensor"
    target = torch.empty(0, dtype=plain.dtype)
    out = ops.find(torch, path)(*args, **kwargs, out=target)
    return {"itself": out is target, "out": encode(torch, target)}


def aliasing(torch, path, call):
    """Which tensors of the result are views, with their strides and offsets."""
    args, kwargs = built(torch, call, lambda t: t.detach())
    out = ops.find(torch, path)(*args, **kwargs)
    return [[o._is_view(), list(o.stride()), o.storage_offset()] if isinstance(o, torch.Tensor) else None for o in parts(out)]


def stream(torch, path, call):
    """What seed 0 gives, where another seed gives something else; "fixed" otherwise."""
    found = []
    for seed in (0, 1):
        torch.manual_seed(seed)
        args, kwargs = built(torch, call, lambda t: t.detach())
        found.append(encode(torch, ops.find(torch, path)(*args, **kwargs)))
    return "fixed" if found[0] == found[1] else found[0]


# Comparing

@cache
def answers():
    """torch's answers."""
    return json.loads(ANSWERS.read_text()) if ANSWERS.exists() else {}


def compare(recorded, seen):
    """{column: [differences]}; a column that torch gives nothing to see is left out."""
    found = {}
    for column in COLUMNS:
        expected = recorded.get(column)
        if not expected or empty(column, expected):
            continue
        found[column] = differences(expected, seen.get(column), column)
        if column in ("names", "twin", "dtype rules"):
            found[column] = [line for k in expected for line in differences(expected[k], seen.get(column, {}).get(k), k)]
    return found


def empty(column, expected):
    """Whether torch's answer says that there is nothing to compare."""
    if column == "forward mode":
        return all(a == "none" for a in expected)
    if column == "random stream":
        return expected == "fixed"
    if column == "out=":
        return expected == "not one tensor"
    return column == "views" and not any(isinstance(v, list) and v and v[0] for v in (expected if isinstance(expected, list) else []))


def check(torch, key, entry, paths):
    """{column: [differences]} of one entry under the package; {"stale": [...]} where torch was not asked this."""
    recorded = answers().get(key)
    if recorded is None or recorded["hash"] != stamp(entry, paths):
        return {"stale": ["run `python -m compat_matrix columns record` with real torch"]}
    return compare(recorded["seen"], observe(torch, entry, paths))


def stamp(entry, paths):
    return ops.stamp({"entry": entry, "paths": sorted(paths)})


def record(everything=False):
    """Ask torch what is new."""
    from compat_matrix.record import find_torch
    from compat_matrix.record_ops import write

    torch = find_torch()
    calls, paths, old = json.loads(ops.CALLS.read_text()), json.loads(PATHS.read_text()), {} if everything else answers()
    found = {}
    for key, entry in calls.items():
        mine = paths.get(key, [])
        known = old.get(key)
        fresh = known and known["hash"] == stamp(entry, mine)
        found[key] = known if fresh else {"hash": stamp(entry, mine), "torch": torch.__version__.partition("+")[0], "seen": observe(torch, entry, mine)}
    write(ANSWERS, found)
    print(f"{len(found)} entries recorded")
    return 0


def main(arguments):
    """`columns paths` (package), `columns record [--all]` (real torch); comparing is `run --only columns`."""
    if arguments[:1] == ["paths"]:
        return write_paths()
    if arguments[:1] == ["record"]:
        return record("--all" in arguments)
    from compat_matrix import run

    return run.main("columns", verbose="-v" in arguments)


def write_paths():
    """The public names of every entry, for the recorder (needs the package)."""
    from compat_matrix.record_ops import write

    write(PATHS, {k: sorted(v) for k, v in published().items()})
    return 0
