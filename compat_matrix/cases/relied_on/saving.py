"""Hooks of saved tensors, writing to saved tensors, anomaly mode."""

import io
import warnings

from compat_matrix.case import case, raises, words


def leaf(torch, *values):
    return torch.tensor(list(values) or [1.0, 2.0, 3.0], requires_grad=True)


@case("relied_on.saving.hooks")
def _(torch):
    hooks = torch.autograd.graph.saved_tensors_hooks
    x, log = leaf(torch), []
    with hooks(lambda t: log.append("outer") or t, lambda t: t):
        with hooks(lambda t: log.append("inner") or (t, 1), lambda p: p[0] * 10):
            y = x * x
        z = x * x
    yield "nested", log, torch.autograd.grad(y.sum(), x), torch.autograd.grad(z.sum(), x)
    log.clear()

    class Mine(hooks):
        def __init__(self):
            super().__init__(lambda t: log.append("pack") or t, lambda t: log.append("unpack") or t)
    with Mine():
        y = x ** 3
        g, = torch.autograd.grad(y.sum(), x, create_graph=True)
        h, = torch.autograd.grad(g.sum(), x, create_graph=True)
        torch.autograd.grad(h.sum(), x)
    yield "twice", log[:3], "pack" in log[3:] and "unpack" in log[3:], g, h
    with hooks(lambda t: t, lambda t: t.detach() * 0 + 7):
        y = x * x
        a = y.exp()
    yield "changed", y.grad_fn._saved_self, y.grad_fn._saved_self.grad_fn, a.grad_fn._saved_result.grad_fn is a.grad_fn, torch.autograd.grad(y.sum(), x)
    yield "fails", raises(lambda: packing(torch, lambda t: 1 / 0, lambda t: t)), raises(lambda: packing(torch, lambda t: t, lambda t: 1 / 0))
    yield "writes", raises(lambda: packing(torch, lambda t: t.mul_(2), lambda t: t))
    yield "no tensor", raises(lambda: packing(torch, lambda t: t, lambda t: 3)), raises(lambda: packing(torch, lambda t: t, lambda t: None))
    yield "arity", raises(lambda: packing(torch, lambda: 1, lambda t: t)), raises(lambda: packing(torch, lambda t: t, lambda: 1))
    off = torch.autograd.graph.disable_saved_tensors_hooks
    enabled = torch._C._autograd._saved_tensors_hooks_is_enabled
    yield "enabled", enabled()
    with off("said so"):
        yield "disabled", enabled(), raises(lambda: packing(torch, lambda t: t, lambda t: t))

    def outside():
        with hooks(lambda t: t, lambda t: t), off("the other way"):
            pass
    yield "the other nesting", raises(outside), enabled()

    def unbalanced(t):
        hooks(lambda t: t, lambda t: t).__enter__()
        return t
    y = None
    with hooks(lambda t: t, unbalanced):
        y = x * x
    yield "unbalanced", torch.autograd.grad(y.sum(), x)
    calls = []
    with hooks(lambda t: calls.append(1) or t, lambda t: t):
        x * x
    yield "none is left", len(calls)
    with torch.autograd.graph.save_on_cpu():
        y = x * x
    yield "on the cpu", torch.autograd.grad(y.sum(), x)
    with torch.autograd.graph.save_on_cpu(pin_memory=False):
        y = (x * x).exp()
    yield "on the cpu, chained", torch.autograd.grad(y.sum(), x)

    def pack(t):
        f = io.BytesIO()
        torch.save(t, f)
        return f.getvalue()
    with hooks(pack, lambda b: torch.load(io.BytesIO(b))):
        y = x * x.exp()
    yield "files", torch.autograd.grad(y.sum(), x)
    with hooks(lambda t: t, lambda t: t):
        y = x.exp()
        with torch.no_grad():
            y.mul_(2)
    yield "own version", raises(lambda: y.sum().backward())


def packing(torch, pack, unpack):
    x = leaf(torch)
    with torch.autograd.graph.saved_tensors_hooks(pack, unpack):
        y = x.exp()
    y.sum().backward()


