"""torch.distributions.kl (layer 8): the divergence KL(p || q) = E_p[log p - log q], found by the types of p and q.

Between different families it is minus the entropy of p, minus the mean of log q under p; the latter depends on a few means under p only (`_expected.py`).
"""

from __future__ import annotations

import functools
import math

from .._core.saying import warn
from . import _expected
from . import _names as torch
from .bernoulli import Bernoulli
from .beta import Beta
from .binomial import Binomial
from .categorical import Categorical
from .cauchy import Cauchy
from .continuous_bernoulli import ContinuousBernoulli
from .dirichlet import Dirichlet
from .distribution import Distribution
from .exp_family import ExponentialFamily, differentiate
from .exponential import Exponential
from .gamma import Gamma
from .geometric import Geometric
from .gumbel import Gumbel
from .half_normal import HalfNormal
from .independent import Independent
from .laplace import Laplace
from .lowrank_multivariate_normal import LowRankMultivariateNormal, _batch_lowrank_logdet, _batch_lowrank_mahalanobis
from .multivariate_normal import MultivariateNormal, _batch_mahalanobis, _half_log_det
from .normal import Normal
from .one_hot_categorical import OneHotCategorical
from .pareto import Pareto
from .poisson import Poisson
from .transformed_distribution import TransformedDistribution
from .uniform import Uniform
from .utils import _sum_rightmost, euler_constant

__all__ = ["kl_divergence", "register_kl"]

_KL_REGISTRY: dict = {}  # (type of p, type of q) -> function
_KL_MEMOIZE: dict = {}


def register_kl(type_p, type_q):
    """A decorator: the decorated ``f(p, q)`` is the divergence of these types and of their subclasses, unless there is a closer one."""
    if not isinstance(type_p, type) and issubclass(type_p, Distribution):
        raise TypeError(f"Expected type_p to be a Distribution subclass but got {type_p}")
    if not isinstance(type_q, type) and issubclass(type_q, Distribution):
        raise TypeError(f"Expected type_q to be a Distribution subclass but got {type_q}")

    def decorator(fun):
        _KL_REGISTRY[type_p, type_q] = fun
        _KL_MEMOIZE.clear()
        return fun

    return decorator


def _closer(a, b):
    """Of two tuples of types the one that is more special: in its first place, or in its second if the first are the same."""
    for x, y in zip(a, b):
        if x is not y:
            return a if issubclass(x, y) else b
    return a


def _dispatch_kl(type_p, type_q):
    matches = [m for m in _KL_REGISTRY if issubclass(type_p, m[0]) and issubclass(type_q, m[1])]
    if not matches:
        return NotImplemented
    left = functools.reduce(_closer, matches)
    right = functools.reduce(_closer, [m[::-1] for m in matches])[::-1]
    if _KL_REGISTRY[left] is not _KL_REGISTRY[right]:
        warn(f"Ambiguous kl_divergence({type_p.__name__}, {type_q.__name__}). Please register_kl({left[0].__name__}, {right[1].__name__})", RuntimeWarning)
    return _KL_REGISTRY[left]


def kl_divergence(p, q):
    """KL(p || q), of the batch shape; NotImplementedError where nothing is registered for the types of p and q."""
    types = type(p), type(q)
    fun = _KL_MEMOIZE.get(types)
    if fun is None:
        fun = _KL_MEMOIZE[types] = _dispatch_kl(*types)
    if fun is NotImplemented:
        raise NotImplementedError(f"No KL(p || q) is implemented for p type {types[0].__name__} and q type {types[1].__name__}")
    return fun(p, q)


def _infinite_like(tensor):
    return torch.full_like(tensor, math.inf)


def _infinite_where(mask, result):
    """The result, infinite where q does not reach as far as p."""
    return torch.where(mask, torch.full_like(result, math.inf), result)


# Within a family

