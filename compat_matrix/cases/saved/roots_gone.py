"""What dies with the root of a backward pass: hooks, and what they hold, without a collection of cycles."""

import weakref

from compat_matrix.case import attempt, case


class Held:
    """Something that a hook holds."""


@case("saved.roots_gone.hooks")
def _(torch):
    for name in ("backward", "grad", "retained", "error"):
        x = torch.ones(2, requires_grad=True)
        y, held = x * 2, Held()
        ref = weakref.ref(held)

        def hook(g, held=held, name=name):
            if name == "error":
                raise ValueError("in a hook")

        y.register_hook(hook)
        z = y.sum()
        del y, hook, held
        alive = ref() is not None
        if name == "grad":
            torch.autograd.grad(z, x)
        else:
            attempt(lambda z=z, name=name: z.backward(retain_graph=name == "retained"))
        between = ref() is not None
        del z
        yield name, alive, between, ref() is not None


@case("saved.roots_gone.module")
def _(torch):
    module, held = torch.nn.Linear(2, 2), Held()
    refs = weakref.ref(module), weakref.ref(held)
    module.register_full_backward_hook(lambda m, gi, go, held=held: None)
    del held
    module(torch.ones(1, 2, requires_grad=True)).sum().backward()
    del module
    yield "gone", [r() is None for r in refs]


@case("saved.roots_gone.context")
def _(torch):
    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.held = Held()
            refs.append(weakref.ref(ctx.held))
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 2

    refs, x = [], torch.ones(2, requires_grad=True)
    loss = Double.apply(x).exp().sum()
    loss.backward()
    yield "after the pass", refs[0]() is not None
    del loss
    yield "gone", refs[0]() is None
