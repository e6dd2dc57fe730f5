"""torch.distributions.half_cauchy (layer 8)."""

from __future__ import annotations

import math

from . import _names as torch
from ._half import Half
from .cauchy import Cauchy
from .transformed_distribution import TransformedDistribution

__all__ = ["HalfCauchy"]


class HalfCauchy(Half, TransformedDistribution):
    """The absolute value of a Cauchy distribution around 0."""

    _tl_whole = Cauchy

    def expand(self, batch_shape, _instance=None):
        return super().expand(batch_shape, _instance=self._get_checked_instance(HalfCauchy, _instance))

    @property
    def mean(self):
        return torch.full(tuple(self._extended_shape()), math.inf, dtype=self.scale.dtype, device=self.scale.device)

    @property
    def variance(self):
        return self.base_dist.variance
