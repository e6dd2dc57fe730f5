"""Draws with a tensor of probabilities go in the order of the memory that is filled; masks of `native_dropout` inside maps."""

from compat_matrix.case import case


def _after(torch, draw):
    torch.manual_seed(5)
    out = draw()
    return out, torch.rand(1)


@case("draws_in_memory_order.bernoulli_")
def _(torch):
    torch.manual_seed(1)
    p = torch.rand(3, 2)
    fills = {
        "moved": lambda: torch.zeros(3, 2, 4).movedim(-1, 0).bernoulli_(p), "transposed": lambda: torch.zeros(2, 3).t().bernoulli_(p),
        "by name": lambda: torch.zeros(2, 3).t().bernoulli_(p=p), "both": lambda: torch.zeros(2, 3).t().bernoulli_(p.t().contiguous().t()),
        "contiguous": lambda: torch.zeros(3, 2).bernoulli_(p.t().contiguous().t()), "steps": lambda: torch.zeros(6, 2)[::2].bernoulli_(p),
        "broadcast": lambda: torch.zeros(2, 3).t().bernoulli_(p[:, :1]), "wide": lambda: torch.zeros(2, 3, dtype=torch.float64).t().bernoulli_(p.double()),
        "whole": lambda: torch.zeros(2, 3, dtype=torch.int64).t().bernoulli_(p), "channels last": lambda: torch.zeros(
            2, 3, 2, 2).to(memory_format=torch.channels_last).bernoulli_(torch.full((2, 3, 2, 2), 0.5)),
        "out": lambda: torch.bernoulli(p, out=torch.zeros(2, 3).t()), "out too": lambda: torch.bernoulli(p.t(), out=torch.zeros(2, 3)),
        "number": lambda: torch.zeros(2, 3).t().bernoulli_(0.5), "new": lambda: torch.bernoulli(p.t())}
    for name, fill in fills.items():
        yield name, _after(torch, fill)


@case("draws_in_memory_order.mapped")
def _(torch):
    torch.manual_seed(1)
    p, x = torch.rand(3, 2), torch.zeros(3, 2, 4)
    for name, dims in {"last": (-1, None), "both last": (-1, -1), "first": (-1, 0)}.items():
        given = {"last": p, "both last": torch.rand(3, 2, 4), "first": torch.rand(4, 3, 2)}[name]
        yield name, _after(torch, lambda given=given, dims=dims: torch.vmap(
            lambda t, q: t.bernoulli_(q), in_dims=dims, randomness="different")(x.clone(), given))


@case("draws_in_memory_order.native_dropout")
def _(torch):
    x = torch.arange(1.0, 25.0).reshape(4, 3, 2)
    for d in (0, -1):
        found = _after(torch, lambda d=d: torch.vmap(lambda t: torch.native_dropout(t, 0.5, True), in_dims=d, randomness="different")(x))
        yield f"{d}", found
    yield "not mapped", _after(torch, lambda: torch.vmap(lambda t, a: torch.native_dropout(t, 0.5, True)[0] + a, in_dims=(None, 0), randomness="different")(
        x[0], torch.zeros(3)))