@register_kl(Bernoulli, Bernoulli)
def _kl_bernoulli_bernoulli(p, q):
    softplus = torch.functional.softplus
    ones = p.probs * (softplus(-q.logits) - softplus(-p.logits))
    ones = torch.where(p.probs == 0, 0.0, torch.where(q.probs == 0, math.inf, ones))
    zeros = (1 - p.probs) * (softplus(q.logits) - softplus(p.logits))
    return ones + torch.where(p.probs == 1, 0.0, torch.where(q.probs == 1, math.inf, zeros))


def _log_beta(*parts):
    return sum(torch.lgamma(x) for x in parts) - torch.lgamma(sum(parts))


@register_kl(Beta, Beta)
def _kl_beta_beta(p, q):
    mine, other = (p.concentration1, p.concentration0), (q.concentration1, q.concentration0)
    apart = sum((a - b) * torch.digamma(a) for a, b in zip(mine, other))
    return _log_beta(*other) - _log_beta(*mine) + apart + (sum(other) - sum(mine)) * torch.digamma(sum(mine))


@register_kl(Binomial, Binomial)
def _kl_binomial_binomial(p, q):
    if (p.total_count < q.total_count).any():
        raise NotImplementedError("KL between Binomials where q.total_count > p.total_count is not implemented")
    each = p.probs * (p.logits - q.logits) + (-p.probs).log1p() - (-q.probs).log1p()
    return _infinite_where(p.total_count > q.total_count, p.total_count * each)


@register_kl(Categorical, Categorical)
def _kl_categorical_categorical(p, q):
    terms = p.probs * (p.logits - q.logits)
    terms = torch.where(p.probs == 0, 0.0, torch.where(q.probs == 0, math.inf, terms))
    return terms.sum(-1)


@register_kl(OneHotCategorical, OneHotCategorical)
def _kl_onehotcategorical_onehotcategorical(p, q):
    return _kl_categorical_categorical(p._categorical, q._categorical)


@register_kl(ContinuousBernoulli, ContinuousBernoulli)
def _kl_continuous_bernoulli_continuous_bernoulli(p, q):
    mine, other = (d._cont_bern_log_norm() + torch.log1p(-d.probs) for d in (p, q))
    return p.mean * (p.logits - q.logits) + mine - other


@register_kl(Dirichlet, Dirichlet)
def _kl_dirichlet_dirichlet(p, q):
    a, b = p.concentration, q.concentration
    total_a, total_b = a.sum(-1), b.sum(-1)
    apart = (a - b) * (a.digamma() - total_a.digamma().unsqueeze(-1))
    return total_a.lgamma() - total_b.lgamma() - (a.lgamma() - b.lgamma()).sum(-1) + apart.sum(-1)


@register_kl(Exponential, Exponential)
def _kl_exponential_exponential(p, q):
    ratio = q.rate / p.rate
    return -ratio.log() + ratio - 1


@register_kl(ExponentialFamily, ExponentialFamily)
def _kl_expfamily_expfamily(p, q):
    """The Bregman divergence of the log normalizers."""
    if type(p) is not type(q):
        raise NotImplementedError("The cross KL-divergence between different exponential families cannot" + 29 * " " + "be computed using Bregman divergences")
    mine, other = [x.detach().requires_grad_() for x in p._natural_params], q._natural_params
    normalizer = p._log_normalizer(*mine)
    slopes = differentiate(normalizer.sum(), mine, create_graph=True)
    result = q._log_normalizer(*other) - normalizer
    for a, b, slope in zip(mine, other, slopes):
        result = result - _sum_rightmost((b - a) * slope, len(q.event_shape))
    return result


@register_kl(Gamma, Gamma)
def _kl_gamma_gamma(p, q):
    a, b = p.concentration, q.concentration
    return b * (p.rate / q.rate).log() + torch.lgamma(b) - torch.lgamma(a) + (a - b) * torch.digamma(a) + (q.rate - p.rate) * (a / p.rate)


@register_kl(Gumbel, Gumbel)
def _kl_gumbel_gumbel(p, q):
    ratio, apart = p.scale / q.scale, (p.loc - q.loc) / q.scale
    return -ratio.log() + apart + ratio * euler_constant + torch.exp((1 + ratio).lgamma() - apart) - (1 + euler_constant)


