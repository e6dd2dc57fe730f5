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


@case("refused_at_ends.words")
def _(torch):
    """What is refused of 0-dim tensors, by operators in place, and of outputs of another dtype."""
    one, yes, whole = torch.tensor(1.0), torch.tensor(True), torch.tensor([1, 2])
    for label, f in {
        "split": lambda: one.split([1]), "split_with_sizes": lambda: torch.split_with_sizes(one, [1]), "split evenly": lambda: one.split(1),
        "trapezoid": lambda: torch.trapezoid(yes), "trapezoid, places": lambda: torch.trapezoid(yes, one), "trapezoid, dim": lambda: torch.trapezoid(one, one, dim=-1),
        "trapezoid, outside": lambda: torch.trapezoid(one, one, dim=1), "trapezoid, bools": lambda: torch.trapezoid(torch.tensor([True, False])),
        "ldexp_": lambda: whole.ldexp_(whole), "ldexp_ by floats": lambda: whole.ldexp_(one), "mvlgamma_": lambda: whole.mvlgamma_(1),
        "lanczos": lambda: torch.nn.functional.interpolate(torch.ones(1, 1, 3, 3), 2, mode="lanczos", align_corners=True),
    }.items():
        yield label, attempt(f)
    for kind in (torch.float64, torch.complex128, torch.int64):
        out, two = torch.empty(0, dtype=kind), torch.tensor([0.0, 1.0])
        yield f"out {kind}", attempt(lambda out=out: torch.slice_scatter(torch.zeros(2), torch.ones(2), out=out)), [
            attempt(lambda f=f, out=out: f(two, out=out)) for f in (torch.fft.ifft, torch.fft.fft, torch.fft.ihfft, torch.fft.rfft)]
    yield "bools", torch.einsum("ij,jk", torch.ones(2, 0, dtype=torch.bool), torch.ones(0, 2, dtype=torch.bool)), attempt(
        lambda: torch.einsum("ij,jk", torch.ones(2, 2, dtype=torch.bool), torch.ones(2, 2, dtype=torch.bool)))


@case("refused_at_ends.neighbours that are equal")
def _(torch):
    for shape in ((3,), (0,), (2, 2)):
        x = torch.zeros(shape, dtype=torch.complex64)
        yield f"{shape}", attempt(lambda x=x: torch.unique_consecutive(x)), attempt(lambda x=x: torch.unique_consecutive(x, dim=0))
        yield f"{shape}, all", attempt(lambda x=x: torch.unique(x, dim=0))
