"""torch.utils.checkpoint, with and without re-entry."""

import contextlib

from compat_matrix.case import attempt, case, raises, warned
from compat_matrix.probes import each


def leaf(torch):
    return torch.tensor([1.0, 2.0, 3.0], requires_grad=True)


def both(name):
    """Register a body for both kinds."""
    def register(body):
        for reentrant in (True, False):
            case(f"checkpoint.{'reentrant' if reentrant else 'plain'}.{name}", reentrant=reentrant)(body)
        return body
    return register


def smooth(x):
    return x.sin().exp()


@both("values")
def _(torch, reentrant):
    x, w = leaf(torch), leaf(torch)
    runs = []
    def f(a, k, b):
        runs.append(1)
        return (a * b).tanh() * k + w
    y = torch.utils.checkpoint.checkpoint(f, x, 2.0, w, use_reentrant=reentrant)
    yield "out", y.detach(), y.requires_grad, y.grad_fn.name(), len(runs)
    (y * y).sum().backward()
    yield "grads", x.grad, w.grad, len(runs)


@both("nested")
def _(torch, reentrant):
    log, x = [], leaf(torch)
    checkpoint = torch.utils.checkpoint.checkpoint
    def inner(a):
        log.append("inner")
        return smooth(a)
    def outer(a):
        log.append("outer")
        b = checkpoint(inner, a * 2, use_reentrant=reentrant)
        return checkpoint(inner, b, use_reentrant=reentrant).cos()
    y = checkpoint(outer, x, use_reentrant=reentrant)
    log.append("backward")
    y.sum().backward()
    yield "log", log
    yield "grad", x.grad


@both("random")
def _(torch, reentrant):
    for preserve in (True, False):
        torch.manual_seed(3)
        x = leaf(torch)
        y = torch.utils.checkpoint.checkpoint(lambda a: a * torch.rand(3) * a, x, use_reentrant=reentrant, preserve_rng_state=preserve)
        between = torch.rand(2)
        y.sum().backward()
        yield f"preserve {preserve}", x.grad, between, torch.rand(2)


@both("several_outputs")
def _(torch, reentrant):
    x = leaf(torch)
    a, b, word = torch.utils.checkpoint.checkpoint(lambda v, s: (v.sin(), v * s, "word"), x, 3, use_reentrant=reentrant)
    (a + b).sum().backward()
    yield "grad", x.grad, word


@both("freed")
def _(torch, reentrant):
    x = leaf(torch)
    y = torch.utils.checkpoint.checkpoint(smooth, x, use_reentrant=reentrant)
    y.sum().backward()
    yield "again", raises(lambda: y.sum().backward())
    y = torch.utils.checkpoint.checkpoint(smooth, x, use_reentrant=reentrant)
    y.sum().backward(retain_graph=True)
    y.sum().backward()
    yield "kept", x.grad


@both("argument_modified")
def _(torch, reentrant):
    x = leaf(torch)
    y = x * 1
    z = torch.utils.checkpoint.checkpoint(smooth, y, use_reentrant=reentrant)
    y.add_(1)
    yield "error", raises(lambda: z.sum().backward())


@both("no_grad")
def _(torch, reentrant):
    x = leaf(torch)
    with torch.no_grad():
        y = torch.utils.checkpoint.checkpoint(smooth, x, use_reentrant=reentrant)
    yield "no grad", y.requires_grad
    def constant():
        yield_ = torch.utils.checkpoint.checkpoint(smooth, torch.ones(2), use_reentrant=reentrant)
        assert not yield_.requires_grad
    yield "warned", warned(constant)


@both("inplace_and_hooks")
def _(torch, reentrant):
    x, seen = leaf(torch), []
    def f(a):
        b = a.clone()
        b.mul_(a)
        b[0] = 1.0
        if b.requires_grad:
            b.register_hook(lambda g: seen.append(g.clone()))
        return b.sin_() * 2
    y = torch.utils.checkpoint.checkpoint(f, x, use_reentrant=reentrant)
    y.register_hook(lambda g: g * 2)
    y.sum().backward()
    yield "grad", x.grad, seen


