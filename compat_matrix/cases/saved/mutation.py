"""allow_mutation_on_saved_tensors."""

import gc

from compat_matrix.case import case, raises
from compat_matrix.cases.saved.basics import leaf


def sizes(ctx):
    return len(ctx.cloned), len(ctx.tid_to_weakhandle), len(ctx.original)


@case("saved.mutation.counts")
def _(torch):
    x = leaf(torch)
    with torch.autograd.graph.allow_mutation_on_saved_tensors() as ctx:
        y = x.clone()
        z = y ** 2
        yield "saved", sizes(ctx)
        y.mul_(10)
        yield "written", sizes(ctx)
        z.sum().backward()
        yield "after", sizes(ctx), x.grad
        del z
        gc.collect()
        yield "gone", sizes(ctx)


@case("saved.mutation.views_and_results")
def _(torch):
    x = leaf(torch)
    with torch.autograd.graph.allow_mutation_on_saved_tensors() as ctx:
        y = x.clone()
        z = y.sin() * y
        y.view(3, 1).zero_()
        yield "view", sizes(ctx)
        w = y.exp()
        w.mul_(2)
        yield "result", sizes(ctx)
        (z + w).sum().backward()
        yield "grad", x.grad


@case("saved.mutation.second_order")
def _(torch):
    x = leaf(torch)
    with torch.autograd.graph.allow_mutation_on_saved_tensors():
        y = x * 1
        z = y * y
        with torch.no_grad():
            y.copy_(torch.zeros(3))
        g, = torch.autograd.grad(z.sum(), x, create_graph=True)
        yield "first", g.detach()
        yield "second", torch.autograd.grad(g.sum(), x)


@case("saved.mutation.errors")
def _(torch):
    allowed, x = torch.autograd.graph.allow_mutation_on_saved_tensors, leaf(torch)
    before = x.sin()
    with allowed():
        y = x.clone()
        z = y ** 2
        y.mul_(10)
        yield "leaf", raises(lambda: x.mul_(2))
        with torch.no_grad():
            x.mul_(2)
        yield "saved outside", raises(lambda: before.sum().backward())
    yield "outside", raises(lambda: z.sum().backward())
    with allowed():
        yield "another", raises(lambda: z.sum().backward())


@case("saved.mutation.retained")
def _(torch):
    x = leaf(torch)
    with torch.autograd.graph.allow_mutation_on_saved_tensors() as ctx:
        y = x.clone()
        z = y.sin()
        z.sum().backward(retain_graph=True)
        y.zero_()
        z.sum().backward()
        yield "grad", x.grad
        ctx.clear()
        yield "cleared", sizes(ctx)
