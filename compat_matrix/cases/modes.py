"""no_grad, enable_grad, set_grad_enabled, inference_mode: every form."""

import threading
import warnings

from compat_matrix.case import attempt, case, raises, warned


def on(torch):
    return torch.is_grad_enabled()


@case("modes.contexts")
def _(torch):
    seen = [on(torch)]
    with torch.no_grad():
        seen.append(on(torch))
        with torch.enable_grad():
            seen.append(on(torch))
            with torch.no_grad():
                seen.append(on(torch))
            seen.append(on(torch))
        seen.append(on(torch))
    seen.append(on(torch))
    yield "nested", seen


@case("modes.set_grad_enabled.context")
def _(torch):
    seen = []
    with torch.set_grad_enabled(False):
        seen.append(on(torch))
        with torch.set_grad_enabled(True):
            seen.append(on(torch))
        seen.append(on(torch))
    yield "seen", seen, on(torch)


@case("modes.set_grad_enabled.function")
def _(torch):
    torch.set_grad_enabled(False)
    yield "off", on(torch), (torch.ones(1, requires_grad=True) * 2).requires_grad
    torch.set_grad_enabled(True)
    yield "on", on(torch)
    yield "wrong type", attempt(lambda: torch.set_grad_enabled("no"))
    torch.set_grad_enabled(True)


@case("modes.set_grad_enabled.acts_before_with")
def _(torch):
    context = torch.set_grad_enabled(False)
    yield "at once", on(torch)
    with context:
        yield "inside", on(torch)
    yield "after", on(torch)
    torch.set_grad_enabled(True)


@case("modes.set_grad_enabled.decorator")
def _(torch):
    @torch.set_grad_enabled(False)
    def f():
        return on(torch)
    yield "outside after decoration", on(torch)
    yield "inside", f()
    yield "after", on(torch)


@case("modes.decorator.plain")
def _(torch):
    @torch.no_grad
    def bare():
        return on(torch)

    @torch.no_grad()
    def called():
        """Says something."""
        return on(torch)

    @torch.enable_grad()
    def enabling():
        return on(torch)
    yield "values", bare(), called(), on(torch), called.__name__, called.__doc__
    with torch.no_grad():
        yield "enable inside no_grad", enabling(), on(torch)


@case("modes.decorator.method_and_arguments")
def _(torch):
    class Model:
        @torch.no_grad()
        def run(self, x, *, k=1):
            return (x * k).requires_grad, on(torch)
    yield "method", Model().run(torch.ones(1, requires_grad=True), k=3)


@case("modes.decorator.recursive")
def _(torch):
    @torch.no_grad()
    def f(n):
        return [on(torch)] + (f(n - 1) if n else [])
    yield "values", f(3), on(torch)


@case("modes.decorator.exception")
def _(torch):
    @torch.no_grad()
    def f():
        raise ValueError("inside")
    yield "error", raises(f), on(torch)
    def g():
        with torch.no_grad():
            raise ValueError("context")
    yield "context", raises(g), on(torch)


@case("modes.decorator.generator")
def _(torch):
    @torch.no_grad()
    def gen():
        yield on(torch)
        yield on(torch)
    seen = []
    for value in gen():
        seen.append((value, on(torch)))
    yield "seen", seen


@case("modes.decorator.generator_send")
def _(torch):
    @torch.no_grad()
    def gen():
        got = yield on(torch)
        while got is not None:
            got = yield (got, on(torch))
        return "done"
    g = gen()
    seen = [next(g), on(torch), g.send("a"), on(torch)]
    try:
        g.send(None)
    except StopIteration as stop:
        seen.append(stop.value)
    yield "seen", seen


@case("modes.decorator.generator_throw_and_close")
def _(torch):
    log = []
    @torch.no_grad()
    def gen():
        try:
            yield 1
        except KeyError:
            log.append(("caught", on(torch)))
            yield 2
        finally:
            log.append(("closed", on(torch)))
    g = gen()
    yield "values", next(g), g.throw(KeyError("x")), on(torch)
    g.close()
    yield "log", log, on(torch)


@case("modes.generator_holding_a_context")
def _(torch):
    def gen():
        with torch.no_grad():
            yield on(torch)
    g = gen()
    yield "inside", next(g)
    yield "leaks to the caller", on(torch)
    g.close()
    yield "after close", on(torch)


