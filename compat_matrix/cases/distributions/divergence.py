"""kl_divergence: between and within families, gradients, dispatch and its errors."""

from compat_matrix.case import attempt, case, warned
from compat_matrix.cases.distributions.tables import build
from compat_matrix.cases.distributions.values import gradients, plain

PAIRS = {  # family: two of its members, with parameters of their own
    "Bernoulli": ("D.Bernoulli(p)", {"p": [0.2, 0.5]}), "Beta": ("D.Beta(a, b)", {"a": [0.6, 2.3], "b": [1.7, 0.8]}),
    "Binomial": ("D.Binomial(5, p)", {"p": [0.2, 0.5]}), "ContinuousBernoulli": ("D.ContinuousBernoulli(p)", {"p": [0.2, 0.6]}),
    "Exponential": ("D.Exponential(b)", {"b": [0.7, 1.9]}), "Gamma": ("D.Gamma(a, b)", {"a": [0.6, 2.3], "b": [1.7, 0.8]}), "Chi2": ("D.Chi2(a)",
        {"a": [0.6, 2.3]}),
    "Gumbel": ("D.Gumbel(a, b)", {"a": [0.3, -1.2], "b": [0.7, 1.9]}), "Laplace": ("D.Laplace(a, b)", {"a": [0.3, -1.2], "b": [0.7, 1.9]}),
    "Normal": ("D.Normal(a, b)", {"a": [0.3, -1.2], "b": [0.7, 1.9]}), "Pareto": ("D.Pareto(b, a)", {"b": [0.7, 1.9], "a": [1.5, 3.0]}),
    "Poisson": ("D.Poisson(b)", {"b": [0.7, 1.9]}), "Uniform": ("D.Uniform(a, b)", {"a": [0.3, 0.2], "b": [0.7, 0.9]}), "Cauchy": ("D.Cauchy(a, b)",
        {"a": [0.3, -1.2], "b": [0.7, 1.9]}),
    "Geometric": ("D.Geometric(p)", {"p": [0.2, 0.5]}), "HalfNormal": ("D.HalfNormal(b)", {"b": [0.7, 1.9]}), "LogNormal": ("D.LogNormal(a, b)",
        {"a": [0.3, -1.2], "b": [0.7, 1.9]}),
}
OWN = {
    "Categorical": ("D.Categorical(p)", {"p": [[0.2, 0.5, 0.3], [0.6, 0.4, 0.0]]}, "D.Categorical(p)", {"p": [[0.3, 0.5, 0.2], [0.6, 0.0, 0.4]]}),
    "OneHotCategorical": ("D.OneHotCategorical(p)", {"p": [0.2, 0.5, 0.3]}, "D.OneHotCategorical(logits=p)", {"p": [0.2, 0.5, 0.3]}),
    "Dirichlet": ("D.Dirichlet(a)", {"a": [0.6, 2.3, 1.1]}, "D.Dirichlet(a)", {"a": [1.6, 0.3, 1.4]}),
    "Gamma with others": ("D.Gamma(a, b)", {"a": [0.6, 2.3], "b": [1.7, 0.8]}, "D.Gamma(a, b)", {"a": [1.6, 2.0], "b": [0.7, 0.9]}),
    "Beta with others": ("D.Beta(a, b)", {"a": [0.6, 2.3], "b": [1.7, 0.8]}, "D.Beta(a, b)", {"a": [1.6, 2.0], "b": [0.7, 0.9]}),
    "Normal with others": ("D.Normal(a, b)", {"a": [[0.6], [2.3]], "b": [1.7, 0.8]}, "D.Normal(a, b)", {"a": [1.6, 2.0], "b": [0.7, 0.9]}),
    "Normal standard": ("D.Normal(a, b)", {"a": [0.6, 2.3], "b": [1.7, 0.8]}, "D.Normal(0.0, 1.0)", {}),
    "Bernoulli with ends": ("D.Bernoulli(p)", {"p": [0.0, 1.0, 0.5, 0.5]}, "D.Bernoulli(p)", {"p": [0.3, 0.6, 0.0, 1.0]}),
    "Binomial counts": ("D.Binomial(n, p)", {"n": [5.0, 3.0], "p": [0.2, 0.5]}, "D.Binomial(n, p)", {"n": [5.0, 2.0], "p": [0.3, 0.6]}),
    "Binomial fewer": ("D.Binomial(2, p)", {"p": [0.2, 0.5]}, "D.Binomial(3, p)", {"p": [0.3, 0.6]}),
    "Laplace with others": ("D.Laplace(a, b)", {"a": [0.3, -1.2], "b": [0.7, 1.9]}, "D.Laplace(a, b)", {"a": [0.3, 1.2], "b": [1.7, 0.9]}),
    "Gumbel with others": ("D.Gumbel(a, b)", {"a": [0.3, -1.2], "b": [0.7, 1.9]}, "D.Gumbel(a, b)", {"a": [0.5, 1.2], "b": [1.7, 0.9]}),
    "Pareto with others": ("D.Pareto(b, a)", {"b": [0.7, 1.9], "a": [1.5, 3.0]}, "D.Pareto(b, a)", {"b": [0.8, 1.0], "a": [2.5, 2.0]}),
    "Pareto heavy": ("D.Pareto(b, a)", {"b": [0.7, 1.9, 1.0], "a": [0.5, 1.0, 2.0]}, "D.Normal(0.0, 1.0)", {}),
    "Pareto heavy Exponential": ("D.Pareto(b, a)", {"b": [0.7, 1.9, 1.0], "a": [0.5, 1.0, 2.0]}, "D.Exponential(1.0)", {}),
    "Uniform inside": ("D.Uniform(a, b)", {"a": [0.3, 0.2], "b": [0.7, 0.9]}, "D.Uniform(a, b)", {"a": [0.2, 0.4], "b": [0.8, 1.9]}),
    "Uniform Pareto": ("D.Uniform(a, b)", {"a": [0.3, 0.2], "b": [0.7, 0.9]}, "D.Pareto(b, a)", {"b": [0.1, 0.5], "a": [0.5, 1.0]}),
    "Uniform below": ("D.Uniform(a, b)", {"a": [-0.3, 0.0], "b": [0.7, 1.0]}, "D.Gamma(a, b)", {"a": [0.5, 1.0], "b": [1.0, 1.0]}),
    "Uniform whole Beta": ("D.Uniform(0.0, 1.0)", {}, "D.Beta(2.0, 3.0)", {}),
    "MultivariateNormal": ("D.MultivariateNormal(m, c)", {"m": [0.5, -0.4], "c": [[1.5, 0.3], [0.3, 0.8]]}, "D.MultivariateNormal(m, scale_tril=c)",
        {"m": [0.1, -0.2], "c": [[1.2, 0.0], [0.3, 0.9]]}),
    "MultivariateNormal batch": ("D.MultivariateNormal(m, c)", {"m": [[0.5, -0.4], [0.0, 1.0]], "c": [[1.5, 0.3], [0.3, 0.8]]},
        "D.MultivariateNormal(m, scale_tril=c)", {"m": [0.1, -0.2], "c": [[[1.2, 0.0], [0.3, 0.9]]]}),
    "MultivariateNormal shapes": ("D.MultivariateNormal(m, c)", {"m": [0.5, -0.4], "c": [[1.5, 0.3], [0.3, 0.8]]},
        "D.MultivariateNormal(torch.zeros(3), torch.eye(3))", {}),
    "LowRank": ("D.LowRankMultivariateNormal(m, w, d)", {"m": [0.5, -0.4], "w": [[1.0], [0.3]], "d": [0.5, 0.9]}, "D.LowRankMultivariateNormal(m, w, d)",
        {"m": [0.1, -0.1], "w": [[1.0, 0.2], [0.3, -0.7]], "d": [0.7, 1.9]}),
    "LowRank full": ("D.LowRankMultivariateNormal(m, w, d)", {"m": [0.5, -0.4], "w": [[1.0], [0.3]], "d": [0.5, 0.9]}, "D.MultivariateNormal(m, c)",
        {"m": [0.5, -0.4], "c": [[1.5, 0.3], [0.3, 0.8]]}),
    "full LowRank": ("D.MultivariateNormal(m, c)", {"m": [0.5, -0.4], "c": [[1.5, 0.3], [0.3, 0.8]]}, "D.LowRankMultivariateNormal(m, w, d)",
        {"m": [0.5, -0.4], "w": [[1.0], [0.3]], "d": [0.5, 0.9]}),
    "LowRank shapes": ("D.LowRankMultivariateNormal(m, w, d)", {"m": [0.5, -0.4], "w": [[1.0], [0.3]], "d": [0.5, 0.9]},
        "D.MultivariateNormal(torch.zeros(3), torch.eye(3))", {}),
    "LowRank both shapes": ("D.LowRankMultivariateNormal(m, w, d)", {"m": [0.5, -0.4], "w": [[1.0], [0.3]], "d": [0.5, 0.9]},
        "D.LowRankMultivariateNormal(torch.zeros(3), torch.ones(3, 1), torch.ones(3))", {}),
    "Independent": ("D.Independent(D.Normal(a, b), 1)", {"a": [[0.3, -1.2]], "b": [[0.7, 1.9]]}, "D.Independent(D.Normal(a, b), 1)", {"a": [[0.1, 0.2]],
        "b": [[1.7, 0.9]]}),
    "Independent dims": ("D.Independent(D.Normal(a, b), 1)", {"a": [[0.3, -1.2]], "b": [[0.7, 1.9]]}, "D.Independent(D.Normal(a, b), 2)",
        {"a": [[0.1, 0.2]], "b": [[1.7, 0.9]]}),
    "transformed alike": ("D.LogNormal(a, b)", {"a": [0.3, -1.2], "b": [0.7, 1.9]}, "D.LogNormal(a, b)", {"a": [0.1, 0.2], "b": [1.7, 0.9]}),
    "transformed otherwise": ("D.LogNormal(a, b)", {"a": [0.3, -1.2], "b": [0.7, 1.9]},
        "D.TransformedDistribution(D.Normal(0.0, 1.0), T.TanhTransform())", {}),
    "unknown": ("D.VonMises(a, b)", {"a": [0.3], "b": [0.7]}, "D.Normal(0.0, 1.0)", {}),
}


