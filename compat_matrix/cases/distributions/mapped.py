"""Distributions inside maps: parameters and values are checked over all examples, and what is drawn or computed is of each."""

from compat_matrix.case import case, raises


@case("distributions.mapped.densities")
def _(torch):
    D, func, x = torch.distributions, torch.func, torch.tensor([0.2, 0.5, 0.7], dtype=torch.float64)
    two = torch.ones(2, dtype=torch.float64)
    densities = {
        "normal": lambda s: D.Normal(s, s).log_prob(s * 3), "gamma": lambda s: D.Gamma(s, 1.0).log_prob(s), "beta": lambda s: D.Beta(s, 2.0).log_prob(s),
        "bernoulli": lambda s: D.Bernoulli(s).log_prob(two[0]), "categorical": lambda s: D.Categorical(logits=torch.stack([s, 2 * s])).log_prob(two[0]),
        "dirichlet": lambda s: D.Dirichlet(torch.stack([s, s + 1])).log_prob(two / 2), "poisson": lambda s: D.Poisson(s).log_prob(two[0]),
        "student": lambda s: D.StudentT(s + 2).log_prob(s), "uniform": lambda s: D.Uniform(0.0, s).log_prob(s / 2),
        "many": lambda s: D.MultivariateNormal(0 * two, scale_tril=s * torch.eye(2, dtype=s.dtype)).log_prob(two),
        "moved": lambda s: D.TransformedDistribution(D.Normal(s, 1.0), [D.TanhTransform(), D.AffineTransform(s, 2.0)]).log_prob(s + 0.3),
        "side by side": lambda s: D.Independent(D.Normal(s.expand(3), 1.0), 1).log_prob(torch.ones(3, dtype=s.dtype)),
        "divergence": lambda s: D.kl_divergence(D.Gamma(s, 1.0), D.Gamma(2.0, s)), "entropy": lambda s: D.Beta(s, s).entropy(),
    }
    for name, f in densities.items():
        yield name, func.vmap(f)(x), func.vmap(func.grad(f))(x), func.hessian(f)(x[1])
    yield "twice", func.vmap(func.vmap(densities["normal"]))(x[None].expand(2, 3))


@case("distributions.mapped.refused")
def _(torch):
    D, vmap, x = torch.distributions, torch.func.vmap, torch.tensor([0.2, 0.5, -0.7])
    yield "scale", raises(lambda: vmap(lambda s: D.Normal(0.0, s).log_prob(s))(x))
    yield "value", raises(lambda: vmap(lambda s: D.Bernoulli(0.3).log_prob(s))(x))
    yield "bounds", raises(lambda: vmap(lambda s: D.Uniform(s, 0.0).log_prob(s))(x))
    yield "unchecked", vmap(lambda s: D.Exponential(1.0, validate_args=False).log_prob(s))(x)


@case("distributions.mapped.wishart")
def _(torch):
    D, eye = torch.distributions, torch.eye(2, dtype=torch.float64)
    yield "hessian", torch.func.hessian(lambda s: D.Wishart(s + 3, eye).log_prob(eye))(torch.tensor(0.2, dtype=torch.float64))
