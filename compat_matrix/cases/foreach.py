"""torch._foreach_*: operations over lists of tensors, as optimizers and gradient clipping of libraries use them."""

import math

from compat_matrix.case import attempt, case

UNARY = ("abs", "acos", "asin", "atan", "ceil", "cos", "cosh", "erf", "erfc", "exp", "expm1", "floor", "frac", "lgamma", "log", "log10", "log1p", "log2",
         "neg", "reciprocal", "round", "rsqrt", "sigmoid", "sign", "sin", "sinh", "sqrt", "tan", "tanh", "trunc")
BINARY = ("add", "sub", "mul", "div", "clamp_max", "clamp_min", "maximum", "minimum", "pow")


def lists(torch, grad=True):
    a = [torch.tensor([0.5, 0.25], dtype=torch.float64, requires_grad=grad), torch.tensor([[0.75]], dtype=torch.float64, requires_grad=grad)]
    b = [torch.tensor([2.0, 0.5], dtype=torch.float64), torch.tensor([[4.0], [1.0]], dtype=torch.float64)]
    return a, b


def look(torch, f, a):
    def go():
        out = f()
        live = [o for o in out if o.requires_grad]
        g = torch.autograd.grad([o.sum() for o in live], a, allow_unused=True) if live else ()
        return type(out).__name__, [o.detach() for o in out], [o.requires_grad for o in out], list(g)

    return attempt(go)


@case("foreach.unary")
def _(torch):
    for name in UNARY:
        a, _ = lists(torch)
        f = getattr(torch, f"_foreach_{name}")
        yield name, look(torch, lambda f=f, a=a: f(a), a)
        x, _ = lists(torch, grad=False)
        out = getattr(torch, f"_foreach_{name}_")(x)
        yield f"{name}_", type(out).__name__, x, [y._version for y in x]


@case("foreach.binary")
def _(torch):
    for name in BINARY:
        a, b = lists(torch)
        f = getattr(torch, f"_foreach_{name}")
        for label, other in (("number", 2), ("numbers", [2, 3.5]), ("tensors", b), ("tuple", tuple(b))):
            yield f"{name} {label}", look(torch, lambda f=f, a=a, other=other: f(a, other), a)
        x, _ = lists(torch, grad=False)
        getattr(torch, f"_foreach_{name}_")(x, [2.0, 0.5])
        yield f"{name}_", x, [y._version for y in x]
    for name in ("add", "mul", "div"):
        a, _ = lists(torch)
        yield f"{name} tensor", look(torch, lambda name=name, a=a: getattr(torch, f"_foreach_{name}")(a, torch.tensor(2.0)), a)
    a, b = lists(torch)
    yield "alpha", look(torch, lambda: torch._foreach_add(a, b, alpha=2), a), look(torch, lambda: torch._foreach_sub(a, b, alpha=-1.5), a)
    yield "base", look(torch, lambda: torch._foreach_pow(2.0, a), a)


@case("foreach.three")
def _(torch):
    for name in ("addcdiv", "addcmul"):
        f = getattr(torch, f"_foreach_{name}")
        for label, more in (("plain", ()), ("number", (2.0,)), ("numbers", ([2.0, -1.0],)), ("tensor", (torch.tensor([2.0, -1.0]),))):
            a, _ = lists(torch)
            b, c = lists(torch, grad=False)[0], lists(torch, grad=False)[0]
            yield f"{name} {label}", [o.detach() for o in f(a, b, c, *more)]
        a, b = lists(torch)
        yield f"{name} value", look(torch, lambda f=f, a=a, b=b: f(a, a, b, value=3), a)
        x, _ = lists(torch, grad=False)
        getattr(torch, f"_foreach_{name}_")(x, x, x, value=2.0)
        yield f"{name}_", x
    for weight in (0.25, [0.5, 0.75]):
        a, _ = lists(torch)
        yield f"lerp {weight}", look(torch, lambda a=a, w=weight: torch._foreach_lerp(a, lists(torch)[1], w), a)
    a, b = lists(torch)
    yield "lerp tensors", look(torch, lambda: torch._foreach_lerp(a, b, b), a)


