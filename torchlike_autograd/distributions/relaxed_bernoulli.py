"""torch.distributions.relaxed_bernoulli (layer 8)."""

from __future__ import annotations

from . import _names as torch
from . import constraints
from ._relaxed import Relaxed
from .distribution import Distribution, Noted, checked, take_either
from .transformed_distribution import TransformedDistribution
from .transforms import SigmoidTransform
from .utils import broadcast_all, clamp_probs

__all__ = ["LogitRelaxedBernoulli", "RelaxedBernoulli"]


class LogitRelaxedBernoulli(Noted, Distribution):
    """The log-odds of a relaxed Bernoulli distribution: a logistic number around `logits`, divided by the temperature."""

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.real
    _tl_params = Noted._tl_params

    def __init__(self, temperature, probs=None, logits=None, validate_args=None):
        self.temperature = temperature
        take_either(self, probs, logits, validate_args)

    def _tl_expand_more(self, new, shape):
        new.temperature = self.temperature
        new._tl_note_param()

    def rsample(self, sample_shape=torch.Size()):
        shape = self._extended_shape(sample_shape)
        probs = clamp_probs(self.probs.expand(shape))
        u = clamp_probs(torch.rand(shape, dtype=probs.dtype, device=probs.device))
        return (u.log() - (-u).log1p() + probs.log() - (-probs).log1p()) / self.temperature

    def log_prob(self, value):
        checked(self, value)
        logits, value = broadcast_all(self.logits, value)
        apart = logits - value.mul(self.temperature)
        return self.temperature.log() + apart - 2 * apart.exp().log1p()


class RelaxedBernoulli(Relaxed, TransformedDistribution):
    """Numbers between 0 and 1 that come near to a Bernoulli distribution as the temperature falls."""

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.unit_interval
    has_rsample = True

    def __init__(self, temperature, probs=None, logits=None, validate_args=None):
        super().__init__(LogitRelaxedBernoulli(temperature, probs, logits), SigmoidTransform(), validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        return super().expand(batch_shape, _instance=self._get_checked_instance(RelaxedBernoulli, _instance))
