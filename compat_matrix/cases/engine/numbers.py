"""Numbers of nodes that somebody sets: which node runs first where several could."""

from compat_matrix.case import case


def run(torch, numbers, look):
    x, y, z = (torch.full((3,), v, requires_grad=True) for v in (1.0, 2.0, 3.0))
    a, b = x * y, y * z
    c, seen = a * b, []
    if look:
        c.sum().item()
    for t, n in zip((a, b, c), numbers):
        if n is not None:
            t.grad_fn._set_sequence_nr(n)
    for name, t in (("a", a), ("b", b), ("c", c)):
        t.register_hook(lambda g, name=name: seen.append(name))
        t.grad_fn.register_hook(lambda gi, go, name=name: seen.append(f"{name}'s node"))
    for name, t in (("x", x), ("y", y), ("z", z)):
        t.register_hook(lambda g, name=name: seen.append(name))
    c.sum().backward()
    return seen, x.grad, y.grad, z.grad, [t.grad_fn._sequence_nr() for t, n in zip((a, b, c), numbers) if n is not None]


@case("engine.sequence_numbers.set")
def _(torch):
    for numbers in ((100, 99, 98), (1, 2, 3), (2**40, None, None), (5, 5, 5), (None, None, None)):
        for look in (False, True):
            yield f"{numbers} {'looked at' if look else 'pending'}", run(torch, numbers, look)


@case("engine.sequence_numbers.alone")
def _(torch):
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    y.grad_fn._set_sequence_nr(7)
    (y.sin() + y.cos()).sum().backward()
    yield "grad", x.grad, y.grad_fn._sequence_nr()
    y = x * 2
    z = y.exp()
    y.grad_fn._set_sequence_nr(2**50)
    g, = torch.autograd.grad(z.sum(), x, create_graph=True)
    yield "second", torch.autograd.grad(g.sum(), x)
