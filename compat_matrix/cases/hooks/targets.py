"""Gradients of results inside a graph: what `grad` gives for them beside hooks, what a second derivative by them is, which hooks a write through a view leaves."""

from compat_matrix.case import case


def leaf(torch):
    return torch.tensor([0.3, 0.7], requires_grad=True, dtype=torch.float64)


OPERATORS = {
    "exp": lambda torch, x: x.exp(), "exp2": lambda torch, x: x.exp2(), "expm1": lambda torch, x: x.expm1(), "tanh": lambda torch, x: x.tanh(),
    "sigmoid": lambda torch, x: x.sigmoid(), "sqrt": lambda torch, x: x.sqrt() * x, "rsqrt": lambda torch, x: x.rsqrt(), "reciprocal": lambda torch, x: x.reciprocal(),
    "tan": lambda torch, x: x.tan(), "softmax": lambda torch, x: x.softmax(0), "log_softmax": lambda torch, x: x.log_softmax(0),
    "logsumexp": lambda torch, x: x.logsumexp(0), "norm": lambda torch, x: x.norm(), "vector_norm": lambda torch, x: torch.linalg.vector_norm(x, 3),
    "std": lambda torch, x: x.std(), "pow": lambda torch, x: x ** x, "scalar pow": lambda torch, x: 2.0 ** x, "hypot": lambda torch, x: torch.hypot(x, x * 2),
    "relu": lambda torch, x: x.relu(), "elu": lambda torch, x: torch.nn.functional.elu(x - 0.5), "amax": lambda torch, x: x.amax(), "in place": lambda torch, x: (x * 1).exp_(),
    "tanh in place": lambda torch, x: (x * 1).tanh_(), "inverse": lambda torch, x: torch.linalg.inv(torch.diag(x) + 0.1),
    "cholesky": lambda torch, x: torch.linalg.cholesky(torch.diag(x) + 0.1), "logsumexp of rows": lambda torch, x: torch.stack([x, x * 2]).logsumexp(1),
    "norm of rows": lambda torch, x: torch.stack([x, x * 2]).norm(dim=1, keepdim=True),
}


for _name in OPERATORS:
    for _how in ("pending", "looked at", "hooked"):
        @case(f"hooks.targets.second by a result {_name} {_how}", which=_name, how=_how)
        def _(torch, which, how):
            x = leaf(torch)
            y = OPERATORS[which](torch, x)
            if how == "looked at":
                y.tolist()
            if how == "hooked":
                y.register_hook(lambda g: g * 3)
            b, = torch.autograd.grad((y * y).sum(), [x], create_graph=True)
            yield "both", torch.autograd.grad(b.sum(), [y, x], allow_unused=True, retain_graph=True)
            b.sum().backward(inputs=[x])
            yield "leaf", x.grad


@case("hooks.targets.after a look without what was kept")
def _(torch):
    x = leaf(torch)
    y = x.exp()
    s = y.sum()
    s.item()
    del s
    b, = torch.autograd.grad(y.sum(), [x], create_graph=True)
    yield "by y", torch.autograd.grad((b * b).sum(), [y, x])


@case("hooks.targets.retained in the second pass")
def _(torch):
    x = leaf(torch)
    y = x.tanh()
    y.retain_grad()
    seen = []
    y.register_hook(lambda g: seen.append(g.tolist()))
    b, = torch.autograd.grad(y.pow(3).sum(), [x], create_graph=True)
    b.pow(2).sum().backward()
    yield "seen", seen
    yield "grads", (y.grad, x.grad)


@case("hooks.targets.node of a result")
def _(torch):
    x = leaf(torch)
    y = x.exp()
    b, = torch.autograd.grad(y.sum(), [x], create_graph=True)
    yield "edges", sorted(n.name() for n, _ in b.grad_fn.next_functions if n is not None)
    y = x.tanh()
    b, = torch.autograd.grad((y * y).sum(), [x], create_graph=True)
    yield "edges of tanh", [n.name() for n, _ in b.grad_fn.next_functions]


# What grad gives where hooks are

@case("hooks.targets.captured before its hooks where more is asked")
def _(torch):
    x = leaf(torch)
    y = x.exp()
    z = y * 2
    z.register_hook(lambda g: g * 7)
    y.register_hook(lambda g: g * 3)
    yield "three", torch.autograd.grad(z.sum(), [z, y, x], retain_graph=True)
    yield "two", torch.autograd.grad(z.sum(), [z, y], retain_graph=True)
    yield "one", torch.autograd.grad(z.sum(), [z], retain_graph=True)
    yield "last", torch.autograd.grad(z.sum(), [y, x], create_graph=True)


@case("hooks.targets.captured with a retained gradient")
def _(torch):
    x = leaf(torch)
    y = x.exp()
    y.retain_grad()
    y.register_hook(lambda g: g * 3)
    yield "grads", torch.autograd.grad(y.sin().sum() + y.sum(), [y, x])
    yield "retained", y.grad


@case("hooks.targets.captured and written to by a hook")
def _(torch):
    x = leaf(torch)
    y = x.exp()

    def hook(g):
        g.mul_(3)

    y.register_hook(hook)
    y.register_hook(lambda g: g + 1)
    yield "grads", torch.autograd.grad((y * y).sum(), [y, x])


@case("hooks.targets.inputs of backward are filled after hooks")
def _(torch):
    x = leaf(torch)
    y = x.exp()
    y.register_hook(lambda g: g * 3)
    (y * 2).sum().backward(inputs=[y, x])
    yield "grads", (y.grad, x.grad)


# Hooks on a view that is written to

WRITES = {
    "the view": lambda v, b: v.mul_(2), "a view of it": lambda v, b: v[0].mul_(2), "two views down": lambda v, b: v.transpose(-1, -2)[...].mul_(2),
    "an item": lambda v, b: v.__setitem__(0, v[1] * 3), "the base": lambda v, b: b.mul_(2), "its other view": lambda v, b: b.t().mul_(2),
}


for _name in WRITES:
    for _read in ("view", "base", "new view"):
        @case(f"hooks.targets.view written to {_name} read by {_read}", which=_name, read=_read)
        def _(torch, which, read):
            x = torch.ones(2, 3, requires_grad=True, dtype=torch.float64)
            b = x * 1
            v = b.view(3, 2)
            seen = []
            v.register_hook(lambda g: seen.append(g.tolist()) or g * 3)
            WRITES[which](v, b)
            out = {"view": v, "base": b, "new view": v[0]}[read]
            (out * out).sum().backward()
            yield "grad", x.grad
            yield "seen", seen
