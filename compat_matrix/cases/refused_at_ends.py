"""Refusals at the ends: ranges beyond 64 bits, pools of nothing, segments of a number."""

from compat_matrix.case import attempt, case


@case("refused_at_ends.ranges")
def _(torch):
    for n in (2**70, -(2**70), 2**63):
        for text in ("n", "0, n", "n, n + 1", "0, 10, n", "0, n, n", "n, 0", "-n, -n - 5, -1"):
            yield f"{n}: {text}", attempt(lambda text=text, n=n: eval(f"torch.arange({text})", {"torch": torch, "n": n}))
        yield f"{n}: float", attempt(lambda n=n: torch.arange(n, dtype=torch.float32))


@case("refused_at_ends.pools of nothing")
def _(torch):
    for shape in ((0, 3), (2, 0), (1, 2, 0), (0, 2, 3), (1, 0, 3), (0, 0, 3), (0, 2, 0)):
        yield f"{shape}", attempt(lambda shape=shape: torch.nn.functional.adaptive_max_pool1d(torch.ones(shape), 2, return_indices=True))


@case("refused_at_ends.segments of a number")
def _(torch):
    for data in (1.0, [1.0]):
        for given in (1, [1], [[1]]):
            for name in ("lengths", "offsets"):
                yield f"{data} {name} {given}", attempt(lambda data=data, name=name, given=given: torch.segment_reduce(
                    torch.tensor(data), "sum", **{name: torch.tensor(given)}))
