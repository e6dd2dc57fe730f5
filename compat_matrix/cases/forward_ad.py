"""torch.autograd.forward_ad: tangents through operators, writes, views and Functions; words."""

from compat_matrix.case import attempt, case


def pair(torch):
    return torch.tensor([1.0, 2.0, 3.0]), torch.tensor([0.5, 0.25, 1.0])


@case("forward_ad.basic")
def _(torch):
    fw = torch.autograd.forward_ad
    x, v = pair(torch)
    with fw.dual_level():
        d = fw.make_dual(x, v)
        yield "printed", repr(d), repr(d * 2), repr((d * d).sum())
        yield "unpacked", tuple(fw.unpack_dual(d)), tuple(fw.unpack_dual(x)), repr(fw.unpack_dual(d * 2))
        yield "functions", [tuple(fw.unpack_dual(f(d))) for f in (torch.sin, torch.exp, lambda t: t.cumsum(0), lambda t: t @ t, lambda t: t.max())]
        yield "no tangent", fw.unpack_dual(d.detach()).tangent, fw.unpack_dual(d > 1).tangent, fw.unpack_dual(d.argmax()).tangent
        yield "zero", fw.unpack_dual(d.round()).tangent
        yield "read", d.tolist(), d.sum().item(), d.requires_grad, d.grad_fn
        with torch.no_grad():
            yield "no_grad", fw.unpack_dual(d * 2).tangent
        kept = d * 3
    yield "after", repr(kept), tuple(fw.unpack_dual(kept)), tuple(fw.unpack_dual(d))
    with fw.dual_level():
        yield "next level", tuple(fw.unpack_dual(kept * 2)), tuple(fw.unpack_dual(fw.make_dual(kept, v) * kept))


@case("forward_ad.looked_between")
def _(torch):
    fw = torch.autograd.forward_ad
    x, v = pair(torch)
    with fw.dual_level():
        d = fw.make_dual(x, v)
        kept = d * 3
        yield "look", kept.tolist()
        more = kept.exp()
    with fw.dual_level():
        yield "next level", tuple(fw.unpack_dual(kept * 2)), fw.unpack_dual(more).tangent, tuple(fw.unpack_dual(fw.make_dual(x, v) * kept))


@case("forward_ad.inplace")
def _(torch):
    fw = torch.autograd.forward_ad
    x, v = pair(torch)
    with fw.dual_level():
        d = fw.make_dual(x, v)
        y = torch.zeros(3)
        y.copy_(d)
        yield "copy_", tuple(fw.unpack_dual(y))
        y = torch.ones(3)
        y.mul_(d)
        yield "mul_", tuple(fw.unpack_dual(y))
        b = torch.ones(2, 3)
        b[0] = d
        view = b[0]
        yield "setitem", tuple(fw.unpack_dual(b)), tuple(fw.unpack_dual(view))
        view.mul_(2)
        yield "through a view", tuple(fw.unpack_dual(b))
        own = d.clone()
        own[1:].add_(1).mul_(d[:2])
        yield "own view", tuple(fw.unpack_dual(own))


@case("forward_ad.words")
def _(torch):
    fw = torch.autograd.forward_ad
    x, v = pair(torch)
    yield "no level", attempt(lambda: fw.make_dual(x, v)), tuple(fw.unpack_dual(x)), attempt(lambda: fw.exit_dual_level())
    with fw.dual_level():
        d = fw.make_dual(x, v)
        yield "twice", attempt(lambda: fw.make_dual(d, v))
        yield "size", attempt(lambda: fw.make_dual(x, torch.ones(2)))
        yield "integers", attempt(lambda: fw.make_dual(torch.ones(3, dtype=torch.long), v)), attempt(lambda: fw.make_dual(x, torch.ones(3, dtype=torch.long)))
        yield "numbers", attempt(lambda: fw.make_dual(3.0, v)), attempt(lambda: fw.unpack_dual(3.0))
        yield "nested", attempt(lambda: fw.enter_dual_level())
    level = fw.enter_dual_level()
    yield "level", level, attempt(lambda: fw.exit_dual_level(level=5))
    fw.exit_dual_level(level=level)


