"""How saved tensors lie in memory whose tensors are gone: of copies in a memory format, detached ones, vectors with steps, chains longer than a program."""

from compat_matrix.case import case


def _read(node, *names):
    return [(x.stride(), tuple(x.shape)) for x in (getattr(node, n) for n in names)]


def _packed(torch, f):
    seen = []
    with torch.autograd.graph.saved_tensors_hooks(lambda t: (seen.append((tuple(t.shape), t.stride())), t)[1], lambda t: t):
        f()
    return seen


@case("saved.strides_of_what_is_gone.formats")
def _(torch):
    x = torch.linspace(-1, 1, 24, requires_grad=True)
    f, last = torch.nn.functional, torch.channels_last
    programs = {
        "contiguous": lambda: x.reshape(2, 3, 2, 2).contiguous(memory_format=last).exp().relu(),
        "clone": lambda: x.reshape(2, 3, 2, 2).clone(memory_format=last).exp().relu(),
        "to": lambda: x.reshape(2, 3, 2, 2).to(memory_format=last).exp().relu(),
        "keeps": lambda: x.reshape(4, 6).t().clone().exp().relu(),
        "conv": lambda: f.conv2d(x.reshape(2, 3, 2, 2).contiguous(memory_format=last), torch.ones(2, 3, 1, 1)).exp().relu(),
    }
    for name, g in programs.items():
        y = g()
        inner = y.grad_fn.next_functions[0][0]
        yield name, _read(y.grad_fn, "_saved_result"), _read(inner, "_saved_result")
        y.tolist()
        yield f"{name} looked at", _read(inner, "_saved_result")
        yield f"{name} packed", _packed(torch, g)


@case("saved.strides_of_what_is_gone.detached")
def _(torch):
    x = torch.linspace(-1, 1, 12).reshape(3, 4).requires_grad_()

    def made():
        return torch.nn.functional.mse_loss(x.t(), x.t().detach() * 2)
    yield "read", _read(made().grad_fn, "_saved_self", "_saved_target")
    yield "packed", _packed(torch, made)


@case("saved.strides_of_what_is_gone.vectors")
def _(torch):
    x = torch.linspace(-1, 1, 12).reshape(3, 4).requires_grad_()
    yield "column", _read(torch.mv(x.t(), x[:, 0]).grad_fn, "_saved_vec", "_saved_self")
    yield "step", _read((x[0, ::2] * x[1, ::2]).grad_fn, "_saved_self", "_saved_other")


@case("saved.strides_of_what_is_gone.pools")
def _(torch):
    x, f = torch.linspace(-1, 1, 48).reshape(1, 3, 4, 4).requires_grad_(), torch.nn.functional
    for name, y in (("number", f.max_pool2d(x, 2)), ("list", f.max_pool2d(x, (2,), stride=1)), ("space", f.max_pool3d(x.reshape(1, 3, 4, 2, 2), 2))):
        yield name, [getattr(y.grad_fn, f"_saved_{n}") for n in ("kernel_size", "stride", "padding", "dilation")]


@case("saved.strides_of_what_is_gone.long")
def _(torch):
    x = torch.linspace(-1, 1, 12).reshape(3, 4).requires_grad_()
    y = x.t()
    for _ in range(3000):
        y = y.sin()
    node = y.grad_fn
    yield "end", _read(node, "_saved_self")
    y.tolist()
    del y
    for _ in range(1500):
        node = node.next_functions[0][0]
    yield "middle", _read(node, "_saved_self")

    def alternating():
        y = x.t()
        for _ in range(800):
            y = (y.detach().t().exp().t() * y).tanh()
    yield "packed", sorted(set(_packed(torch, alternating)))
