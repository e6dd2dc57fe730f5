"""torch.distributions.inverse_gamma (layer 8)."""

from __future__ import annotations

import math

from . import constraints
from .gamma import Gamma
from .transformed_distribution import TransformedDistribution
from .transforms import PowerTransform

__all__ = ["InverseGamma"]


class InverseGamma(TransformedDistribution):
    """The reciprocal of a gamma distribution."""

    arg_constraints = {"concentration": constraints.positive, "rate": constraints.positive}
    support = constraints.positive
    has_rsample = True

    def __init__(self, concentration, rate, validate_args=None):
        base = Gamma(concentration, rate, validate_args=validate_args)
        super().__init__(base, PowerTransform(-base.rate.new_ones(())), validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        return super().expand(batch_shape, _instance=self._get_checked_instance(InverseGamma, _instance))

    @property
    def concentration(self):
        """The shape."""
        return self.base_dist.concentration

    @property
    def rate(self):
        """The scale of the reciprocal."""
        return self.base_dist.rate

    @property
    def mean(self):
        return _finite_above(self, self.rate / (self.concentration - 1), 1)

    @property
    def mode(self):
        return self.rate / (self.concentration + 1)

    @property
    def variance(self):
        a = self.concentration
        return _finite_above(self, self.rate.square() / ((a - 1).square() * (a - 2)), 2)

    def entropy(self):
        a = self.concentration
        return a + self.rate.log() + a.lgamma() - (1 + a) * a.digamma()


def _finite_above(own, value, bound):
    return value.masked_fill(own.concentration <= bound, math.inf)
