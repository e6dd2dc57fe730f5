"""torch.distributions.fishersnedecor (layer 8)."""

from __future__ import annotations

import math

from . import _names as torch
from . import constraints
from .distribution import Distribution, Elementwise, checked, take
from .gamma import Gamma

__all__ = ["FisherSnedecor"]


class FisherSnedecor(Elementwise, Distribution):
    """The F distribution: the ratio of two means of squares, of `df1` and `df2` standard normals."""

    arg_constraints = {"df1": constraints.positive, "df2": constraints.positive}
    support = constraints.positive
    has_rsample = True
    _tl_params = ("df1", "df2")

    def __init__(self, df1, df2, validate_args=None):
        take(self, validate_args, df1=df1, df2=df2)

    def _tl_make_parts(self):
        self._gamma1, self._gamma2 = (Gamma(df * 0.5, df) for df in (self.df1, self.df2))

    def _tl_expand_more(self, new, shape):
        new._gamma1, new._gamma2 = self._gamma1.expand(shape), self._gamma2.expand(shape)

    @property
    def mean(self):
        df2 = self.df2.masked_fill(self.df2 <= 2, math.nan)
        return df2 / (df2 - 2)

    @property
    def mode(self):
        mode = (self.df1 - 2) / self.df1 * self.df2 / (self.df2 + 2)
        return mode.masked_fill(self.df1 <= 2, math.nan)

    @property
    def variance(self):
        df2 = self.df2.masked_fill(self.df2 <= 4, math.nan)
        return 2 * df2.pow(2) * (self.df1 + df2 - 2) / (self.df1 * (df2 - 2).pow(2) * (df2 - 4))

    def rsample(self, sample_shape=torch.Size()):
        shape = self._extended_shape(sample_shape)
        above, below = (g.rsample(sample_shape).view(shape) for g in (self._gamma1, self._gamma2))
        tiny = torch.finfo(below.dtype).tiny
        below.clamp_(min=tiny)
        return (above / below).clamp_(min=tiny)

    def log_prob(self, value):
        checked(self, value)
        half1, half2, ratio = self.df1 * 0.5, self.df2 * 0.5, self.df1 / self.df2
        constant = (half1 + half2).lgamma() - half1.lgamma() - half2.lgamma()
        return constant + half1 * ratio.log() + (half1 - 1) * torch.log(value) - (half1 + half2) * torch.log1p(ratio * value)
