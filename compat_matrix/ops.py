"""The op table against the oracle: every sample, kink and error of every entry, at first and second order.

`samples()` turns the table into plain data (ours; needs the package).  `observe(torch, call)` runs one call of that data with either module.  The
recorder (`python -m compat_matrix.record_ops`, under real torch) reads the data file and stores the answers; `tests/test_ops.py` compares.
"""

import hashlib
import json
import pathlib
import zlib

import numpy as np

from .observe import encode, raises

FOLDER = pathlib.Path(__file__).parent / "oracle_ops"
CALLS, ANSWERS = FOLDER / "calls.json", FOLDER / "answers.json"


# From the table to data

def samples():
    """{key: {"path": public path, "calls": [...], "errors": [...]}} of every public entry."""
    from torchlike_autograd._core import publish
    from torchlike_autograd._ops.registry import OPS

    publish.load_all()
    return {key: {"path": path_of(op), "calls": [as_data(c) for c in [*op.samples, *(op.kinks if isinstance(op.kinks, list) else [])]],
                  "errors": [{**as_data(f.call), "kind": f.kind.__name__, "message": f.message} for f in op.errors]}
            for key, op in OPS.items() if path_of(op) is not None}


def path_of(op):
    """The public path that a sample is called by: a function where there is one."""
    if op.names is not None:
        return op.names[0] if op.names else None
    return f"torch.{op.name}" if op.function else f"Tensor.{op.name}" if op.method else None


def as_data(call):
    """A call with its tensors as {"tensor": values, ...}."""
    return {"args": [plain(a, str(i)) for i, a in enumerate(call.args)], "kwargs": {k: plain(v, k) for k, v in call.kwargs.items()}}


def plain(x, where):
    """One argument as JSON data."""
    kind = type(x).__name__
    if kind == "real":
        shape = tuple(n for n in x.shape if n != ())
        source = np.random.default_rng(zlib.crc32(f"{shape}{where}".encode()))
        values = source.uniform(x.low, x.high, shape)
        if "complex" in x.dtype:
            values = values + 1j * source.uniform(x.low, x.high, shape)
        return tensor_data(values, shape, x.dtype, x.grad)
    if kind == "at":
        values = np.array(x.values)
        return tensor_data(values, values.shape, x.dtype, x.grad)
    if isinstance(x, (list, tuple)):
        return {type(x).__name__: [plain(y, f"{where}.{i}") for i, y in enumerate(x)]}
    if isinstance(x, complex):
        return {"complex": [x.real, x.imag]}
    if isinstance(x, float) and not np.isfinite(x):
        return {"float": str(x)}
    if kind == "dtype":
        return {"dtype": x.name}
    return x


def tensor_data(values, shape, dtype, grad):
    flat = np.asarray(values).reshape(-1)
    if np.iscomplexobj(flat):
        numbers = [[float(v.real), float(v.imag)] for v in flat]
    else:
        numbers = [str(v) if isinstance(v, float) and not np.isfinite(v) else v for v in flat.tolist()]
    return {"tensor": numbers, "shape": list(shape), "of": dtype, "grad": bool(grad)}


# From data to a call of either module

def build(torch, x, leaves):
    """An argument; tensors that take part in the gradient are added to `leaves`."""
    if isinstance(x, dict):
        if "tensor" in x:
            return build_tensor(torch, x, leaves)
        if "complex" in x:
            return complex(*x["complex"])
        if "float" in x:
            return float(x["float"])
        if "dtype" in x:
            return getattr(torch, x["dtype"])
        (kind, items), = x.items()
        return (list if kind == "list" else tuple)(build(torch, y, leaves) for y in items)
    return x


def build_tensor(torch, x, leaves):
    dtype = getattr(torch, x["of"])
    values = [complex(*v) if isinstance(v, list) else float(v) if isinstance(v, str) else v for v in x["tensor"]]
    t = torch.tensor(values, dtype=dtype).reshape(x["shape"])
    if x["grad"] and (dtype.is_floating_point or dtype.is_complex):
        t.requires_grad_()
        leaves.append(t)
    return t


def find(torch, path):
    """The function of a public path."""
    where, *rest = path.split(".")
    found = torch.Tensor if where == "Tensor" else torch
    for name in rest:
        found = getattr(found, name)
    return found


def run(torch, path, call, leaves):
    args = [build(torch, a, leaves) for a in call["args"]]
    kwargs = {k: build(torch, {"dtype": v} if k == "dtype" and isinstance(v, str) else v, leaves) for k, v in call["kwargs"].items()}
    return find(torch, path)(*args, **kwargs)


def parts(out):
    """The results of a call."""
    return list(out) if isinstance(out, (tuple, list)) else [out]


def observe(torch, path, call):
    """Value, dtype, requires_grad, node name, first and second gradients, as plain data."""
    leaves = []
    out = run(torch, path, call, leaves)
    seen = {"out": encode(torch, out)}
    outs = [o for o in parts(out) if isinstance(o, torch.Tensor) and o.requires_grad]
    seen["nodes"] = [o.grad_fn.name() if o.grad_fn is not None else None for o in outs]
    if outs and leaves:
        seen["first"] = attempt(lambda: gradients(torch, outs, leaves, True))
        if isinstance(seen["first"], list):
            first = seen["first"]
            seen["first"] = [encode(torch, g.detach() if g is not None else None) for g in first]
            seen["second"] = second(torch, first, leaves)
    return seen


def attempt(fn):
    """What fn returns, or the class and message of what it raises."""
    try:
        return fn()
    except Exception:
        return raises(fn)


def weights(torch, t):
    """A fixed cotangent, beside what it is for."""
    flat = torch.arange(t.numel(), dtype=torch.float64, device=t.device) * 0.3 + 0.7
    return flat.reshape(t.shape).to(t.dtype)


def gradients(torch, outs, leaves, create):
    """First-order gradients for fixed cotangents."""
    return list(torch.autograd.grad(outs, leaves, [weights(torch, o) for o in outs], create_graph=create, allow_unused=True))


def second(torch, first, leaves):
    """Gradients of the first ones for fixed cotangents; zeros and None count alike only where torch says so."""
    live = [g for g in first if g is not None and g.requires_grad]
    if not live:
        return "none"
    found = attempt(lambda: gradients(torch, live, leaves, False))
    return [encode(torch, g) for g in found] if isinstance(found, list) else found


def observe_error(torch, path, call):
    """The exception of a call that must fail."""
    return raises(lambda: run(torch, path, call, []))


def stamp(entry):
    """A hash of an entry's data."""
    return hashlib.sha256(json.dumps(entry, sort_keys=True).encode()).hexdigest()[:16]
