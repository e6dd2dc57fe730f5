"""Numbers after manual_seed: the same as those of PyTorch's CPU generator."""

from compat_matrix.case import attempt, case, raises
from compat_matrix.probes import each, evaluate


def drawn(torch, expression):
    for seed in (0, 42, 2**40 + 7):
        torch.manual_seed(seed)
        yield f"seed {seed}", evaluate(torch, expression)
        yield f"seed {seed} next", evaluate(torch, expression)


each("random.drawn", drawn, {
    "rand": "torch.rand(5)", "rand large": "torch.rand(4, 7)",
    "rand double": "torch.rand(5, dtype=torch.float64)", "rand half": "torch.rand(5, dtype=torch.float16)",
    "rand bfloat16": "torch.rand(5, dtype=torch.bfloat16)",
    "randn few": "torch.randn(5)", "randn one": "torch.randn(1)", "randn fifteen": "torch.randn(15)",
    "randn sixteen": "torch.randn(16)", "randn nineteen": "torch.randn(19)",
    "randn matrix": "torch.randn(5, 7)", "randn forty": "torch.randn(40)",
    "randn double few": "torch.randn(5, dtype=torch.float64)",
    "randn double many": "torch.randn(20, dtype=torch.float64)", "randint": "torch.randint(10, (6,))",
    "randint low": "torch.randint(-5, 5, (3, 2))", "randint wide": "torch.randint(0, 2**40, (4,))",
    "randint int32": "torch.randint(100, (4,), dtype=torch.int32)", "randperm": "torch.randperm(10)",
    "randperm one": "torch.randperm(1)", "normal_": "torch.empty(5).normal_(2, 3)",
    "normal_ many": "torch.empty(20).normal_(2, 3)", "uniform_": "torch.empty(5).uniform_(-1, 1)",
    "uniform_ double": "torch.empty(5, dtype=torch.float64).uniform_(2, 5)",
    "bernoulli": "torch.bernoulli(torch.full((6,), 0.3))", "bernoulli_": "torch.empty(6).bernoulli_(0.5)",
    "multinomial": "torch.multinomial(torch.tensor([1.0, 2.0, 3.0, 4.0]), 3)",
    "multinomial replaced": "torch.multinomial(torch.tensor([1.0, 2.0, 3.0, 4.0]), 6, replacement=True)",
    "normal tensors": "torch.normal(torch.tensor([0.0, 10.0]), torch.tensor([1.0, 2.0]))",
    "normal size": "torch.normal(1.0, 2.0, (4,))", "normal mean": "torch.normal(torch.zeros(3), 2.0)",
    "exponential_": "torch.empty(5).exponential_()", "rand_like": "torch.rand_like(torch.zeros(3))",
    "randn_like": "torch.randn_like(torch.zeros(3, dtype=torch.float64))",
    "randint_like": "torch.randint_like(torch.zeros(3), 10)", "dropout": "F.dropout(torch.ones(8), 0.5)",
    "random_": "torch.zeros(4).random_(0, 10)", "rand zero": "torch.rand(0)",
    "mixed": "torch.cat([torch.rand(3), torch.randn(3), torch.rand(2), torch.randn(17)])",
    "randn odd then rand": "torch.cat([torch.randn(3), torch.rand(2)])",
    "cauchy_": "torch.empty(3).cauchy_()", "log_normal_": "torch.empty(3).log_normal_()",
    "geometric_": "torch.empty(3).geometric_(0.3)", "poisson": "torch.poisson(torch.tensor([1.0, 4.0, 10.0]))",
    "complex": "torch.randn(3, dtype=torch.complex64)", "rand complex": "torch.rand(2, dtype=torch.complex128)",
    "randperm large": "torch.randperm(70)", "rand many": "torch.rand(70)",
    "bernoulli double": "torch.bernoulli(torch.full((4,), 0.5, dtype=torch.float64))",
    "gumbel": "F.gumbel_softmax(torch.zeros(4))", "trunc_normal": "torch.nn.init.trunc_normal_(torch.empty(4))",
})


@case("random.seed_functions")
def _(torch):
    yield "returns generator", type(torch.manual_seed(5)).__name__
    yield "initial_seed", torch.initial_seed()
    torch.manual_seed(-3)
    yield "negative", torch.initial_seed(), torch.rand(2)
    yield "too large", raises(lambda: torch.manual_seed(2**64 + 1))
    torch.manual_seed(7.0)
    yield "float", torch.rand(1)


@case("random.state")
def _(torch):
    torch.manual_seed(1)
    torch.rand(3)
    state = torch.get_rng_state()
    first = torch.rand(4), torch.randn(3)
    torch.set_rng_state(state)
    again = torch.rand(4), torch.randn(3)
    yield "repeats", (first[0] == again[0]).all().item(), (first[1] == again[1]).all().item()
    yield "state", state.dtype, state.shape
    with torch.random.fork_rng():
        torch.rand(10)
    torch.set_rng_state(state)
    yield "after", torch.rand(2)