@register_kl(Geometric, Geometric)
def _kl_geometric_geometric(p, q):
    return -p.entropy() - torch.log1p(-q.probs) / p.probs - q.logits


@register_kl(HalfNormal, HalfNormal)
def _kl_halfnormal_halfnormal(p, q):
    return _kl_normal_normal(p.base_dist, q.base_dist)


@register_kl(Laplace, Laplace)
def _kl_laplace_laplace(p, q):
    ratio, apart = p.scale / q.scale, (p.loc - q.loc).abs()
    return -ratio.log() + apart / q.scale + ratio * torch.exp(-apart / p.scale) - 1


@register_kl(Normal, Normal)
def _kl_normal_normal(p, q):
    ratio = (p.scale / q.scale).pow(2)
    return 0.5 * (ratio + ((p.loc - q.loc) / q.scale).pow(2) - 1 - ratio.log())


@register_kl(Cauchy, Cauchy)
def _kl_cauchy_cauchy(p, q):
    return ((p.scale + q.scale).pow(2) + (p.loc - q.loc).pow(2)).log() - (4 * p.scale * q.scale).log()


@register_kl(Pareto, Pareto)
def _kl_pareto_pareto(p, q):
    ratio = q.alpha / p.alpha
    result = q.alpha * (p.scale / q.scale).log() - ratio.log() + ratio - 1
    return _infinite_where(p.support.lower_bound < q.support.lower_bound, result)


@register_kl(Poisson, Poisson)
def _kl_poisson_poisson(p, q):
    return p.rate * (p.rate.log() - q.rate.log()) - (p.rate - q.rate)


@register_kl(Uniform, Uniform)
def _kl_uniform_uniform(p, q):
    result = ((q.high - q.low) / (p.high - p.low)).log()
    return _infinite_where((q.low > p.low) | (q.high < p.high), result)


# Made of other distributions

@register_kl(TransformedDistribution, TransformedDistribution)
def _kl_transformed_transformed(p, q):
    """The same transforms change nothing."""
    if p.transforms != q.transforms or p.event_shape != q.event_shape:
        raise NotImplementedError
    return kl_divergence(p.base_dist, q.base_dist)


@register_kl(Independent, Independent)
def _kl_independent_independent(p, q):
    if p.reinterpreted_batch_ndims != q.reinterpreted_batch_ndims:
        raise NotImplementedError
    return _sum_rightmost(kl_divergence(p.base_dist, q.base_dist), p.reinterpreted_batch_ndims)


# Normal vectors: (log |Q| - log |P| + tr(Q^-1 P) + the distance of the means - n) / 2

def _factors(d):
    """The matrices A whose A A^T sum to the covariance."""
    if isinstance(d, LowRankMultivariateNormal):
        return [d._unbroadcasted_cov_factor, torch.diag_embed(d._unbroadcasted_cov_diag.sqrt())]
    return [d._unbroadcasted_scale_tril]


def _log_det(d):
    if isinstance(d, LowRankMultivariateNormal):
        return _batch_lowrank_logdet(d._unbroadcasted_cov_factor, d._unbroadcasted_cov_diag, d._capacitance_tril)
    return 2 * _half_log_det(d._unbroadcasted_scale_tril)


def _distance(d, x):
    """x^T C^-1 x for the covariance C of d."""
    if isinstance(d, LowRankMultivariateNormal):
        return _batch_lowrank_mahalanobis(d._unbroadcasted_cov_factor, d._unbroadcasted_cov_diag, x, d._capacitance_tril)
    return _batch_mahalanobis(d._unbroadcasted_scale_tril, x)


_LOW, _FULL = "Low Rank Multivariate Normals", "Multivariate Normals"


def _normal_vectors(of):
    def divergence(p, q):
        if p.event_shape != q.event_shape:
            raise ValueError(f"KL-divergence between two {of} with" + 26 * " " + "different event shapes cannot be computed")
        columns = [_distance(q, a.mT.movedim(-2, 0)).sum(0) for a in _factors(p)]
        return 0.5 * (_log_det(q) - _log_det(p) + sum(columns) + _distance(q, q.loc - p.loc) - p.event_shape[0])

    return divergence