@case("forward_ad.with_reverse")
def _(torch):
    fw = torch.autograd.forward_ad
    _x, v = pair(torch)
    o = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    with fw.dual_level():
        q = fw.make_dual(o, v)
        y = (q**3).sum()
        g, = torch.autograd.grad(y, o, create_graph=True)
        yield "forward over reverse", tuple(t.detach() for t in fw.unpack_dual(g))
        t = fw.unpack_dual(y).tangent
        yield "reverse over forward", t.detach(), torch.autograd.grad(t, o)
        t = fw.unpack_dual((q.exp() * q).sum()).tangent
    t.backward()
    yield "after the level", o.grad


@case("forward_ad.complex")
def _(torch):
    fw = torch.autograd.forward_ad
    with fw.dual_level():
        d = fw.make_dual(torch.tensor([1 + 2j]), torch.tensor([1j]))
        for name, f in (("square", lambda t: t * t), ("abs", torch.abs), ("real", torch.real), ("conj", torch.conj), ("exp", torch.exp)):
            yield name, tuple(t.resolve_conj() for t in fw.unpack_dual(f(d)))


def power(torch, jvp):
    class Power(torch.autograd.Function):
        @staticmethod
        def forward(ctx, a, k):
            ctx.save_for_forward(a)
            ctx.save_for_backward(a)
            return a**k

        @staticmethod
        def backward(ctx, g):
            return g * 7 * ctx.saved_tensors[0], None

    if jvp is not None:
        Power.jvp = staticmethod(jvp)
    return Power.apply


@case("forward_ad.function")
def _(torch):
    fw = torch.autograd.forward_ad
    x, v = pair(torch)
    with fw.dual_level():
        d = fw.make_dual(x, v)
        seen = []

        def jvp(ctx, t, none):
            seen.append((t.tolist(), none))
            return t * 9 * ctx.saved_tensors[0]

        yield "values", tuple(fw.unpack_dual(power(torch, jvp)(d, 2))), seen
        yield "none", attempt(lambda: power(torch, None)(d, 2))
        yield "too many", attempt(lambda: power(torch, lambda ctx, t, _: (t, t))(d, 2))
        yield "size", attempt(lambda: power(torch, lambda ctx, t, _: t.sum())(d, 2))
        yield "plain", power(torch, None)(x, 2)


@case("forward_ad.function.two")
def _(torch):
    fw = torch.autograd.forward_ad
    x, v = pair(torch)

    def two(answer):
        class Two(torch.autograd.Function):
            @staticmethod
            def forward(ctx, a, b):
                return a * b, torch.ones(2, dtype=torch.long)

            @staticmethod
            def jvp(ctx, ta, tb):
                seen.append(tb.tolist())
                return ta * 1, answer

        return Two.apply

    seen = []
    with fw.dual_level():
        d = fw.make_dual(x, v)
        yield "values", tuple(fw.unpack_dual(two(None)(d, x)[0])), seen
        yield "integers", attempt(lambda: two(v)(d, x))


@case("forward_ad.the_tangent_itself")
def _(torch):
    fw = torch.autograd.forward_ad
    x, t = torch.tensor([1.0, 2.0]), torch.tensor([3.0, 4.0])
    with fw.dual_level():
        d = fw.make_dual(x, t)
        yield "same", fw.unpack_dual(d).tangent is t, fw.unpack_dual(fw.make_dual(*fw.unpack_dual(d))).tangent is t
        yield "of itself", attempt(lambda: fw.make_dual(x, d)), attempt(lambda: fw.make_dual(d, x))
        yield "out", attempt(lambda: torch.add(x, x, out=fw.make_dual(x + 1, t))), attempt(lambda: torch.sin(d, out=torch.empty(2)))
        yield "later", fw.unpack_dual(d * 2).tangent
    with fw.dual_level():
        yield "gone", fw.unpack_dual(d).tangent


@case("forward_ad.switched_off")
def _(torch):
    fw = torch.autograd.forward_ad
    x, t = torch.tensor([1.0, 2.0]), torch.tensor([3.0, 4.0])
    with fw.dual_level():
        yield "on", fw._is_fwd_grad_enabled()
        with fw._set_fwd_grad_enabled(False):
            yield "off", fw._is_fwd_grad_enabled(), fw.unpack_dual(fw.make_dual(x, t))
        yield "on again", fw._is_fwd_grad_enabled(), fw.unpack_dual(fw.make_dual(x, t)).tangent


