"""torch.utils.checkpoint: with and without re-entrance, what is run again and when, errors."""

import gc
import warnings
import weakref

from compat_matrix.case import case, raises, warned


def leaf(torch, *values):
    return torch.tensor(list(values) or [1.0, 2.0, 3.0], requires_grad=True)


@case("relied_on.checkpointing.with re-entrance")
def _(torch):
    from_module = torch.utils.checkpoint
    ck = from_module.checkpoint
    x, runs = leaf(torch), []

    def f(x):
        runs.append(torch.is_grad_enabled())
        return x.exp() * 2
    y = ck(f, x, use_reentrant=True)
    y.sum().backward()
    yield "runs", runs, x.grad, y.grad_fn.name()
    out = ck(f, x, use_reentrant=True).sum()
    yield "grad", raises(lambda: torch.autograd.grad(out, x)), torch.autograd._is_checkpoint_valid()
    out = ck(f, x, use_reentrant=True).sum()
    yield "inputs", raises(lambda: out.backward(inputs=[x])), torch.autograd._is_checkpoint_valid()
    x.grad, found = None, []
    ck(f, x, use_reentrant=True).sum().backward()
    yield "after it", x.grad

    def inside(g):
        with torch.enable_grad():
            t = leaf(torch)
            found.append((torch.autograd._is_checkpoint_valid(), raises(lambda: ck(torch.sin, t * 1, use_reentrant=True).sum().backward())))
    z = x * 2
    z.register_hook(inside)
    z.sum().backward(retain_graph=True)
    z.sum().backward(inputs=[x], retain_graph=True)
    torch.autograd.grad(z.sum(), x)
    yield "in a pass in a pass", found
    yield "no inputs that need it", warned(lambda: ck(f, x.detach(), use_reentrant=True))
    yield "nothing needs it", raises(lambda: ck(lambda x: x.detach(), x, use_reentrant=True).sum().backward())
    yield "unsaid", warned(lambda: ck(f, x)), warned(lambda: from_module.checkpoint_sequential([f, f], 1, x))
    yield "unknown", raises(lambda: ck(f, x, use_reentrant=True, other=1))
    yield "several outputs", [g.tolist() for g in several(torch, ck)]
    torch.manual_seed(0)
    a = ck(lambda x: torch.nn.functional.dropout(x * 1, 0.5), torch.ones(8, requires_grad=True), use_reentrant=True)
    a.sum().backward()
    yield "drawn", a.detach()


def several(torch, ck):
    a, b = leaf(torch), leaf(torch)
    p, q, none = ck(lambda a, b: (a * b, a + 1, None), a, b, use_reentrant=True)
    (p.sum() + q.sum()).backward()
    return a.grad, b.grad