for _p, _q, _said in ((LowRankMultivariateNormal, LowRankMultivariateNormal, _LOW), (MultivariateNormal, LowRankMultivariateNormal, f"(Low Rank) {_FULL}"),
                      (LowRankMultivariateNormal, MultivariateNormal, f"(Low Rank) {_FULL}"), (MultivariateNormal, MultivariateNormal, _FULL)):
    register_kl(_p, _q)(_normal_vectors(_said))


# Between families

def _crossed(p, q):
    return -p.entropy() - _expected.log_density(p, q)


def _infinite(p, q):
    """q is nowhere where p is somewhere."""
    return _infinite_like(getattr(p, _ANY[type(p)] if type(p) in _ANY else next(v for k, v in _ANY.items() if isinstance(p, k))))


_ANY = {Beta: "concentration1", ContinuousBernoulli: "probs", Exponential: "rate", Gamma: "concentration", Gumbel: "loc", Laplace: "loc", Normal: "loc",
        Pareto: "scale", Poisson: "rate"}
_CROSSED = {Beta: (ContinuousBernoulli, Exponential, Gamma, Normal), ContinuousBernoulli: (Exponential, Normal), Exponential: (Gamma, Gumbel, Normal),
            Gamma: (Exponential, Gumbel, Normal), Gumbel: (Normal,), Laplace: (Normal,), Normal: (Gumbel, Laplace), Uniform: (Gumbel, Normal),
            Bernoulli: (Poisson,)}
_INFINITE = {Beta: (Pareto,), ContinuousBernoulli: (Pareto,), Exponential: (Beta, ContinuousBernoulli, Pareto, Uniform),
             Gamma: (Beta, ContinuousBernoulli, Pareto, Uniform), Gumbel: (Beta, ContinuousBernoulli, Exponential, Gamma, Pareto, Uniform),
             Laplace: (Beta, ContinuousBernoulli, Exponential, Gamma, Pareto, Uniform),
             Normal: (Beta, ContinuousBernoulli, Exponential, Gamma, Pareto, Uniform),
             Pareto: (Beta, ContinuousBernoulli, Uniform), Poisson: (Bernoulli, Binomial)}
for _table, _fun in ((_CROSSED, _crossed), (_INFINITE, _infinite)):
    for _p, _others in _table.items():
        for _q in _others:
            register_kl(_p, _q)(_fun)


@register_kl(Beta, Uniform)
def _kl_beta_uniform(p, q):
    result = -p.entropy() + (q.high - q.low).log()
    return _infinite_where((q.low > p.support.lower_bound) | (q.high < p.support.upper_bound), result)


@register_kl(ContinuousBernoulli, Uniform)
def _kl_continuous_bernoulli_uniform(p, q):
    """Infinite in torch also where the bounds are the same."""
    result = -p.entropy() + (q.high - q.low).log()
    return _infinite_where(torch.max(torch.ge(q.low, p.support.lower_bound), torch.le(q.high, p.support.upper_bound)), result)


@register_kl(Uniform, ContinuousBernoulli)
def _kl_uniform_continuous_bernoulli(p, q):
    """Infinite in torch also where the bounds are the same."""
    return _infinite_where(torch.max(torch.ge(p.high, q.support.upper_bound), torch.le(p.low, q.support.lower_bound)), _crossed(p, q))


def _heavy(least):
    """Pareto numbers, whose mean (least = 1) or variance (2) has to exist."""
    return lambda p, q: _infinite_where(p.alpha <= least, _crossed(p, q))


for _q, _least in ((Exponential, 1), (Gamma, 1), (Normal, 2)):
    register_kl(Pareto, _q)(_heavy(_least))


@register_kl(Uniform, Beta)
def _kl_uniform_beta(p, q):
    return _infinite_where((p.high > q.support.upper_bound) | (p.low < q.support.lower_bound), _crossed(p, q))


def _from_below(p, q):
    return _infinite_where(p.low < q.support.lower_bound, _crossed(p, q))


for _q in (Exponential, Gamma, Pareto):
    register_kl(Uniform, _q)(_from_below)
