"""torch.func: arguments and results that are refused, with the words."""

from importlib import import_module

from compat_matrix.case import attempt, case


@case("func.refused.argnums")
def _(torch):
    _slice_argnums = import_module(f"{torch.__name__}._functorch.eager_transforms")._slice_argnums
    f, x, y = torch.func, torch.tensor(2.0), torch.tensor(3.0)
    for argnums in (-3, 2, [0], ("0",), (0, 0), (0, -2), (), (0.0,), 0.0, (1, 0), -1, (-2, -1)):
        yield str(argnums), attempt(lambda n=argnums: f.grad(torch.mul, argnums=n)(x, y)), attempt(lambda n=argnums: f.jacrev(torch.mul, argnums=n)(x, y))
        yield f"{argnums} chosen", attempt(lambda n=argnums: _slice_argnums((1.0, 2.0), n))


@case("func.refused.aux")
def _(torch):
    """Besides the result there are tensors alone."""
    f, x = torch.func, torch.ones(3)
    for aux in (1, 1.5, "abc", None):
        for name, other in (("alone", aux), ("in a list", [x, aux])):
            def both(a, other=other):
                return a.sum(), other

            yield f"{aux} {name}", attempt(lambda g=both: f.grad(g, has_aux=True)(x)), attempt(lambda g=both: f.vjp(g, x, has_aux=True)[2])
            yield f"{aux} {name} forward", attempt(lambda g=both: f.jvp(g, (x,), (x,), has_aux=True)), attempt(lambda g=both: f.jacrev(g, has_aux=True)(x))


@case("func.refused.results")
def _(torch):
    f, x = torch.func, torch.ones(2)
    for out in (None, (), 1, True, "abc"):
        yield str(out), attempt(lambda o=out: f.vjp(lambda _: o, x)[0]), attempt(lambda o=out: f.jvp(lambda _: o, (x,), (x,)))
        yield f"{out} whole", attempt(lambda o=out: f.jacrev(lambda _: o)(x)), attempt(lambda o=out: f.jacfwd(lambda _: o)(x))
    yield "complex", attempt(lambda: f.jacrev(torch.conj)(torch.ones(1, dtype=torch.cfloat))), attempt(lambda: f.jacrev(lambda a: a * 0.5j)(x))
    yield "integers", attempt(lambda: f.jacfwd(lambda a: a * 1)(torch.tensor([1, 2]))), attempt(lambda: f.jvp(torch.sin, (x,), (torch.tensor([1, 2]),)))


@case("func.refused.chunks")
def _(torch):
    """One row at a time goes without a map, and may do what a map does not allow."""

    class Looks(torch.autograd.Function):
        @staticmethod
        def forward(x):
            return x * 2

        @staticmethod
        def setup_context(ctx, inputs, output):
            pass

        @staticmethod
        def backward(ctx, g):
            g.nonzero()
            return g * 2

    x = torch.arange(4.0).reshape(2, 2)
    for n in (1, 2, None):
        yield str(n), attempt(lambda n=n: torch.func.jacrev(Looks.apply, chunk_size=n)(x))


@case("func.refused.function_saves_what_it_returns")
def _(torch):
    """An input that is returned as it is cannot be saved by setup_context."""

    def made(kind, what, dirty):
        class Same(torch.autograd.Function):
            @staticmethod
            def forward(x):
                return x

            @staticmethod
            def setup_context(ctx, inputs, output):
                if dirty:
                    ctx.mark_dirty(inputs[0])
                if what != "nothing":
                    (ctx.save_for_forward if kind == "forward" else ctx.save_for_backward)(inputs[0] if what == "input" else output)

            @staticmethod
            def backward(ctx, g):
                return g

            @staticmethod
            def jvp(ctx, t):
                return t.add_(0) if dirty else t.view_as(t)

        return Same

    for kind in ("backward", "forward"):
        for what in ("input", "output", "nothing"):
            for dirty in (False, True):
                apply, x = made(kind, what, dirty).apply, torch.tensor(2.0)
                yield f"{kind} {what} {dirty}", attempt(lambda a=apply, x=x: a(x.clone())), attempt(lambda a=apply, x=x: torch.func.grad(lambda y: a(y.clone()))(x)), \
                    attempt(lambda a=apply, x=x: torch.func.jvp(lambda y: a(y.clone()), (x,), (x,)))


