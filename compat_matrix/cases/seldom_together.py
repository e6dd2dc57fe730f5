"""Features that meet seldom: hooks on constants, inference mode and detach_, words of passes and types, writes through conjugates, versions of Functions."""

import warnings

from compat_matrix.case import case


@case("seldom_together.any hook on constants")
def _(torch):
    constant, w = torch.ones(1, 3), torch.ones(2, requires_grad=True)
    for i, tensors in enumerate(([constant], [w, constant], [constant, w], [w, w * 2], [])):
        for mode in ("any", "all"):
            heard = []
            try:
                handle = torch.autograd.graph.register_multi_grad_hook(tensors, heard.append, mode=mode)
            except AssertionError as e:
                yield f"{i} {mode}", str(e)
                continue
            (w * 2).sum().backward()
            handle.remove()
            (w * 2).sum().backward()
            yield f"{i} {mode}", len(heard)


@case("seldom_together.detach_ in inference mode")
def _(torch):
    x = torch.ones(2, 3, requires_grad=True)
    y = x * 2
    view = y[0]
    with torch.inference_mode():
        for name, t in (("a leaf", x), ("a result", y), ("a view", view)):
            yield name, t.detach_() is t, t.requires_grad, t.is_leaf, t._version
        z = torch.ones(2).requires_grad_()
        yield "of an inference tensor", z.detach_().requires_grad
    y.sum().backward()
    yield "gradient", x.grad
    with torch.no_grad():
        yield "no_grad", y.detach_().requires_grad


@case("seldom_together.warning of a pass that does not start")
def _(torch):
    before = torch.is_warn_always_enabled()
    torch.set_warn_always(True)
    for i, (t, g) in enumerate(((torch.ones(3).sum(), None), (torch.ones(3, requires_grad=True) * 2, None), (torch.ones(3, requires_grad=True) * 2, torch.ones(2)),
                 ((torch.ones(3, requires_grad=True) * 2).sum(), None))):
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            try:
                t.backward(g, create_graph=True)
            except RuntimeError as e:
                yield f"{i} error", str(e)
        yield f"{i} warnings", len(said)
    torch.set_warn_always(before)


