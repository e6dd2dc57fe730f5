"""torch.distributions.poisson (layer 8)."""

from __future__ import annotations

from . import _names as torch
from . import constraints
from .distribution import Elementwise, checked, take
from .exp_family import ExponentialFamily

__all__ = ["Poisson"]


class Poisson(Elementwise, ExponentialFamily):
    """Counts of events of the given `rate`."""

    arg_constraints = {"rate": constraints.nonnegative}
    support = constraints.nonnegative_integer
    _tl_params = ("rate",)

    def __init__(self, rate, validate_args=None):
        take(self, validate_args, rate=rate)

    @property
    def mean(self):
        return self.rate

    @property
    def mode(self):
        return self.rate.floor()

    @property
    def variance(self):
        return self.rate

    def sample(self, sample_shape=torch.Size()):
        shape = self._extended_shape(sample_shape)
        with torch.no_grad():
            return torch.poisson(self.rate.expand(shape))

    def log_prob(self, value):
        checked(self, value)
        rate, value = torch.broadcast_tensors(self.rate, value)
        return value.xlogy(rate) - rate - (value + 1).lgamma()

    @property
    def _natural_params(self):
        return (torch.log(self.rate),)

    def _log_normalizer(self, x):
        return torch.exp(x)
