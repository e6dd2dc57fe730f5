"""What is refused, and that nothing has happened by then: no number drawn, no rank mistaken, no second derivative lost."""

from compat_matrix.case import attempt, case

FILLS = ("bernoulli_(0.5)", "uniform_()", "normal_()", "random_(5)", "exponential_()", "cauchy_()", "log_normal_()", "geometric_(0.5)", "random_()",
         "bernoulli_(torch.tensor([0.5, 0.5]))", "uniform_(3, 1)", "normal_(0, -1)", "bernoulli_(3.0)")


def _next(torch):
    return torch.rand(1).item()


for _fill in FILLS:
    @case(f"refused.draws.{_fill}")
    def _(torch, fill=_fill):
        for label, make in (("leaf", lambda: torch.ones(2, requires_grad=True)), ("repeated", lambda: torch.ones(2).expand(3, 2)),
                            ("view", lambda: torch.ones(2, requires_grad=True)[:]), ("allowed", lambda: torch.ones(2))):
            torch.manual_seed(0)
            yield label, attempt(lambda: eval(f"p.{fill}", {"p": make(), "torch": torch})), _next(torch)  # noqa: B023


@case("refused.draws.out")
def _(torch):
    def leaf():
        return torch.ones(2, requires_grad=True)

    for label, draw in (("normal", lambda: torch.normal(torch.zeros(2), torch.ones(2), out=leaf())), ("rand", lambda: torch.rand(2, out=leaf())),
                        ("bernoulli", lambda: torch.bernoulli(torch.ones(2) / 2, out=leaf())),
                        ("dropout", lambda: torch.nn.functional.dropout(leaf(), inplace=True)),
                        ("rrelu", lambda: torch.nn.functional.rrelu(leaf(), training=True, inplace=True))):
        torch.manual_seed(0)
        yield label, attempt(draw), _next(torch)


WRITES = ("index_add_(0, torch.tensor([5]), torch.ones(1))", "index_put_((torch.tensor([0]), torch.tensor([0])), torch.ones(1))", "as_strided_((5,), (1,))",
          "scatter_(0, torch.tensor([[0]]), 1.0)", "index_fill_(0, torch.tensor([0.0]), 1.0)", "index_copy_(0, torch.tensor([0.0]), torch.ones(1))",
          "fill_(torch.ones(3))", "put_(torch.tensor([9]), torch.ones(1))", "masked_fill_(torch.ones(3) > 0, 1.0)")


@case("refused.writes to a leaf")
def _(torch):
    for write in WRITES:
        x = torch.ones(2, requires_grad=True)
        yield write, attempt(lambda: eval(f"x.{write}", {"x": x, "torch": torch})), x._version  # noqa: B023


@case("refused.flags of what is computed")
def _(torch):
    y = torch.ones(2, requires_grad=True) * 2

    def put(value):
        y.requires_grad = value

    yield "flags", attempt(lambda: put(True)), attempt(lambda: put(False)), attempt(lambda: y.requires_grad_().requires_grad), attempt(lambda: y.requires_grad_(False))


@case("refused.numbers")
def _(torch):
    z = torch.tensor(1.0)
    for index in (0, 1, -1, -2, (0,), (-1,), (..., -1), (None, -1)):
        yield str(index), attempt(lambda: z[index]), attempt(lambda: z.clone().__setitem__(index, 1.0))  # noqa: B023
    yield "index_select", attempt(lambda: z.index_select(0, torch.tensor([0, 0]))), z.index_select(0, torch.tensor([0]))
    yield "cross_entropy", attempt(lambda: torch.nn.functional.cross_entropy(z, z))
    try:
        z.unflatten(0, (1, -1))
    except RuntimeError as e:
        yield "unflatten", str(e).splitlines()[:2]


@case("refused.targets")
def _(torch):
    F = torch.nn.functional
    yield "sizes", attempt(lambda: F.cross_entropy(torch.ones(5), torch.ones(3))), attempt(lambda: F.nll_loss(torch.ones(5), torch.ones(3).long()))
    yield "dtypes", attempt(lambda: F.nll_loss(torch.ones(5), torch.ones(3))), attempt(lambda: torch.ones(0).index_put_((torch.tensor([0]),), torch.ones(0)))


@case("refused.batched gradient without a graph")
def _(torch):
    x = torch.ones(3)
    yield "grad", attempt(lambda: torch.autograd.grad(x, torch.ones(3, requires_grad=True), torch.eye(3), is_grads_batched=True))