@case("relied_on.saving.writes allowed")
def _(torch):
    allow = torch.autograd.graph.allow_mutation_on_saved_tensors

    def run(make, write):
        with allow() as ctx:
            x = leaf(torch)
            y = x * 1
            out = make(y)
            write(y, out)
            sizes = len(ctx.cloned), len(ctx.tid_to_weakhandle)
            out.sum().backward()
            return x.grad, sizes, len(ctx.cloned)
    for name, make, write in (("saved input", lambda y: y ** 2, lambda y, o: y.mul_(10)), ("saved result", lambda y: y.exp(), lambda y, o: o.detach().mul_(0)),
                              ("a view", lambda y: y ** 2, lambda y, o: y[0:1].zero_()), ("out=", lambda y: y ** 2, lambda y, o: torch.add(torch.ones(3), 1, out=y.detach())),
                              ("twice", lambda y: y ** 2, lambda y, o: (y.mul_(10), y.mul_(10))), ("nothing", lambda y: y ** 2, lambda y, o: None),
                              ("setitem", lambda y: y.sin(), lambda y, o: y.__setitem__(0, 5.0)), ("conj", lambda y: y ** 2, lambda y, o: y.detach().conj().mul_(3))):
        yield name, run(make, write)
    with allow():
        x = leaf(torch)
        out = (x * 1).sin()
    yield "elsewhere", raises(lambda: out.sum().backward())

    def nested():
        with allow(), allow():
            pass
    yield "nested", raises(nested)
    with allow():
        a = torch.tensor([1 + 2j], requires_grad=True)
        b = a * 1
        c = b ** 2
        torch.view_as_real(b.detach())[:, 0].zero_()
        yield "complex", torch.autograd.grad(c.abs().sum(), a)
    with allow() as ctx:
        a = torch.rand(2, requires_grad=True)
        b = a * 1
        c = b.sin()
        b.mul_(2)
        del b, c
        yield "goes away", len(ctx.cloned), len(ctx.tid_to_weakhandle)


@case("relied_on.saving.anomaly")
def _(torch):
    class Bad(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, fails=False):
            ctx.fails = fails
            return x.clone()

        @staticmethod
        def backward(ctx, g):
            if ctx.fails:
                raise ValueError("own")
            return g * float("nan"), None

    def seen(make, **options):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            with torch.autograd.detect_anomaly(**options):
                out = make()
                e = raises(lambda: out.backward())
        return e, [(w.category.__name__, first(str(w.message)), "make" in str(w.message), ".apply" in str(w.message)) for w in caught]
    x = leaf(torch)
    yield "nan", seen(lambda: Bad.apply(x).sum())
    yield "not checked", seen(lambda: Bad.apply(x).sum(), check_nan=False)
    yield "fails", seen(lambda: Bad.apply(x, True).sum())
    z = torch.zeros(1, requires_grad=True)
    yield "pow", seen(lambda: ((z * 1) ** 0.5 * 0).sum())
    yield "sqrt", seen(lambda: ((z - 1).sqrt() * 0).sum())
    out = Bad.apply(x).sum()
    yield "made before", seen(lambda: out)

    def nested():
        y = x * 2
        g, = torch.autograd.grad((y * y).sum(), x, create_graph=True)
        return Bad.apply(g).sum()
    yield "nested", seen(nested)

    def parents():
        y = torch.ones(1, requires_grad=True) * 0
        g, = torch.autograd.grad((y ** 1.5).sum(), y, create_graph=True)
        return ((g - 1) ** 0.5).sum() * 0
    yield "parent", seen(parents)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield "warnings are errors", raises(lambda: torch.autograd.detect_anomaly())
    yield "state", torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled()
    with torch.autograd.set_detect_anomaly(True, check_nan=False):
        yield "inside", torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled()
    torch.autograd.set_detect_anomaly(True)
    yield "set", torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled()
    torch.autograd.set_detect_anomaly(False)


def first(message):
    """The first line of a warning, without places in files."""
    return words(message.split("\n")[0])
