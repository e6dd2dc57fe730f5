"""torch.distributions.cauchy (layer 8)."""

from __future__ import annotations

import math

from . import _names as torch
from . import constraints
from .distribution import Elementwise

__all__ = ["Cauchy"]


class Cauchy(Elementwise):
    """The Cauchy distribution around `loc`; it has no mean and no variance."""

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real
    has_rsample = True
    _params = ("loc", "scale")

    def __init__(self, loc, scale, validate_args=None):
        self._take(validate_args, loc=loc, scale=scale)

    def _constant(self, number):
        return torch.full(tuple(self._extended_shape()), number, dtype=self.loc.dtype, device=self.loc.device)

    @property
    def mean(self):
        return self._constant(math.nan)

    @property
    def mode(self):
        return self.loc

    @property
    def variance(self):
        return self._constant(math.inf)

    def rsample(self, sample_shape=torch.Size()):
        shape = self._extended_shape(sample_shape)
        return self.loc + self.loc.new_empty(shape).cauchy_() * self.scale

    def log_prob(self, value):
        self._checked(value)
        return -math.log(math.pi) - self.scale.log() - (((value - self.loc) / self.scale) ** 2).log1p()

    def cdf(self, value):
        self._checked(value)
        return torch.atan((value - self.loc) / self.scale) / math.pi + 0.5

    def icdf(self, value):
        return torch.tan(math.pi * (value - 0.5)) * self.scale + self.loc

    def entropy(self):
        return math.log(4 * math.pi) + self.scale.log()
