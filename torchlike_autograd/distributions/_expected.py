"""Means under one distribution of the log density of another (layer 8): what divergences between families are made of.

Each family of q asks for a few means under p: the mean itself, the variance, the mean of log x, of log(1 - x), of exp(-x / s).
"""

from __future__ import annotations

import math

from . import _names as torch
from .beta import Beta
from .continuous_bernoulli import ContinuousBernoulli
from .exponential import Exponential
from .gamma import Gamma
from .gumbel import Gumbel
from .laplace import Laplace
from .normal import Normal
from .pareto import Pareto
from .poisson import Poisson
from .utils import euler_constant


def log_density(p, q):
    """The mean of log q under p."""
    return next(f for kind, f in _LOG_DENSITY.items() if isinstance(q, kind))(p, q)


def _x_log_x(x):
    return torch.xlogy(x, x)


def _mean(p):
    """The mean; that of a Pareto distribution by the formula of those that have one."""
    return p.alpha * p.scale / (p.alpha - 1) if isinstance(p, Pareto) else p.mean


def _variance(p):
    """The variance, with the same exception."""
    return p.scale.pow(2) * p.alpha / ((p.alpha - 1).pow(2) * (p.alpha - 2)) if isinstance(p, Pareto) else p.variance


def _mean_log(p):
    """The mean of log x."""
    if isinstance(p, Beta):
        return p.concentration1.digamma() - (p.concentration1 + p.concentration0).digamma()
    if isinstance(p, Exponential):
        return -euler_constant - p.rate.log()
    if isinstance(p, Pareto):
        return p.scale.log() + p.alpha.reciprocal()
    return (_x_log_x(p.high) - _x_log_x(p.low)) / (p.high - p.low) - 1  # uniform


def _mean_decay(p, s):
    """The mean of exp(-x / s)."""
    if isinstance(p, Exponential):
        return p.rate * s / (p.rate * s + 1)
    if isinstance(p, Gamma):
        return (1 + (p.rate * s).reciprocal()).pow(-p.concentration)
    if isinstance(p, Normal):
        return torch.exp(-p.loc / s + 0.5 * (p.scale / s).pow(2))
    return s / (p.high - p.low) * (torch.exp(-p.low / s) - torch.exp(-p.high / s))  # uniform


def _under_normal(p, q):
    spread = _variance(p) + (_mean(p) - q.loc).pow(2)
    return -0.5 * math.log(2 * math.pi) - q.scale.log() - spread / (2 * q.scale.pow(2))


def _under_exponential(p, q):
    return q.rate.log() - q.rate * _mean(p)


def _under_gamma(p, q):
    c = q.concentration
    return c * q.rate.log() - c.lgamma() + (c - 1) * _mean_log(p) - q.rate * _mean(p)


def _under_gumbel(p, q):
    return -q.scale.log() - (p.mean - q.loc) / q.scale - torch.exp(q.loc / q.scale) * _mean_decay(p, q.scale)


def _under_laplace(p, q):
    """The mean distance of a normal number from a point is a folded normal's mean."""
    apart = p.loc - q.loc
    z = apart / p.scale
    distance = math.sqrt(2 / math.pi) * p.scale * torch.exp(-0.5 * z.pow(2)) + apart * torch.erf(math.sqrt(0.5) * z)
    return -(2 * q.scale).log() - distance / q.scale


def _under_continuous_bernoulli(p, q):
    return p.mean * q.logits + torch.log1p(-q.probs) + q._cont_bern_log_norm()


def _under_beta(p, q):
    """Under a uniform distribution."""
    a, b = q.concentration1, q.concentration0
    mean_log_rest = (_x_log_x(1 - p.low) - _x_log_x(1 - p.high)) / (p.high - p.low) - 1
    return (a + b).lgamma() - a.lgamma() - b.lgamma() + (a - 1) * _mean_log(p) + (b - 1) * mean_log_rest


def _under_pareto(p, q):
    return q.alpha.log() + q.alpha * q.scale.log() - (q.alpha + 1) * _mean_log(p)


def _under_poisson(p, q):
    """Of zeros and ones, whose factorials are 1."""
    return p.probs * q.rate.log() - q.rate


_LOG_DENSITY = {Normal: _under_normal, Exponential: _under_exponential, Gamma: _under_gamma, Gumbel: _under_gumbel, Laplace: _under_laplace,
                ContinuousBernoulli: _under_continuous_bernoulli, Beta: _under_beta, Pareto: _under_pareto, Poisson: _under_poisson}
