"""Random numbers under torch.vmap: the same ones for each example, others, or none."""

from compat_matrix.case import attempt, case


def _ways(torch):
    f = torch.nn.functional
    return {
        "randn": lambda a: torch.randn(3) + a, "rand": lambda a: torch.rand(3), "rand_like": torch.rand_like, "randint": lambda a: torch.randint(0, 9, (3,)),
        "randperm": lambda a: torch.randperm(4), "normal by size": lambda a: torch.normal(0.0, 1.0, (3,)), "normal": lambda a: torch.normal(a, 1.0),
        "normal of none": lambda a: torch.normal(torch.zeros(3), 1.0), "bernoulli": lambda a: torch.bernoulli(a / 9),
        "poisson": lambda a: torch.poisson(a), "multinomial": lambda a: torch.multinomial(a + 0.1, 2), "bernoulli_": lambda a: a.clone().bernoulli_(0.5),
        "uniform_": lambda a: a.clone().uniform_(), "normal_": lambda a: a.clone().normal_(1.0, 2.0), "exponential_": lambda a: a.clone().exponential_(),
        "random_": lambda a: a.clone().random_(9), "geometric_": lambda a: a.clone().geometric_(0.3), "of none": lambda a: torch.ones(3).normal_(),
        "dropout": lambda a: f.dropout(a), "alpha_dropout": lambda a: f.alpha_dropout(a), "gumbel_softmax": lambda a: f.gumbel_softmax(a),
        "rrelu": lambda a: f.rrelu(a - 3, training=True),
    }


@case("func.draws.of_maps")
def _(torch):
    x = torch.arange(6.0).reshape(2, 3)
    for name, f in _ways(torch).items():
        for randomness in ("error", "same", "different"):
            torch.manual_seed(0)
            yield f"{name} {randomness}", attempt(lambda f=f, r=randomness: torch.func.vmap(f, randomness=r)(x))


@case("func.draws.nested")
def _(torch):
    x = torch.arange(12.0).reshape(2, 2, 3)
    for name in ("randint", "randperm", "uniform_", "normal", "bernoulli"):
        f = _ways(torch)[name]
        for outer in ("same", "different"):
            for inner in ("same", "different"):
                torch.manual_seed(1)
                yield f"{name} {outer} {inner}", attempt(lambda f=f, o=outer, i=inner: torch.func.vmap(torch.func.vmap(f, randomness=i), randomness=o)(x / 12))


@case("func.draws.gradients")
def _(torch):
    x = torch.arange(6.0).reshape(2, 3) + 1

    def noisy(a):
        return (torch.normal(a, 1.0) * a + a.clone().uniform_() * a).sum()

    for randomness in ("same", "different"):
        torch.manual_seed(2)
        yield randomness, attempt(lambda r=randomness: torch.func.vmap(torch.func.grad(noisy), randomness=r)(x))
    torch.manual_seed(2)
    w = x.clone().requires_grad_()
    y = torch.func.vmap(lambda a: (a * 1).exponential_() * a, randomness="different")(w)
    y.sum().backward()
    yield "outside", y, w.grad
