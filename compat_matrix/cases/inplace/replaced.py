"""What is left of a graph when the data of a tensor are replaced: `.data =`, `set_`; the memory that a detached part shares."""

from compat_matrix.case import case, raises

from . import leaf

KINDS = {"float64": ((3,), "float64"), "half": ((3,), "float16"), "complex": ((3,), "complex64"), "rows": ((2, 3), "float32"), "row": ((1, 3), "float64")}


def not_leaf(torch, how):
    shape, dtype = KINDS[how]
    x = leaf(torch)
    y = x * 2
    seen = []
    y.register_hook(seen.append)
    y.data = torch.full(shape, 3.0, dtype=getattr(torch, dtype))
    yield "state", y, y.requires_grad, y.is_leaf, y.grad_fn.name(), y._version
    loss = (y * y).sum().abs()
    if how == "complex":
        yield "complex", raises(lambda: torch.autograd.grad(loss, x))
        return
    yield "grad", torch.autograd.grad(loss, [x, y], retain_graph=True), seen
    y.retain_grad()
    loss.backward()
    yield "retained", x.grad, y.grad


for how in KINDS:
    case(f"inplace.replaced.not_leaf.{how}", how=how)(not_leaf)


@case("inplace.replaced.function_output")
def _(torch):
    class Two(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone(), x.detach()

        @staticmethod
        def backward(ctx, g, h):
            return g + h

    x = leaf(torch)
    a, b = Two.apply(x * 1)
    b.data = torch.ones(3, dtype=torch.float64)
    yield "state", b.requires_grad, type(b.grad_fn).__name__, b.dtype
    (a.sum() + (b * 3).sum()).backward()
    yield "grad", x.grad


@case("inplace.replaced.leaf_of_other_dtype")
def _(torch):
    x = leaf(torch)
    seen = []
    x.register_hook(lambda g: seen.append(str(g.dtype)))
    before = (x * 3).sum()
    node = x.view_as(x).grad_fn.next_functions[0][0]
    x.data = x.data.double()
    other = x.view_as(x).grad_fn.next_functions[0][0]
    yield "nodes", node is other, node.variable is x, other.variable is x
    yield "unused", raises(lambda: torch.autograd.grad(before, x, retain_graph=True))
    before.backward()
    yield "before", x.grad, seen
    x.grad = None
    (x * x).sum().backward()
    yield "after", x.grad, seen


@case("inplace.replaced.set_")
def _(torch):
    x = leaf(torch)
    seen = []
    x.register_hook(lambda g: seen.append(g.clone()))
    before = (x * 3).sum()
    with torch.no_grad():
        x.set_(torch.full((3,), 5.0))
    yield "unused", raises(lambda: torch.autograd.grad(before, x, retain_graph=True))
    before.backward()
    yield "before", x.grad
    (x * x).sum().backward()
    yield "both", x.grad, seen


@case("inplace.replaced.module_between")
def _(torch):
    m = torch.nn.Linear(2, 1)
    with torch.no_grad():
        m.weight.fill_(1.0)
        m.bias.fill_(0.5)
    out = m(torch.ones(1, 2)).sum()
    m.double()
    out.backward()
    yield "grad", m.weight.dtype, m.weight.grad, m.bias.grad
    m.zero_grad()
    m(torch.ones(1, 2, dtype=torch.float64)).sum().backward()
    yield "next", m.weight.grad, m.bias.grad


@case("inplace.replaced.part_of_memory")
def _(torch):
    whole = torch.arange(8.0).reshape(2, 4)
    part = whole[..., ::2].detach()
    yield "filled", part.fill_diagonal_(-1), whole
    w = torch.arange(8.0).reshape(2, 4)[..., ::2].detach().requires_grad_()
    with torch.no_grad():
        w.fill_diagonal_(7)
    yield "leaf", w, torch.arange(8.0).reshape(2, 4).t().detach().fill_diagonal_(-1, wrap=True)
    yield "too far", raises(lambda: part.as_strided((2,), (8,)))
    yield "inside", part.as_strided((2,), (4,)), part.as_strided((2,), (2,), 4)


@case("inplace.replaced.part_then_whole")
def _(torch):
    """The data of a tensor are a part of another one, and then a whole of another shape: nothing is left of the part."""
    base = torch.arange(24.0).reshape(2, 3, 4)
    p = torch.nn.Parameter(torch.zeros(2))
    p.data = base[1, :, 2]
    yield "part", p, p.stride(), p.storage_offset()
    p.data = torch.zeros(6)
    yield "whole", p.stride(), p.storage_offset(), p._is_view(), p._base is None
    with torch.no_grad():
        p.add_(1)
    p.detach()[1:3].mul_(5)
    (p * p).sum().backward()
    torch.optim.SGD([p], 0.1).step()
    yield "written", p, p.grad, p[1:3].storage_offset(), base.sum()
    held = base[0]
    held.data = torch.ones(5)
    held += 1
    yield "a view keeps its base", held, held._base is not None, held._is_view()
