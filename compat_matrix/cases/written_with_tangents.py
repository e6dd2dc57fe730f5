"""Duals where torch has no forward derivative: calls in place, weights of losses, negative slopes; what the node of rrelu_ saves."""

from ..case import case


def _told(call):
    try:
        return call()
    except (RuntimeError, NotImplementedError) as e:
        return type(e).__name__, str(e)


@case("written_with_tangents.refused")
def _(torch):
    F, fw = torch.nn.functional, torch.autograd.forward_ad
    x = torch.tensor([[0.5, -1.0, 2.0], [0.1, 0.2, -0.3]], dtype=torch.float64)
    w, y = torch.tensor([0.5, 1.0, 2.0], dtype=torch.float64), torch.tensor([0, 2])
    calls = {"rrelu_": lambda d: F.rrelu_(d), "rrelu_ training": lambda d: F.rrelu_(d, training=True), "igamma_": lambda d: d.igamma_(x.abs()), "igamma": lambda d: torch.igamma(d, x.abs()),
             "elu_": lambda d: F.elu_(d), "elu_ negative": lambda d: F.elu_(d, -1.0), "celu_ negative": lambda d: torch.celu_(d, -2.0),
             "leaky_relu_ negative": lambda d: F.leaky_relu_(d, -0.5), "leaky_relu negative": lambda d: F.leaky_relu(d, -0.5)}
    for name, f in calls.items():
        with fw.dual_level():
            yield name, _told(lambda: tuple(fw.unpack_dual(f(fw.make_dual(x.clone(), torch.ones_like(x))))))
    with fw.dual_level():
        d = fw.make_dual(w, torch.ones_like(w))
        for reduction in ("mean", "none"):
            yield f"weight {reduction}", _told(lambda: F.multi_margin_loss(x, y, weight=d, reduction=reduction))


@case("written_with_tangents.saved_noise")
def _(torch):
    for training in (False, True):
        x = torch.tensor([-1.0, -0.3, 0.0, 2.0], requires_grad=True)
        y = torch.nn.functional.rrelu_(x * 1, 0.25, 0.25, training)
        yield f"{training}", y, y.grad_fn._saved_noise, y.grad_fn._saved_lower, torch.autograd.grad(y.sum(), x)
    yield "mapped", _told(lambda: torch.vmap(lambda t: torch.nn.functional.rrelu_(t))(torch.ones(2, 3)))
