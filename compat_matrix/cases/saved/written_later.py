"""Writes between a pass that made a graph and a second one through it, and to what a node saved for a gradient that nobody asks for."""

from compat_matrix.case import case, raises

FUNCTIONS = {
    "pow": lambda torch, y: y**3, "mul": lambda torch, y: y * y, "exp": lambda torch, y: y.exp(), "sin": lambda torch, y: y.sin(),
    "sigmoid": lambda torch, y: y.sigmoid(), "div": lambda torch, y: 1 / y, "log": lambda torch, y: y.log(), "sqrt": lambda torch, y: y.sqrt(),
    "mm": lambda torch, y: y[None] @ y[:, None], "gelu": lambda torch, y: torch.nn.functional.gelu(y), "silu": lambda torch, y: torch.nn.functional.silu(y),
    "softplus": lambda torch, y: torch.nn.functional.softplus(y), "elu": lambda torch, y: torch.nn.functional.elu(y), "erf": lambda torch, y: y.erf(),
    "atan2": lambda torch, y: torch.atan2(y, y * 2), "mse": lambda torch, y: torch.nn.functional.mse_loss(y, y * 2), "var": lambda torch, y: y.var(),
    "conv": lambda torch, y: torch.nn.functional.conv1d(y.view(1, 1, 2), y.view(1, 1, 2)), "xlogy": lambda torch, y: torch.xlogy(y, y),
    "norm": lambda torch, y: y.norm(), "add": lambda torch, y: y + y, "relu": lambda torch, y: y.relu()}


def graph(torch, f, look):
    x = torch.tensor([2.0, 0.5], requires_grad=True)
    y = x * 1
    z = f(torch, y)
    if look:
        z.sum().item()
    g, = torch.autograd.grad(z.sum(), x, create_graph=True)
    if look:
        g.sum().item()
    return x, y, z, g


@case("saved.written_later.second")
def _(torch):
    """What the second derivative reads was written after the first: torch checks the versions that the first pass saved."""
    for name, f in FUNCTIONS.items():
        for look in (False, True):
            for what in ("input", "result", "leaf"):
                x, y, z, g = graph(torch, f, look)
                with torch.no_grad():
                    {"input": y, "result": z, "leaf": x}[what].add_(1)
                if not g.requires_grad:
                    yield f"{name} {what} {look}", "no graph"
                    continue
                yield f"{name} {what} {'looked at' if look else 'pending'}", raises(lambda g=g, x=x: torch.autograd.grad(g.sum(), x))


@case("saved.written_later.by cotangent")
def _(torch):
    """Only nodes that run are asked: by the cotangent alone, `cos(x)` is read and not `x`, while a product reads `x` itself."""
    for name, f in FUNCTIONS.items():
        if name == "mm":
            continue  # two views of one vector: which of them is named is another matter
        v = torch.tensor([1.0, 2.0], requires_grad=True)
        y = torch.tensor([2.0, 0.5], requires_grad=True) * 1
        z = f(torch, y)
        g, = torch.autograd.grad(z, y, v if z.shape == v.shape else v.sum().expand(z.shape), create_graph=True)
        with torch.no_grad():
            y.add_(1)
        yield name, raises(lambda g=g, v=v: torch.autograd.grad(g.sum(), v))


@case("saved.written_later.for another")
def _(torch):
    """A node unpacks all that it saved, also for gradients that nobody asks for."""
    for written in (0, 1):
        pair = [torch.tensor([2.0], requires_grad=True), torch.tensor([3.0], requires_grad=True)]
        z = pair[0] * pair[1]
        with torch.no_grad():
            pair[written].add_(1)
        for asked in (0, 1):
            yield f"written {written}, asked {asked}", raises(lambda z=z, t=pair[asked]: torch.autograd.grad(z, t, retain_graph=True))
        yield f"written {written}, inputs", raises(lambda z=z, t=pair[1 - written]: z.backward(inputs=[t]))
    a, b = torch.rand(2, 2, requires_grad=True), torch.rand(2, 2)
    z = a @ b
    b.add_(1)
    yield "of a constant", raises(lambda: torch.autograd.grad(z.sum(), a))
    z = a @ b
    with torch.no_grad():
        a.add_(1)
    yield "not saved", raises(lambda: torch.autograd.grad(z.sum(), a))
