"""Tensors made just before a product, a look at its result, a write to a factor: the product still knows the version that it kept."""

from compat_matrix.case import case

MADE = {
    "leaf": "torch.ones(3, 3, requires_grad=True)", "no gradient": "torch.ones(3, 3)", "read": "torch.tensor([[1.0, 1, 1]] * 3, requires_grad=True)",
    "computed": "torch.ones(3, 3, requires_grad=True) * 1", "copied": "torch.ones(3, 3).clone()", "parameter": "torch.nn.Parameter(torch.ones(3, 3))",
}
PRODUCTS = ("a * b", "a @ b", "F.linear(a, b, c)", "F.linear(a[None], b, c)", "F.linear(a[None], b)", "a @ b.t()", "a.t() @ b", "a[None] @ b",
            "torch.addmm(c, a, b)", "F.bilinear(a, b, b[None])", "torch.inner(a, b)", "F.conv1d(a[None], b[None])", "F.cosine_similarity(a, b)",
            "torch.cdist(a, b)", "a.pow(b)", "torch.where(a > 0, a * b, b)")


def _outcome(torch, source, made, second, write):
    c, g = torch.ones(3, requires_grad=True), torch.ones(3, 3, requires_grad=True)
    x = eval(made, {"torch": torch})
    a, b = (g, x) if second else (x, g)
    y = eval(source, {"a": a, "b": b, "c": c, "F": torch.nn.functional, "torch": torch})
    y.detach().sum().item()
    with torch.no_grad():
        if write:
            x.mul_(2)
    y.sum().backward()
    return g.grad


def _reached(fn):
    """What comes out, or how the error begins: whose memory it names differs where a product makes views of its own."""
    try:
        return fn()
    except RuntimeError as e:
        return str(e)[:75]


for _name, _made in MADE.items():
    @case(f"saved.written_after_looks.{_name}")
    def _(torch, made=_made):
        for source in PRODUCTS:
            for second in (False, True):
                for write in (False, True):
                    yield f"{source} {second} {write}", _reached(lambda: _outcome(torch, source, made, second, write))


@case("saved.written_after_looks.steps")
def _steps(torch):
    """A second backward pass after a step of the optimizer on a model that was made, and looked at, just before."""
    for kept in (False, True):
        weight = torch.full((2, 3), 0.5, requires_grad=True)
        bias = torch.zeros(2, requires_grad=True)
        optimizer = torch.optim.SGD([weight, bias], lr=0.1)
        x = torch.ones(4, 3, requires_grad=True)
        loss = torch.nn.functional.linear(x, weight, bias).pow(2).sum()
        yield f"loss {kept}", loss.item()
        if kept:
            loss.backward(retain_graph=True)
            optimizer.step()
        else:
            weight.data = weight.data * 1
            with torch.no_grad():
                weight.zero_()
        yield f"again {kept}", _reached(lambda: loss.backward())
        yield f"gradient {kept}", x.grad
