"""What distributions refuse, and in which words; subclasses, defaults, warnings."""

import pickle

from compat_matrix.case import attempt, case, warned
from compat_matrix.cases.distributions.transforms import scope
from compat_matrix.cases.distributions.values import plain
from compat_matrix.probes import each

REFUSED = {
    "scale": "D.Normal(0.0, -1.0)", "scale of many": "D.Normal(torch.zeros(2), torch.tensor([1.0, -1.0]))", "nan": "D.Normal(float('nan'), 1.0)",
    "shapes": "D.Normal(torch.zeros(2), torch.ones(3))",
    "text": "D.Normal('a', 1)", "none": "D.Normal(None, 1.0)", "integers": "D.Normal(torch.tensor([1]), torch.tensor([2])).rsample()",
    "rate": "D.Exponential(0.0)", "gamma": "D.Gamma(-1.0, 1.0)",
    "beta": "D.Beta(-1.0, 1.0)", "dirichlet number": "D.Dirichlet(torch.tensor(1.0))", "dirichlet": "D.Dirichlet(torch.tensor([1.0, 0.0]))",
    "chi2": "D.Chi2(-1.0)", "student": "D.StudentT(-1.0)",
    "fisher": "D.FisherSnedecor(-1.0, 1.0)", "uniform": "D.Uniform(1.0, 0.0)", "bernoulli both": "D.Bernoulli(0.5, 0.5)",
    "bernoulli none": "D.Bernoulli()", "bernoulli": "D.Bernoulli(2.0)",
    "binomial none": "D.Binomial(3)", "binomial count": "D.Binomial(-1, torch.tensor(0.5))", "binomial part": "D.Binomial(3.5, torch.tensor(0.5))",
    "binomial counts entropy": "D.Binomial(torch.tensor([1, 2]), torch.tensor([0.5, 0.5])).entropy()",
    "binomial counts values": "D.Binomial(torch.tensor([1, 2]), torch.tensor([0.5, 0.5])).enumerate_support()",
    "negative binomial": "D.NegativeBinomial(1, torch.tensor(1.0))",
    "categorical number": "D.Categorical(torch.tensor(0.5))", "categorical logits": "D.Categorical(logits=torch.tensor(0.5))",
    "categorical": "D.Categorical(torch.tensor([-1.0, 2.0]))",
    "categorical zeros": "D.Categorical(torch.zeros(3))", "categorical list": "D.Categorical([0.5, 0.5])", "categorical none": "D.Categorical()",
    "one hot": "D.OneHotCategorical(torch.tensor([-1.0, 2.0]))",
    "multinomial count": "D.Multinomial(torch.tensor(3), torch.ones(2))", "multinomial expanded": "D.Multinomial(3, torch.ones(2)).expand([4]).entropy()",
    "geometric": "D.Geometric(0.0)",
    "geometric many": "D.Geometric(torch.tensor([0.0, 0.5]))", "geometric above": "D.Geometric(torch.tensor([0.0, 1.5]))", "poisson": "D.Poisson(-1.0)",
    "continuous": "D.ContinuousBernoulli(2.0, validate_args=True)", "continuous unchecked": "repr(D.ContinuousBernoulli(2.0))",
    "half normal": "D.HalfNormal(-1.0)", "log normal": "D.LogNormal(1.0, -1.0)", "gumbel": "D.Gumbel(0.0, -1.0)",
    "pareto scale": "D.Pareto(-1.0, 1.0)", "pareto alpha": "D.Pareto(1.0, -1.0)", "weibull": "D.Weibull(1.0, -1.0)",
    "kumaraswamy": "D.Kumaraswamy(-1.0, 1.0)", "inverse gamma": "D.InverseGamma(-1.0, 1.0)",
    "relaxed": "D.RelaxedBernoulli(torch.tensor(1.0), 2.0)", "relaxed temperature": "D.RelaxedBernoulli(1.0, 0.5).log_prob(torch.tensor(0.3))",
    "von mises": "D.VonMises(0.0, -1.0)",
    "relaxed categorical": "D.RelaxedOneHotCategorical(torch.tensor(1.0), torch.tensor([-1.0, 1.0]))",
    "vector number": "D.MultivariateNormal(torch.tensor(0.0), torch.eye(2))",
    "vector two": "D.MultivariateNormal(torch.zeros(2), torch.eye(2), scale_tril=torch.eye(2))", "vector none": "D.MultivariateNormal(torch.zeros(2))",
    "vector dims": "D.MultivariateNormal(torch.zeros(2), torch.ones(2))",
    "vector factor dims": "D.MultivariateNormal(torch.zeros(2), scale_tril=torch.ones(2))",
    "vector precision dims": "D.MultivariateNormal(torch.zeros(2), precision_matrix=torch.ones(2))",
    "vector indefinite": "D.MultivariateNormal(torch.zeros(2), -torch.eye(2))",
    "vector asymmetric": "D.MultivariateNormal(torch.zeros(2), torch.tensor([[1.0, 0.5], [0.0, 1.0]]))",
    "vector factor": "D.MultivariateNormal(torch.zeros(2), scale_tril=torch.ones(2, 2))",
    "vector unchecked": "D.MultivariateNormal(torch.zeros(2), -torch.eye(2), validate_args=False).log_prob(torch.zeros(2))",
    "low rank loc": "D.LowRankMultivariateNormal(torch.tensor(0.0), torch.ones(2, 1), torch.ones(2))",
    "low rank factor": "D.LowRankMultivariateNormal(torch.zeros(2), torch.ones(2), torch.ones(2))",
    "low rank rows": "D.LowRankMultivariateNormal(torch.zeros(2), torch.ones(3, 1), torch.ones(2))",
    "low rank diagonal": "D.LowRankMultivariateNormal(torch.zeros(2), torch.ones(2, 1), torch.ones(3))",
    "low rank negative": "D.LowRankMultivariateNormal(torch.zeros(2), torch.ones(2, 1), -torch.ones(2))",
    "low rank batches": "D.LowRankMultivariateNormal(torch.zeros(3, 2), torch.ones(4, 2, 1), torch.ones(2))",
    "wishart df": "D.Wishart(0.5, torch.eye(2))", "wishart dims": "D.Wishart(2.0, torch.ones(2))",
    "wishart none": "D.Wishart(3.0)", "wishart indefinite": "D.Wishart(3.0, -torch.eye(2))", "lkj dim": "D.LKJCholesky(1)",
    "lkj": "D.LKJCholesky(3, -1.0)", "mixture": "D.MixtureSameFamily(D.Normal(0.0, 1.0), D.Normal(0.0, 1.0))",
    "mixture components": "D.MixtureSameFamily(D.Categorical(torch.ones(2)), 3)",
    "mixture count": "D.MixtureSameFamily(D.Categorical(torch.ones(3)), D.Normal(torch.zeros(2), 1.0))",
    "mixture batch": "D.MixtureSameFamily(D.Categorical(torch.ones(4, 2)), D.Normal(torch.zeros(3, 2), 1.0))",
    "independent": "D.Independent(D.Normal(torch.zeros(3), 1.0), 2)",
    "independent values": "D.Independent(D.Bernoulli(torch.ones(3)), 1).enumerate_support()", "generalized pareto": "D.GeneralizedPareto(0.0, -1.0, 0.1)",
}
VALUES = {
    "not a tensor": "D.Normal(0.0, 1.0).log_prob(1.0)", "shape": "D.Normal(torch.zeros(2), 1.0).log_prob(torch.zeros(3))",
    "nan": "D.Normal(torch.zeros(2), 1.0).log_prob(torch.tensor([float('nan'), 1.0]))",
    "event": "D.MultivariateNormal(torch.zeros(2), torch.eye(2)).log_prob(torch.zeros(3))",
    "batch": "D.MultivariateNormal(torch.zeros(4, 2), torch.eye(2)).log_prob(torch.zeros(3, 2))",
    "below": "D.Exponential(1.0).log_prob(torch.tensor(-1.0))", "unchecked below": "D.Exponential(1.0, validate_args=False).log_prob(torch.tensor(-1.0))",
    "outside": "D.Uniform(0.0, 1.0).log_prob(torch.tensor(2.0))",
    "unchecked outside": "D.Uniform(0.0, 1.0, validate_args=False).log_prob(torch.tensor([2.0, 1.0, 0.0]))",
    "category": "D.Categorical(torch.ones(3)).log_prob(torch.tensor(3))",
    "category part": "D.Categorical(torch.ones(3)).log_prob(torch.tensor(1.5))",
    "one hot": "D.OneHotCategorical(torch.ones(2)).log_prob(torch.tensor([1.0, 1.0]))",
    "count": "D.Binomial(3, torch.tensor(0.5)).log_prob(torch.tensor(4.0))",
    "counts": "D.Multinomial(3, torch.ones(2)).log_prob(torch.tensor([2.0, 2.0]))", "half": "D.Bernoulli(torch.tensor(0.5)).log_prob(torch.tensor(0.5))",
    "poisson": "D.Poisson(1.0).log_prob(torch.tensor(1.5))", "simplex": "D.Dirichlet(torch.ones(2)).log_prob(torch.tensor([0.5, 0.6]))",
    "gamma number": "D.Gamma(1.0, 1.0).log_prob(2.0)",
    "half normal": "D.HalfNormal(1.0).log_prob(torch.tensor(-1.0))",
    "half normal unchecked": "D.HalfNormal(1.0, validate_args=False).log_prob(torch.tensor(-1.0))",
    "half cauchy number": "D.HalfCauchy(1.0).log_prob(2.0)",
    "pareto": "D.Pareto(1.0, 2.0).log_prob(torch.tensor(0.5))", "transformed": "D.LogNormal(0.0, 1.0).log_prob(torch.tensor(-1.0))",
    "cdf": "D.Exponential(1.0).cdf(torch.tensor(-1.0))",
    "transformed cdf": "D.LogNormal(0.0, 1.0).cdf(torch.tensor(-1.0))", "no cdf": "D.StudentT(1.0).cdf(torch.tensor(0.5))",
    "no icdf": "D.Gamma(1.0, 1.0).icdf(torch.tensor(0.5))", "no rsample": "D.Bernoulli(0.5).rsample()",
    "no entropy": "D.Poisson(1.0).entropy()", "no mean": "D.TransformedDistribution(D.Normal(0.0, 1.0), T.ExpTransform()).mean",
    "no mode": "D.TransformedDistribution(D.Normal(0.0, 1.0), T.ExpTransform()).mode",
    "no values": "D.Normal(0.0, 1.0).enumerate_support()",
    "mixture": "D.MixtureSameFamily(D.Categorical(torch.ones(2)), D.Gamma(torch.ones(2), 1.0)).log_prob(torch.tensor(-1.0))",
    "sample number": "D.Normal(torch.zeros(2), 1.0).sample(3)", "sample list": "D.Normal(torch.zeros(2), 1.0).sample([3]).shape",
    "sample none": "D.Normal(torch.zeros(2), 1.0).sample((0,)).shape",
    "categorical none": "D.Categorical(torch.ones(2)).sample((0,))", "expand": "D.Normal(torch.zeros(2), 1.0).expand([3])",
    "expand number": "D.Normal(torch.zeros(2), 1.0).expand(3)",
    "von mises angles": "D.VonMises(0.0, 1.0).log_prob(torch.tensor(7.0))", "integers": "D.Normal(0.0, 1.0).log_prob(torch.tensor(1))",
    "double": "D.Normal(0.0, 1.0).log_prob(torch.tensor(1.0, dtype=torch.float64)).dtype",
    "categories": "[D.Categorical(torch.ones(2, 3)).sample((2,)).shape, D.Categorical(torch.ones(3)).sample().dtype]",
}


