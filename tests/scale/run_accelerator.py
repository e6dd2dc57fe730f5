"""What programs find on a machine with a CUDA device, by a second host device that stands for one; prints JSON."""

import copy
import io
import json
import pathlib
import pickle
import re
import sys
import warnings

import stand_in  # noqa: F401 (first)

import torchlike_autograd as torch
from compat_matrix import columns, ops, work
from sampling import sample
from torchlike_autograd._core import execute, worth
from torchlike_autograd.interop import to_jax

DATA = pathlib.Path(__file__).resolve().parents[1] / "data"
EVERY = 20  # entries of the op table


def table():
    """{entry: what differs from the recorded answers} with every tensor on the device, of some entries: one call compiled for it, one as it comes."""
    waits = worth.waits
    out, calls, known = {}, work.read_calls(), work.recorded_ops()
    for key in sample(list(calls)[::EVERY], 2):
        for i, (call, expected) in enumerate(zip(calls[key]["calls"][:2], known[key]["calls"])):
            worth.waits = waits if i else lambda program: False
            with torch.device("cuda"):
                seen = json.loads(json.dumps(columns.ask(lambda call=call, path=calls[key]["path"]: ops.observe(torch, path, call))))
            lines = [line for found in work.by_column(expected, seen, i).values() for line in found]
            if lines:
                out[key] = lines[0][:300]
    worth.waits = waits
    return out


def retyped(x, kinds, n):
    """A call's argument with its floating tensors in these dtypes in turn."""
    if isinstance(x, dict) and "tensor" in x:
        if not x["of"].startswith(("float", "bfloat")):
            return x
        n[0] += 1
        return {**x, "of": kinds[(n[0] - 1) % len(kinds)], "grad": False}
    if isinstance(x, dict):
        return {k: retyped(v, kinds, n) for k, v in x.items()}
    return [retyped(y, kinds, n) for y in x] if isinstance(x, list) else x


def dtypes_of(out):
    """The dtypes of a result."""
    if isinstance(out, (list, tuple)):
        return [dtypes_of(o) for o in out]
    return str(out.dtype).removeprefix("torch.") if isinstance(out, torch.Tensor) else type(out).__name__


def autocast():
    """{entry and dtypes: (recorded, ours)} where the dtypes differ that a region gives."""
    out, calls = {}, work.read_calls()
    for key, answers in sample(json.loads((DATA / "autocast_cuda.json").read_text())["answers"].items(), 3):
        for kinds, expected in answers.items():
            n = [0]
            call = {k: retyped(v, kinds.split("/"), n) for k, v in calls[key]["calls"][0].items()}
            try:
                with torch.device("cuda"):
                    args, kwargs = columns.built(torch, call, lambda t: t)
                with torch.autocast("cuda", dtype=torch.float16):
                    seen = dtypes_of(ops.find(torch, calls[key]["path"])(*args, **kwargs))
            except Exception as error:
                seen = f"{type(error).__name__}: {error}"[:200]
            if seen != expected:
                out[f"{key} {kinds}"] = expected, seen
    return out


KINDS = (("float16", "float32", "float32"), ("float16", "float16", "float16"), ("float16", "float16", "float32"), ("bfloat16", "float32", "bfloat16"))
SHAPES = {"a": (3, 3), "b": (3, 3), "c": (3, 3, 3), "d": (3, 3, 3, 3), "e": (1, 1, 3, 3, 3), "v": (3,)}


def autocast_calls():
    """{call: (recorded, ours)} where the dtypes differ that a region gives; calls of functions that others are made of."""
    out = {}
    for text, expected in json.loads((DATA / "autocast_cuda.json").read_text())["calls"].items():
        seen = []
        for region, first, second in KINDS:
            names = {k: torch.rand(shape).to("cuda", getattr(torch, second if k == "b" else first)) for k, shape in SHAPES.items()}
            names |= {"t": torch.tensor([2, 1, 0], device="cuda"), "torch": torch, "nn": torch.nn}
            with torch.autocast("cuda", dtype=getattr(torch, region)):
                seen.append(dtypes_of(one) if isinstance(one := called(text, names), torch.Tensor) else one)
        if seen != expected:
            out[text] = expected, seen
    return out


