"""What is held only by a node that it leads to is collected; versions of gradients; what a tensor says that outlived its transformation."""

import gc
import weakref

from compat_matrix.case import case


class _Alive:
    pass


def _numerical(torch):
    import importlib

    return importlib.import_module(f"{torch.__name__}.autograd.gradcheck").get_numerical_jacobian


def _circle(torch, leave):
    class Kept(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, metadata):
            x = x.clone()
            ctx.meta = metadata
            ctx.save_for_backward(x)
            return x

        @staticmethod
        def backward(ctx, g):
            return g * ctx.saved_tensors[0], None

    metadata = {}
    a = torch.ones(1, requires_grad=True)
    out = Kept.apply(a, metadata)
    metadata["out"] = out
    leave(out)
    return weakref.ref(out)


@case("held_in_circles.output_in_an_argument")
def _(torch):
    ways = {"alone": lambda out: None, "after a pass": lambda out: out.sum().backward(), "retained": lambda out: out.sum().backward(retain_graph=True)}
    for name, leave in ways.items():
        gc.collect()
        gc.disable()
        try:
            ref = _circle(torch, leave)
            before = ref() is not None
            gc.collect()
            yield name, before, ref() is None
        finally:
            gc.enable()


@case("held_in_circles.still_used")
def _(torch):
    class Kept(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, metadata):
            ctx.meta, ctx.thing = metadata, _Alive()
            Kept.ref = weakref.ref(ctx.thing)
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 7, None

    for way, look in (("by a sum", lambda out: out.sum()), ("by the dictionary", lambda out: None)):
        metadata, x = {}, torch.ones(2, requires_grad=True)
        metadata["out"] = Kept.apply(x, metadata)
        last = look(metadata["out"])
        if last is not None:
            del metadata
        gc.collect()
        yield f"{way} alive", Kept.ref() is not None
        (last if last is not None else metadata["out"].sum()).backward()
        yield f"{way} grad", x.grad


@case("held_in_circles.retained_graph")
def _(torch):
    class Kept(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.thing = _Alive()
            Kept.ref = weakref.ref(ctx.thing)
            ctx.save_for_backward(x)
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * ctx.saved_tensors[0]

    for i in range(3):
        x = torch.ones(2, requires_grad=True)
        y = Kept.apply(x)
        g, = torch.autograd.grad(y.sum(), x, retain_graph=True)
        yield f"held {i}", Kept.ref() is not None
        del y, g
        gc.collect()
        yield f"gone {i}", Kept.ref() is None


@case("held_in_circles.versions_of_gradients")
def _(torch):
    x = torch.ones(2, 3, requires_grad=True)
    (x * x).sum().backward(create_graph=True)
    yield "with a graph", x.grad._version, x.grad.grad_fn.name()
    (x * x).sum().backward(create_graph=True)
    yield "with a graph again", x.grad._version
    x.grad = None
    (x * 2).sum().backward(create_graph=True)
    yield "constant", x.grad._version, x.grad.requires_grad
    x.grad = None
    for i in range(2):
        x.exp().sum().backward()
        yield f"without {i}", x.grad._version


@case("held_in_circles.numerical_jacobian_of_a_tensor")
def _(torch):
    import warnings

    x, seen = torch.ones(2, dtype=torch.float64, requires_grad=True), []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = _numerical(torch)(lambda given: seen.append(type(given).__name__) or given[0] * 3, x)
    yield "given", set(seen), found


@case("held_in_circles.escaped_from_grad")
def _(torch):
    escaped = []

    def f(x):
        y = x.sin()
        escaped.append(y)
        return y

    torch.func.grad(f)(torch.tensor(1.0))
    yield "level", torch._C._functorch.dlevel(escaped[0]), torch._C._functorch.dlevel(torch.ones(2) * 2)
