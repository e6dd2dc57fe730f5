"""torch.distributions.cauchy (layer 8)."""

from __future__ import annotations

import math

from . import _names as torch
from . import constraints
from .distribution import Distribution, Elementwise, checked, take

__all__ = ["Cauchy"]


class Cauchy(Elementwise, Distribution):
    """The Cauchy distribution around `loc`; it has no mean and no variance."""

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real
    has_rsample = True
    _tl_params = ("loc", "scale")

    def __init__(self, loc, scale, validate_args=None):
        take(self, validate_args, loc=loc, scale=scale)

    @property
    def mean(self):
        return _constant(self, math.nan)

    @property
    def mode(self):
        return self.loc

    @property
    def variance(self):
        return _constant(self, math.inf)

    def rsample(self, sample_shape=torch.Size()):
        shape = self._extended_shape(sample_shape)
        return self.loc + self.loc.new_empty(shape).cauchy_() * self.scale

    def log_prob(self, value):
        checked(self, value)
        return -math.log(math.pi) - self.scale.log() - (((value - self.loc) / self.scale) ** 2).log1p()

    def cdf(self, value):
        checked(self, value)
        return torch.atan((value - self.loc) / self.scale) / math.pi + 0.5

    def icdf(self, value):
        return torch.tan(math.pi * (value - 0.5)) * self.scale + self.loc

    def entropy(self):
        return math.log(4 * math.pi) + self.scale.log()


def _constant(own, number):
    return torch.full(tuple(own._extended_shape()), number, dtype=own.loc.dtype, device=own.loc.device)
