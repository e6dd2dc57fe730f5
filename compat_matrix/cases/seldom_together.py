"""Features that meet seldom: hooks on constants, inference mode and detach_, warnings of passes that do not start, names of types in messages."""

import warnings

from compat_matrix.case import case


@case("seldom_together.any hook on constants")
def _(torch):
    constant, w = torch.ones(1, 3), torch.ones(2, requires_grad=True)
    for i, tensors in enumerate(([constant], [w, constant], [constant, w], [w, w * 2], [])):
        for mode in ("any", "all"):
            heard = []
            try:
                handle = torch.autograd.graph.register_multi_grad_hook(tensors, heard.append, mode=mode)
            except AssertionError as e:
                yield f"{i} {mode}", str(e)
                continue
            (w * 2).sum().backward()
            handle.remove()
            (w * 2).sum().backward()
            yield f"{i} {mode}", len(heard)


@case("seldom_together.detach_ in inference mode")
def _(torch):
    x = torch.ones(2, 3, requires_grad=True)
    y = x * 2
    view = y[0]
    with torch.inference_mode():
        for name, t in (("a leaf", x), ("a result", y), ("a view", view)):
            yield name, t.detach_() is t, t.requires_grad, t.is_leaf, t._version
        z = torch.ones(2).requires_grad_()
        yield "of an inference tensor", z.detach_().requires_grad
    y.sum().backward()
    yield "gradient", x.grad
    with torch.no_grad():
        yield "no_grad", y.detach_().requires_grad


@case("seldom_together.warning of a pass that does not start")
def _(torch):
    before = torch.is_warn_always_enabled()
    torch.set_warn_always(True)
    for i, (t, g) in enumerate(((torch.ones(3).sum(), None), (torch.ones(3, requires_grad=True) * 2, None), (torch.ones(3, requires_grad=True) * 2, torch.ones(2)),
                 ((torch.ones(3, requires_grad=True) * 2).sum(), None))):
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            try:
                t.backward(g, create_graph=True)
            except RuntimeError as e:
                yield f"{i} error", str(e)
        yield f"{i} warnings", len(said)
    torch.set_warn_always(before)


@case("seldom_together.types in messages")
def _(torch):
    class Exp(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            y = x.exp()
            ctx.save_for_backward(y)
            return y

        @staticmethod
        def backward(ctx, g):
            return g * ctx.saved_tensors[0]

    for dtype in (torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.complex64, torch.complex128):
        for name, f in (("Function", Exp.apply), ("exp", torch.exp)):
            x = torch.ones(3, dtype=dtype, requires_grad=True)
            y = f(x)
            with torch.no_grad():
                y.add_(1)
            try:
                y.abs().sum().backward()
            except RuntimeError as e:
                yield f"{dtype} {name}", str(e)


@case("seldom_together.saved output of a Function that returns a detached tensor")
def _(torch):
    class Detached(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return (x * 2).detach()

        @staticmethod
        def backward(ctx, g):
            return g * 2

    for name, write in (("add_", lambda y: y.add_(1)), ("view", lambda y: y[0].mul_(2)), ("detach", lambda y: y.detach().zero_()), ("no write", lambda y: None)):
        x = torch.ones(2, 3, requires_grad=True)
        y = Detached.apply(x)
        z = y.abs()
        write(y)
        yield name + " version", y._version
        try:
            z.sum().backward()
            yield name, x.grad
        except RuntimeError as e:
            yield name, str(e)