@case("seldom_together.types in messages")
def _(torch):
    class Exp(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            y = x.exp()
            ctx.save_for_backward(y)
            return y

        @staticmethod
        def backward(ctx, g):
            return g * ctx.saved_tensors[0]

    for dtype in (torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.complex64, torch.complex128):
        for name, f in (("Function", Exp.apply), ("exp", torch.exp)):
            x = torch.ones(3, dtype=dtype, requires_grad=True)
            y = f(x)
            with torch.no_grad():
                y.add_(1)
            try:
                y.abs().sum().backward()
            except RuntimeError as e:
                yield f"{dtype} {name}", str(e)


@case("seldom_together.saved output of a Function that returns a detached tensor")
def _(torch):
    class Detached(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return (x * 2).detach()

        @staticmethod
        def backward(ctx, g):
            return g * 2

    for name, write in (("add_", lambda y: y.add_(1)), ("view", lambda y: y[0].mul_(2)), ("detach", lambda y: y.detach().zero_()), ("no write", lambda y: None)):
        x = torch.ones(2, 3, requires_grad=True)
        y = Detached.apply(x)
        z = y.abs()
        write(y)
        yield name + " version", y._version
        try:
            z.sum().backward()
            yield name, x.grad
        except RuntimeError as e:
            yield name, str(e)


def _said(f):
    try:
        return f()
    except RuntimeError as e:
        return str(e)


@case("seldom_together.writes through conjugates and parts of chosen strides")
def _(torch):
    def numbers():
        return torch.arange(6, dtype=torch.float64).mul(1 + 2j)

    for name, of, write in (
            ("as_strided, parts", lambda t: t.as_strided((2, 2), (2, 1)).real, lambda t: t.mul_(2)),
            ("as_strided, some parts", lambda t: torch.view_as_real(t.as_strided((2, 2), (2, 1)))[..., 1:], lambda t: t.fill_(7)),
            ("expand, parts", lambda t: t.expand(2, 6)[0].imag, lambda t: t.add_(3)),
            ("as_strided, conj", lambda t: t.as_strided((2, 2), (2, 1)).conj(), lambda t: t.mul_(1j)),
            ("as_strided, parts of conj", lambda t: t.as_strided((2, 2), (2, 1)).conj().imag, lambda t: t.mul_(2)),
            ("expand, conj", lambda t: t.expand(2, 6)[1].conj(), lambda t: t.copy_(torch.ones(6) * 1j))):
        t = numbers()
        write(of(t))
        yield name, t
        x = numbers().requires_grad_()
        y = x * 2
        write(of(y))
        y.real.sum().backward()
        yield f"{name}, gradient", x.grad
    t = torch.arange(12.)
    torch.view_as_complex(t.as_strided((2, 2), (4, 1), 2)).imag.mul_(3)
    yield "parts of joined", t


@case("seldom_together.versions counted by Functions")
def _(torch):
    class Written(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            x[0] = 0
            ctx.mark_dirty(x)
            return x

        @staticmethod
        def backward(ctx, g):
            return g

    class AndMore(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            x[0] = 0
            ctx.mark_dirty(x)
            return x, x * 2

        @staticmethod
        def backward(ctx, g, h):
            return g

    class AsIs(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x

        @staticmethod
        def backward(ctx, g):
            return g

    a = torch.ones(3, requires_grad=True)
    b = a * 2
    with torch.no_grad():
        Written.apply(b.view_as(b))
    yield "without a graph", b, b._version, b.grad_fn.name()
    b.sum().backward()
    yield "gradient", a.grad
    b = a * 2
    with torch.no_grad():
        view = b.view_as(b)
        view[1] = 0
        torch.autograd.graph.increment_version(view)
    yield "counted", b._version, b.grad_fn.name()
    for name, f, t in (("view of a leaf", Written, a.view_as(a)), ("leaf", Written, a), ("leaf and more", AndMore, a), ("view and more", AndMore, b[:2]),
                       ("one of several views and more", AndMore, b.unbind()[0][None]), ("view of a Function and more", AndMore, AsIs.apply(b)[:2])):
        yield name, _said(lambda f=f, t=t: f.apply(t)), t._version


@case("seldom_together.retained and given")
def _(torch):
    class Several(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            return x, y, x * 2

        @staticmethod
        def backward(ctx, a, b, c):
            return a + 2 * c, b

    v = torch.tensor(2., requires_grad=True)
    for name, w in (("Function", Several.apply(v, v)[1]), ("operator", v * 2), ("alone", v.exp())):
        w.retain_grad()
        w.backward(torch.tensor(.5).requires_grad_())
        yield name, w.grad, w.grad.requires_grad
    x = torch.ones(2, 3, requires_grad=True)
    y = x.sum(0, keepdim=True)
    y.backward(torch.ones_like(y), inputs=[x, torch.autograd.graph.get_gradient_edge(y)])
    yield "an edge as input", x.grad, y.retains_grad
    y = x.sum(0, keepdim=True)
    (y.detach().requires_grad_() ** 2).sum().backward()
    y.retain_grad()
    y.view(-1)[0] = 3
    (y * 5).sum().backward()
    yield "after a pass over what shares its memory", y.grad, y.retains_grad


@case("seldom_together.written views are read again")
def _(torch):
    v = torch.ones(2, 3, requires_grad=True)
    w = v * 3
    u = w.view(-1)
    u.addcmul_(u, u)
    for i in range(2):
        yield f"the node around a write stays where the write fails {i}", _said(lambda: w.sum().backward())
    x = torch.ones(3, 4, requires_grad=True)
    s, m = torch.std_mean(x, 0)
    y = m * x
    with torch.no_grad():
        m.mul_(2)
    yield "number of an output that was saved", _said(lambda: y.sum().backward())
    t = torch.ones(3).expand(2, 3)
    yield "overlap before sizes", _said(lambda: t.mul_(torch.ones(2, 4))), _said(lambda: t.add_(torch.ones(7)))

    class AsIs(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x

        @staticmethod
        def backward(ctx, g):
            return g

    yield "as_strided of a Function's view", _said(lambda: AsIs.apply(v * 2).select(-1, 0).as_strided((2,), (1,)).sin_())
    with torch.inference_mode():
        constant = torch.ones(3)
    yield "checkpoint", _said(lambda: torch.utils.checkpoint.checkpoint(lambda a: a * 2, constant, use_reentrant=False))


@case("seldom_together.retained and turned")
def _(torch):
    v = torch.ones(4, requires_grad=True)
    for name, look in (("alone", lambda w: None), ("a view", lambda w: w.view_as(w)), ("a part", lambda w: w[0].tolist()), ("detached", lambda w: w.detach())):
        for turned, turn in (("t_", lambda w: w.t_()), ("squeeze_", lambda w: w.squeeze_())):
            w = v * 3 + v
            w.retain_grad()
            beside = look(w)
            turn(w)
            (w * 2).sum().backward()
            yield f"{name}, {turned}", w.retains_grad, w.grad
            del beside


@case("seldom_together.what hooks of an accumulation node return")
def _(torch):
    x = torch.ones(2, requires_grad=True)
    node = (x * 2).grad_fn.next_functions[0][0]

    def run(register, result):
        x.grad = None
        handle = register(lambda *given: result)
        try:
            (x * 2).sum().backward()
        except (RuntimeError, TypeError) as e:
            return type(e).__name__, str(e)
        finally:
            handle.remove()
        return x.grad

    for name, result in (("number", 5), ("nothing", ()), ("None in a tuple", (None,)), ("gradient", (torch.ones(2),)), ("list", []), ("tensor", torch.ones(2)), ("None", None)):
        yield f"after, {name}", run(node.register_hook, result)
        yield f"before, {name}", run(node.register_prehook, result)


@case("seldom_together.inference tensors that were refused")
def _(torch):
    x = torch.ones(2, requires_grad=True)
    with torch.inference_mode():
        t = torch.ones(2, 3)
        row = t[0]

    def assign(where):
        t[where] = x.sum()

    for name, write in (("part", lambda: assign((..., 0))), ("all", lambda: t.mul_(x.sum())), ("view", lambda: row.mul_(x.sum())), ("element", lambda: assign((0, 0)))):
        yield name, _said(write), t.requires_grad, t, t.is_leaf


@case("seldom_together.undefined gradients of written views")
def _(torch):
    x = torch.ones(2, 3, requires_grad=True)
    y = x.exp()
    z = y * 2
    z[0].mul_(y[1])
    part = z[..., -1]
    part.sum().backward(retain_graph=True)
    handle = z.grad_fn.register_prehook(lambda given: (None,))
    for i in range(2):
        yield f"nothing is read {i}", _said(lambda: torch.autograd.grad(z.sum(), x, allow_unused=True))
    handle.remove()
    yield "freed", _said(lambda: torch.autograd.grad(z.sum(), x))
