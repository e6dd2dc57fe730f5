"""torch.distributions.continuous_bernoulli (layer 8)."""

from __future__ import annotations

import math

from . import _names as torch
from . import constraints
from .distribution import Noted, checked, take_either
from .exp_family import ExponentialFamily
from .utils import broadcast_all, clamp_probs, lazy_property, logits_to_probs, probs_to_logits

__all__ = ["ContinuousBernoulli"]


class ContinuousBernoulli(Noted, ExponentialFamily):
    """Densities proportional to p^x (1 - p)^(1 - x) on [0, 1]; near p = 1/2, between `lims`, by their series."""

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.unit_interval
    has_rsample = True
    _mean_carrier_measure = 0
    _tl_params = Noted._tl_params

    def __init__(self, probs=None, logits=None, lims=(0.499, 0.501), validate_args=None):
        def apart(param):
            if validate_args is not None and probs is not None and not self.arg_constraints["probs"].check(param).all():
                raise ValueError("The parameter probs has invalid values")
            return param if probs is None else clamp_probs(param)

        take_either(self, probs, logits, validate_args, lambda param: map(apart, broadcast_all(param)), _lims=lims)

    def _tl_expand_more(self, new, shape):
        new._lims = self._lims
        new._tl_note_param()

    @lazy_property
    def probs(self):
        """The parameter, never 0 nor 1 where logarithms of it and of its rest are taken."""
        return clamp_probs(logits_to_probs(self.logits, is_binary=True))

    def _outside_unstable_region(self):
        return (self.probs <= self._lims[0]) | (self.probs > self._lims[1])

    def _cut_probs(self):
        return torch.where(self._outside_unstable_region(), self.probs, torch.full_like(self.probs, self._lims[0]))

    def _cont_bern_log_norm(self):
        """The logarithm of the constant of the density: 2 atanh(1 - 2 p) / (1 - 2 p)."""
        cut = self._cut_probs()
        below = torch.where(cut <= 0.5, cut, torch.zeros_like(cut))
        above = torch.where(cut >= 0.5, cut, torch.ones_like(cut))
        norm = torch.log(torch.abs(torch.log1p(-cut) - torch.log(cut))) - torch.where(cut <= 0.5, torch.log1p(-2.0 * below), torch.log(2.0 * above - 1.0))
        square = (self.probs - 0.5).pow(2)
        return torch.where(self._outside_unstable_region(), norm, math.log(2.0) + (4.0 / 3.0 + 104.0 / 45.0 * square) * square)

    @property
    def mean(self):
        cut = self._cut_probs()
        usual = cut / (2.0 * cut - 1.0) + 1.0 / (torch.log1p(-cut) - torch.log(cut))
        apart = self.probs - 0.5
        return torch.where(self._outside_unstable_region(), usual, 0.5 + (1.0 / 3.0 + 16.0 / 45.0 * apart.pow(2)) * apart)

    @property
    def stddev(self):
        return torch.sqrt(self.variance)

    @property
    def variance(self):
        cut = self._cut_probs()
        usual = cut * (cut - 1.0) / (1.0 - 2.0 * cut).pow(2) + 1.0 / (torch.log1p(-cut) - torch.log(cut)).pow(2)
        square = (self.probs - 0.5).pow(2)
        return torch.where(self._outside_unstable_region(), usual, 1.0 / 12.0 - (1.0 / 15.0 - 128.0 / 945.0 * square) * square)

    def sample(self, sample_shape=torch.Size()):
        with torch.no_grad():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape=torch.Size()):
        shape = self._extended_shape(sample_shape)
        return self.icdf(torch.rand(shape, dtype=self.probs.dtype, device=self.probs.device))

    def log_prob(self, value):
        checked(self, value)
        logits, value = broadcast_all(self.logits, value)
        return -torch.functional.binary_cross_entropy_with_logits(logits, value, reduction="none") + self._cont_bern_log_norm()

    def cdf(self, value):
        checked(self, value)
        cut = self._cut_probs()
        usual = (torch.pow(cut, value) * torch.pow(1.0 - cut, 1.0 - value) + cut - 1.0) / (2.0 * cut - 1.0)
        inside = torch.where(self._outside_unstable_region(), usual, value)
        return torch.where(value <= 0.0, torch.zeros_like(value), torch.where(value >= 1.0, torch.ones_like(value), inside))

    def icdf(self, value):
        cut = self._cut_probs()
        usual = (torch.log1p(-cut + value * (2.0 * cut - 1.0)) - torch.log1p(-cut)) / (torch.log(cut) - torch.log1p(-cut))
        return torch.where(self._outside_unstable_region(), usual, value)

    def entropy(self):
        without, with_one = torch.log1p(-self.probs), torch.log(self.probs)
        return self.mean * (without - with_one) - self._cont_bern_log_norm() - without

    @property
    def _natural_params(self):
        return (probs_to_logits(self.probs, is_binary=True),)

    def _log_normalizer(self, x):
        """log((e^x - 1) / x), by its series where x is small."""
        outside = torch.max(torch.le(x, self._lims[0] - 0.5), torch.gt(x, self._lims[1] - 0.5))
        cut = torch.where(outside, x, (self._lims[0] - 0.5) * torch.ones_like(x))
        usual = torch.log(torch.abs(torch.expm1(cut))) - torch.log(torch.abs(cut))
        return torch.where(outside, usual, 0.5 * x + torch.pow(x, 2) / 24.0 - torch.pow(x, 4) / 2880.0)