def called(text, names):
    """The first tensor that a call gives, written with or without "torch." in front; the class of its error."""
    try:
        found = eval(text if re.match(r"([a-e]|[12]) ?[.*/@+]|.*\bif\b", text) else f"torch.{text}", names)
        return found[0] if isinstance(found, tuple) else found
    except Exception as error:
        return type(error).__name__


def files():
    """Where what was saved comes back."""
    m = torch.nn.Linear(2, 2).cuda()
    f = io.BytesIO()
    torch.save({"m": m.state_dict(), "t": torch.arange(3, device="cuda")}, f)
    out = {}
    for name, where in (("as it was", None), ("a string", "cpu"), ("a device", torch.device("cuda")), ("a map", {"cuda:0": "cpu"}),
                        ("a function", lambda s, l: s), ("a function that moves", lambda s, l: s.cuda()), ("one that does not say", lambda s, l: None)):
        f.seek(0)
        found = torch.load(f, map_location=where)
        out[name] = [str(found["t"].device), str(found["m"]["weight"].device), torch.equal(found["m"]["weight"].cpu(), m.weight.cpu())]
    p = pickle.loads(pickle.dumps(m.weight))
    return {**out, "pickled": [str(p.device), type(p).__name__, torch.equal(p, m.weight)], "copied": str(copy.deepcopy(m).weight.device)}


def attempt(f):
    """What f gives, or its error."""
    try:
        return f()
    except Exception as error:
        return f"{type(error).__name__}: {error}"


class Two(torch.autograd.Function):
    """Two outputs, so that one gradient is made of zeros."""

    @staticmethod
    def forward(ctx, x):
        return x * 2, x * 3

    @staticmethod
    def backward(ctx, a, b):
        return a * 2 + b * 3


def gradients():
    """Gradients of Functions, Jacobians and checkpoints, where they lie."""
    x = torch.ones(2, device="cuda", requires_grad=True)
    Two.apply(x)[0].sum().backward()
    function = [x.grad.tolist(), str(x.grad.device)]
    x.grad = None
    y = torch.rand(3, dtype=torch.float64, device="cuda", requires_grad=True)
    torch.manual_seed(5)
    h = torch.utils.checkpoint.checkpoint(lambda t: torch.nn.functional.dropout(t, 0.5) * t, x, use_reentrant=False)
    first = h.detach().tolist()
    h.sum().backward()
    p = torch.nn.Parameter(torch.ones(2, device="cuda"))
    o = torch.optim.Adam([p])
    p.sum().backward()
    o.step()
    q = torch.nn.Parameter(torch.ones(2))
    other = torch.optim.Adam([q])
    other.load_state_dict(o.state_dict())
    q.sum().backward()
    other.step()
    return {"function": function, "checked": torch.autograd.gradcheck(lambda t: t.sin().prod(), y, check_forward_ad=True),
            "checkpoint": [first, x.grad.tolist()], "optimizer": [p.tolist(), q.tolist(), str(other.state[q]["exp_avg"].device)]}


def draws():
    """The generators of the device."""
    torch.manual_seed(3)
    alone = torch.rand(2)
    torch.manual_seed(3)
    there, here = torch.rand(2, device="cuda"), torch.rand(2)
    torch.cuda.manual_seed(7)
    a = torch.rand(2, device="cuda")
    torch.cuda.manual_seed_all(7)
    b = torch.rand(2, device="cuda")
    state = torch.cuda.get_rng_state()
    c = torch.rand(2, device="cuda")
    torch.cuda.set_rng_state(state)
    with torch.random.fork_rng():
        d = torch.rand(2, device="cuda")
    e = torch.rand(2, device="cuda")
    g = torch.Generator("cuda")
    kinds = [torch.bernoulli(torch.full((2,), 0.5, device="cuda")), torch.poisson(torch.ones(2, device="cuda")), torch.randperm(3, device="cuda"),
             torch.multinomial(torch.ones(3, device="cuda"), 2), torch.normal(torch.zeros(2, device="cuda"), 1.0), torch.rand(2, generator=g, device="cuda"),
             torch.nn.functional.dropout(torch.ones(2, device="cuda"))]
    return {"apart": [torch.equal(here, alone), torch.equal(there.cpu(), alone)], "seeded": torch.equal(a, b), "again": [torch.equal(c, d), torch.equal(c, e)],
            "where": sorted({str(t.device) for t in kinds}), "seed": torch.cuda.initial_seed(), "generators": len(torch.cuda.default_generators),
            "refused": [attempt(lambda: torch.rand(2, generator=g)), attempt(lambda: torch.rand(2, generator=torch.Generator(), device="cuda"))]}