@case("modes.decorator.class")
def _(torch):
    def decorate():
        @torch.no_grad()
        class A:
            def __init__(self):
                self.mode = on(torch)
        modes.append(A().mode)
    modes = []
    yield "warning", warned(decorate)
    yield "mode", modes


@case("modes.reused_context_object")
def _(torch):
    context = torch.no_grad()
    seen = []
    for _ in range(2):
        with context:
            seen.append(on(torch))
        seen.append(on(torch))
    with context:
        with context:
            seen.append(on(torch))
        seen.append(on(torch))
    yield "seen", seen, on(torch)


@case("modes.names")
def _(torch):
    yield ("same objects", torch.no_grad is torch.autograd.no_grad,
        torch.enable_grad is torch.autograd.enable_grad,
        torch.set_grad_enabled is torch.autograd.set_grad_enabled,
        torch.inference_mode is torch.autograd.inference_mode)
    yield "module", torch.autograd.grad_mode.no_grad is torch.no_grad
    yield "repr", torch.no_grad.__name__, torch.set_grad_enabled.__name__


@case("modes.no_grad.what_results_are")
def _(torch):
    x = torch.ones(2, requires_grad=True)
    with torch.no_grad():
        y = x * 2
        z = x.view(2)
        w = torch.ones(2, requires_grad=True)
        d = x.detach()
        n = torch.zeros(2)
        n.requires_grad_()
    yield "flags", [(t.requires_grad, t.is_leaf, t.grad_fn is None) for t in (y, z, w, d, n)]
    yield "view", z._is_view(), y._is_view()
    w2 = w * 3
    yield "leaf made inside works", w2.requires_grad


@case("modes.no_grad.leaf_created_inside_backward")
def _(torch):
    with torch.no_grad():
        w = torch.ones(2, requires_grad=True)
        with torch.enable_grad():
            loss = (w * w).sum()
        loss.backward()
    yield "grad", w.grad


@case("modes.no_grad.functions_with_grad_argument")
def _(torch):
    x = torch.ones(2, requires_grad=True)
    with torch.no_grad():
        yield "backward", raises(lambda: (x * 2).sum().backward())
        yield "grad", raises(lambda: torch.autograd.grad((x * 2).sum(), x))


@case("modes.inference.basic")
def _(torch):
    x = torch.ones(2, requires_grad=True)
    with torch.inference_mode():
        y = x * 2
        n = torch.ones(2)
        yield "modes", torch.is_inference_mode_enabled(), on(torch)
        yield "inference", y.is_inference(), n.is_inference(), x.is_inference(), torch.is_inference(y)
        yield "flags", y.requires_grad, y.is_leaf, torch.ones(1, requires_grad=True).requires_grad
    yield "after", torch.is_inference_mode_enabled(), y.is_inference()


@case("modes.inference.restrictions")
def _(torch):
    with torch.inference_mode():
        n = torch.ones(2)
    x = torch.ones(2, requires_grad=True)
    yield "saved", raises(lambda: x * n)
    yield "not saved", attempt(lambda: (x + n).requires_grad)
    yield "written outside", raises(lambda: n.add_(1))
    yield "version", raises(lambda: n._version)
    yield "requires_grad_", raises(lambda: n.requires_grad_())
    yield "clone", n.clone().is_inference()
    with torch.inference_mode():
        n.add_(1)
    yield "written inside", n


@case("modes.inference.kinds")
def _(torch):
    a, x = torch.ones(2), torch.ones(2, requires_grad=True)
    with torch.inference_mode():
        n, leaf = torch.ones(4), torch.ones(2, requires_grad=True)
        yield "made", [t.is_inference() for t in (a + 1, x * 1, n.clone(), n.sum(), n.reshape(2, 2), torch.tensor([1.0]), *n.split(2))]
        yield "shared", [t.is_inference() for t in (a.data, a.detach(), a.view(2), n.data, n.detach(), n.view(2, 2))]
        yield "out", torch.add(a, a, out=torch.zeros(2)).is_inference(), torch.add(a, a, out=a).is_inference()
        yield "views", n.view(2, 2)._is_view(), n.view(2, 2)._base is None, a.view(2)._is_view(), raises(lambda: n._version)
        yield "leaf", leaf.requires_grad, leaf.is_leaf, leaf.is_inference(), (leaf * 2).requires_grad
        with torch.inference_mode(False):
            yield "normal inside", torch.is_grad_enabled(), torch.ones(2).is_inference(), raises(lambda: n.add_(1)), raises(lambda: x * leaf)
    yield "outside", [t.is_inference() for t in (n + 1, n.clone(), n.view(2, 2), n.detach(), n.data)], n.view(2, 2)._is_view()
    yield "leaf outside", (leaf * 2).grad_fn.name(), leaf.requires_grad_(False).requires_grad


