"""torch.distributions.half_normal (layer 8)."""

from __future__ import annotations

import math

from ._half import Half
from .normal import Normal
from .transformed_distribution import TransformedDistribution

__all__ = ["HalfNormal"]


class HalfNormal(Half, TransformedDistribution):
    """The absolute value of a normal distribution around 0."""

    _tl_whole = Normal

    def expand(self, batch_shape, _instance=None):
        return super().expand(batch_shape, _instance=self._get_checked_instance(HalfNormal, _instance))

    @property
    def mean(self):
        return self.scale * math.sqrt(2 / math.pi)

    @property
    def variance(self):
        return self.scale.pow(2) * (1 - 2 / math.pi)
