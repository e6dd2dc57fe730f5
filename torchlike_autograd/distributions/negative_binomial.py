"""torch.distributions.negative_binomial (layer 8)."""

from __future__ import annotations

from . import _names as torch
from . import constraints
from .distribution import Distribution, Noted, checked, take_either
from .gamma import Gamma
from .utils import broadcast_all, lazy_property

__all__ = ["NegativeBinomial"]


class NegativeBinomial(Noted, Distribution):
    """The number of successes before `total_count` failures."""

    arg_constraints = {"total_count": constraints.greater_than_eq(0), "probs": constraints.half_open_interval(0.0, 1.0), "logits": constraints.real}
    support = constraints.nonnegative_integer
    _tl_params = ("total_count", *Noted._tl_params)

    def __init__(self, total_count, probs=None, logits=None, validate_args=None):
        def both(param):
            self.total_count, param = broadcast_all(total_count, param)
            self.total_count = self.total_count.type_as(param)
            return (param,)

        take_either(self, probs, logits, validate_args, both)

    @property
    def mean(self):
        return self.total_count * torch.exp(self.logits)

    @property
    def mode(self):
        return ((self.total_count - 1) * self.logits.exp()).floor().clamp(min=0.0)

    @property
    def variance(self):
        return self.mean / torch.sigmoid(-self.logits)

    @lazy_property
    def _gamma(self):
        return Gamma(concentration=self.total_count, rate=torch.exp(-self.logits), validate_args=False)

    def sample(self, sample_shape=torch.Size()):
        with torch.no_grad():
            return torch.poisson(self._gamma.sample(sample_shape=sample_shape))

    def log_prob(self, value):
        checked(self, value)
        n, logits = self.total_count, self.logits
        unnormalized = n * torch.functional.logsigmoid(-logits) + value * torch.functional.logsigmoid(logits)
        normalizer = -torch.lgamma(n + value) + torch.lgamma(1.0 + value) + torch.lgamma(n)
        return unnormalized - normalizer.masked_fill(n + value == 0.0, 0.0)
