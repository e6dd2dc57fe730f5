"""How a Function is called: keywords, defaults, an input that comes back more than once."""

from compat_matrix.case import case, raises


def twice(torch, kind):
    """A Function whose result is there twice."""
    class Twice(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            if kind == "dirty":
                ctx.mark_dirty(x.mul_(2))
            y = x if kind in ("input", "dirty") else x.view(-1) if kind == "view" else x * 2
            return y, y

        @staticmethod
        def backward(ctx, g, h):
            return g + 2 * h

    return Twice


def returned_twice(torch, kind):
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 1
    a, b = twice(torch, kind).apply(y)
    yield "same", a is b, a is y, a.output_nr, b.output_nr, a.grad_fn is b.grad_fn
    (a * torch.tensor([1.0, 3.0]) + b * 5).sum().backward()
    yield "grad", x.grad
    if kind == "input":
        a, b = twice(torch, kind).apply(x)
        (a + 3 * b).sum().backward()
        yield "leaf", a is b, a is x, x.grad


for kind in ("input", "new", "view", "dirty"):
    case(f"function.arguments.returned_twice.{kind}", kind=kind)(returned_twice)


def scale(torch, split):
    class Both(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, a=3, b=None):
            return x * a * (1 if b is None else b)

        @staticmethod
        def backward(ctx, g):
            n = len(ctx.needs_input_grad)
            return (g * 2, None, g * 3 if n == 3 and ctx.needs_input_grad[2] else None)[:n]

    class Split(Both):
        @staticmethod
        def forward(x, a=3, b=None):
            return x * a * (1 if b is None else b)

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.given = len(inputs)

    return Split if split else Both


def keywords(torch, split):
    f = scale(torch, split)
    x, y = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
    f.apply(x=x).sum().backward()
    yield "x", x.grad
    f.apply(a=2, x=x).sum().backward()
    yield "a, x", x.grad
    f.apply(x, b=y, a=2).sum().backward()
    yield "b, a", x.grad, y.grad
    if split:
        f.apply(torch.ones(2), b=y).sum().backward()
        yield "b alone", y.grad
    else:
        yield "left out", raises(lambda: f.apply(x, b=y))
    yield "unknown", raises(lambda: f.apply(x, 1, b=2, c=3))
    yield "double", raises(lambda: f.apply(x, x=x))
    if split:
        yield "too many", raises(lambda: f.apply(x, 1, 2, 3))
        yield "none", raises(lambda: f.apply())


for split in (False, True):
    case(f"function.arguments.keywords.{'split' if split else 'ctx'}", split=split)(keywords)


@case("function.arguments.dirty_and_not_returned")
def _(torch):
    class Wrong(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_dirty(x * 2)
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g

    yield "error", raises(lambda: Wrong.apply(torch.ones(2, requires_grad=True)))