@case("modes.inference.saved_for_backward")
def _(torch):
    x = torch.ones(2, requires_grad=True)
    with torch.inference_mode():
        n = torch.full((2,), 3.0)

    class Product(torch.autograd.Function):
        @staticmethod
        def forward(ctx, a, b):
            ctx.save_for_backward(a, b)
            return a * b

        @staticmethod
        def backward(ctx, g):
            a, b = ctx.saved_tensors
            return g * b, g * a

    yield "kept", [attempt(lambda f=f: f().requires_grad) for f in (
        lambda: x * n, lambda: x.exp() * n, lambda: torch.mm(x[None], n[:, None]), lambda: (x * 1).mul_(n), lambda: Product.apply(x, n))]
    yield "not kept", [attempt(lambda f=f: f()) for f in (
        lambda: x + n, lambda: n * 2, lambda: torch.where(n > 0, x, x * 2), lambda: torch.stack([n, x]), lambda: (x * 1).add_(n))]
    yield "cotangent", torch.autograd.grad(x * 2, x, n), torch.autograd.grad(x * x, x, n)
    yield "cotangent kept", raises(lambda: torch.autograd.grad(x * x, x, n, create_graph=True))
    x.grad = n
    yield "accumulated into", raises(lambda: (x * 2).sum().backward())
    with torch.no_grad():
        yield "no_grad", (x * n).requires_grad, raises(lambda: n.zero_())


@case("modes.inference.view_of_normal_tensor")
def _(torch):
    h, b = torch.ones(2, requires_grad=True) * 1, torch.ones(3)
    with torch.inference_mode():
        v, w = b.view(3), h.view(2)
        u = w.view(2)
        b.add_(1)
        v.add_(1)
    yield "flags", v.is_inference(), v._is_view(), w.requires_grad, w.is_leaf, w.grad_fn, w._base is h, b._version, v._version
    yield "writes", attempt(lambda: v.add_(1)), raises(lambda: w.add_(1)), raises(lambda: u.add_(1)), w.grad_fn
    yield "saved", attempt(lambda: (torch.ones(3, requires_grad=True) * v).requires_grad)
    h.mul_(2)
    yield "base written", raises(lambda: w.grad_fn), raises(lambda: w + 1)


@case("modes.inference.normal_tensors_inside")
def _(torch):
    a = torch.ones(2)
    x = torch.ones(2, requires_grad=True)
    y = x * 1
    with torch.inference_mode():
        a.add_(1)
        yield "normal stays", a.is_inference(), a._version
        v = y.view(2)
        yield "view", v.is_inference(), v.requires_grad
        y.mul_(2)
    yield "value", y.detach(), y.grad_fn.name(), y._version


@case("modes.inference.forms")
def _(torch):
    @torch.inference_mode()
    def f():
        return torch.is_inference_mode_enabled()

    @torch.inference_mode
    def g():
        return torch.is_inference_mode_enabled()
    yield "decorators", f(), g(), torch.is_inference_mode_enabled()
    with torch.inference_mode(False):
        yield "off", torch.is_inference_mode_enabled(), on(torch)
    with torch.inference_mode(), torch.inference_mode(mode=False):
        yield ("off inside on", torch.is_inference_mode_enabled(),
            (torch.ones(1, requires_grad=True) * 2).requires_grad)
    with torch.inference_mode(), torch.enable_grad():
        yield "enable_grad inside", on(torch), (torch.ones(1, requires_grad=True) * 2).requires_grad


@case("modes.multithreading_switch")
def _(torch):
    yield "before", torch.autograd.is_multithreading_enabled()
    with torch.autograd.set_multithreading_enabled(False):
        x = torch.ones(2, requires_grad=True)
        (x * 2).sum().backward()
        yield "inside", torch.autograd.is_multithreading_enabled(), x.grad
    yield "after", torch.autograd.is_multithreading_enabled()


