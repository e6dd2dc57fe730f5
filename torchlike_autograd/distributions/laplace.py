"""torch.distributions.laplace (layer 8)."""

from __future__ import annotations

import math

from . import _names as torch
from . import constraints
from .distribution import Distribution, Elementwise, Located, checked, take

__all__ = ["Laplace"]


class Laplace(Located, Elementwise, Distribution):
    """The double exponential distribution around `loc`."""

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real
    has_rsample = True
    _tl_params = ("loc", "scale")

    def __init__(self, loc, scale, validate_args=None):
        take(self, validate_args, loc=loc, scale=scale)

    @property
    def variance(self):
        return 2 * self.scale.pow(2)

    @property
    def stddev(self):
        return math.sqrt(2) * self.scale

    def rsample(self, sample_shape=torch.Size()):
        shape = self._extended_shape(sample_shape)
        u = self.loc.new_empty(shape).uniform_(torch.finfo(self.loc.dtype).eps - 1, 1)
        return self.loc - self.scale * u.sign() * torch.log1p(-u.abs())

    def log_prob(self, value):
        checked(self, value)
        return -torch.log(2 * self.scale) - torch.abs(value - self.loc) / self.scale

    def cdf(self, value):
        checked(self, value)
        apart = value - self.loc
        return 0.5 - 0.5 * apart.sign() * torch.expm1(-apart.abs() / self.scale)

    def icdf(self, value):
        apart = value - 0.5
        return self.loc - self.scale * apart.sign() * torch.log1p(-2 * apart.abs())

    def entropy(self):
        return 1 + torch.log(2 * self.scale)
