"""torch.distributions.exponential (layer 8)."""

from __future__ import annotations

from . import _names as torch
from . import constraints
from .distribution import Elementwise, checked, take
from .exp_family import ExponentialFamily

__all__ = ["Exponential"]


class Exponential(Elementwise, ExponentialFamily):
    """Waiting times of the given `rate`."""

    arg_constraints = {"rate": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True
    _mean_carrier_measure = 0
    _tl_params = ("rate",)

    def __init__(self, rate, validate_args=None):
        take(self, validate_args, rate=rate)

    @property
    def mean(self):
        return self.rate.reciprocal()

    @property
    def mode(self):
        return torch.zeros_like(self.rate)

    @property
    def stddev(self):
        return self.rate.reciprocal()

    @property
    def variance(self):
        return self.rate.pow(-2)

    def rsample(self, sample_shape=torch.Size()):
        shape = self._extended_shape(sample_shape)
        return self.rate.new_empty(shape).exponential_() / self.rate

    def log_prob(self, value):
        checked(self, value)
        return self.rate.log() - self.rate * value

    def cdf(self, value):
        checked(self, value)
        return 1 - torch.exp(-self.rate * value)

    def icdf(self, value):
        return -torch.log1p(-value) / self.rate

    def entropy(self):
        return 1.0 - torch.log(self.rate)

    @property
    def _natural_params(self):
        return (-self.rate,)

    def _log_normalizer(self, x):
        return -torch.log(-x)
