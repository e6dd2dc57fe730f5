"""Numbers that a device draws itself, on a second host device that stands for one; prints JSON."""

import json
import pickle
import sys
import warnings

import jax
import numpy as np
import stand_in  # noqa: F401 (first)

import torchlike_autograd as torch
from torchlike_autograd._core import rng_counted, worth
from torchlike_autograd.utils.checkpoint import checkpoint

THERE = {"device": "cuda"}
MANY = 20_000


def attempt(f):
    """The words of what f() raises."""
    try:
        return str(f())
    except Exception as e:
        return f"{type(e).__name__}: {e}"


def moments():
    """{draw: [mean, variance, least, largest]} in double, of many numbers."""
    def of(t):
        x = t.cpu().resolve_conj()
        x = (torch.view_as_real(x) if x.is_complex() else x).double().numpy()
        return [float(x.mean()), float(x.var()), float(x.min()), float(x.max())]

    torch.manual_seed(0)
    half, many = torch.full((MANY,), 0.25, **THERE), (MANY,)
    out = {f"{f.__name__} {d}": f(many, dtype=d, **THERE) for f in (torch.rand, torch.randn)
           for d in (torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.complex64, torch.complex128)}
    fills = {"uniform_": (-1, 3), "normal_": (2, 3), "exponential_": (2,), "bernoulli_": (0.25,), "random_": (6,)}
    out |= {name: getattr(torch.empty(many, **THERE), name)(*given) for name, given in fills.items()}
    out |= {f"{name} mapped": torch.vmap(lambda x, name=name, given=given: getattr(x.clone(), name)(*given), randomness="different")(half)
            for name, given in fills.items()}
    out["dropout"] = torch.nn.functional.dropout(half, 0.25)
    out["bernoulli"], out["normal"] = torch.bernoulli(half), torch.normal(half, half + 1)
    out["randint"], out["poisson"] = torch.randint(-2, 3, many, **THERE), torch.poisson(half)
    out["randint far"] = torch.randint(-2**62, 2**62, many, **THERE).double() / 2**62
    out["gumbel"] = torch.nn.functional.gumbel_softmax(torch.zeros(MANY, 2, **THERE), hard=True)[:, 0]
    return {name: of(t) for name, t in out.items()}


def keys():
    """The numbers are those of `jax.random` for the key of seed and place; two seeds, three places."""
    out = []
    for seed in (3, 2**63 + 5):
        torch.cuda.manual_seed(seed)
        for turn in range(3):
            key = rng_counted.key_at(seed, 4 * turn) % 2**64
            words = np.array([key >> 32, key % 2**32], np.uint32)
            out.append(torch.randn(5, **THERE).tolist() == jax.random.normal(jax.random.wrap_key_data(words), (5,), "float32").tolist())
    return {"equal": out, "distinct": len({rng_counted.key_at(s, 4 * i) for s in range(20) for i in range(500)})}


def states():
    """Places in the stream: states, offsets, copies, forks; and the host's stream beside it."""
    torch.manual_seed(5)
    first = torch.rand(2).tolist()
    torch.manual_seed(5)
    torch.rand(3, **THERE)
    host = torch.rand(2).tolist() == first
    g = torch.Generator("cuda").manual_seed(1)
    torch.rand(2, generator=g, **THERE)
    kept, copied = g.get_state(), pickle.loads(pickle.dumps(g))
    a = torch.randn(3, generator=g, **THERE)
    g.set_state(kept)
    b, c = torch.randn(3, generator=g, **THERE), torch.randn(3, generator=copied, **THERE)
    g.set_offset(4)
    d = torch.randn(3, generator=g, **THERE)
    with torch.random.fork_rng():
        e = torch.rand(2, **THERE)
    f, h = torch.rand(2, **THERE), torch.rand(2, **THERE)
    return {"host": host, "bytes": kept.tolist(), "again": [torch.equal(a, x) for x in (b, c, d)], "offset": g.get_offset(), "forked": torch.equal(e, f),
            "moves on": not torch.equal(f, h), "refused": [
                attempt(lambda: g.set_offset(3)), attempt(lambda: g.set_state(torch.get_rng_state())), attempt(lambda: torch.Generator().get_offset()),
                attempt(lambda: torch.rand(2, generator=torch.Generator(), **THERE)), attempt(lambda: torch.rand(2, dtype=torch.int64, **THERE)),
                attempt(lambda: torch.empty(2, **THERE).uniform_(3, 1)), attempt(lambda: torch.empty(2, **THERE).normal_(0, -1)),
                attempt(lambda: torch.bernoulli(torch.full((2,), 1.5, **THERE)).tolist()),
                attempt(lambda: torch.normal(0.0, torch.tensor(-1.0, **THERE)).item()),
                attempt(lambda: torch.rand(2, out=torch.empty(2, requires_grad=True, **THERE))), attempt(lambda: torch.set_random("dice"))]}