@both("training")
def _(torch, reentrant):
    ws = [torch.eye(3, requires_grad=True), torch.full((3, 3), 0.5, requires_grad=True)]
    for step in range(4):
        h = torch.ones(2, 3) * step + ws[0][0, 0]
        for w in ws:
            h = torch.utils.checkpoint.checkpoint(lambda a, w: (a @ w).tanh(), h, w, use_reentrant=reentrant)
        (h ** 2).sum().backward()
        with torch.no_grad():
            for w in ws:
                w -= 0.1 * w.grad
                w.grad = None
    yield "weights", ws[0].detach(), ws[1].detach()


@both("function_inside")
def _(torch, reentrant):
    class Square(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, g):
            return 2 * g * ctx.saved_tensors[0]
    x = leaf(torch)
    torch.utils.checkpoint.checkpoint(lambda a: Square.apply(a.sin()).cos(), x, use_reentrant=reentrant).sum().backward()
    yield "grad", x.grad


@both("raises_inside")
def _(torch, reentrant):
    runs = []
    def f(a):
        runs.append(1)
        if len(runs) > 1:
            raise ValueError("the second time")
        return a.sin()
    x = leaf(torch)
    y = torch.utils.checkpoint.checkpoint(f, x, use_reentrant=reentrant)
    yield "error", raises(lambda: y.sum().backward())
    yield "grad mode", torch.is_grad_enabled(), (x * 2).requires_grad


@both("sequential")
def _(torch, reentrant):
    x, functions = leaf(torch), [torch.sin, lambda v: v * 2, torch.exp, torch.cos]
    for segments in (1, 2, 3):
        y = torch.utils.checkpoint.checkpoint_sequential(functions, segments, x, use_reentrant=reentrant)
        yield f"{segments}", torch.autograd.grad(y.sum(), x) if not reentrant else attempt(lambda y=y: y.sum().backward()), x.grad
    yield "too many", raises(lambda: torch.utils.checkpoint.checkpoint_sequential([torch.sin], 2, x, use_reentrant=reentrant))


def argument_error(torch, expression):
    x = leaf(torch)
    found = attempt(lambda: eval(expression, {"torch": torch, "x": x, "f": smooth, "checkpoint": torch.utils.checkpoint.checkpoint}))
    yield "error", found


each("checkpoint.arguments", argument_error, {
    "keywords reentrant": "checkpoint(lambda a, k=1: a * k, x, k=2, use_reentrant=True)",
    "keywords plain": "checkpoint(lambda a, k=1: a * k, x, k=2, use_reentrant=False)",
    "context reentrant": "checkpoint(f, x, use_reentrant=True, context_fn=lambda: (1, 2))",
    "debug reentrant": "checkpoint(f, x, use_reentrant=True, debug=True)",
    "check": "checkpoint(f, x, use_reentrant=False, determinism_check='foo')",
    "sequential keywords": "torch.utils.checkpoint.checkpoint_sequential([f], 1, x, use_reentrant=True, foo=1)",
    "detach": "torch.utils.checkpoint.detach_variable([x])",
    "states": "torch.utils.checkpoint.get_device_states(x)",
})


@case("checkpoint.warnings")
def _(torch):
    x = leaf(torch)
    yield "unsaid", warned(lambda: torch.utils.checkpoint.checkpoint(smooth, x))
    yield "sequential", warned(lambda: torch.utils.checkpoint.checkpoint_sequential([torch.sin], 1, x))


@case("checkpoint.reentrant.with_targets")
def _(torch):
    x = leaf(torch)
    checkpoint = torch.utils.checkpoint.checkpoint
    yield "grad", raises(lambda: torch.autograd.grad(checkpoint(smooth, x, use_reentrant=True).sum(), x))
    yield "inputs", raises(lambda: checkpoint(smooth, x, use_reentrant=True).sum().backward(inputs=[x]))
    yield "nothing", raises(lambda: checkpoint(lambda a: torch.ones(2), x, use_reentrant=True).sum().backward())
    checkpoint(smooth, x, use_reentrant=True).sum().backward()
    yield "after", x.grad


