"""gradcheck and gradgradcheck: what passes, what fails and with which words."""

import sys
import warnings

from compat_matrix.case import attempt, case, warned


def inputs(torch):
    x = torch.tensor([[0.3, -0.7], [1.1, 0.4]], dtype=torch.float64, requires_grad=True)
    y = torch.tensor([0.5, 0.25], dtype=torch.float64, requires_grad=True)
    z = torch.tensor([0.3 + 0.2j, -0.7 + 1j], dtype=torch.complex128, requires_grad=True)
    return x, y, z


def square(torch, factor):
    class Square(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, g):
            return g * factor * ctx.saved_tensors[0]

    return Square.apply


def _passes(torch, fast):
    check, again = torch.autograd.gradcheck, torch.autograd.gradgradcheck
    x, y, z = inputs(torch)
    k = {"fast_mode": fast}
    yield "two", check(lambda a, b: (a @ b).sin(), (x, y), **k)
    yield "one", check(torch.sin, x, **k)
    yield "complex", check(lambda a: a * a.conj() + a, (z,), **k), check(lambda a: a.abs(), (z,), **k), check(lambda a: torch.complex(a, a * 2), (y,), **k)
    yield "integer output", check(lambda a: (a * 2, torch.ones(2, dtype=torch.long)), (y,), **k)
    yield "unrelated", check(lambda a, b: a * 2, (x, y), **k)
    yield "no tensor", check(lambda a, s: a * s, (x, 2.0), **k)
    yield "inplace", check(lambda a: a.clone().mul_(a).exp_(), (x,), **k)
    yield "dtypes", check(torch.sin, (x,), check_grad_dtypes=True, **k)
    yield "constant", check(lambda a: torch.ones(2, dtype=torch.float64), (y,), **k)
    yield "second", again(lambda a, b: (a @ b).sin(), (x, y), **k), again(lambda a: a * a * a.conj(), (z,), **k), again(lambda a: a * 2, (x,), **k)
    yield "given", again(torch.exp, (x,), torch.ones(2, 2, dtype=torch.float64, requires_grad=True), **k), again(torch.exp, (x,), gen_non_contig_grad_outputs=True, **k)


for _fast in (False, True):
    case(f"gradcheck.passes.{'fast' if _fast else 'slow'}", fast=_fast)(_passes)


def _modes(torch, fast):
    check, again = torch.autograd.gradcheck, torch.autograd.gradgradcheck
    x, y, z = inputs(torch)
    k = {"fast_mode": fast}
    yield "batched", check(lambda a, b: (a @ b).sin(), (x, y), check_batched_grad=True, **k)
    yield "forward", check(lambda a, b: (a @ b).sin(), (x, y), check_forward_ad=True, **k), check(lambda a: a * a.conj() + a, (z,), check_forward_ad=True, **k)
    yield "forward only", check(lambda a, b: (a @ b).sin(), (x, y), check_forward_ad=True, check_backward_ad=False, check_undefined_grad=False, **k)
    yield "forward batched", check(lambda a, b: (a @ b).sin(), (x, y), check_forward_ad=True, check_batched_forward_grad=True, **k)
    yield "forward over reverse", again(lambda a: a.exp() * a, (x,), check_fwd_over_rev=True, **k)


for _fast in (False, True):
    case(f"gradcheck.modes.{'fast' if _fast else 'slow'}", fast=_fast)(_modes)


@case("gradcheck.fails.slow")
def _(torch):
    check = torch.autograd.gradcheck
    x, y, z = inputs(torch)
    yield "wrong", attempt(lambda: check(square(torch, 3), (x,))), check(square(torch, 3), (x,), raise_exception=False)
    yield "second output", attempt(lambda: check(lambda a, b: (a * 2, square(torch, 3)(b)), (x, y)))
    yield "complex", attempt(lambda: check(square(torch, 2), (z,)))
    yield "detached", attempt(lambda: check(lambda a: a.detach(), (y,)))


@case("gradcheck.fails.fast")
def _(torch):
    x, y, _z = inputs(torch)
    yield "wrong", torch.autograd.gradcheck(square(torch, 3), (x,), fast_mode=True, raise_exception=False)
    yield "detached", attempt(lambda: torch.autograd.gradcheck(lambda a: a.detach(), (y,), fast_mode=True))


@case("gradcheck.inputs")
def _(torch):
    check = torch.autograd.gradcheck
    x, y, _z = inputs(torch)
    yield "none", attempt(lambda: check(torch.sin, (x.detach(),)))
    yield "stride", attempt(lambda: check(torch.sin, (y.detach()[:1].expand(3).requires_grad_(),)))
    yield "single", warned(lambda: check(torch.sin, (torch.ones(2, requires_grad=True),), eps=1e-2, atol=1e-2))
    yield "neither", attempt(lambda: check(torch.sin, (x,), check_backward_ad=False))
    yield "batched", attempt(lambda: check(torch.sin, (x,), check_backward_ad=False, check_forward_ad=True, check_batched_grad=True))
    yield "batched forward", attempt(lambda: check(torch.sin, (x,), check_batched_forward_grad=True))
    again = torch.autograd.gradgradcheck
    yield "second", attempt(lambda: again(torch.sin, (x,), check_rev_over_rev=False)), attempt(lambda: again(torch.sin, (x,), check_rev_over_rev=False, check_fwd_over_rev=True))