def said(torch, expression):
    torch.manual_seed(1)
    found = attempt(lambda: scope(torch, expression))
    yield "result", found if isinstance(found, (dict, list, str)) or not isinstance(found, torch.distributions.Distribution) else repr(found)


each("distributions.refused", said, REFUSED)
each("distributions.value", said, VALUES)


@case("distributions.subclasses")
def _(torch):
    D = torch.distributions

    class Bare(D.Distribution):
        pass

    class Empty(D.Distribution):
        arg_constraints = {}

    class One(D.Normal):
        def __init__(self, loc):
            super().__init__(loc, 1.0)

    class Same(D.Normal):
        pass

    for name in ("sample", "rsample", "entropy", "perplexity", "enumerate_support"):
        yield name, attempt(lambda name=name: getattr(Empty(), name)())
    for name in ("log_prob", "cdf", "icdf", "expand"):
        yield name, attempt(lambda name=name: getattr(Empty(), name)(torch.ones(2)))
    for name in ("mean", "mode", "variance", "stddev", "support"):
        yield name, type(attempt(lambda name=name: getattr(Empty(), name))).__name__
    yield "shown", repr(Empty()), Empty().batch_shape, Empty().event_shape, attempt(lambda: repr(Bare(validate_args=False)))
    yield "warned", [w[0] for w in warned(Bare)], [w[0] for w in warned(lambda: Empty()._validate_sample(torch.ones(2)))]
    yield "old", warned(lambda: D.Normal(0.0, 1.0).sample_n(2))
    yield "expanded", attempt(lambda: One(0.0).expand([2])), repr(Same(0.0, 1.0).expand([2])), type(Same(0.0, 1.0).expand([2])).__name__


