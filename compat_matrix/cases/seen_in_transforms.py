"""What tensors say of themselves inside of torch.func's transformations, nested in several ways: `requires_grad`, `is_leaf`, whether there is a `grad_fn`."""

from compat_matrix.case import case


class Seen:
    """What is noted while a function runs."""

    def __init__(self):
        self.states = []

    def __call__(self, *tensors):
        self.states.append([[t.requires_grad, t.is_leaf, t.grad_fn is None] for t in tensors])


def _given(torch):
    x = torch.arange(6.0).reshape(2, 3)
    return torch.ones(3, requires_grad=True), x, x.clone().requires_grad_()


def _maps(torch, log):
    w, x, xr = _given(torch)

    def times(a):
        y = a * w
        log(a, y, w, w * 2)
        return y.sum()

    def twice(a):
        def inner(b):
            log(a, b, a * b)
            return a * b
        return torch.func.vmap(inner)(a)

    return torch.func.vmap(times)(x), torch.func.vmap(times)(xr), torch.func.vmap(twice)(xr)


def _gradients_of_maps(torch, log):
    w, _, xr = _given(torch)

    def inside(a):
        def inner(b):
            log(a, b, b * a, a * w, b * w)
            return (b * b * a * w).sum()
        return torch.func.grad(inner)(a), torch.func.grad(inner)(w)

    return torch.func.grad(lambda q: sum(p.sum() for p in torch.func.vmap(inside)(q)))(xr), torch.func.vmap(inside)(xr)


def _tangents(torch, log):
    w, x, xr = _given(torch)

    def product(b):
        log(b, b * w)
        return (b * w).sum()

    def inside(b):
        def inner(c):
            log(c, c * b, c * w)
            return (c * b * w).sum()
        r = torch.func.jvp(inner, (b,), (x[1],))
        log(*r)
        return r[1]

    return (torch.func.jvp(torch.func.grad(product), (xr[0],), (x[1],)), torch.func.grad(inside)(xr[0]),
            torch.func.jvp(lambda q: torch.func.vmap(product)(q), (xr,), (x,)))


def _jacobians(torch, log):
    w, _, xr = _given(torch)

    def product(a):
        log(a, a * w)
        return a * w

    return torch.func.jacrev(product)(xr[0]), torch.func.jacfwd(product)(xr[0]), torch.func.hessian(lambda a: product(a).pow(2).sum())(xr[0])


def _duals(torch, log):
    ad = torch.autograd.forward_ad
    w, x, xr = _given(torch)

    def inside(a):
        with ad.dual_level():
            d = ad.make_dual(a, torch.ones_like(a))
            log(a, d, d * 2, d * w)
            return ad.unpack_dual(d * w).tangent

    return inside(xr), inside(x)


def _flows(torch, log):
    """What was not to be seen to require grad inside gets its gradient outside."""
    w, _, xr = _given(torch)
    f = torch.nn.functional

    def loss(a):
        a = a * w
        log(a)
        return f.mse_loss(a, w) + f.max_pool1d(a[None, None], 2).sum() + f.layer_norm(a, (3,)).sum() + f.dropout(a, 0.0).sum() + (a @ w).relu()

    out = torch.func.vmap(loss)(xr)
    out.sum().backward()
    s = torch.eye(3).expand(2, 3, 3).clone().requires_grad_()
    inverted = torch.func.vmap(lambda a: torch.linalg.inv(a) @ torch.linalg.solve(a, w) + torch.linalg.svdvals(a) + torch.linalg.norm(a))(s)
    inverted.sum().backward()
    return out, xr.grad, w.grad, s.grad


for _f in (_maps, _gradients_of_maps, _tangents, _jacobians, _duals, _flows):
    @case(f"seen_in_transforms.{_f.__name__[1:]}")
    def _(torch, f=_f):
        log = Seen()
        results = f(torch, log)
        yield "results", results
        yield "states", log.states