@case("checkpoint.plain.higher_order")
def _(torch):
    x = leaf(torch)
    y = torch.utils.checkpoint.checkpoint(lambda a: (a ** 3).sin(), x, use_reentrant=False)
    g, = torch.autograd.grad(y.sum(), x, create_graph=True)
    h, = torch.autograd.grad(g.sum(), x, create_graph=True)
    yield "grads", g.detach(), h.detach()


@case("checkpoint.plain.grad_inside")
def _(torch):
    x = leaf(torch)
    def f(a):
        b = a.sin()
        g, = torch.autograd.grad(b.sum(), a, create_graph=True)
        return g * b
    torch.utils.checkpoint.checkpoint(f, x, use_reentrant=False).sum().backward()
    yield "grad", x.grad


@case("checkpoint.plain.parts_of_the_output")
def _(torch):
    runs, x = [], leaf(torch)
    def f(a):
        runs.append(1)
        return a.sin(), a.exp()
    a, b = torch.utils.checkpoint.checkpoint(f, x, use_reentrant=False)
    a.sum().backward()
    yield "one", x.grad.clone(), len(runs)
    b.sum().backward()
    yield "other", x.grad, len(runs)


@case("checkpoint.plain.runs")
def _(torch):
    runs, x = [], leaf(torch)
    def f(a):
        runs.append(1)
        return smooth(a).sin()
    y = torch.utils.checkpoint.checkpoint(f, x, use_reentrant=False)
    y.grad_fn._saved_self
    yield "a look", len(runs)
    y.grad_fn._saved_self
    yield "another", len(runs)
    y.sum().backward(retain_graph=True)
    yield "a pass", len(runs)
    y.sum().backward()
    yield "another pass", len(runs)


@case("checkpoint.plain.captured_and_containers")
def _(torch):
    x, w = leaf(torch), leaf(torch)
    y = torch.utils.checkpoint.checkpoint(lambda a: (a * w).exp(), x.detach(), use_reentrant=False)
    y.sum().backward()
    yield "captured", w.grad
    out = torch.utils.checkpoint.checkpoint(lambda d: {"a": d["x"].sin() * d["x"]}, {"x": x}, use_reentrant=False)
    out["a"].sum().backward()
    yield "containers", x.grad


@case("checkpoint.plain.context_fn")
def _(torch):
    log, x = [], leaf(torch)
    @contextlib.contextmanager
    def entered(name):
        log.append(f"enter {name}")
        try:
            yield
        finally:
            log.append(f"exit {name}")
    def f(a):
        log.append("run")
        return a.sin()
    y = torch.utils.checkpoint.checkpoint(f, x, use_reentrant=False, context_fn=lambda: (entered("first"), entered("second")))
    y.sum().backward()
    yield "log", log, x.grad


@case("checkpoint.plain.early_stop")
def _(torch):
    x = leaf(torch)
    def counted(early):
        log = []
        def f(a):
            log.append("start")
            b = a.sin().exp()
            log.append("end")
            return b * 2
        with torch.utils.checkpoint.set_checkpoint_early_stop(early):
            y = torch.utils.checkpoint.checkpoint(f, x, use_reentrant=False)
        y.sum().backward()
        return log
    yield "stops", counted(True)
    yield "goes on", counted(False)
    log = []
    y = torch.utils.checkpoint.checkpoint(lambda a: log.append("start") or a.sin(), x, use_reentrant=False, early_stop=False)
    y.sum().backward()
    yield "argument", log


def different(torch, first, second, **options):
    """Backward through a function that does something else the second time."""
    runs, x = [], leaf(torch)
    def f(a):
        runs.append(1)
        return (first if len(runs) == 1 else second)(a)
    y = torch.utils.checkpoint.checkpoint(f, x, use_reentrant=False, **options)
    found = raises(lambda: y.sum().backward())
    return found, None if x.grad is None else x.grad