@case("gradcheck.perturbed")
def _(torch):
    x, _y, _z = inputs(torch)
    for fast in (False, True):
        for name, other in (("shape", lambda a: (a * 2).reshape(-1)), ("dtype", lambda a: (a * 2).float())):
            count = []

            def f(a, count=count, other=other):
                count.append(1)
                return a * 2 if len(count) < 3 else other(a)

            yield f"{name} {fast}", attempt(lambda: torch.autograd.gradcheck(f, (x,), fast_mode=fast))


@case("gradcheck.reentrant")
def _(torch):
    _x, y, _z = inputs(torch)
    count = []

    class Wobbly(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            count.append(1)
            return g * (2 + 1e-3 * (len(count) % 2))

    yield "error", attempt(lambda: torch.autograd.gradcheck(Wobbly.apply, (y,), fast_mode=True))
    yield "tolerance", torch.autograd.gradcheck(Wobbly.apply, (y,), nondet_tol=1e-2, atol=1e-2)


@case("gradcheck.undefined")
def _(torch):
    x, _y, _z = inputs(torch)

    def pair(materialize):
        class Pair(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                ctx.set_materialize_grads(materialize)
                return x * 2, x * 3

            @staticmethod
            def backward(ctx, a, b):
                return a * 2 + b * 3

        return Pair.apply

    yield "zeros", torch.autograd.gradcheck(pair(True), (x,))
    yield "none", attempt(lambda: torch.autograd.gradcheck(pair(False), (x,)))


@case("gradcheck.jacobians")
def _(torch):
    _x, y, z = inputs(torch)
    g = sys.modules[f"{torch.__name__}.autograd.gradcheck"]
    yield "numerical", warned(lambda: g.get_numerical_jacobian(lambda a: a[0] * a[1], (y, y)))
    yield "analytical", warned(lambda: g.get_analytical_jacobian((y,), y * y))
    yield "grad_out", attempt(lambda: g.get_numerical_jacobian(lambda a: a[0] * a[0], (y,), grad_out=2.0)), attempt(lambda: g.get_analytical_jacobian((y,), y * y, grad_out=2.0))
    yield "complex", attempt(lambda: g.get_analytical_jacobian((z,), z * z))
    yield "one input", g.get_numerical_jacobian_wrt_specific_input(lambda a: a * a, 0, (y,), (y * y,), 1e-6)
    yield "classes", [c.__name__ for c in g.GradcheckError.__mro__]


@case("gradcheck.sparse_inputs")
def _(torch):
    check = torch.autograd.gradcheck
    x = torch.tensor([[0.0, 1.5], [2.0, 0.0]], dtype=torch.double).to_sparse().requires_grad_()
    rows = torch.sparse_coo_tensor(torch.tensor([[2, 0]]), torch.tensor([[1.0, 2.0], [3.0, -1.0]], dtype=torch.double), (4, 2), requires_grad=True)
    a = torch.tensor([[1.0, 2.0], [3.0, 4.0]], dtype=torch.double, requires_grad=True)

    class Changes(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, g):
            return g.to_sparse()

    def moved(x):
        y = x.to_dense() * 2
        y.register_hook(lambda g: g + 0.01)
        return y

    for fast in (False, True):
        def run(f, xs, **more):
            try:
                return check(f, xs, fast_mode=fast, **more)
            except Exception as e:
                return type(e).__name__, str(e).splitlines()[0][:60]

        for masked in (False, True):
            yield f"{fast} {masked}", run(lambda x: x.to_dense() * 3, (x,), masked=masked), run(lambda x: x.to_dense().exp(), (rows,), masked=masked)
            yield f"{fast} {masked} both", run(lambda a, x: a * x.to_dense(), (a, x), masked=masked)
        yield f"{fast} wrong", run(moved, (x,), masked=True), run(Changes.apply, (a,))
        yield f"{fast} sparse result", run(lambda x: x * 2, (x,), masked=True, raise_exception=False)
        yield f"{fast} batched", run(lambda x: x.to_dense(), (x,), masked=True, check_batched_grad=True)
        yield f"{fast} quiet", run(lambda x: x.to_dense(), (x,), masked=True, check_batched_grad=True, raise_exception=False)


@case("gradcheck.sum_of_rows_of_sparse")
def _(torch):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        x = torch.tensor([[1, 2.], [3, 4]], dtype=torch.float64).to_sparse_csr()
        for fast in (True, False):
            for masked in (True, False):
                yield f"{fast} {masked}", torch.autograd.gradcheck(torch.sum, x.detach().requires_grad_(), masked=masked, fast_mode=fast)


@case("gradcheck.calls")
def _(torch):
    """How often the function is called."""
    x, calls = torch.ones(1, dtype=torch.float64, requires_grad=True), []
    for n in (1, 3):
        def f(x, n=n):
            calls.append(1)
            return (x**3, x.sin(), x.exp())[:n]

        for name, check in (("first", torch.autograd.gradcheck), ("second", torch.autograd.gradgradcheck)):
            for options in ({}, {"fast_mode": True}, {"check_undefined_grad": False}, {"check_batched_grad": True}):
                calls.clear()
                yield f"{name}, {n}, {options}", check(f, x, **options), len(calls)