@case("foreach.rest")
def _(torch):
    for order in (2, 1, math.inf, 3):
        a, _ = lists(torch)
        yield f"norm {order}", look(torch, lambda a=a, order=order: torch._foreach_norm(a, order), a)
    a, b = lists(torch)
    yield "norm dtype", [o.dtype for o in torch._foreach_norm([x.detach().float() for x in a], 2, dtype=torch.float64)]
    yield "max", look(torch, lambda: torch._foreach_max(a), a)
    yield "mm", torch._foreach_mm([torch.ones(2, 2)], [torch.ones(2, 3)])
    yield "clone", look(torch, lambda: torch._foreach_clone(a), a)
    x = lists(torch, grad=False)[0]
    yield "zero", torch._foreach_zero_(x) is x or "another", x
    torch._foreach_copy_(x, [torch.ones(2), torch.ones(1, 1)])
    yield "copy", x, [z._version for z in x]
    a = lists(torch)[0]
    h = torch._foreach_mul(a, 2.0)
    torch._foreach_add_(h, 1.0)
    torch._foreach_mul_(h, 3.0)
    yield "chain", torch.autograd.grad(sum(z.sum() for z in h), a)
    p = [torch.tensor([3.0, 4.0], requires_grad=True)]
    p[0].grad = torch.tensor([6.0, 8.0])
    norms = torch._foreach_norm([q.grad for q in p])
    torch._foreach_mul_([q.grad for q in p], 1.0 / torch.linalg.vector_norm(torch.stack(norms)))
    yield "clip", p[0].grad


@case("foreach.refused")
def _(torch):
    a, b = lists(torch)
    i = [torch.tensor([1, 2])]
    for label, f in (
            ("none", lambda: torch._foreach_exp([])), ("none to add", lambda: torch._foreach_add([], 2)), ("tensors", lambda: torch._foreach_add(a, b[:1])),
            ("numbers", lambda: torch._foreach_add(a, [1.0])), ("leaf", lambda: torch._foreach_add_(a, 1)),
            ("not 0-dim", lambda: torch._foreach_add(a, torch.ones(1))),
            ("mixed", lambda: torch._foreach_add(a, [1.0, b[0]])), ("third", lambda: torch._foreach_addcmul(a, b, b[:1])),
            ("lerp", lambda: torch._foreach_lerp(a, b[:1], 0.5)), ("three numbers", lambda: torch._foreach_addcmul(a, b, b, [1.0])),
            ("three in a tensor", lambda: torch._foreach_addcmul(a, b, b, torch.tensor([1.0]))), ("ints in place", lambda: torch._foreach_add_(i, 1.5)),
            ("empty max", lambda: torch._foreach_max([torch.empty(0)])), ("empty norm", lambda: torch._foreach_norm([torch.empty(0)], math.inf)),
            ("norm of ints", lambda: torch._foreach_norm(i))):
        yield label, attempt(f)
    yield "ints", torch._foreach_add(i, 1.5), torch._foreach_exp(i), torch._foreach_div(i, 2)


@case("foreach.copied into")
def _(torch):
    """There is no gradient of `_foreach_copy_`: tensors that it writes, or any that it reads, end there."""
    for ours, theirs, grad in ((False, True, True), (True, False, True), (True, True, True), (False, False, True), (True, True, False), (False, True, False)):
        into = [torch.zeros(2, requires_grad=ours) * 1, torch.zeros(1)]
        with torch.set_grad_enabled(grad):
            torch._foreach_copy_(into, [torch.tensor([1.0, 2.0], requires_grad=theirs), torch.ones(1)])
        yield f"{ours} {theirs} {grad}", [(t.detach(), t.requires_grad, None if t.grad_fn is None else t.grad_fn.name(), t._version) for t in into]
        if ours or theirs:
            yield f"{ours} {theirs} {grad}, its gradient", attempt(lambda into=into: (into[0] * 2).sum().backward())
    base = torch.zeros(4)
    torch._foreach_copy_([base[:2], base[2:]], [torch.ones(2, requires_grad=True), torch.ones(2)])
    yield "views", base.detach(), base.grad_fn.name()


@case("foreach.words")
def _(torch):
    for name in ("abs", "clone", "sigmoid_", "zero_", "norm", "max"):
        f = getattr(torch, f"_foreach_{name}")
        yield name, [attempt(lambda f=f, a=a: f(*a)) for a in (([torch.ones(2)], 1, 2, 3), (), (torch.ones(2),), ([1],), ([],), (3,))], attempt(lambda f=f: f([torch.ones(2)], foo=1))


@case("foreach.packed_scalars")
def _(torch):
    """Scalars in a tensor: contiguous, of one dim, as many as there are tensors."""
    for n in (1, 2):
        for name, s in (("number", torch.tensor(2.0)), ("one", torch.tensor([2.0])), ("two", torch.tensor([2.0, 3.0])), ("matrix", torch.tensor([[2.0, 3.0]])),
                        ("apart", torch.ones(4)[::2])):
            yield f"{n} {name}", attempt(lambda n=n, s=s: torch._foreach_addcmul(*([torch.ones(2)] * n for _ in range(3)), s))