@case("refused.func under saved tensor hooks")
def _(torch):
    def f(x):
        return (x ** 2).sum()

    def inside(x):
        with torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t):
            return (x ** 2).sum()

    def on_cpu(x):
        with torch.autograd.graph.save_on_cpu():
            return (x ** 2).sum()

    F, o = torch.func, torch.ones(2)
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t):
        for label, g in (("grad", lambda: F.grad(f)(o)), ("vjp", lambda: F.vjp(f, o)[0]), ("jacrev", lambda: F.jacrev(f)(o)),
                         ("hessian", lambda: F.hessian(f)(o)), ("value", lambda: F.grad_and_value(f)(o)), ("jvp", lambda: F.jvp(f, (o,), (o,))),
                         ("mapped", lambda: F.vmap(F.grad(f))(torch.ones(2, 2))), ("functional", lambda: torch.autograd.functional.hessian(f, o))):
            yield label, attempt(g)
    yield "inside", attempt(lambda: F.grad(inside)(o)), attempt(lambda: F.grad(on_cpu)(o)), attempt(lambda: F.jvp(inside, (o,), (o,)))
    x = torch.ones(2, requires_grad=True)
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t * 2, lambda t: t):  # allowed again
        y = (x * x).sum()
    y.backward()
    yield "afterwards", x.grad


@case("refused.gradients of views that are gone")
def _(torch):
    a = torch.ones(3, requires_grad=True) * 1
    with torch.no_grad():
        v = a[0]
    part = a.split(1)[0]
    a.mul_(2)
    for label, t in (("no_grad", v), ("split", part)):
        yield label, attempt(lambda: t.grad), attempt(lambda: t.is_leaf), t.requires_grad  # noqa: B023


def _vectors(torch, x, k=1.5):
    return torch.linalg.eig((x * k).reshape(2, 2) + 0j)[1]


def _free(torch, x, k=1.5):
    """A loss that depends on the phase of eigenvectors."""
    return _vectors(torch, x, k).imag.sum()


@case("refused.losses that depend on phases, whatever ran before")
def _(torch):
    x = torch.tensor([0.5, 0.25, 0.75, 0.3], requires_grad=True)

    def gradient(loss, **keywords):
        return attempt(lambda: torch.autograd.grad(loss, x, **keywords)[0].detach())

    yield "beside another graph", gradient(_vectors(torch, x).abs().sum(), create_graph=True), gradient(_free(torch, x, 2.5))
    a, b = _free(torch, x), _free(torch, x, 2.5)
    yield "again", [gradient(loss, create_graph=True) for loss in (a, a, b)], gradient(a), gradient(b), gradient(b)
    y = _vectors(torch, x)
    a, b = y.abs().sum(), y.imag.sum()
    yield "of one node", gradient(a, create_graph=True), gradient(b, retain_graph=True), gradient(b)

    def inside(g):
        with torch.enable_grad():
            _free(torch, x).backward()

    h, others = x.sin(), [_free(torch, x, k) for k in (0.5, 2.5)]
    h.register_hook(inside)
    yield "in a hook", attempt(lambda: h.sum().backward()), len(others), x.grad


@case("refused.losses that depend on phases, where hooks keep what is saved")
def _(torch):
    x = torch.tensor([0.5, 0.25, 0.75, 0.3], requires_grad=True)
    turn = 1 + 1j
    losses = {
        "values": lambda: torch.linalg.eigvals(x.reshape(2, 2) + 0j).real.sum(),
        "vectors": lambda: _free(torch, x),
        "lengths": lambda: _vectors(torch, x).abs().sum(),
        "left": lambda: torch.linalg.svd(x.reshape(2, 2) * turn)[0].imag.sum(),
        "right": lambda: torch.linalg.svd(x.reshape(2, 2) * turn)[2].imag.sum(),
        "singular": lambda: torch.linalg.svd(x.reshape(2, 2) * turn)[1].sum(),
    }
    for name, loss in losses.items():
        with torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t):
            yield name, attempt(lambda loss=loss: torch.autograd.grad(loss(), x)[0])
            yield f"{name} twice", attempt(lambda loss=loss: torch.autograd.grad(torch.autograd.grad(loss(), x, create_graph=True)[0].sum(), x)[0])
    yield "checkpoint", attempt(lambda: torch.utils.checkpoint.checkpoint(lambda x: _free(torch, x), x, use_reentrant=False).backward())


_CAUGHT = """
def caught(make):
    try:
        make()
    except (ValueError, RuntimeError) as e:
        return type(e).__name__
    return "nothing"
"""


@case("refused.caught in code made from a string")
def _(torch):
    """What depends on data is refused at the call where an `except` waits for it, also one of `exec` and `python -c`."""
    names = {"torch": torch}
    exec(compile(_CAUGHT, "<string>", "exec"), names)
    for label, make in (("probabilities", "torch.distributions.Categorical(torch.tensor([-1.0, 2.0]))"), ("singular", "torch.linalg.inv(torch.zeros(2, 2))"),
                        ("valid", "torch.distributions.Normal(torch.tensor(0.0), torch.tensor(1.0))")):
        yield label, names["caught"](eval(compile(f"lambda: {make}", "<string>", "eval"), names))
