"""clamp where NaN, zeros of both signs and bounds that cross meet."""

from compat_matrix.case import case

_VALUES = (float("nan"), -0.0, 0.0, 1.0, -1.0, float("inf"), -float("inf"))


def triples(torch):
    every = torch.tensor(_VALUES, dtype=torch.float64)
    x, lo, hi = torch.meshgrid(every, every, every, indexing="ij")
    return [t.flatten().clone().requires_grad_() for t in (x, lo, hi)]


def looked_at(torch, y, ins):
    v = y.detach()
    return v, torch.signbit(v) & (v == v), torch.autograd.grad(y.sum(), ins, allow_unused=True)


@case("kinks.bounds.tensors")
def _(torch):
    x, lo, hi = triples(torch)
    yield "both", looked_at(torch, x.clamp(lo, hi), (x, lo, hi))
    yield "lower", looked_at(torch, x.clamp(min=lo), (x, lo))
    yield "upper", looked_at(torch, x.clamp(max=hi), (x, hi))
    yield "clamp_min", looked_at(torch, torch.clamp_min(x, lo), (x, lo))
    yield "clamp_max", looked_at(torch, torch.clamp_max(x, hi), (x, hi))


@case("kinks.bounds.numbers")
def _(torch):
    x = torch.tensor(_VALUES, dtype=torch.float64, requires_grad=True)
    for lo in (float("nan"), -0.0, 1.0, float("inf")):
        for hi in (float("nan"), -0.0, 1.0, -float("inf")):
            yield f"{lo} to {hi}", looked_at(torch, x.clamp(lo, hi), (x,))
