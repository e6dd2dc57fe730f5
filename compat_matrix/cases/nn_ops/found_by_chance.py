"""What random programs of nn.functional and of x log y have found."""

import math

from compat_matrix.case import attempt, case

POINTS = (0.0, -1.0, math.nan, math.inf, 1.0, 2.0, -2.0, 0.5, -0.5)


@case("nn_ops.found.zero_times_log")
def _(torch):
    y = torch.tensor(POINTS, dtype=torch.float64)
    for f in (torch.xlogy, torch.special.xlog1py):
        for first in (1.0, 0.0, -2.0):
            for g in (0.0, 1.0, -3.0, 1e-300, math.nan):
                a, b = torch.full_like(y, first, requires_grad=True), y.clone().requires_grad_()
                found = torch.autograd.grad(f(a, b), [a, b], torch.full_like(y, g))
                yield f"{f.__name__} {first} {g}", [x + 0.0 for x in found]
                numbers = [torch.autograd.grad(f(a, n).sum(), a, torch.tensor(g, dtype=torch.float64))[0][0].item() + 0.0 for n in POINTS]
                yield f"{f.__name__} {first} {g} numbers", numbers


@case("nn_ops.found.masked_log")
def _(torch):
    p, q = torch.tensor([0.2, 0.0, 0.5, 0.1], requires_grad=True), torch.tensor([0.0, 0.5, 0.5, -1.0])
    for f in (torch.xlogy, lambda p, q: torch.special.xlog1py(p, q - 1)):
        yield f"where {f is torch.xlogy}", torch.autograd.grad(torch.where(q > 0, f(p, q), torch.zeros(())).sum(), p)
    a = torch.tensor([1.0, -2.0, 0.5, 0.0], requires_grad=True)
    for log_target in (False, True):
        k = torch.nn.functional.kl_div(a.detach(), a, log_target=log_target, reduction="none")
        yield f"kl_div {log_target}", torch.autograd.grad(k, a, torch.tensor([0.0, 0.0, 1.0, 1.0]))
    a, b = torch.tensor([0.3, 0.2, 0.5], requires_grad=True), torch.tensor([0.3, 0.7, 1.5], requires_grad=True)
    for f in (torch.xlogy, torch.special.xlog1py):
        g = torch.autograd.grad(f(a, b).pow(2).sum(), [a, b], create_graph=True)
        yield f"second {f.__name__}", torch.autograd.grad(sum((h**3).sum() for h in g), [a, b])


@case("nn_ops.found.bags_of_rows_with_a_last_offset")
def _(torch):
    i = torch.tensor([[0, 1, 1], [2, 0, 1]])
    for mode in ("sum", "mean", "max"):
        w = torch.arange(6.0).reshape(3, 2).requires_grad_()
        out = torch.nn.functional.embedding_bag(i, w, mode=mode, include_last_offset=True)
        yield mode, out, torch.autograd.grad((out * out).sum(), w)
        bag = torch.nn.EmbeddingBag(3, 2, mode=mode, include_last_offset=True, _weight=w.detach().clone())
        yield mode + " module", bag(i), bag(i[:0]), attempt(lambda bag=bag: bag(i[:, :0]))


@case("nn_ops.found.fractional_ratio_of_one_number")
def _(torch):
    F = torch.nn.functional
    x = torch.arange(250.0).reshape(1, 2, 5, 5, 5).mul(1.7).remainder(11)
    samples = torch.full((1, 2, 3), 0.3)
    for ratio in (0.5, (0.5, 0.5, 0.5), (0.5, 0.5)):
        yield f"3d {ratio}", attempt(lambda r=ratio: F.fractional_max_pool3d(x, 2, output_ratio=r, _random_samples=samples))
        yield f"2d {ratio}", attempt(lambda r=ratio: F.fractional_max_pool2d(x[0], 2, output_ratio=r, _random_samples=samples[..., :2]))