@case("checkpoint.plain.different")
def _(torch):
    yield "fewer", different(torch, lambda a: a.sin().cos(), lambda a: a.sin() * 2)
    yield "more", different(torch, lambda a: a.sin().cos(), lambda a: a.sin().cos().sin())
    yield "more, no early stop", different(torch, lambda a: a.sin().cos(), lambda a: a.sin().cos().sin(), early_stop=False)
    yield "shape", different(torch, lambda a: a.sin(), lambda a: a[:2].sin())
    yield "dtype", different(torch, lambda a: a.sin(), lambda a: a.double().sin())
    yield "unchecked", different(torch, lambda a: a.sin(), lambda a: a.double().sin(), determinism_check="none")
    text = different(torch, lambda a: a.sin(), lambda a: a[:2].sin(), debug=True)[0]["error"]
    yield "debug", text["class"], text["message"].splitlines()[:2]
    with torch.utils.checkpoint.set_checkpoint_debug_enabled(True):
        found = different(torch, lambda a: a.sin(), lambda a: a[:2].sin())[0]["error"]["message"]
    yield "debug for all", "because you passed `debug=True`" in found


@case("checkpoint.plain.unpacked_twice")
def _(torch):
    class Reads(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 2

        @staticmethod
        def backward(ctx, g):
            a, = ctx.saved_tensors
            b, = ctx.saved_tensors
            return g * a * b
    x = leaf(torch)
    y = torch.utils.checkpoint.checkpoint(lambda a: Reads.apply(a.sin()), x, use_reentrant=False)
    yield "error", raises(lambda: y.sum().backward())


@case("checkpoint.plain.hooks_around_and_inside")
def _(torch):
    def hooks(log):
        return torch.autograd.graph.saved_tensors_hooks(lambda t: log.append("pack") or t, lambda t: log.append("unpack") or t)
    around, inside, x = [], [], leaf(torch)
    def f(a):
        return (a * 2).sin().exp()
    def g(a):
        with hooks(inside):
            return f(a)
    with hooks(around):
        y = torch.utils.checkpoint.checkpoint(f, x * 1, use_reentrant=False)
    y.sum().backward()
    yield "around", around, x.grad
    torch.utils.checkpoint.checkpoint(g, x * 1, use_reentrant=False).sum().backward()
    yield "inside", inside, x.grad


@case("checkpoint.selective")
def _(torch):
    from functools import partial
    from importlib import import_module
    cp = import_module(f"{torch.__name__}.utils.checkpoint")
    aten, policy = torch.ops.aten, cp.CheckpointPolicy
    asked = []

    def keeps(*ops):
        def wants(ctx, op, *args, **kwargs):
            asked.append((str(op), ctx.is_recompute, [tuple(a.shape) if isinstance(a, torch.Tensor) else a for a in args]))
            return policy.MUST_SAVE if op in ops else policy.PREFER_RECOMPUTE
        return wants

    x, w = torch.tensor([[0.5, -1.0], [2.0, 0.25]], requires_grad=True), torch.tensor([[1.0, 2.0], [3.0, -1.0]], requires_grad=True)
    runs = []

    def f(x, w):
        runs.append(1)
        return (x @ w).sin().mul(2).exp()

    for name, chosen in (("none", keeps()), ("mm", keeps(aten.mm.default)), ("list", [aten.exp.default, aten.mm.default]),
                         ("bools", lambda ctx, op, *args, **kwargs: op == aten.sin.default)):
        asked.clear()
        runs.clear()
        out = cp.checkpoint(f, x, w, use_reentrant=False, context_fn=partial(cp.create_selective_checkpoint_contexts, chosen))
        before = list(asked)
        gs = torch.autograd.grad(out.sum(), (x, w))
        yield name, out, gs, before, len(asked), len(runs)
    out = cp.checkpoint(f, x, w, use_reentrant=False, context_fn=partial(cp.create_selective_checkpoint_contexts, keeps(aten.mm.default)))
    out.sum().backward(retain_graph=True)
    yield "again", attempt(lambda: out.sum().backward())
    yield "refused", [attempt(lambda given=given: cp.create_selective_checkpoint_contexts(given)) for given in (3, [3], [aten.mm])]


@case("checkpoint.selective_writes")
def _(torch):
    from functools import partial
    from importlib import import_module
    cp = import_module(f"{torch.__name__}.utils.checkpoint")
    x = torch.tensor([0.5, -1.0], requires_grad=True)

    def f(x):
        y = x.sin()
        y.mul_(2)
        return y.exp()

    context = partial(cp.create_selective_checkpoint_contexts, [torch.ops.aten.exp.default])
    out = cp.checkpoint(f, x, use_reentrant=False, context_fn=context)
    yield "grad", torch.autograd.grad(out.sum(), x)


@case("checkpoint.operators_as_objects")
def _(torch):
    aten = torch.ops.aten
    yield "names", str(aten.mm), str(aten.mm.default), repr(aten.sin.default), str(aten.mul.Tensor), aten.sin.default.__name__, aten.mul.Tensor.name()
    yield "same", aten.mm.default is aten.mm.default, aten.mm.default == aten.sin.default
    yield "called", aten.mm(torch.ones(2, 2), torch.ones(2, 2)), aten.mul.Tensor(torch.ones(2), torch.ones(2))
    yield "missing", attempt(lambda: aten.no_such_operator)


@case("checkpoint.running_statistics")
def _(torch):
    """A second run that ends early ends after batch_norm has moved its statistics, which are kept among its results."""
    checkpoint = torch.utils.checkpoint.checkpoint
    for early in (True, False):
        with torch.utils.checkpoint.set_checkpoint_early_stop(early):
            for k, last in enumerate((lambda y: y, torch.relu)):
                norm, x = torch.nn.BatchNorm1d(3), torch.arange(12.0).view(4, 3).sin().requires_grad_()
                y = checkpoint(lambda a, norm=norm, last=last: last(norm(a * 2)), x, use_reentrant=False)
                y.sin().sum().backward()
                yield f"early {early} {k}", norm.running_mean, norm.running_var, norm.num_batches_tracked, x.grad
    norm = torch.nn.BatchNorm1d(3)
    packed = []
    with torch.autograd.graph.saved_tensors_hooks(lambda t: (packed.append(tuple(t.shape)), t)[1], lambda t: t):
        y = norm(torch.arange(12.0).view(4, 3).sin())
    y.pow(2).sum().backward()
    yield "hooks", norm.running_mean, norm.running_var, packed, norm.bias.grad


@case("checkpoint.selective.written")
def _(torch):
    from functools import partial

    tools = torch.utils.checkpoint
    x = torch.tensor([0.5, 1.0], requires_grad=True)

    def body(x):
        y = x.sin()
        y.mul_(2)
        return y.exp()

    def run(**options):
        contexts = partial(tools.create_selective_checkpoint_contexts, lambda ctx, op, *args, **kwargs: tools.CheckpointPolicy.MUST_SAVE, **options)
        x.grad = None
        try:
            tools.checkpoint(body, x, use_reentrant=False, context_fn=contexts).sum().backward()
        except RuntimeError as error:
            return str(error)
        return x.grad

    yield "refused", run()
    yield "allowed", run(allow_cache_entry_mutation=True)


@case("checkpoint.selective_stops_early")
def _(torch):
    """The second run ends once what is needed is saved: what comes before the result of an operator does so without taking what was kept of it."""
    from functools import partial

    cp, aten = torch.utils.checkpoint, torch.ops.aten
    kept = [aten.sin.default, aten.mul.Tensor, aten.exp.default]

    def written(a):
        b = a.sin()
        b.mul_(2)
        return b

    functions = {"sin": torch.sin, "exp": torch.exp, "written": written, "twice": lambda a: a.sin().sin(), "dropped": lambda a: a + 0 * torch.dropout(a, 0.5, True),
                 "products": lambda a: (a * a) * a, "sum": lambda a: (a * 2).sum(), "exps": lambda a: a.exp().exp()}
    for name, f in functions.items():
        for early in (True, False):
            def passes(n, f=f, early=early):
                x = torch.tensor([0.1, 0.2, 0.3], dtype=torch.float64, requires_grad=True)
                out = cp.checkpoint(f, x, use_reentrant=False, early_stop=early, context_fn=partial(cp.create_selective_checkpoint_contexts, kept)).sum()
                for _ in range(n):
                    out.backward(retain_graph=True)
                return x.grad

            yield f"{name}, {early}", attempt(lambda p=passes: p(1)), attempt(lambda p=passes: p(2))
