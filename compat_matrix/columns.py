"""What the op table is asked beyond values and gradients: forward mode, dtype rules, every public name, in-place twins, `out=`, views, how results
lie in memory, maps (`torch.func.vmap`), the random stream.

`observe(torch, entry, paths)` asks either module; `python -m compat_matrix columns record` stores torch's answers (real torch), `python -m compat_matrix
columns` compares.
"""

import json
import warnings
from functools import cache

from compat_matrix import draws, mapped, names, ops, signatures
from compat_matrix.compare import differences
from compat_matrix.observe import attempt, encode, look

PATHS, ANSWERS = ops.FOLDER / "paths.json", ops.FOLDER / "columns.json"
DTYPES = ("float32", "float64", "float16", "bfloat16", "int64", "int32", "uint8", "bool", "complex64", "complex128")
DUALS = 3  # calls asked in forward mode
LAYOUTS = 4  # calls asked with tensors that lie otherwise in memory
SEEDS = (0, 42)
COLUMNS = ("forward mode", "dtype rules", "names", "twin", "out=", "views", "layouts", "vmap", "random stream")


def published():
    """{key: public paths of the entry and of its twin} from the package's table."""
    from torchlike_autograd._core import bind, publish

    table, found = publish.load_all(), {}
    for path, entries in bind.public_names().items():
        for op in entries:
            found.setdefault(op.key, []).append(path)
            if f"{path}_" in table and op.inplace:
                found[op.key].append(f"{path}_")
    return found | {key: entry["also"] for key, entry in draws.entries().items()}


@cache
def questions():
    """{key: entry}: the op table's, and the operators that draw."""
    return json.loads(ops.CALLS.read_text()) | draws.entries()


def observe(torch, entry, paths):
    """{column: answer} of one entry; the generator starts from one seed for each question."""
    def answer(fn, *args):
        return ask(lambda: seeded(torch, 0, fn, entry["path"], *args))
    call, dtype = entry["calls"][0], main_dtype(entry["calls"][0])
    seen = {"forward mode": [answer(tangents, c) for c in entry["calls"][:DUALS]]}
    seen["dtype rules"] = {d: without_words(answer(dtype_of, call, dtype, d)) for d in DTYPES} if dtype else {}
    main, drew = answer(by_path, call), has_drawn(torch, 0)
    for path in paths:
        if path == entry["path"]:
            continue
        column = "twin" if path.endswith("_") else "names"
        found = ask(lambda path=path: seeded(torch, 0, by_path, path, call))
        seen.setdefault(column, {})[path] = "same" if not differences(main, found) else found
    seen["out="] = answer(into, call)
    seen["views"] = answer(aliasing, call)
    seen["layouts"] = {kind: [answer(lying, c, change) for c in entry["calls"][:LAYOUTS]] for kind, change in LIES.items()}
    seen["vmap"] = [answer(under_map, c, bool(i % 2)) for i, c in enumerate(entry["calls"][:mapped.CALLS])]
    seen["random stream"] = [ask(lambda c=c: stream(torch, entry["path"], c)) for c in entry["calls"]] if drew else "fixed"
    return json.loads(json.dumps(seen))


def ask(fn):
    """What fn returns as plain data, or the error."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ops.attempt(fn)


def seeded(torch, seed, fn, *args):
    """`fn(torch, ...)` from a seed on."""
    torch.manual_seed(seed)
    return fn(torch, *args)


def without_words(found):
    """An answer; of an error only that it is one: dtypes are refused in many words."""
    return {"refused": "error"} if isinstance(found, dict) and "error" in found else found


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
        found = [fw.unpack_dual(o).tangent if isinstance(o, torch.Tensor) else None for o in ops.parts(out)]
        return [None if t is None else encode(torch, t.detach()) for t in found]


def main_dtype(call):
    """The dtype that the rules are asked about: float64 where a tensor has it, else that of the first tensor, else the one given by name; None: no such."""
    found = list(kinds([*call["args"], *call["kwargs"].values()]))
    named = [d for t, d in found if t == "dtype"]
    of = [d for t, d in found if t == "tensor"]
    return "float64" if "float64" in of else of[0] if of else f"dtype {named[0]}" if named else None


def kinds(values):
    """("tensor" or "dtype", its name) of everything in nested arguments."""
    for x in values:
        if isinstance(x, dict):
            yield from [("tensor", x["of"])] if "tensor" in x else [("dtype", x["dtype"])] if "dtype" in x else kinds(x.get("list", x.get("tuple", ())))


def cast(x, old, new):
    """Tensors of a dtype in a call's data as tensors of another one, with values that it has; or the dtype itself, where it is given by name."""
    if isinstance(x, dict) and x.get("of") == old:
        return {**x, "tensor": [fitting(v, new) for v in x["tensor"]], "of": new, "grad": False}
    if isinstance(x, dict) and f"dtype {x.get('dtype')}" == old:
        return {"dtype": new}
    if isinstance(x, dict) and ("list" in x or "tuple" in x):
        return {k: [cast(y, old, new) for y in v] for k, v in x.items()}
    return x