@case("relied_on.checkpointing.without")
def _(torch):
    from_module = torch.utils.checkpoint
    ck = from_module.checkpoint
    x, runs = leaf(torch), []

    def f(x, y=None, *, scale=1, parts=None):
        runs.append(torch.is_grad_enabled())
        return {"out": (x.exp() * scale, [x.sin()]), "text": "t", "part": parts and parts["a"][0] * 2}
    out = ck(f, x, "no tensor", scale=3, parts={"a": [x]}, use_reentrant=False)
    (out["out"][0] + out["out"][1][0] + out["part"]).sum().backward()
    yield "anything", out["text"], x.grad, runs
    order = []

    def early(x):
        order.append("start")
        y = x.exp()
        order.append("saved")
        y = y + 1
        order.append("end")
        return y
    for stop in (True, False):
        order.clear()
        with from_module.set_checkpoint_early_stop(stop):
            y = ck(early, x, use_reentrant=False)
        y.sum().backward()
        yield f"early stop {stop}", order
        order.clear()
        ck(early, x, use_reentrant=False, early_stop=stop).sum().backward()
        yield f"argument {stop}", order
    count = []

    def counted(x):
        count.append(1)
        return (x.exp() * x.sin()).cos()
    y = ck(counted, x, use_reentrant=False)
    y.sum().backward(retain_graph=True)
    y.sum().backward()
    yield "one run a pass", len(count)
    count.clear()
    y = ck(counted, x, use_reentrant=False)
    _ = y.grad_fn._saved_self
    _ = y.grad_fn._saved_self
    yield "looked at", len(count)
    same = []

    class Keeps(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 2

        @staticmethod
        def backward(ctx, g):
            same.append(ctx.saved_tensors[0] is x)
            return g * 2
    ck(lambda x: Keeps.apply(x), x, use_reentrant=False).sum().backward()
    yield "the argument itself", same
    hooks = []

    def hooked(x):
        y = x.exp()
        y.register_hook(lambda g: hooks.append("inside"))
        return y * y
    x.register_hook(lambda g: hooks.append("leaf"))
    ck(hooked, x, use_reentrant=False).sum().backward()
    yield "hooks", hooks
    z = leaf(torch)
    inner = lambda x: ck(lambda x: (x * x).sin(), x, use_reentrant=False).exp()  # noqa: E731
    y = ck(lambda x: ck(inner, x, use_reentrant=False) * x, z, use_reentrant=False)
    g, = torch.autograd.grad(y.sum(), z, create_graph=True)
    h, = torch.autograd.grad(g.sum(), z)
    yield "nested, twice", y, g, h
    modes = []
    with torch.autocast("cpu", dtype=torch.bfloat16):
        y = ck(lambda x: modes.append((torch.is_autocast_enabled("cpu"), torch.get_autocast_dtype("cpu"))) or (x.view(3, 1) @ x.view(1, 3)).float(), z, use_reentrant=False)
    y.sum().backward()
    yield "autocast", modes
    big = torch.ones(3, requires_grad=True)
    y = ck(lambda x: x.exp() * x, big, use_reentrant=False)
    mark = type("Mark", (), {})()
    y.grad_fn.metadata["mark"], ref = mark, weakref.ref(mark)
    del y, mark
    gc.collect()
    yield "freed", ref() is None

    class Inside(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, g):
            with torch.enable_grad():
                t = leaf(torch)
                ck(lambda t: t.exp().sin(), t, use_reentrant=False).sum().backward()
            return g * t.grad
    w = leaf(torch)
    Inside.apply(ck(lambda w: w.exp().sin(), w, use_reentrant=False)).sum().backward()
    yield "passes in passes", w.grad
    nograd = ck(lambda x, y: x * 2 + y.exp(), w, torch.ones(3), use_reentrant=False)
    yield "parts without grad", torch.autograd.grad(nograd.sum(), w)
    yield "in a sequence", torch.autograd.grad(from_module.checkpoint_sequential([torch.sin, torch.exp, torch.cos], 2, w, use_reentrant=False).sum(), w)


@case("relied_on.checkpointing.errors")
def _(torch):
    ck = torch.utils.checkpoint.checkpoint
    x, state = leaf(torch), [0]

    def differing(f):
        def g(x):
            state[0] += 1
            return f(x, state[0])
        state[0] = 0
        return g

    def first(e):
        return e if isinstance(e, str) else [e["error"]["class"], e["error"]["message"].split("\n")[0]]

    def tried(f, **options):
        y = ck(differing(f), x, use_reentrant=False, **options)
        return first(raises(lambda: y.sum().backward()))
    yield "fewer", tried(lambda x, n: x.exp().sin() if n == 1 else x.exp())
    yield "more", tried(lambda x, n: x.exp() if n == 1 else x.exp().sin(), early_stop=False)
    yield "metadata", tried(lambda x, n: x.exp().sum() if n == 1 else x[:2].exp().sum())
    yield "dtype", tried(lambda x, n: x.exp() if n == 1 else x.double().exp().float())
    yield "not compared", tried(lambda x, n: x.exp() if n == 1 else (x * 2).exp(), determinism_check="none")
    yield "debug", tried(lambda x, n: x.exp().sin() if n == 1 else x.exp(), debug=True)
    with torch.utils.checkpoint.set_checkpoint_debug_enabled(True):
        yield "debug set", tried(lambda x, n: x.exp().sin() if n == 1 else x.exp())
    with torch.utils.checkpoint.set_checkpoint_debug_enabled(False):
        yield "debug set off", tried(lambda x, n: x.exp().sin() if n == 1 else x.exp(), debug=True)

    class TwoReads(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x.clone())
            return x * 2

        @staticmethod
        def backward(ctx, g):
            ctx.saved_tensors  # noqa: B018 - reading is the point
            return g * ctx.saved_tensors[0]
    y = ck(lambda x: TwoReads.apply(x), x, use_reentrant=False)
    yield "unpacked twice", first(raises(lambda: y.sum().backward()))
    y = ck(lambda x: x.exp().sin(), x, use_reentrant=False)
    y.sum().backward()
    yield "again", first(raises(lambda: y.sum().backward()))
    y = ck(lambda x: x.exp().sin(), x, use_reentrant=False)
    n = y.grad_fn
    y.sum().backward()
    yield "looked at later", first(raises(lambda: n._saved_self))
    yield "bad", raises(lambda: ck(torch.sin, x, use_reentrant=False, determinism_check="foo")), raises(lambda: ck(torch.sin, x, use_reentrant=True, debug=True))
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        y = ck(lambda x: x.exp(), x, use_reentrant=False)
        y.sum().backward()
    yield "quiet", len(seen)
