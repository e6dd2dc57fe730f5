"""Hooks that look at their gradient, in random graphs: what they see and in which order, also where values were looked at before."""

import random

from compat_matrix.case import case


def program(torch, seed, look):
    """A random graph over four leaves with hooks that read their gradient; `look`: some values are read while the graph is made."""
    r, seen = random.Random(seed), []
    leaves = [torch.tensor([1.0 + i, 2.0 - i], dtype=torch.float64, requires_grad=True) for i in range(4)]

    def hook(name):
        return lambda g: seen.append((name, g.tolist()))

    for i, t in enumerate(leaves):
        if r.random() < 0.6:
            t.register_hook(hook(f"leaf {i}"))
    pool = list(leaves)
    for k in range(r.randint(3, 9)):
        a, b = r.choice(pool), r.choice(pool)
        t = [lambda a, b: a * b, lambda a, b: a + b, lambda a, b: a - 2 * b, lambda a, b: torch.sin(a), lambda a, b: a * 3.0][r.randrange(5)](a, b)
        if r.random() < 0.4:
            t.register_hook(hook(f"result {k}"))
        if r.random() < 0.2:
            t.retain_grad()
        pool.append(t)
        if look and r.random() < 0.4:
            t.sum().item()
    out = (pool[-1] * pool[-2]).sum()
    out.backward(retain_graph=seed % 3 == 0)
    if seed % 3 == 0:
        out.backward()
    return seen, [t.grad for t in leaves]


for _seed in range(16):
    for _look in (False, True):
        @case(f"hooks.looking.{'after a look' if _look else 'at once'} {_seed}", seed=_seed, look=_look)
        def _(torch, seed, look):
            seen, grads = program(torch, seed, look)
            yield "order", [name for name, _ in seen]
            yield "seen", [values for _, values in seen]
            yield "grads", grads
