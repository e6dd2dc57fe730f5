"""gradcheck and torch.autograd.functional: what is found wrong and in which words; structures of results."""

import warnings

from compat_matrix.case import attempt, case, raises, warned


def leaf(torch, *values, **options):
    return torch.tensor(list(values) or [1.0, 2.0, 3.0], dtype=torch.double, requires_grad=True, **options)


def first(e):
    """The class and the first line of the words of an error."""
    return e if not isinstance(e, dict) or "error" not in e else [e["error"]["class"], e["error"]["message"].split("\n")[0]]


def wrong(torch, factor=1.0, calls=None, **members):
    """A function whose gradient is wrong by a factor."""
    class Made(torch.autograd.Function):
        @staticmethod
        def forward(x):
            return x * 2

        @staticmethod
        def setup_context(ctx, inputs, output):
            pass

        @staticmethod
        def backward(ctx, g):
            return g * 2 * factor

        @staticmethod
        def jvp(ctx, t):
            if calls is not None:
                calls.append(1)
            return t * 2 * members.get("jvp", 1.0)
        generate_vmap_rule = members.get("vmapped", True)
    return Made.apply


@case("relied_on.checking.gradcheck")
def _(torch):
    check = torch.autograd.gradcheck
    x, c = leaf(torch), torch.tensor([1 + 2j, 0.5j], dtype=torch.complex128, requires_grad=True)
    for fast in (False, True):
        yield f"right {fast}", check(lambda x: x.exp(), x, fast_mode=fast), check(lambda c: c * c.conj(), c, fast_mode=fast), check(lambda c: c.abs(), c, fast_mode=fast)
        yield f"not tensors {fast}", check(lambda x, k, n: x * k, (x, 3, None), fast_mode=fast), check(lambda x, y: x.sin(), (x, leaf(torch)), fast_mode=fast)
        yield f"forward {fast}", check(lambda x: x.sin(), x, check_forward_ad=True, check_batched_grad=True, check_batched_forward_grad=True, fast_mode=fast)
        yield f"wrong {fast}", first(raises(lambda fast=fast: check(wrong(torch, 1.5), x, fast_mode=fast))), check(wrong(torch, 1.5), x, raise_exception=False, fast_mode=fast)
        yield f"wrong forward {fast}", first(raises(lambda fast=fast: check(wrong(torch, jvp=1.5), x, check_forward_ad=True, fast_mode=fast)))
        yield f"no backward {fast}", check(wrong(torch, 1.5), x, check_forward_ad=True, check_backward_ad=False, check_undefined_grad=False, check_batched_grad=False, fast_mode=fast)
        counted = []
        check(wrong(torch, calls=counted), x, check_forward_ad=True, check_backward_ad=False, check_batched_grad=False, check_undefined_grad=False, fast_mode=fast)
        first_count = len(counted)
        counted.clear()
        check(wrong(torch, calls=counted), x, check_forward_ad=True, check_backward_ad=True, check_batched_grad=False, check_undefined_grad=False, fast_mode=fast)
        both = len(counted)
        counted.clear()
        check(wrong(torch, calls=counted), x, check_forward_ad=True, check_undefined_grad=True, check_batched_grad=False, fast_mode=fast)
        yield f"runs of jvp {fast}", first_count, both, len(counted)
    yield "neither", raises(lambda: check(torch.sin, x, check_backward_ad=False))
    yield "nothing", raises(lambda: check(lambda: torch.ones(1), ())), first(raises(lambda: check(torch.sin, x.detach()))), raises(lambda: check(torch.sin, torch.ones(2)))
    yield "in single precision", attempt(lambda: warned(lambda: check(torch.sin, torch.ones(2, requires_grad=True), raise_exception=False)))

    class Imaginary(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1j

        @staticmethod
        def backward(ctx, g):
            return g.imag * 5
    yield "imaginary", first(raises(lambda: check(Imaginary.apply, x)))
    noise = [0.0]

    class Noisy(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            noise[0] += 1e-7
            return g * (2 + noise[0])
    yield "not the same twice", first(raises(lambda: check(Noisy.apply, x))), check(Noisy.apply, x, nondet_tol=1e-3)

    class Undefined(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.set_materialize_grads(False)
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 2 if g is not None else torch.ones(3, dtype=torch.double)
    yield "undefined", first(raises(lambda: check(Undefined.apply, x))), check(Undefined.apply, x, check_undefined_grad=False)
    yield "undefined, warned", [(a, b.split("\n")[0]) for a, b in warned(lambda: raises(lambda: check(Undefined.apply, x)))]
    yield "zero expected", first(raises(lambda: check(lambda x: (x.detach() * 2) + 0 * wrong(torch, 0.0)(x), x)))
    yield "shapes change", first(raises(lambda: check(changing(torch, "shape"), x))), first(raises(lambda: check(changing(torch, "dtype"), x)))
    yield "random", first(raises(lambda: check(lambda x: torch.nn.functional.dropout(x, 0.5) * 0 + x, x, check_batched_grad=True, check_forward_ad=True, check_batched_forward_grad=True)))
    yield "second order", torch.autograd.gradgradcheck(lambda x: x.exp(), x), first(raises(lambda: torch.autograd.gradgradcheck(squared(torch), x)))
    yield "second order, forward", torch.autograd.gradgradcheck(lambda x: x.sin(), x, check_fwd_over_rev=True), torch.autograd.gradgradcheck(lambda x: x.sin(), x, leaf(torch), gen_non_contig_grad_outputs=True)
    g = torch.autograd.gradcheck
    yield "the error", issubclass(g.GradcheckError if hasattr(g, "GradcheckError") else torch.autograd.gradcheck.__globals__["GradcheckError"], RuntimeError)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        module = __import__("sys").modules[check.__module__]
        yield "jacobians", module.get_numerical_jacobian(lambda a: a[0] ** 2, (x,)), module.get_numerical_jacobian_wrt_specific_input(lambda a: a ** 2, 0, (x,), (x ** 2,), 1e-6)
        yield "analytical", module.get_analytical_jacobian((x,), x ** 2)[0], raises(lambda: module.get_analytical_jacobian((x,), x ** 2, grad_out=2.0)), raises(
            lambda: module.get_numerical_jacobian(lambda a: a[0] ** 2, (x,), grad_out=2.0))
    yield "deprecated", [w[0] for w in warned(lambda: module.get_numerical_jacobian(lambda a: a[0] ** 2, (x,)))], [w[0] for w in warned(lambda: module.get_analytical_jacobian((x,), x ** 2))]


def changing(torch, what):
    runs = []

    def f(x):
        runs.append(1)
        if len(runs) > 2:
            return x.sum() * x[:2] if what == "shape" else (x * 2).float()
        return x * 2
    return f


def squared(torch):
    class Square(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, g):
            return g * 2 * ctx.saved_tensors[0].detach()
    return Square.apply


@case("relied_on.checking.functional")
def _(torch):
    F = torch.autograd.functional
    x, y = leaf(torch).detach(), leaf(torch, 4.0, 5.0, 6.0).detach()
    v = torch.ones(3, dtype=torch.double)

    def two(a, b):
        return (a * b).exp() * 0.01, a.sum()

    def scalar(a, b=None):
        return (a ** 3).sum() + (0 if b is None else (a * b * b).sum())
    yield "jacobian", F.jacobian(lambda a: a ** 2, x), F.jacobian(two, (x, y)), F.jacobian(lambda a: a.sum(), x), F.jacobian(lambda a: (a, a.sum()), x)
    yield "hessian", F.hessian(scalar, x), F.hessian(scalar, (x, y))
    yield "products", F.vjp(lambda a: a ** 2, x, v), F.jvp(lambda a: a ** 2, x, v), F.hvp(scalar, x, v), F.vhp(scalar, x, v)
    yield "products of several", F.vjp(two, (x, y), (v, torch.ones((), dtype=torch.double))), F.jvp(two, (x, y), (v, v)), F.hvp(scalar, (x, y), (v, v)), F.vhp(scalar, (x, y), (v, v))
    yield "scalars", F.vjp(scalar, x), F.jvp(lambda a: a * 2, torch.tensor(2.0)), F.hvp(lambda a: a ** 3, torch.tensor(2.0), torch.tensor(1.0))
    for mode in (torch.enable_grad, torch.no_grad):
        with mode():
            yield mode.__name__, F.jacobian(lambda a: a ** 2, x), F.hvp(scalar, x, v), F.vjp(lambda a: a ** 2, x, v), F.jvp(lambda a: a ** 2, x, v)
    a = leaf(torch)
    made = F.jacobian(lambda t: t ** 3, a, create_graph=True)
    yield "with a graph", made.requires_grad, torch.autograd.grad(made.sum(), a), F.hessian(lambda t: (t ** 3).sum(), a, create_graph=True).requires_grad, F.jacobian(lambda t: t, a).requires_grad
    for name, call in (("vjp", lambda: F.vjp(lambda t: t ** 3, a, v, create_graph=True)), ("jvp", lambda: F.jvp(lambda t: t ** 3, a, v, create_graph=True)),
                       ("hvp", lambda: F.hvp(lambda t: (t ** 4).sum(), a, v, create_graph=True)), ("vhp", lambda: F.vhp(lambda t: (t ** 4).sum(), a, v, create_graph=True))):
        out, g = call()
        yield f"{name} with a graph", out.requires_grad, g.requires_grad, torch.autograd.grad(g.sum() + out.sum(), a)
    yield "checked", torch.autograd.gradcheck(lambda t: F.jacobian(lambda s: s ** 3, t, create_graph=True), a), torch.autograd.gradgradcheck(
        lambda t: F.hvp(lambda s: (s ** 3).sum(), t, v, create_graph=True)[1], a)
    yield "vectorized", warned(lambda: F.jacobian(two, (x, y), vectorize=True)), F.jacobian(two, (x, y), vectorize=True), F.hessian(scalar, (x, y), vectorize=True)
    yield "forward mode", F.jacobian(two, (x, y), vectorize=True, strategy="forward-mode"), F.hessian(scalar, (x, y), vectorize=True, outer_jacobian_strategy="forward-mode")
    yield "basis", F._construct_standard_basis_for((torch.zeros(2), torch.zeros(1, dtype=torch.double)), (2, 1))


@case("relied_on.checking.functional words")
def _(torch):
    F = torch.autograd.functional
    x = leaf(torch).detach()
    square, total = (lambda a: a ** 2), (lambda a: (a ** 2).sum())
    yield "inputs", [raises(lambda f=f: f(square, 3)) for f in (F.vjp, F.jvp, F.jacobian, F.hessian, F.hvp, F.vhp)], raises(lambda: F.vjp(square, [x, 3]))
    yield "outputs", [raises(lambda f=f: f(lambda a: 3, x)) for f in (F.vjp, F.jvp, F.jacobian, F.hessian, F.hvp, F.vhp)], raises(lambda: F.jacobian(lambda a: (a, 1), x))
    yield "v", [raises(lambda f=f, g=g: f(g, x, 3)) for f, g in ((F.vjp, square), (F.jvp, square), (F.hvp, total), (F.vhp, total))]
    yield "none", [raises(lambda f=f, g=g: f(g, x)) for f, g in ((F.vjp, square), (F.jvp, square), (F.hvp, total), (F.vhp, total))]
    yield "two", [raises(lambda f=f, g=g: f(g, x, (x, x))) for f, g in ((F.vjp, square), (F.jvp, square), (F.hvp, total), (F.vhp, total))]
    yield "size", [raises(lambda f=f, g=g: f(g, x, x[:2])) for f, g in ((F.vjp, square), (F.jvp, square), (F.hvp, total), (F.vhp, total))]
    yield "not a scalar", [raises(lambda f=f: f(square, x, x)) for f in (F.hvp, F.vhp)], raises(lambda: F.hessian(square, x))
    yield "two outputs", [raises(lambda f=f: f(lambda a: (a.sum(), a.sum()), x, x)) for f in (F.hvp, F.vhp)], raises(lambda: F.hessian(lambda a: (a.sum(), a.sum()), x))
    detached, none, linear = (lambda a: a.detach()), (lambda a: torch.ones(3, dtype=torch.double, requires_grad=True)), (lambda a: a.sum())
    for name, f in (("detached", detached), ("independent", none)):
        yield f"strict {name}", [raises(lambda h=h, f=f: h(f, x, x, strict=True)) for h in (F.vjp, F.jvp)], raises(lambda f=f: F.jacobian(f, x, strict=True))
        yield f"strict {name}, second", [raises(lambda h=h, f=f: h(lambda a: f(a).sum(), x, x, strict=True)) for h in (F.hvp, F.vhp)], raises(
            lambda f=f: F.hessian(lambda a: f(a).sum(), x, strict=True))
        yield f"not strict {name}", [attempt(lambda h=h, f=f: h(f, x, x)) for h in (F.vjp, F.jvp)], attempt(lambda f=f: F.jacobian(f, x)), [
            attempt(lambda h=h, f=f: h(lambda a: f(a).sum(), x, x)) for h in (F.hvp, F.vhp)]
    yield "strict linear", [raises(lambda h=h: h(linear, x, x, strict=True)) for h in (F.hvp, F.vhp)], raises(lambda: F.hessian(linear, x, strict=True)), raises(
        lambda: F.jacobian(lambda a: a * 2, x, strict=True, create_graph=True)), [raises(lambda h=h: h(lambda a: a * 2, x, x, strict=True, create_graph=True)) for h in (F.vjp, F.jvp)]
    yield "strict, of two", raises(lambda: F.jacobian(lambda a, b: a * 2, (x, x), strict=True)), raises(lambda: F.hessian(lambda a, b: (a ** 2).sum(), (x, x), strict=True))
    yield "strict, vectorized", raises(lambda: F.jacobian(square, x, strict=True, vectorize=True)), raises(lambda: F.hessian(total, x, strict=True, vectorize=True))
    yield "strategies", raises(lambda: F.jacobian(square, x, strategy="forward-mode")), raises(lambda: F.jacobian(square, x, strategy="foo", vectorize=True)), raises(
        lambda: F.jacobian(square, x, strategy="forward-mode", vectorize=True, create_graph=True)), raises(lambda: F.hessian(total, x, outer_jacobian_strategy="foo"))
