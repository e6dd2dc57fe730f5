"""A Function that saves its own output dies with the output, without Python's collector; a circle through a ctx waits for it."""

import gc
import weakref

from compat_matrix.case import attempt, case, raises


class Table(dict):
    """A dictionary that can be watched."""


@case("function_outputs_let_go.saved_output")
def _(torch):
    class Saving(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, table, wanted):
            y = x.clone()
            ctx.table = table
            if wanted:
                ctx.save_for_backward(y)
            return y

        @staticmethod
        def backward(ctx, g):
            return g * ctx.saved_tensors[0], None, None

    def dies(wanted, use):
        x, table = torch.tensor([3.0], requires_grad=True), Table()
        y = Saving.apply(x, table, wanted)
        use(y)
        return weakref.ref(table)

    gc.collect()
    gc.disable()
    try:
        for wanted in (False, True):
            for name, use in (("nothing", lambda y: None), ("version", lambda y: y._version), ("op", lambda y: y.sum())):
                yield f"{name} {wanted}", dies(wanted, use)() is None
    finally:
        gc.enable()


@case("function_outputs_let_go.saved_output_is_the_output")
def _(torch):
    class Exp(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            y = x.exp()
            ctx.save_for_backward(y)
            return y

        @staticmethod
        def backward(ctx, g):
            y, = ctx.saved_tensors
            seen.append((y.requires_grad, y.grad_fn is ctx, tuple(round(v, 4) for v in y.tolist())))
            return g * y

    seen = []
    x = torch.tensor([0.0, 1.0], requires_grad=True)
    for kept in (True, False):
        y = Exp.apply(x)
        total = y.sum()
        if not kept:
            del y
        g, = torch.autograd.grad(total, x, create_graph=True)
        gg, = torch.autograd.grad(g.sum(), x, create_graph=True)
        ggg, = torch.autograd.grad(gg.sum(), x)
        yield f"grads {kept}", g, gg, ggg
    yield "seen", seen
    y = Exp.apply(x)
    yield "data", y.grad_fn.saved_tensors[0], y.grad_fn._raw_saved_tensors[0].data.requires_grad
    z = Exp.apply(x)
    with torch.no_grad():
        z.mul_(2)
    try:
        z.sum().backward()
    except RuntimeError as e:
        yield "modified", str(e)
    y = Exp.apply(x)
    y.grad_fn._raw_saved_tensors[0].register_hooks(lambda t: t * 2, lambda t: t / 2)
    y.sum().backward()
    yield "hooked", x.grad


@case("function_outputs_let_go.circle_waits")
def _(torch):
    class Holding(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, table):
            y = x.clone()
            ctx.table = table
            ctx.save_for_backward(y)
            return y

        @staticmethod
        def backward(ctx, g):
            return g * ctx.saved_tensors[0], None

    def ref(back):
        x, table = torch.tensor(3.0, requires_grad=True), {}
        table["out"] = y = Holding.apply(x, table)
        if back:
            y.sum().backward()
        return torch._C._WeakTensorRef(y)

    for back in (False, True):
        gc.collect()
        gc.disable()
        try:
            r = ref(back)
            yield f"before {back}", r.expired()
        finally:
            gc.enable()
        gc.collect()
        yield f"after {back}", r.expired()


@case("function_outputs_let_go.saved_until_hooks_have_run")
def _(torch):
    """What a Function saved is there for the hooks after it, and after a pass that failed in them or refused its gradients."""
    class Square(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, g):
            return torch.ones(7, 3) if wrong else g * ctx.saved_tensors[0] * 2

    def saved(node):
        return attempt(lambda: node.saved_tensors[0].tolist())

    def fail(gradients, given):
        raise KeyError("asked to fail")

    wrong, seen, x = False, [], torch.tensor([1.0, 3.0], requires_grad=True)
    for keep in (False, True):
        y = Square.apply(x)
        y.grad_fn.register_hook(lambda gradients, given, node=y.grad_fn: seen.append(saved(node)))
        y.sum().backward(retain_graph=keep)
        yield f"keep {keep}", seen, saved(y.grad_fn)
    y = Square.apply(x)
    handle = y.grad_fn.register_hook(fail)
    yield "a hook fails", raises(y.sum().backward), saved(y.grad_fn)
    handle.remove()
    y.sum().backward()
    yield "again", x.grad, saved(y.grad_fn)
    y, wrong = Square.apply(x), True
    yield "refused", raises(y.sum().backward), saved(y.grad_fn)
    wrong = False
    y.sum().backward()
    yield "after that", x.grad, saved(y.grad_fn)
    y = Square.apply(Square.apply(x))
    inner, outer = y.grad_fn.next_functions[0][0], y.grad_fn
    outer.register_hook(lambda gradients, given: seen.append((saved(outer), saved(inner))))
    inner.register_prehook(lambda given: seen.append((saved(outer), saved(inner))))
    y.sum().backward()
    yield "two", seen, x.grad