def gradients():
    """What is drawn in the forward pass is what the backward pass used, in each way to differentiate."""
    x = torch.linspace(1, 2, 8, **THERE).requires_grad_()
    y = torch.nn.functional.dropout(x)
    y.sum().backward()
    plain = torch.equal(x.grad * x, y)
    x.grad = None
    y = checkpoint(torch.nn.functional.dropout, x, use_reentrant=False)
    y.sum().backward()
    again = torch.equal(x.grad * x, y)
    g, y = torch.func.grad(lambda x: (lambda y: (y.sum(), y))(torch.nn.functional.dropout(x)), has_aux=True)(x.detach())
    same = torch.vmap(torch.nn.functional.dropout, randomness="same")(torch.ones(4, 8, **THERE))
    other = torch.vmap(torch.nn.functional.dropout, randomness="different")(torch.ones(4, 64, **THERE))
    x.grad = None
    filled = x * 1
    filled.normal_()
    (filled * x).sum().backward()
    name = filled.grad_fn.name()
    return {"plain": plain, "checkpoint": again, "functional": torch.equal(g * x, y),
            "same": bool((same == same[0]).all()), "different": bool((other != other[0]).any()),
            "filled": [name, torch.equal(x.grad, filled)], "asks": torch.randn(2, requires_grad=True, **THERE).requires_grad,
            "like": list(torch.rand_like(torch.ones(3, 2, **THERE).t()).stride())}


def loops():
    """A loop that draws is one program, compiled once; turns that are rolled up draw their own numbers."""
    torch.manual_seed(0)
    net = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Dropout(), torch.nn.Linear(8, 1)).cuda()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    seen, losses = [], []
    for _ in range(6):
        optimizer.zero_grad()
        loss = net(torch.ones(16, 4, **THERE)).square().mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        seen.append((torch.stats()["compiles"], torch.stats()["flushes"]))
    waits, rolled = worth.waits, []
    worth.waits = lambda program: False
    for mode in ("deferred", "immediate"):
        torch.set_execution(mode)
        torch.manual_seed(9)
        x = torch.ones(50, **THERE)
        for _ in range(12):
            x = torch.nn.functional.dropout(x.sin() + 0.5, 0.3) + torch.rand(50, **THERE)
        rolled.append(x)
    worth.waits = waits
    torch.set_execution("deferred")
    return {"compiles": seen[-1][0] - seen[1][0], "flushes": seen[-1][1] - seen[-2][1], "losses": len(set(losses)), "rolled": torch.allclose(*rolled)}


def choice():
    """The setting is what it was; the host's numbers come back with it."""
    before = torch.set_random("host")
    torch.manual_seed(3)
    a, b = torch.rand(2, **THERE).tolist(), torch.rand(2).tolist()
    return [before, a == b, torch.set_random("device")]


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    torch.set_random("device")
    print(json.dumps({f.__name__: f() for f in (moments, keys, states, gradients, loops, choice)}), file=sys.stdout)