def mapped_draws():
    """Dropout in maps and under `torch.func.grad`."""
    x = torch.ones(4, 32, device="cuda")
    same, other = (torch.vmap(torch.nn.functional.dropout, randomness=r)(x) for r in ("same", "different"))
    g, y = torch.func.grad(lambda x: (lambda y: (y.sum(), y))(torch.nn.functional.dropout(x)), has_aux=True)(x)
    return [bool((same == same[0]).all()), bool((other != other[0]).any()), torch.equal(g, y)]


def mixed_precision():
    """A training step with autocast and a GradScaler."""
    torch.manual_seed(0)
    net = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.LayerNorm(4), torch.nn.Linear(4, 1)).cuda()
    optimizer, scaler = torch.optim.SGD(net.parameters(), lr=0.1), torch.amp.GradScaler("cuda", init_scale=64.0)
    x = torch.ones(2, 4, device="cuda")
    losses = []
    for _ in range(3):
        optimizer.zero_grad()
        with torch.autocast("cuda", dtype=torch.float16):
            out = net(x)
            loss = torch.nn.functional.mse_loss(out, torch.zeros_like(out))
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        losses.append(loss.item())
    with torch.autocast("cuda"):
        unsafe = attempt(lambda: torch.nn.functional.binary_cross_entropy(x, x))
        host = str((torch.ones(2, 2) @ torch.ones(2, 2)).dtype)
        product = str((x @ x.T).dtype)
    return {"dtypes": [str(out.dtype), str(loss.dtype), product, host], "falls": losses == sorted(losses, reverse=True), "unsafe": unsafe.partition("\n")[0]}


def programs():
    """What is compiled of small programs and of training steps, and who gives memory to whom."""
    execute.clear_caches()
    before = torch.stats()["compiles"]
    a = torch.ones(3, device="cuda") * 2 + torch.arange(3, device="cuda")
    small = [a.tolist(), str((a @ a).item()), a.cpu().mul(2).to("cuda").device.type]
    small.append(torch.stats()["compiles"] - before)
    net = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.ReLU(), torch.nn.Linear(4, 1)).cuda()
    optimizer = torch.optim.Adam(net.parameters(), lr=0.1)
    x, losses, held = torch.ones(2, 4, device="cuda"), [], []
    for turn in range(6):
        optimizer.zero_grad()
        loss = net(x).sub(3).square().mean()
        loss.backward()
        if turn == 3:
            held = [to_jax(p.detach()) for p in net.parameters()]
            values = [a.tolist() for a in held]
        optimizer.step()
        losses.append(loss.item())
    return {"small": small, "compiles": torch.stats()["compiles"] - before, "falls": losses[-1] < losses[0], "held": [a.tolist() for a in held] == values,
            "lent": max(len(p.donates) for p in execute._programs.values())}


def looks():
    """Looking at values, and what is waited for."""
    x = torch.randn(8, 4, device="cuda", requires_grad=True)
    t = torch.zeros(8, dtype=torch.long, device="cuda")
    torch.nn.functional.cross_entropy(x, t).backward()
    execute.flush()
    codes = [type(execute.guards.pending[-1][0]).__name__]
    return {"codes": codes, "numpy": attempt(lambda: x.detach().numpy()), "refused": attempt(lambda: torch.nn.functional.cross_entropy(x, t + 4).item()),
            "pinned": [torch.ones(2).is_pinned(), torch.ones(2).pin_memory().is_pinned(), attempt(lambda: x.detach().pin_memory())],
            "loader": [b.is_pinned() for b in torch.utils.data.DataLoader(torch.ones(4), batch_size=2, pin_memory=True)]}


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    answers = {f.__name__: f() for f in (gradients, files, draws, mapped_draws, mixed_precision, programs, looks, autocast, autocast_calls, table)}
    print(json.dumps(answers), file=sys.stdout)