def diverging(torch, p, of_p, q, of_q):
    yield "divergence", attempt(lambda: both(torch, p, of_p, q, of_q))


def both(torch, p, of_p, q, of_q):
    first, leaves = build(torch, p, of_p)
    second, more = build(torch, q, of_q)
    out = torch.distributions.kl_divergence(first, second)
    return [plain(out), gradients(torch, out, leaves + more)]


def from_family(torch, p, of_p):
    for name, (q, of_q) in PAIRS.items():
        yield name, attempt(lambda q=q, of_q=of_q: both(torch, p, of_p, q, of_q))


for _name, (_p, _of_p) in PAIRS.items():
    case(f"distributions.kl of {_name}", p=_p, of_p=_of_p)(from_family)
for _name, (_p, _of_p, _q, _of_q) in OWN.items():
    case(f"distributions.kl.{_name}", p=_p, of_p=_of_p, q=_q, of_q=_of_q)(diverging)


@case("distributions.kl dispatch")
def _(torch):
    D = torch.distributions

    class A(D.Normal):
        pass

    class B(A):
        pass

    class Family(D.ExponentialFamily):
        arg_constraints = {"rate": D.constraints.positive}

        def __init__(self, rate):
            self.rate = rate
            super().__init__(rate.shape)

        _natural_params = property(lambda self: (-self.rate,))
        _mean_carrier_measure = 0

        def _log_normalizer(self, x):
            return -torch.log(-x)

    a, b, n = A(0.0, 1.0), B(1.0, 2.0), D.Normal(0.5, 1.5)
    yield "inherited", D.kl_divergence(a, b), D.kl_divergence(b, n)
    D.register_kl(A, D.Normal)(lambda p, q: "A normal")
    yield "closer", D.kl_divergence(a, n), D.kl_divergence(b, b), D.kl_divergence(n, a)
    D.register_kl(D.Normal, B)(lambda p, q: "normal B")
    yield "ambiguous", D.kl_divergence(b, b), warned(lambda: D.kl_divergence(a, B(1.0, 2.0))), D.kl_divergence(n, b)
    rate = torch.tensor([0.7, 1.9], requires_grad=True)
    p, q = Family(rate), Family(torch.tensor([1.0, 1.5]))
    yield "bregman", D.kl_divergence(p, q).detach(), D.kl_divergence(p, q).requires_grad, p.entropy().detach(), p.entropy().requires_grad
    yield "other families", attempt(lambda: D.kl_divergence(p, D.Exponential(rate)))
    yield "not registered", attempt(lambda: D.kl_divergence(D.StudentT(1.0), n)), attempt(lambda: D.kl_divergence(n, 3))
    yield "not types", attempt(lambda: D.register_kl(3, D.Normal)), attempt(lambda: D.register_kl(D.Normal, D.Normal)(3))
    D.register_kl(D.Normal, D.Normal)(D.kl._kl_normal_normal)
    for key in [k for k in D.kl._KL_REGISTRY if A in k or B in k]:
        del D.kl._KL_REGISTRY[key]
    D.kl._KL_MEMOIZE.clear()