@case("distributions.default checks")
def _(torch):
    D = torch.distributions
    D.Distribution.set_default_validate_args(False)
    off = D.Normal(0.0, -1.0)
    yield "off", repr(off), off.log_prob(torch.tensor(float("nan"))), attempt(lambda: D.Normal(0.0, -1.0, validate_args=True))
    D.Distribution.set_default_validate_args(True)
    yield "on", attempt(lambda: D.Normal(0.0, -1.0)), attempt(lambda: off.log_prob(torch.tensor(float("nan"))))
    yield "one off", D.Normal(0.0, -1.0, validate_args=False)._validate_args
    yield "other", attempt(lambda: D.Distribution.set_default_validate_args(3))


@case("distributions.modules")
def _(torch):
    D = torch.distributions
    yield "names", sorted(D.__all__)
    for name in ("normal.Normal", "distribution.Distribution", "exp_family.ExponentialFamily", "kl.kl_divergence", "utils.broadcast_all",
                 "constraints.positive",
                 "transforms.ExpTransform",
                 "constraint_registry.biject_to", "studentT.StudentT", "relaxed_bernoulli.LogitRelaxedBernoulli", "relaxed_categorical.ExpRelaxedCategorical",
                 "transformed_distribution.TransformedDistribution", "multivariate_normal._batch_mahalanobis", "utils._sum_rightmost", "utils._standard_normal",
                 "utils.euler_constant"):
        module, _, leaf = name.partition(".")
        yield name, hasattr(getattr(D, module), leaf)
    for name in ("constraints", "transforms", "utils", "kl", "constraint_registry", "normal", "relaxed_bernoulli"):
        yield f"all of {name}", sorted(getattr(D, name).__all__)
    yield "bases", [[c.__name__ for c in (D.Normal, D.Chi2, D.LogNormal, D.Independent, D.OneHotCategoricalStraightThrough) if issubclass(c, base)]
                    for base in (D.ExponentialFamily, D.Gamma, D.TransformedDistribution, D.OneHotCategorical, D.Distribution)]


@case("distributions.pickled transforms")
def _(torch):
    D, x = torch.distributions, torch.tensor([0.2, 0.3])
    both = D.ComposeTransform([D.ExpTransform(), D.TanhTransform()])
    for t in (D.ExpTransform(), D.AffineTransform(1.0, 2.0), both, D.ExpTransform().inv, D.StickBreakingTransform(cache_size=1)):
        t.inv
        yield repr(t), attempt(lambda t=t: plain(pickle.loads(pickle.dumps(t))(x)))
