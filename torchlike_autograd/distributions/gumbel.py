"""torch.distributions.gumbel (layer 8)."""

from __future__ import annotations

import math

from . import _names as torch
from . import constraints
from .distribution import checked
from .transformed_distribution import TransformedDistribution
from .transforms import AffineTransform, ExpTransform
from .uniform import Uniform
from .utils import are_numbers, broadcast_all, euler_constant

__all__ = ["Gumbel"]


class Gumbel(TransformedDistribution):
    """loc - scale log(-log(u)) for uniform u: the distribution of the largest of many."""

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real

    def __init__(self, loc, scale, validate_args=None):
        self.loc, self.scale = broadcast_all(loc, scale)
        kind = torch.finfo(self.loc.dtype)
        low, high = kind.tiny, 1 - kind.eps
        if not are_numbers(loc, scale):
            low, high = (torch.full_like(self.loc, x) for x in (low, high))
        super().__init__(Uniform(low, high, validate_args=validate_args), _steps(self), validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        new = self._get_checked_instance(Gumbel, _instance)
        new.loc, new.scale = self.loc.expand(batch_shape), self.scale.expand(batch_shape)
        return super().expand(batch_shape, _instance=new)

    def log_prob(self, value):
        checked(self, value)
        y = (self.loc - value) / self.scale
        return y - y.exp() - self.scale.log()

    @property
    def mean(self):
        return self.loc + self.scale * euler_constant

    @property
    def mode(self):
        return self.loc

    @property
    def stddev(self):
        return math.pi / math.sqrt(6) * self.scale

    @property
    def variance(self):
        return self.stddev.pow(2)

    def entropy(self):
        return self.scale.log() + (1 + euler_constant)


def _steps(own):
    return [ExpTransform().inv, AffineTransform(loc=0, scale=-torch.ones_like(own.scale)), ExpTransform().inv,
            AffineTransform(loc=own.loc, scale=-own.scale)]