@case("modes.layouts of gradients")
def _(torch):
    def strides(fn):
        p = torch.arange(24.0).reshape(2, 3, 4).permute(2, 0, 1).detach().requires_grad_()
        fn(p)
        return p.grad.stride()

    policy, asked = torch.autograd.enforce_grad_layout_policy, torch._C._is_grad_layout_enforcement_enabled
    calls = {"spread": lambda p: (p * 2).sum().backward(), "another layout": lambda p: (p.contiguous() * torch.ones(4, 2, 3)).sum().backward(),
             "with a graph": lambda p: (p * 2).backward(torch.ones(4, 2, 3), create_graph=True),
             "twice": lambda p: [(p * 2).sum().backward() for _ in range(2)]}
    for name, fn in calls.items():
        yield name, strides(fn)
        with policy(False):
            yield f"{name}, as it comes", strides(fn), asked()
    yield "refused", raises(lambda: policy(1))
    kept = policy(False)
    yield "at once", asked()
    with kept:
        pass
    with kept:
        yield "once more", asked()
    yield "decorated", policy(False)(asked)(), asked()
    switch = torch.autograd.set_multithreading_enabled(False)
    with switch:
        pass
    with switch:
        yield "another switch, once more", torch.autograd.is_multithreading_enabled()


@case("modes.threads_have_their_own")
def _(torch):
    import threading
    seen = []
    with torch.no_grad():
        thread = threading.Thread(target=lambda: seen.append(on(torch)))
        thread.start()
        thread.join()
        seen.append(on(torch))
    yield "seen", seen


@case("modes.default_dtype")
def _(torch):
    yield "default", torch.get_default_dtype(), torch.is_grad_enabled()
    torch.set_default_dtype(torch.float64)
    yield "set", torch.get_default_dtype(), torch.ones(1).dtype, torch.tensor(1.5).dtype
    yield ("refused", raises(lambda: torch.set_default_dtype(torch.int32)),
        raises(lambda: torch.set_default_dtype("float32")))


@case("modes.decorated_class_kind")
def _(torch):
    import warnings

    for name, mode, read in (("no_grad", torch.no_grad(), torch.is_grad_enabled), ("inference_mode", torch.inference_mode(), torch.is_inference_mode_enabled),
                             ("set_grad_enabled", torch.set_grad_enabled(True), torch.is_grad_enabled)):
        class Made:
            """A class."""

            def __init__(self, read=read):
                self.mode = read()

        with warnings.catch_warnings(record=True):
            warnings.simplefilter("always")
            decorated = mode(Made)
        yield name, isinstance(decorated, type), type(decorated()) is Made, decorated().mode, decorated.__name__, decorated.__doc__


@case("modes.set_on_a_leaf")
def _(torch):
    def told(fn):
        try:
            return fn().shape
        except RuntimeError as error:
            return str(error)

    x = torch.ones(2, requires_grad=True)
    yield "leaf", told(lambda: x.set_(torch.ones(3))), told(lambda: x.set_()), x.shape
    with torch.no_grad():
        yield "no_grad", told(lambda: x.set_(torch.ones(3)))
    yield "computed", told(lambda: (x * 2).set_(torch.ones(4)))


@case("modes.switches as decorators")
def _(torch):
    """Making them switches, decorating switches back but for one of them."""
    grad, c = torch.autograd, torch._C
    for switch, read in ((torch.set_grad_enabled, torch.is_grad_enabled), (grad.set_multithreading_enabled, c._is_multithreading_enabled),
                         (grad._force_original_view_tracking, c._is_view_replay_enabled)):
        before = read()
        decorated = switch(not before)(read)
        yield switch.__name__, before, read(), decorated(), read()
        switch(before)


@case("modes.anomaly mode in a thread begun in it")
def _(torch):
    def in_thread(f):
        seen = []
        thread = threading.Thread(target=lambda: seen.append(f()))
        thread.start()
        thread.join()
        return seen[0]

    def looked():
        return torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled()

    def checked():
        x = torch.zeros(1, requires_grad=True)
        return raises(lambda: (x.sqrt() * 0).backward())

    yield "before", in_thread(looked)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with torch.autograd.detect_anomaly(check_nan=False):
            yield "no look at NaN", in_thread(looked)
        with torch.autograd.detect_anomaly():
            yield "in it", in_thread(looked), in_thread(checked)
    yield "after", in_thread(looked)