@case("func.refused.vmap_of_function")
def _(torch):
    seen = []

    def function(vmap, forward=lambda x: x):
        body = {"forward": staticmethod(forward), "setup_context": staticmethod(lambda ctx, inputs, output: None), "vmap": staticmethod(vmap)}
        return type("Rule", (torch.autograd.Function,), body).apply

    def rule(info, in_dims, x):
        seen.append((info.batch_size, in_dims))
        return x, in_dims[0]

    x = torch.arange(6.0).reshape(3, 2)
    yield "dims", torch.func.vmap(function(rule), in_dims=1)(x), torch.func.vmap(function(rule), in_dims=(1,))(x), torch.func.vmap(function(rule))(x), seen
    yield "four", attempt(lambda: torch.func.vmap(function(lambda i, d, a: (a, a, 0, 0)))(x))
    yield "one", attempt(lambda: torch.func.vmap(function(lambda i, d, a: a))(x))
    names = []

    class Named(torch.autograd.Function):
        @staticmethod
        def forward(x):
            return x.clone()

        @staticmethod
        def setup_context(ctx, inputs, output):
            pass

        @staticmethod
        def backward(ctx, g):
            return g

    def noting(a):
        out = Named.apply(a)
        names.append((type(out.grad_fn).__name__, out.grad_fn.name()))
        return out.sum()

    torch.func.grad(noting)(x)
    noting(x.clone().requires_grad_())
    yield "names", names


@case("func.refused.in_maps")
def _(torch):
    vmap, x = torch.func.vmap, torch.arange(6.0).reshape(2, 3)
    yield "out", attempt(lambda: vmap(lambda a, b: torch.abs(a, out=b))(x, x.clone()))
    yield "equal", attempt(lambda: vmap(torch.equal)(x, x)), attempt(lambda: vmap(lambda a: torch.allclose(a, a))(x))
    yield "masked_select", attempt(lambda: vmap(lambda a: a.masked_select(a > 0))(x))
    yield "retain_grad", attempt(lambda: torch.func.grad(lambda a: (lambda y: (y.retain_grad(), y.sum())[1])(a.sin()))(x))


@case("func.refused.helpers")
def _(torch):
    """The dim that a tensor had outside of its map."""
    c, restore = import_module(f"{torch.__name__}._C._functorch"), import_module(f"{torch.__name__}._functorch.vmap").restore_vmap
    seen = []

    def looking(a, b):
        seen.append((c.maybe_get_bdim(a), c.maybe_get_bdim(b), c.get_unwrapped(a).shape))
        return a.sum() + b.sum()

    torch.func.vmap(looking, in_dims=(1, 0))(torch.ones(3, 2), torch.ones(2, 3))
    yield "dims", seen
    yield "restored", restore(lambda x, y: {"a": x[0] + x[1], "b": y}, ((0, 0), 1), 2, "error")((torch.ones(2, 3), torch.ones(2)), torch.arange(8.0).reshape(4, 2))


@case("func.refused.complex arguments of jacobians")
def _(torch):
    """Before the function is called, and of arguments too that are not differentiated."""
    x, z, called = torch.ones(2), torch.tensor([1.0 + 1j, 2.0]), []

    def f(a, b):
        called.append(1)
        return (a * b.real).sum(), b.real > 0

    for name in ("jacrev", "jacfwd", "hessian"):
        for argnums in (0, 1):
            yield f"{name} {argnums}", attempt(lambda n=name, k=argnums: getattr(torch.func, n)(f, argnums=k)(x, z)), len(called)