def fitting(value, dtype):
    """A number as one that a dtype has."""
    if isinstance(value, list):
        value = value if dtype.startswith("complex") else value[0]
    value = float(value) if isinstance(value, str) else value
    if dtype.startswith(("float", "bfloat", "complex")):
        return value
    whole = abs(int(value)) + 1 if value == value and abs(value) < 100 else 1
    return bool(whole) if dtype == "bool" else whole


def dtype_of(torch, path, call, old, new):
    """The dtypes of the results for arguments of a dtype."""
    given = {"args": [cast(a, old, new) for a in call["args"]], "kwargs": {k: cast(v, old, new) for k, v in call["kwargs"].items()}}
    out = ops.run(torch, path, given, [])
    look(out)
    return [str(o.dtype).removeprefix("torch.") if isinstance(o, torch.Tensor) else type(o).__name__ for o in ops.parts(out)]


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
    outs = [o for o in ops.parts(out) if isinstance(o, torch.Tensor) and o.requires_grad]
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
    return [[o._is_view(), list(o.stride()), o.storage_offset()] if isinstance(o, torch.Tensor) else None for o in ops.parts(out)]


def backwards(t):
    """The same values with the first dim as the fastest."""
    order = list(range(t.dim()))[::-1]
    return t.detach().permute(order).contiguous().permute(order) if len(order) > 1 else t.detach()


def apart(t):
    """The same values with gaps between them, the last dim but one as the fastest."""
    if t.dim() < 2:
        return t.detach()
    wide = backwards(t).transpose(-1, -2).repeat_interleave(2, -1).contiguous()[..., ::2]
    return wide.transpose(-1, -2)


LIES = {"backwards": backwards, "apart": apart}


def lying(torch, path, call, change):
    """The strides of the results for operands that lie otherwise in memory."""
    args, kwargs = built(torch, call, change)
    out = ops.find(torch, path)(*args, **kwargs)
    return [list(o.stride()) if isinstance(o, torch.Tensor) else None for o in ops.parts(out)]


def under_map(torch, path, call, last):
    """The call over a batch, which lies in the last dim or the first."""
    return mapped.mapped(torch, path, lambda change: built(torch, call, change), last)


def has_drawn(torch, seed):
    """Whether the generator has gone on since a seed."""
    after = torch.rand(1).item()
    torch.manual_seed(seed)
    return after != torch.rand(1).item()


def stream(torch, path, call):
    """What seeds give: values and gradients, and the next number of the generator."""
    return {str(seed): [seeded(torch, seed, by_path, path, call), encode(torch, torch.rand(1))] for seed in SEEDS}


# Comparing

@cache
def answers():
    """torch's answers."""
    return json.loads(ANSWERS.read_text()) if ANSWERS.exists() else {}


def compare(recorded, seen):
    """{column: [differences]}; a column in which neither gives anything to see is left out."""
    found = {}
    for column in COLUMNS:
        expected, got = recorded.get(column), seen.get(column)
        if empty(column, expected) and empty(column, got):
            continue
        found[column] = differences(expected, got, column)
        if column in ("names", "twin", "dtype rules") and expected and got:
            found[column] = [line for k in {**expected, **got} for line in differences(expected.get(k), got.get(k), k)]
    return found


def empty(column, answer):
    """Whether an answer says that there is nothing to compare."""
    if not answer:
        return True
    if column in ("forward mode", "vmap"):
        return all(a == "none" for a in answer)
    if column == "random stream":
        return answer == "fixed"
    if column == "out=":
        return answer == "not one tensor"
    return column == "views" and not any(isinstance(v, list) and v and v[0] for v in (answer if isinstance(answer, list) else []))


def signature(torch, entry, paths):
    """Lines about public names of an entry whose signatures are not torch's; None where torch gives none."""
    known, found = names.read(), []
    for path in {entry["path"], *paths}:
        name = path if path.startswith("torch.") else f"torch.{path}"
        fact = known.get(name, {})
        sigs = fact.get("sigs")
        if sigs:
            own = ours(torch).signatures(name, ops.find(torch, path), name.startswith("torch.Tensor."))
            problem = signatures.problem(sigs, own) if own else None
            if problem is None and fact.get("from") != "doc" and (other := signatures.renamed(sigs, own)):
                problem = f"{', '.join(other)} by another name"
            found.append(f"{name}{' '.join(sigs)}: {problem}" if problem not in (None, "open") else None)
    return [line for line in found if line] if found else None


@cache
def ours(torch):
    return names.Ours(torch)


def check(torch, key, entry, paths):
    """{column: [differences]} of one entry under the package; {"stale": [...]} where torch was not asked this."""
    recorded = answers().get(key)
    if recorded is None or recorded["hash"] != stamp(entry, paths):
        return {"stale": ["run `python -m compat_matrix columns record` with real torch"]}
    found = compare(recorded["seen"], observe(torch, entry, paths))
    lines = signature(torch, entry, paths)
    return found if lines is None else {"signature": lines, **found}


def stamp(entry, paths):
    return ops.stamp({"entry": entry, "paths": sorted(paths), "columns": COLUMNS})


def record(everything=False):
    """Ask torch what is new."""
    from compat_matrix.record import find_torch
    from compat_matrix.record_ops import write

    torch = find_torch()
    calls, paths, old = questions(), json.loads(PATHS.read_text()), {} if everything else answers()
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
