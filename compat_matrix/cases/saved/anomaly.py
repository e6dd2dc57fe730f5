"""Anomaly mode: NaN among gradients, which call is to blame, nested graphs."""

import warnings

from compat_matrix.case import attempt, case, raises, warned


def told(torch, fn):
    """The error of `fn()` and the first words of its warnings with the names of the user's functions that they show."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = raises(fn)
    lines = []
    for w in caught:
        text = str(w.message)
        first = text.strip().split(". ")[0][:90]
        lines.append((w.category.__name__, first, [n for n in ("make_root", "make_nan", "first_pass", "second_pass") if f"in {n}\n" in text]))
    return found, lines


def two(torch):
    return torch.tensor([0.0, 1.0], requires_grad=True)


def make_root(x):
    return x.sqrt()


@case("saved.anomaly.forward_call")
def _(torch):
    x = two(torch)
    def run():
        with torch.autograd.detect_anomaly():
            y = make_root(x)
            (y * 0).sum().backward()
    yield "told", told(torch, run)


@case("saved.anomaly.only_in_backward")
def _(torch):
    x = two(torch)
    z = (make_root(x) * 0).sum()
    def run():
        with torch.autograd.detect_anomaly():
            z.backward()
    yield "told", told(torch, run)
    yield "not accumulated", x.grad


@case("saved.anomaly.metadata")
def _(torch):
    x = two(torch)
    with torch.autograd.set_detect_anomaly(True, check_nan=False):
        y = make_root(x)
        yield "keys", sorted(y.grad_fn.metadata)
        yield "line", "make_root" in y.grad_fn.metadata["traceback_"][-1]
        g, = torch.autograd.grad((y * y).sum(), x, create_graph=True)
        yield "made in backward", sorted(g.grad_fn.metadata)
    z = x.sqrt()
    yield "outside", z.grad_fn.metadata


@case("saved.anomaly.output_number")
def _(torch):
    x = two(torch)
    with torch.autograd.set_detect_anomaly(True):
        yield "div", raises(lambda: (x / x).sum().backward())
        a, b = two(torch), two(torch)
        yield "pow", raises(lambda: ((a - 1) ** (b * 0.5)).sum().backward())


@case("saved.anomaly.user_errors")
def _(torch):
    class Fails(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            raise ValueError("user")

    class GivesNan(Fails):
        @staticmethod
        def backward(ctx, g):
            return g * float("nan")
    def go(f):
        x = two(torch)
        with torch.autograd.detect_anomaly():
            f(x).sum().backward()
    def hooked(x):
        y = x.sin()
        y.register_hook(lambda g: g.missing_name)
        return y
    def after(x):
        y = x * 2
        y.grad_fn.register_hook(lambda gi, go: tuple(None if g is None else g * float("nan") for g in gi))
        return y
    yield "raises", told(torch, lambda: go(Fails.apply))
    yield "nan", told(torch, lambda: go(GivesNan.apply))
    yield "hook", told(torch, lambda: go(hooked))
    yield "post hook", told(torch, lambda: go(after))


@case("saved.anomaly.leaf_hook")
def _(torch):
    x = two(torch)
    x.register_hook(lambda g: g * float("nan"))
    with torch.autograd.set_detect_anomaly(True):
        yield "no error", attempt(lambda: (x * 2).sum().backward())
    yield "grad", x.grad


@case("saved.anomaly.saved_values")
def _(torch):
    def modified():
        x = two(torch)
        with torch.autograd.detect_anomaly():
            z = (x * 1).exp()
            z.add_(1)
            z.sum().backward()
    def twice():
        x = two(torch)
        with torch.autograd.detect_anomaly():
            y = x.sin().sum()
            y.backward()
            y.backward()
    yield "modified", told(torch, modified)
    yield "twice", told(torch, twice)


@case("saved.anomaly.nested")
def _(torch):
    class Outer(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x.clone()

        @staticmethod
        def backward(ctx, g):
            x, = ctx.saved_tensors
            return Inner.apply(g * x)

    class Inner(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, g):
            return g * float("nan")
    def run():
        x = two(torch)
        with torch.autograd.detect_anomaly():
            def first_pass():
                return Outer.apply(x)
            def second_pass(y):
                return torch.autograd.grad(y.sum(), x, create_graph=True)[0]
            second_pass(first_pass()).sum().backward()
    yield "told", told(torch, run)


@case("saved.anomaly.modes")
def _(torch):
    yield "warns", warned(lambda: torch.autograd.detect_anomaly())
    yield "set does not", warned(lambda: torch.autograd.set_detect_anomaly(False))
    torch.set_anomaly_enabled(True, False)
    yield "set", torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled()
    with torch.autograd.set_detect_anomaly(False):
        yield "inside", torch.is_anomaly_enabled()
    yield "after", torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled()
    torch.set_anomaly_enabled(False)
    yield "off", torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled()
    yield "type", raises(lambda: torch.set_anomaly_enabled(1)), raises(lambda: torch.autograd.set_detect_anomaly("yes"))


@case("saved.anomaly.gradients_unchanged")
def _(torch):
    x, w = torch.tensor([0.5, 1.5], requires_grad=True), torch.tensor([2.0, -1.0], requires_grad=True)
    with torch.autograd.set_detect_anomaly(True):
        for _ in range(2):
            y = ((x * w).tanh() + x).pow(2)
            y[0] = 1.0
            y.sum().backward()
        g, = torch.autograd.grad((x ** 3).sum(), x, create_graph=True)
        h, = torch.autograd.grad(g.sum(), x)
    yield "grads", x.grad, w.grad, h
