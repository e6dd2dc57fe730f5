"""torch.distributions.gamma (layer 8)."""

from __future__ import annotations

from . import _names as torch
from . import constraints
from .distribution import Elementwise, checked, take
from .exp_family import ExponentialFamily

__all__ = ["Gamma"]


class Gamma(Elementwise, ExponentialFamily):
    """The gamma distribution of shape `concentration` and scale 1 / `rate`."""

    arg_constraints = {"concentration": constraints.positive, "rate": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True
    _mean_carrier_measure = 0
    _tl_params = ("concentration", "rate")

    def __init__(self, concentration, rate, validate_args=None):
        take(self, validate_args, concentration=concentration, rate=rate)

    @property
    def mean(self):
        return self.concentration / self.rate

    @property
    def mode(self):
        return ((self.concentration - 1) / self.rate).clamp(min=0)

    @property
    def variance(self):
        return self.concentration / self.rate.pow(2)

    def rsample(self, sample_shape=torch.Size()):
        shape = self._extended_shape(sample_shape)
        value = torch._standard_gamma(self.concentration.expand(shape)) / self.rate.expand(shape)
        value.detach().clamp_(min=torch.finfo(value.dtype).tiny)  # of the value only: gradients are those of the draw
        return value

    def log_prob(self, value):
        value = torch.as_tensor(value, dtype=self.rate.dtype, device=self.rate.device)
        checked(self, value)
        shape, rate = self.concentration, self.rate
        return torch.xlogy(shape, rate) + torch.xlogy(shape - 1, value) - rate * value - torch.lgamma(shape)

    def entropy(self):
        shape = self.concentration
        return shape - torch.log(self.rate) + torch.lgamma(shape) + (1.0 - shape) * torch.digamma(shape)

    def cdf(self, value):
        checked(self, value)
        return torch.igamma(self.concentration, self.rate * value)

    @property
    def _natural_params(self):
        return self.concentration - 1, -self.rate

    def _log_normalizer(self, x, y):
        return torch.lgamma(x + 1) + (x + 1) * torch.log(-y.reciprocal())
