"""Integers and half precision in losses and attention, and single precision near the ends of its range."""

from compat_matrix.case import attempt, case

WHOLE = ("uint8", "int8", "int64", "bool")


def whole(torch, kind, *shape):
    n = 1
    for s in shape:
        n *= s
    return torch.arange(n).reshape(shape).to(getattr(torch, kind))


@case("dtypes_and_ends.losses of integers")
def _(torch):
    f = torch.nn.functional
    for kind in WHOLE:
        x = whole(torch, kind, 2, 3)
        for margin in (1, 1.0, 0.25):
            for y in ([1, -1, 1], [1.0, -1.0, 1.0]):
                yield f"{kind} hinge {margin} {y}", attempt(lambda: f.hinge_embedding_loss(x, torch.tensor(y), margin, reduction="none"))
        yield f"{kind} hinge mean", attempt(lambda: f.hinge_embedding_loss(x, torch.tensor([1, -1, 1])))
        yield f"{kind} kl_div", [attempt(lambda a=a, b=b: f.kl_div(a, b, reduction="sum")) for a, b in ((x, x), (x.float(), x), (x, x.float()))]
        yield f"{kind} kl_div log", attempt(lambda: f.kl_div(x, x.float(), reduction="sum", log_target=True))


@case("dtypes_and_ends.distances of integers")
def _(torch):
    f = torch.nn.functional
    for kind in WHOLE:
        x, y = whole(torch, kind, 2, 3), whole(torch, kind, 2, 3).flip(0)
        for p in (1.0, 2.0, 3.0):
            yield f"{kind} {p}", attempt(lambda: f.pairwise_distance(x, y, p))
        yield f"{kind} triplet", attempt(lambda: f.triplet_margin_loss(x, y, whole(torch, kind, 2, 3), reduction="none"))
    far = torch.tensor([[2**40, 2**40]])
    yield "beyond single precision", f.pairwise_distance(far, far + torch.tensor([3, 4]))


@case("dtypes_and_ends.eigenvalues of nothing")
def _(torch):
    for kind in ("uint8", "int64", "bool", "float16"):
        for shape in ((0, 0), (2, 0, 0)):
            x = torch.zeros(shape, dtype=getattr(torch, kind))
            yield f"{kind} {shape}", [attempt(lambda f=f: tuple(f(x)) if f is torch.linalg.eigh else f(x)) for f in (torch.linalg.eigh, torch.linalg.eigvalsh)]


@case("dtypes_and_ends.gradients of softmax by name")
def _(torch):
    for kind in ("int64", "bool", "float32"):
        x = whole(torch, kind, 2, 3)
        for dim in (0, 1, -1):
            for name in ("_softmax_backward_data", "_log_softmax_backward_data"):
                yield f"{kind} {dim} {name}", attempt(lambda: getattr(torch, name)(x, x, dim, x.dtype))


@case("dtypes_and_ends.attention in half precision")
def _(torch):
    f = torch.nn.functional
    for kind in ("bfloat16", "float16"):
        q, k, v = (((torch.arange(2 * n * 4).reshape(2, n, 4) * 7 % 11 - 5) / 4).to(getattr(torch, kind)).requires_grad_() for n in (3, 5, 5))
        mask = (torch.arange(15).reshape(3, 5) % 3).to(getattr(torch, kind))
        for how in ({}, {"is_causal": True}, {"scale": 2.0}, {"attn_mask": mask}, {"attn_mask": mask.bool()}, {"attn_mask": mask.float()}):
            out = f.scaled_dot_product_attention(q, k, v, **how)
            yield f"{kind} {[(k, str(getattr(w, 'dtype', w))) for k, w in how.items()]}", [out.detach(), out.grad_fn.name(), *torch.autograd.grad(out.float().square().sum(), [q, k, v])]
    z = torch.ones(2, 3, 4, dtype=torch.complex64)
    for how in ({}, {"is_causal": True}, {"attn_mask": torch.ones(3, 3, dtype=torch.bool)}):
        yield f"complex {list(how)}", attempt(lambda: f.scaled_dot_product_attention(z, z, z, **how))


@case("dtypes_and_ends.deviations")
def _(torch):
    for values in ([1e30, 2e30, 5e30], [1e-25, 3e-25, 4e-25], [2e-38, 1e30, 1e-3], [1.0, 1.0, 1.0], [1e-22, 1.0, 2.0], [1.0, float("nan"), 2.0]):
        for name in ("var", "std", "var_mean", "std_mean"):
            for correction in (0, 1):
                x = torch.tensor([values, [1.0, 2.0, 4.0]], requires_grad=True)
                out = getattr(torch, name)(x, 1, correction=correction)
                out = out[0] if isinstance(out, tuple) else out
                yield f"{values} {name} {correction}", [out.detach(), *torch.autograd.grad(out.sum(), x)]


