"""A generator that is None is the default one, however it is written in torch's signature: libraries hand on what they were given."""

from compat_matrix.case import case

CALLS = (
    ("randn", lambda torch, **k: torch.randn(2, **k)), ("randn of a size", lambda torch, **k: torch.randn(torch.Size((2, 1)), **k)),
    ("rand", lambda torch, **k: torch.rand(2, 3, **k)), ("rand of a list", lambda torch, **k: torch.rand([2], **k)),
    ("randint", lambda torch, **k: torch.randint(3, (2,), **k)), ("randint from", lambda torch, **k: torch.randint(1, 9, (2,), **k)),
    ("randperm", lambda torch, **k: torch.randperm(4, **k)), ("normal", lambda torch, **k: torch.normal(0.0, 1.0, (2,), **k)),
    ("rand_like", lambda torch, **k: torch.rand_like(torch.ones(2), **k)), ("randn_like", lambda torch, **k: torch.randn_like(torch.ones(2), **k)),
    ("randint_like", lambda torch, **k: torch.randint_like(torch.ones(2), 5, **k)),
)


def drawn(torch, f, **given):
    torch.manual_seed(3)
    try:
        return f(torch, generator=None, **given)
    except Exception as e:
        return type(e).__name__, str(e)


@case("without_generator.factories")
def _(torch):
    for name, f in CALLS:
        yield name, drawn(torch, f), drawn(torch, f, dtype=torch.float64), drawn(torch, f, device=torch.device("cpu")), drawn(torch, f, requires_grad=False)


@case("without_generator.others_are_refused")
def _(torch):
    for name, f in CALLS:
        for wrong in (3, "cpu"):
            try:
                f(torch, generator=wrong)
            except TypeError as e:
                yield f"{name} {wrong}", str(e)


@case("without_generator.in_place")
def _(torch):
    for name, *given in (("normal_",), ("uniform_",), ("bernoulli_", 0.5), ("exponential_",), ("geometric_", 0.5), ("random_",), ("random_", 3), ("cauchy_",)):
        torch.manual_seed(3)
        yield f"{name} {given}", getattr(torch.zeros(2), name)(*given, generator=None)
    for name in ("uniform_", "normal_", "xavier_uniform_", "kaiming_normal_", "orthogonal_", "trunc_normal_"):
        torch.manual_seed(3)
        yield name, getattr(torch.nn.init, name)(torch.empty(2, 3), generator=None)
