"""torch.distributions.binomial (layer 8)."""

from __future__ import annotations

from . import _names as torch
from . import constraints
from .distribution import Distribution, Noted, checked, take_either
from .utils import broadcast_all

__all__ = ["Binomial"]


def _softplus_of(x):
    """max(x, 0), whose derivative is shared at 0."""
    return (x.clamp(min=0) + x - x.clamp(max=0)) / 2


class Binomial(Noted, Distribution):
    """The number of successes in `total_count` trials."""

    arg_constraints = {"total_count": constraints.nonnegative_integer, "probs": constraints.unit_interval, "logits": constraints.real}
    has_enumerate_support = True
    _tl_params = ("total_count", *Noted._tl_params)

    def __init__(self, total_count=1, probs=None, logits=None, validate_args=None):
        def both(param):
            self.total_count, param = broadcast_all(total_count, param)
            self.total_count = self.total_count.type_as(param)
            return (param,)

        take_either(self, probs, logits, validate_args, both)

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self):
        return constraints.integer_interval(0, self.total_count)

    @property
    def mean(self):
        return self.total_count * self.probs

    @property
    def mode(self):
        return ((self.total_count + 1) * self.probs).floor().clamp(max=self.total_count)

    @property
    def variance(self):
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape=torch.Size()):
        shape = self._extended_shape(sample_shape)
        with torch.no_grad():
            return torch.binomial(self.total_count.expand(shape), self.probs.expand(shape))

    def log_prob(self, value):
        checked(self, value)
        n, logits = self.total_count, self.logits
        ways = torch.lgamma(n + 1) - torch.lgamma(value + 1) - torch.lgamma(n - value + 1)
        normalizer = n * _softplus_of(logits) + n * torch.log1p(torch.exp(-torch.abs(logits)))
        return value * logits + ways - normalizer

    def entropy(self):
        largest = int(self.total_count.max())
        if not self.total_count.min() == largest:
            raise NotImplementedError("Inhomogeneous total count not supported by `entropy`.")
        log_prob = self.log_prob(self.enumerate_support(False))
        return -(torch.exp(log_prob) * log_prob).sum(0)

    def enumerate_support(self, expand=True):
        largest = int(self.total_count.max())
        if not self.total_count.min() == largest:
            raise NotImplementedError("Inhomogeneous total count not supported by `enumerate_support`.")
        values = torch.arange(1 + largest, dtype=self._param.dtype, device=self._param.device).view((-1, *(1,) * len(self._batch_shape)))
        return values.expand((-1, *self._batch_shape)) if expand else values
