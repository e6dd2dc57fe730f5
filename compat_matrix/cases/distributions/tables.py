"""The distributions that the cases look at: name: (expression, parameters, a value)."""

VECTOR = {"a": [0.3, -1.2], "b": [0.7, 1.9]}
POSITIVE = {"a": [0.6, 2.3], "b": [1.7, 0.8]}
MATRIX = {"m": [0.5, -0.4], "c": [[1.5, 0.3], [0.3, 0.8]]}
LOWER = {"m": [[0.5, -0.4], [0.1, 0.2]], "c": [[1.2, 0.0], [0.3, 0.9]]}
ROWS = {"p": [[0.2, 0.5, 0.3], [0.6, 0.1, 0.3]]}
LOGITS = {"p": [[0.2, -0.5, 0.3], [1.6, 0.1, -0.3]]}

FAMILIES = {
    "Normal": ("D.Normal(a, b)", VECTOR, [0.1, 2.0]),
    "Normal scalar": ("D.Normal(0.5, 2.0)", {}, [0.1, 2.0]),
    "Normal batch": ("D.Normal(a, b)", {"a": [[0.3], [0.4]], "b": [0.7, 1.9]}, [[0.1, 2.0], [1.0, -1.0]]),
    "LogNormal": ("D.LogNormal(a, b)", VECTOR, [0.1, 2.0]),
    "HalfNormal": ("D.HalfNormal(b)", {"b": [0.7, 1.9]}, [0.1, 2.0]),
    "HalfCauchy": ("D.HalfCauchy(b)", {"b": [0.7, 1.9]}, [0.1, 2.0]),
    "Cauchy": ("D.Cauchy(a, b)", VECTOR, [0.1, 2.0]),
    "Laplace": ("D.Laplace(a, b)", VECTOR, [0.1, -1.2]),
    "Exponential": ("D.Exponential(b)", {"b": [0.7, 1.9]}, [0.1, 2.0]),
    "Gamma": ("D.Gamma(a, b)", POSITIVE, [0.1, 2.0]),
    "InverseGamma": ("D.InverseGamma(a, b)", {"a": [0.6, 2.3, 1.2], "b": [1.7, 0.8, 2.0]}, [0.1, 2.0, 0.5]),
    "Beta": ("D.Beta(a, b)", POSITIVE, [0.1, 0.7]),
    "Beta scalar": ("D.Beta(2.0, 3.0)", {}, [0.1, 0.7]),
    "Dirichlet": ("D.Dirichlet(a)", {"a": [[0.6, 2.3, 1.1], [0.2, 0.7, 0.4]]}, [[0.2, 0.5, 0.3], [0.6, 0.1, 0.3]]),
    "Chi2": ("D.Chi2(a)", {"a": [0.6, 3.3]}, [0.1, 2.0]),
    "StudentT": ("D.StudentT(d, a, b)", {"d": [0.9, 1.5, 4.0], "a": [0.3, -1.2, 0.0], "b": [0.7, 1.9, 1.0]}, [0.1, 2.0, -3.0]),
    "FisherSnedecor": ("D.FisherSnedecor(a, b)", {"a": [0.6, 2.3, 3.0], "b": [1.7, 2.8, 6.0]}, [0.1, 2.0, 1.0]),
    "Uniform": ("D.Uniform(a, b)", {"a": [0.3, -1.2], "b": [0.7, 1.9]}, [0.4, 1.0]),
    "Bernoulli": ("D.Bernoulli(p)", {"p": [0.2, 0.5, 0.9]}, [1.0, 0.0, 1.0]),
    "Bernoulli logits": ("D.Bernoulli(logits=p)", {"p": [[0.2, -1.5], [0.9, 0.0]]}, [[1.0, 0.0], [0.0, 1.0]]),
    "Binomial": ("D.Binomial(5, p)", {"p": [0.2, 0.5, 0.9]}, [1.0, 0.0, 5.0]),
    "Binomial logits": ("D.Binomial(5, logits=p)", {"p": [0.2, -1.5]}, [1.0, 0.0]),
    "NegativeBinomial": ("D.NegativeBinomial(n, p)", {"n": [5.0, 2.0], "p": [0.2, 0.5]}, [1.0, 0.0]),
    "NegativeBinomial logits": ("D.NegativeBinomial(n, logits=p)", {"n": [5.0, 0.5], "p": [0.2, -0.5]}, [1.0, 4.0]),
    "Categorical": ("D.Categorical(p)", ROWS, [2, 0]),
    "Categorical logits": ("D.Categorical(logits=p)", LOGITS, [2, 0]),
    "Categorical one row": ("D.Categorical(p)", {"p": [1.0, 3.0, 0.5]}, [2, 0]),
    "OneHotCategorical": ("D.OneHotCategorical(p)", ROWS, [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]]),
    "OneHotCategoricalStraightThrough": ("D.OneHotCategoricalStraightThrough(logits=p)", LOGITS, [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]]),
    "Multinomial": ("D.Multinomial(4, p)", ROWS, [[1.0, 2.0, 1.0], [4.0, 0.0, 0.0]]),
    "Multinomial logits": ("D.Multinomial(2, logits=p)", {"p": [0.2, -0.5, 0.3]}, [1.0, 0.0, 1.0]),
    "Geometric": ("D.Geometric(p)", {"p": [0.2, 0.5, 0.9]}, [1.0, 0.0, 3.0]),
    "Geometric logits": ("D.Geometric(logits=p)", {"p": [0.2, -1.5]}, [1.0, 0.0]),
    "Poisson": ("D.Poisson(b)", {"b": [0.7, 11.9]}, [1.0, 14.0]),
    "ContinuousBernoulli": ("D.ContinuousBernoulli(p)", {"p": [0.2, 0.5, 0.9, 0.4995]}, [0.3, 0.8, 0.6, 0.1]),
    "ContinuousBernoulli logits": ("D.ContinuousBernoulli(logits=p)", {"p": [0.2, -1.5]}, [0.3, 0.8]),
    "RelaxedBernoulli": ("D.RelaxedBernoulli(t, p)", {"t": 0.7, "p": [0.2, 0.5, 0.9]}, [0.3, 0.8, 0.6]),
    "LogitRelaxedBernoulli": ("D.relaxed_bernoulli.LogitRelaxedBernoulli(t, logits=p)", {"t": 0.7, "p": [0.2, -0.5]}, [0.3, -0.8]),
    "RelaxedOneHotCategorical": ("D.RelaxedOneHotCategorical(t, p)", {"t": 0.7, **ROWS}, [[0.2, 0.5, 0.3], [0.6, 0.1, 0.3]]),
    "ExpRelaxedCategorical": ("D.relaxed_categorical.ExpRelaxedCategorical(t, logits=p)", {"t": 0.7, **LOGITS}, [[-0.2, -1.5, -2.3], [-0.6, -1.1, -3.3]]),
    "MultivariateNormal covariance": ("D.MultivariateNormal(m, c)", MATRIX, [[0.1, 2.0], [0.4, -1.0]]),
    "MultivariateNormal precision": ("D.MultivariateNormal(m, precision_matrix=c)", MATRIX, [0.1, 2.0]),
    "MultivariateNormal factor": ("D.MultivariateNormal(m, scale_tril=c)", LOWER, [[0.1, 2.0], [0.4, -1.0]]),
    "LowRankMultivariateNormal": ("D.LowRankMultivariateNormal(m, w, d)", {"m": [0.5, -0.4, 0.0], "w": [[1.0], [0.3], [-0.2]], "d": [0.5, 0.9, 1.1]},
        [0.1, 2.0, -1.0]),
    "LowRankMultivariateNormal batch": ("D.LowRankMultivariateNormal(m, w, d)", {"m": [[0.5, -0.4], [0.0, 0.1]], "w": [[1.0, 0.2], [0.3, 0.4]],
        "d": [0.5, 0.9]}, [[0.1, 2.0], [0.4, 0.5]]),
    "MixtureSameFamily": ("D.MixtureSameFamily(D.Categorical(p), D.Normal(a, b))", {"p": [0.3, 0.7], **VECTOR}, [0.1, 0.8, -1.0]),
    "MixtureSameFamily vectors": ("D.MixtureSameFamily(D.Categorical(logits=p), D.Independent(D.Normal(a, b), 1))",
        {"p": [0.3, 0.7], "a": [[0.3, -1.2], [0.5, 0.1]], "b": [[0.7, 1.9], [1.0, 0.4]]}, [[0.1, 0.8], [0.0, 0.4]]),
    "Independent": ("D.Independent(D.Normal(a, b), 1)", {"a": [[0.3, -1.2], [0.5, 0.1]], "b": [[0.7, 1.9], [1.0, 0.4]]}, [[0.1, 0.8], [0.0, 0.4]]),
    "Independent of none": ("D.Independent(D.Bernoulli(p), 0)", {"p": [0.3, 0.6]}, [1.0, 0.0]),
    "TransformedDistribution": ("D.TransformedDistribution(D.Normal(a, b), [T.TanhTransform(), T.AffineTransform(1.0, 2.0)])", VECTOR, [0.5, 2.0]),
    "TransformedDistribution falling": ("D.TransformedDistribution(D.Gamma(a, b), [T.PowerTransform(0.5), T.AffineTransform(0.0, -b)])",
        POSITIVE, [-0.5, -2.0]),
    "TransformedDistribution of vectors": ("D.TransformedDistribution(D.Normal(a, b), [T.StickBreakingTransform()])", VECTOR, [0.5, 0.2, 0.3]),
    "Kumaraswamy": ("D.Kumaraswamy(a, b)", {"a": [0.6, 2.3], "b": [1.7, 1.8]}, [0.1, 0.7]),
    "Pareto": ("D.Pareto(b, a)", {"b": [0.7, 1.9, 1.0], "a": [0.9, 1.5, 3.0]}, [1.1, 2.0, 4.0]),
    "Weibull": ("D.Weibull(b, a)", {"b": [0.7, 1.9], "a": [0.9, 1.5]}, [1.1, 2.0]),
    "Gumbel": ("D.Gumbel(a, b)", VECTOR, [0.1, 2.0]),
    "Gumbel scalar": ("D.Gumbel(1.0, 2.0)", {}, [0.1, 2.0]),
    "VonMises": ("D.VonMises(a, b)", {"a": [0.3, -1.2, 2.0], "b": [0.7, 1.9, 9.0]}, [0.1, 2.0, -1.0]),
    "LKJCholesky": ("D.LKJCholesky(3, b)", {"b": [0.7, 1.9]}, [[1.0, 0.0, 0.0], [0.6, 0.8, 0.0], [0.0, 0.6, 0.8]]),
    "LKJCholesky scalar": ("D.LKJCholesky(2, 1.5)", {}, [[1.0, 0.0], [0.6, 0.8]]),
    "Wishart": ("D.Wishart(n, c)", {"n": 4.5, "c": [[1.5, 0.3], [0.3, 0.8]]}, [[2.0, 0.5], [0.5, 1.0]]),
    "Wishart factor": ("D.Wishart(n, scale_tril=c)", {"n": [4.5, 3.2], "c": [[1.2, 0.0], [0.3, 0.9]]}, [[2.0, 0.5], [0.5, 1.0]]),
    "LogisticNormal": ("D.LogisticNormal(a, b)", VECTOR, [0.5, 0.2, 0.3]),
    "GeneralizedPareto": ("D.GeneralizedPareto(a, b, k)", {"a": [0.3, -1.2, 0.0], "b": [0.7, 1.9, 1.0], "k": [0.2, -0.3, 0.7]}, [0.5, 2.0, 1.5]),
}


def build(torch, expression, params, dtype=None):
    """(the distribution, its parameters as leaves)."""
    made = {k: torch.tensor(v, dtype=dtype or torch.float64, requires_grad=True) for k, v in params.items()}
    D = torch.distributions
    return eval(expression, {"torch": torch, "D": D, "T": D.transforms, "C": D.constraints, **made}), list(made.values())