@case("forward_ad.draws")
def _(torch):
    """Random numbers of dual parameters: no tangent is lost without a word."""
    fa = torch.autograd.forward_ad
    draws = {"gamma": torch._standard_gamma, "dirichlet": torch._sample_dirichlet, "binomial": lambda a: torch.binomial(a * 5, torch.full((3,), 0.5)),
             "rsample": lambda a: torch.distributions.Gamma(a, torch.ones(3)).rsample()}
    for name, draw in draws.items():
        torch.manual_seed(0)
        with fa.dual_level():
            a = fa.make_dual(torch.ones(3), torch.ones(3))
            yield name, attempt(lambda draw=draw, a=a: draw(a))


def told(fn):
    """What a call gives, or the class and words of its error."""
    try:
        return fn()
    except Exception as error:
        return type(error).__name__, str(error)


@case("forward_ad.shared.written")
def _(torch):
    fw = torch.autograd.forward_ad
    x, t = torch.arange(2.0), torch.ones(2)
    with fw.dual_level():
        d = fw.make_dual(x, t)
        yield "is", d.data_ptr() == x.data_ptr(), d._version == x._version, d._is_view(), d._base is x
        p, given = fw.unpack_dual(d)
        yield "parts", p.data_ptr() == x.data_ptr(), given is t, p._is_view(), p._base is x
        for name, change in (("primal", lambda: x.add_(1)), ("tangent", lambda: t.add_(1)), ("dual", lambda: d.mul_(3)), ("unpacked primal", lambda: p.mul_(2)),
                             ("unpacked tangent", lambda: given.mul_(2)), ("detached", lambda: d.detach().add_(1)), ("a view", lambda: d[:1].mul_(d[1]))):
            change()
            yield name, x, t, d, p, tuple(fw.unpack_dual(d)), fw.unpack_dual(d * 2).tangent, x._version, d._version, p._version, t._version
        yield "still", fw.unpack_dual(d).tangent is t
    x.add_(1)
    yield "after", d, fw.unpack_dual(d).tangent, d._base is x, torch.equal(d, x)


@case("forward_ad.shared.requires")
def _(torch):
    fw = torch.autograd.forward_ad
    for primal, tangent in ((True, True), (True, False), (False, True)):
        x, t = torch.arange(2.0).requires_grad_(primal), torch.ones(2).requires_grad_(tangent)
        with fw.dual_level():
            d = fw.make_dual(x, t)
            y = d * d
            p = fw.unpack_dual(y).primal
            which = f"primal {primal}, tangent {tangent}: "
            yield which + "requires", d.requires_grad, y.requires_grad, p.requires_grad, fw.unpack_dual(y).tangent.requires_grad
            yield which + "kinds", d.is_leaf, y.is_leaf, None if y.grad_fn is None else y.grad_fn.name(), None if d.grad_fn is None else d.grad_fn.name()
            if primal:
                yield which + "names", fw.unpack_dual(d).primal.grad_fn.name(), fw.unpack_dual(d).primal.grad_fn.next_functions[0][0].name()
                yield which + "only primal", torch.autograd.grad(fw.unpack_dual(d).primal.sum(), (x, t) if tangent else x, allow_unused=True)
            yield which + "of tangent", torch.autograd.grad(fw.unpack_dual(y).tangent.sum(), [z for z in (x, t) if z.requires_grad])
            yield which + "detach_", fw.unpack_dual(d.clone().detach_() * 2).tangent


@case("forward_ad.shared.bases")
def _(torch):
    fw = torch.autograd.forward_ad
    with fw.dual_level():
        x, alias = torch.zeros(2, 2), None
        alias = x.detach()
        x[1].copy_(fw.make_dual(torch.ones(2), torch.tensor([3.0, 4.0])))
        first = x[0]
        yield "base", tuple(fw.unpack_dual(x)), tuple(fw.unpack_dual(first)), tuple(fw.unpack_dual(alias))
        yield "views", fw.unpack_dual(first).tangent._is_view(), fw.unpack_dual(x).tangent._is_view()
        fw.unpack_dual(x).tangent.mul_(2)
        yield "tangent written", fw.unpack_dual(x[1]).tangent
        alias.add_(5)
        yield "alias written", tuple(fw.unpack_dual(x)), tuple(fw.unpack_dual(first))
        alias.copy_(fw.make_dual(torch.ones(2, 2), torch.ones(2, 2)))
        yield "alias has its own", tuple(fw.unpack_dual(x)), tuple(fw.unpack_dual(alias))
        x.view(-1).detach().mul_(2)
        yield "through both", tuple(fw.unpack_dual(x)), tuple(fw.unpack_dual(alias))


