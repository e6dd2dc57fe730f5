"""torch.distributions.generalized_pareto (layer 8)."""

from __future__ import annotations

import math

from . import _names as torch
from . import constraints
from .distribution import Distribution, Elementwise, checked, take

__all__ = ["GeneralizedPareto"]


class GeneralizedPareto(Elementwise, Distribution):
    """What lies above a high bound `loc`: survival (1 + concentration z)^(-1 / concentration), exp(-z) for concentration 0; z = (x - loc) / scale."""

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive, "concentration": constraints.real}
    has_rsample = True
    _tl_params = ("loc", "scale", "concentration")

    def __init__(self, loc, scale, concentration, validate_args=None):
        take(self, validate_args, loc=loc, scale=scale, concentration=concentration)

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self):
        end = torch.where(self.concentration < 0, self.loc - self.scale / self.concentration, math.inf)
        return constraints.interval(self.loc, end)

    def _z(self, x):
        return (x - self.loc) / self.scale

    def rsample(self, sample_shape=torch.Size()):
        shape = self._extended_shape(sample_shape)
        return self.icdf(torch.rand(shape, dtype=self.loc.dtype, device=self.loc.device))

    def log_prob(self, value):
        checked(self, value)
        z, (zero, c) = self._z(value), _compared(self)
        y = 1 / c + torch.ones_like(z)
        usual = torch.where(y == 0, y, y * torch.log1p(c * z))
        return -self.scale.log() - torch.where(zero, z, usual)

    def log_survival_function(self, value):
        """log(1 - cdf)."""
        checked(self, value)
        z, (zero, c) = self._z(value), _compared(self)
        return torch.where(zero, -z, -torch.log1p(c * z) / c)

    def log_cdf(self, value):
        """The logarithm of `cdf`."""
        checked(self, value)
        return torch.log1p(-torch.exp(self.log_survival_function(value)))

    def cdf(self, value):
        checked(self, value)
        return torch.exp(self.log_cdf(value))

    def icdf(self, value):
        zero, c = _exponential(self)
        logu = torch.log1p(-value)
        return torch.where(zero, self.loc - self.scale * logu, self.loc + self.scale * torch.expm1(-c * logu) / c)

    @property
    def mean(self):
        c = self.concentration
        return _where_below(self, 1, self.loc + self.scale / (1 - torch.where(c < 1, c, 0.5)))

    @property
    def variance(self):
        c = self.concentration
        safe = torch.where(c < 0.5, c, 0.25)
        return _where_below(self, 0.5, self.scale**2 / ((1 - safe) ** 2 * (1 - 2 * safe)))

    def entropy(self):
        return torch.log(self.scale) + self.concentration + 1

    @property
    def mode(self):
        return self.loc


def _where_below(own, bound, value):
    """The value where the concentration is below a bound, NaN where it is not."""
    return torch.where(own.concentration < bound, value, math.nan)


def _compared(own):
    """The same; torch 2.13 refuses here what is not of the default dtype."""
    torch.isclose(own.concentration, torch.tensor(0.0))
    return _exponential(own)


def _exponential(own):
    """Where the concentration is 0, and the concentration kept from it."""
    zero = own.concentration.abs() <= 1e-8
    return zero, torch.where(zero, torch.ones_like(own.concentration), own.concentration)