@case("random.generator")
def _(torch):
    g = torch.Generator().manual_seed(3)
    yield "rand", torch.rand(3, generator=g), torch.randn(2, generator=g), torch.randperm(4, generator=g)
    yield "independent", torch.manual_seed(0) and torch.rand(1)
    yield "seed", g.initial_seed()
    torch.manual_seed(3)
    yield "same stream", torch.rand(3)


@case("random.errors")
def _(torch):
    yield "randint empty", raises(lambda: torch.randint(0, 0, (2,)))
    yield "randint reversed", raises(lambda: torch.randint(5, 2, (2,)))
    yield "randperm", raises(lambda: torch.randperm(-1))
    yield "rand int", raises(lambda: torch.rand(2, dtype=torch.int64))
    yield "randn int", raises(lambda: torch.randn(2, dtype=torch.int64))
    yield "bernoulli", raises(lambda: torch.bernoulli(torch.tensor([2.0])))
    yield "normal std", raises(lambda: torch.empty(2).normal_(0, -1))
    yield "uniform", raises(lambda: torch.empty(2).uniform_(2, 1))
    yield ("multinomial", raises(lambda: torch.multinomial(torch.tensor([0.0, 1.0]), 3)),
        raises(lambda: torch.multinomial(torch.tensor([-1.0, 1.0]), 1)))
    yield "negative size", raises(lambda: torch.rand(-1))
    yield "dropout", raises(lambda: torch.nn.functional.dropout(torch.ones(1), 1.5))


@case("random.requires_grad")
def _(torch):
    x = torch.rand(2, requires_grad=True)
    y = torch.randn(2, dtype=torch.float64, requires_grad=True)
    yield "flags", x.requires_grad, y.requires_grad, x.is_leaf
    yield ("shapes", torch.rand(2, 3).shape, torch.rand((2, 3)).shape, torch.rand([2]).shape,
        torch.rand(()).shape, torch.rand(size=(1, 2)).shape)


@case("random.dropout_gradient")
def _(torch):
    x = torch.ones(8, requires_grad=True)
    y = torch.nn.functional.dropout(x, 0.5)
    y.sum().backward()
    yield "grad equals output", (x.grad == y.detach()).all().item()
    yield ("p=1", torch.nn.functional.dropout(x, 1.0).detach(),
        torch.nn.functional.dropout(x, 0.5, training=False).detach())


@case("random.nn_init")
def _(torch):
    init = torch.nn.init
    for name, fill in [("uniform_", init.uniform_), ("normal_", init.normal_),
        ("xavier_uniform_", init.xavier_uniform_), ("xavier_normal_", init.xavier_normal_),
        ("kaiming_uniform_", init.kaiming_uniform_),
                       ("kaiming_normal_", init.kaiming_normal_), ("orthogonal_", init.orthogonal_),
                       ("constant", lambda t: init.constant_(t, 3.0)), ("eye_", init.eye_)]:
        torch.manual_seed(11)
        yield name, attempt(lambda fill=fill: fill(torch.empty(3, 4)))


@case("random.linear_layer")
def _(torch):
    torch.manual_seed(0)
    layer = torch.nn.Linear(3, 2)
    yield "weights", layer.weight.detach(), layer.bias.detach()


@case("random.sobol")
def _(torch):
    engine = torch.quasirandom.SobolEngine(5)
    yield "plain", engine.draw(3), engine.draw(1), engine.draw(2, dtype=torch.float64), engine.num_generated, repr(engine)
    yield "again", engine.reset() is engine, engine.draw(1), engine.fast_forward(4) is engine, engine.draw(2), engine.num_generated
    out = torch.empty(0)
    yield "out", torch.quasirandom.SobolEngine(2).draw(4, out=out) is out, out
    yield "directions", torch.quasirandom.SobolEngine(1000).sobolstate.sum(), torch.quasirandom.SobolEngine(40).sobolstate[37]


@case("random.sobol_scrambled")
def _(torch):
    engine = torch.quasirandom.SobolEngine(3, scramble=True, seed=5)
    yield "seeded", engine.draw(4), engine.draw_base2(2), engine.shift, engine.sobolstate[1], engine.quasi, repr(engine)
    torch.manual_seed(7)
    yield "default", torch.quasirandom.SobolEngine(2, True).draw(3), torch.rand(2)
    torch.set_default_dtype(torch.float64)
    try:
        yield "float64", torch.quasirandom.SobolEngine(2, True, seed=1).draw(5)
    finally:
        torch.set_default_dtype(torch.float32)


@case("random.sobol_refused")
def _(torch):
    engine = torch.quasirandom.SobolEngine
    yield "dimension", attempt(lambda: engine(0)), attempt(lambda: engine(21202))
    used = engine(2)
    used.draw(3)
    yield "balance", attempt(lambda: used.draw_base2(2)), used.num_generated
    yield "dtype", attempt(lambda: engine(2).draw(2, dtype=torch.float16)), attempt(lambda: engine(2).draw(2, dtype=torch.int32))
    yield "number", attempt(lambda: engine(2).draw(0))