@case("forward_ad.shared.geometry")
def _(torch):
    fw = torch.autograd.forward_ad
    with fw.dual_level():
        for name, x, t in (("transposed", torch.ones(2, 3).t(), torch.ones(3, 2)), ("expanded", torch.ones(2, 2), torch.ones(1, 2).expand(2, 2)),
                           ("stepped", torch.ones(2), torch.ones(4)[::2]), ("rows", torch.ones(2, 2)[0], torch.ones(2, 2)[0]),
                           ("offset", torch.ones(4)[1:3], torch.ones(2)), ("alike", torch.ones(2, 2), torch.ones(2, 2))):
            d = fw.make_dual(x, t)
            got = fw.unpack_dual(d).tangent
            yield name, got is t, got.stride(), got._is_view(), d.stride(), fw.unpack_dual(d).tangent is got
        b, t = torch.arange(6.0).reshape(2, 3), torch.ones(2, 3)
        d = fw.make_dual(b[1], t[1])
        d.mul_(2)
        yield "a row", b, t, d._base is b, d.storage_offset()


@case("forward_ad.shared.functions")
def _(torch):
    fw = torch.autograd.forward_ad

    class Twice(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_dirty(x)
            return x.mul_(2)

        @staticmethod
        def backward(ctx, g):
            return g * 2

        @staticmethod
        def jvp(ctx, t):
            return t.mul_(2)

    class Shown(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.view_as(x)

        @staticmethod
        def backward(ctx, g):
            return g

        @staticmethod
        def jvp(ctx, t):
            return t.view_as(t)

    class Copied(Shown):
        @staticmethod
        def jvp(ctx, t):
            return t.clone()

    with fw.dual_level():
        x = fw.make_dual(torch.ones(2, requires_grad=True), torch.ones(2))
        y = x.clone()
        t = fw.unpack_dual(y).tangent
        out = Twice.apply(y)
        yield "in place", out is y, y.tolist(), fw.unpack_dual(y).tangent.tolist(), fw.unpack_dual(y).tangent is t
        d = fw.make_dual(torch.ones(2), torch.ones(2))
        r = Shown.apply(d)
        r.mul_(2)
        yield "a view", r._is_view(), tuple(fw.unpack_dual(r)), tuple(fw.unpack_dual(d))
        yield "no view", told(lambda: Copied.apply(d))


@case("forward_ad.shared.refused")
def _(torch):
    fw = torch.autograd.forward_ad
    with fw.dual_level():
        x = torch.zeros(2, requires_grad=True)
        yield "leaf", told(lambda: fw.make_dual(x, torch.ones(2)).mul_(2))
        d = fw.make_dual(torch.ones(2, requires_grad=True), torch.zeros(2))
        yield "printed", repr(d), repr(fw.make_dual(torch.ones(2), torch.zeros(2, requires_grad=True)))
        with torch.inference_mode():
            yield "inference mode", fw.unpack_dual(fw.make_dual(torch.ones(2), torch.ones(2))).tangent
    with torch.inference_mode():
        made = torch.rand(1), torch.randn(1), torch.randint(3, (1,)), torch.rand_like(torch.ones(1)), torch.bernoulli(torch.ones(1)), torch.rand(1).normal_()
        yield "draws", [m.is_inference() for m in made]


@case("forward_ad.views that maps gave")
def _(torch):
    """What a map gives as a view of a dual tensor is unpacked."""
    fw, vmap = torch.autograd.forward_ad, torch.vmap
    x = torch.arange(6.0).reshape(2, 3, 1)
    with fw.dual_level():
        d = fw.make_dual(x, x.cos())
        maps = {"moved": vmap(lambda a: a, 1)(d), "row": vmap(lambda a: a[0], 1)(d), "turned": vmap(lambda a: a.t(), 0, -1)(d),
                "twice": vmap(vmap(lambda a: a, -1), 2)(d), "part": vmap(lambda a: a.split(2)[1])(d)}
        for name, r in maps.items():
            yield name, *fw.unpack_dual(r), fw.unpack_dual(r * 2).tangent
        maps["row"].mul_(3)
        yield "written", *fw.unpack_dual(maps["row"]), *fw.unpack_dual(d)
