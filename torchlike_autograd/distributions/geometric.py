"""torch.distributions.geometric (layer 8)."""

from __future__ import annotations

from . import _names as torch
from . import constraints
from ._validity import require
from .distribution import Binary, Distribution, checked, take_either
from .utils import broadcast_all, lazy_property, probs_to_logits

__all__ = ["Geometric"]


def _not_positive(value, distribution):
    return (f"Expected parameter probs ({type(value).__name__} of shape {tuple(value.shape)}) of distribution {distribution!r} "
            f"to be positive but found invalid values:\n{value[~(value > 0)]}")


class Geometric(Binary, Distribution):
    """The number of failures before the first success."""

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.nonnegative_integer
    _tl_params = Binary._tl_params

    def __init__(self, probs=None, logits=None, validate_args=None):
        take_either(self, probs, logits, validate_args)
        if self._validate_args and probs is not None:
            require(self.probs > 0, _not_positive, self.probs, self)

    @property
    def mean(self):
        return 1.0 / self.probs - 1.0

    @property
    def mode(self):
        return torch.zeros_like(self.probs)

    @property
    def variance(self):
        return (1.0 / self.probs - 1.0) / self.probs

    @lazy_property
    def logits(self):
        """Log-odds of success."""
        return probs_to_logits(self.probs, is_binary=True)

    def sample(self, sample_shape=torch.Size()):
        shape = self._extended_shape(sample_shape)
        with torch.no_grad():
            u = self.probs.new_empty(shape).uniform_(torch.finfo(self.probs.dtype).tiny, 1)
            return (u.log() / (-self.probs).log1p()).floor()

    def log_prob(self, value):
        checked(self, value)
        value, probs = broadcast_all(value, self.probs)
        failing = -probs.clone(memory_format=torch.contiguous_format)
        failing[(failing == -1) & (value == 0)] = 0
        return value * failing.log1p() + self.probs.log()

    def entropy(self):
        return torch.functional.binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none") / self.probs