@case("dtypes_and_ends.rows shortened")
def _(torch):
    for row in ([1.0, 1e-8], [2.0, 0.0], [1.0, 1e-30], [1e-20, 2e-20], [3.0, -0.5]):
        for p in (0.5, 1, 1.5, 2, 3, float("inf")):
            x = torch.tensor([row], requires_grad=True)
            out = torch.renorm(x, p, 0, 1.0)
            yield f"{row} {p}", [out.detach(), *torch.autograd.grad(out.sum(), x)]


@case("dtypes_and_ends.distances of one coordinate")
def _(torch):
    for p in (0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0, float("inf")):
        for a, b in ((2e-24, 1e-24), (1e20, -1e20), (1.0, 3.0), (2.0, 2.0)):
            x, y = torch.tensor([[a]], requires_grad=True), torch.tensor([[b]], requires_grad=True)
            out = torch.cdist(x, y, p)
            yield f"{p} {a} {b}", [out.detach(), *torch.autograd.grad(out.sum(), [x, y])]


def _second(torch, f, a, b):
    x, y = torch.tensor(a, requires_grad=True), torch.tensor(b, requires_grad=True)
    first = torch.autograd.grad(f(x, y), [x, y], create_graph=True)
    return torch.autograd.grad(first[1], [x, y], allow_unused=True)


@case("dtypes_and_ends.second derivatives far out")
def _(torch):
    for name, f in (("xlogy", torch.xlogy), ("xlog1py", torch.special.xlog1py), ("hypot", torch.hypot)):
        for a, b in ((1e30, 1e30), (3.0, 2.0), (1e20, 2e20)):
            yield f"{name} {a} {b}", _second(torch, f, a, b)
    for name, f in (("xlog1py", torch.special.xlog1py), ("hypot", torch.hypot)):
        yield name, _second(torch, f, 1e-20, 3e-20)


@case("dtypes_and_ends.second derivative of xlogy near 0")
def _(torch):
    yield "1e-20", _second(torch, torch.xlogy, 1e-20, 3e-20)


@case("dtypes_and_ends.numbers by their bits")
def _(torch):
    for kind in ("float16", "bfloat16", "float32", "float64"):
        x = torch.tensor(6.0, dtype=getattr(torch, kind))
        yield f"{kind} frexp", [[p.float().tolist(), list(p.detach().float().numpy().shape)] for p in torch.frexp(x)]
        y = torch.nextafter(x, -x)
        yield f"{kind} nextafter", [y.tolist(), list(y.float().numpy().shape)]


@case("dtypes_and_ends.second derivative of soft_margin_loss")
def _(torch):
    for kind in ("float64", "float32", "bfloat16"):
        x = torch.tensor([-9.0, -2.5, -0.75, 0.5, 1.75, 6.0, 30.0], dtype=getattr(torch, kind), requires_grad=True)
        y = torch.tensor([1.0, -1.0, 3.0, 3.0, -1.0, 1.0, -3.0], dtype=x.dtype)
        for reduction in ("none", "mean"):
            loss = torch.nn.functional.soft_margin_loss(x, y, reduction=reduction)
            first, = torch.autograd.grad(loss.sum(), x, create_graph=True)
            yield f"{kind} {reduction}", [loss.detach(), first.detach(), *torch.autograd.grad(first.sum(), x)]


@case("dtypes_and_ends.digits of sums")
def _(torch):
    """How many units of the last place sums of many are away from those in double precision: few, whichever dim."""
    for shape, dim in (((1000, 40), 0), ((2, 1000, 7), 1), ((50000, 2), 0), ((2, 50000), 1), ((3, 200, 2), 1)):
        n = 1
        for s in shape:
            n *= s
        exact = 1000 + (torch.arange(n, dtype=torch.float64).reshape(shape) * 0.37 % 1).float().double()
        x = exact.float()
        exact = x.double()
        for name in ("sum", "mean", "cumsum", "nansum", "trapezoid"):
            f = (lambda t: torch.trapezoid(t, dim=dim)) if name == "trapezoid" else (lambda t, name=name: getattr(t, name)(dim))
            away = (f(x).double() / f(exact) - 1).abs().max().item() * 2**24
            yield f"{shape} {dim} {name}", away < 8
