"""torch.distributions.studentT (layer 8)."""

from __future__ import annotations

import math

from . import _names as torch
from . import constraints
from .chi2 import Chi2
from .distribution import Distribution, Elementwise, checked, take
from .utils import _standard_normal

__all__ = ["StudentT"]


class StudentT(Elementwise, Distribution):
    """Student's t distribution with `df` degrees of freedom, moved by `loc` and stretched by `scale`."""

    arg_constraints = {"df": constraints.positive, "loc": constraints.real, "scale": constraints.positive}
    support = constraints.real
    has_rsample = True
    _tl_params = ("df", "loc", "scale")

    def __init__(self, df, loc=0.0, scale=1.0, validate_args=None):
        take(self, validate_args, df=df, loc=loc, scale=scale)

    def _tl_make_parts(self):
        self._chi2 = Chi2(self.df)

    def _tl_expand_more(self, new, shape):
        new._chi2 = self._chi2.expand(shape)

    @property
    def mean(self):
        return torch.where(self.df <= 1, torch.full_like(self.loc, math.nan), self.loc)

    @property
    def mode(self):
        return self.loc

    @property
    def variance(self):
        df, scale = self.df, self.scale
        finite = scale.pow(2) * df / (df - 2)
        return torch.where(df > 2, finite, torch.where(df > 1, torch.full_like(df, math.inf), torch.full_like(df, math.nan)))

    def rsample(self, sample_shape=torch.Size()):
        shape = self._extended_shape(sample_shape)
        x = _standard_normal(shape, self.df.dtype, self.df.device)
        z = self._chi2.rsample(sample_shape)
        return self.loc + self.scale * (x * torch.rsqrt(z / self.df))

    def log_prob(self, value):
        checked(self, value)
        y = (value - self.loc) / self.scale
        z = self.scale.log() + 0.5 * self.df.log() + 0.5 * math.log(math.pi) + torch.lgamma(0.5 * self.df) - torch.lgamma(0.5 * (self.df + 1.0))
        return -0.5 * (self.df + 1.0) * torch.log1p(y**2.0 / self.df) - z

    def entropy(self):
        beta = torch.lgamma(0.5 * self.df) + math.lgamma(0.5) - torch.lgamma(0.5 * (self.df + 1))
        slope = torch.digamma(0.5 * (self.df + 1)) - torch.digamma(0.5 * self.df)
        return self.scale.log() + 0.5 * (self.df + 1) * slope + 0.5 * self.df.log() + beta
