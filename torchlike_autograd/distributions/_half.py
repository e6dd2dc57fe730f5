"""The absolute value of a distribution around 0 (layer 8): what half-normal and half-Cauchy share."""

from __future__ import annotations

import math

from . import _names as torch
from . import constraints
from .distribution import checked
from .transforms import AbsTransform


class Half:
    """Twice the density of `_tl_whole` on the non-negative side."""

    arg_constraints = {"scale": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True
    _tl_whole: type

    def __init__(self, scale, validate_args=None):
        super().__init__(self._tl_whole(0, scale, validate_args=False), AbsTransform(), validate_args=validate_args)

    @property
    def scale(self):
        """The scale before the absolute value is taken."""
        return self.base_dist.scale

    @property
    def mode(self):
        return torch.zeros_like(self.scale)

    def log_prob(self, value):
        checked(self, value)
        value = torch.as_tensor(value, dtype=self.scale.dtype, device=self.scale.device)
        log_prob = self.base_dist.log_prob(value) + math.log(2)
        return torch.where(value >= 0, log_prob, -math.inf)

    def cdf(self, value):
        checked(self, value)
        return 2 * self.base_dist.cdf(value) - 1

    def icdf(self, prob):
        return self.base_dist.icdf((prob + 1) / 2)

    def entropy(self):
        return self.base_dist.entropy() - math.log(2)
