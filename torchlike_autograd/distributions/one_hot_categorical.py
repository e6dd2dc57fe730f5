"""torch.distributions.one_hot_categorical (layer 8)."""

from __future__ import annotations

from . import _names as torch
from . import constraints
from .categorical import Categorical
from .distribution import Distribution, checked, ended

__all__ = ["OneHotCategorical", "OneHotCategoricalStraightThrough"]


class OneHotCategorical(Distribution):
    """Categories as vectors of zeros and a one."""

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    support = constraints.one_hot
    has_enumerate_support = True

    def __init__(self, probs=None, logits=None, validate_args=None):
        self._categorical = Categorical(probs, logits)
        super().__init__(self._categorical.batch_shape, self._categorical.param_shape[-1:], validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        new = self._get_checked_instance(OneHotCategorical, _instance)
        new._categorical = self._categorical.expand(torch.Size(batch_shape))
        return ended(self, new, batch_shape, self._event_shape)

    def _new(self, *args, **kwargs):
        return self._categorical._new(*args, **kwargs)

    @property
    def _param(self):
        return self._categorical._param

    @property
    def probs(self):
        """The probabilities."""
        return self._categorical.probs

    @property
    def logits(self):
        """Logarithms of the probabilities."""
        return self._categorical.logits

    @property
    def mean(self):
        return self._categorical.probs

    @property
    def mode(self):
        return torch.functional.one_hot(self.probs.argmax(dim=-1), self.probs.shape[-1]).to(self.probs)

    @property
    def variance(self):
        return self._categorical.probs * (1 - self._categorical.probs)

    @property
    def param_shape(self):
        """The shape of the parameter that was given."""
        return self._categorical.param_shape

    def sample(self, sample_shape=torch.Size()):
        probs = self._categorical.probs
        return torch.functional.one_hot(self._categorical.sample(torch.Size(sample_shape)), self._categorical._num_events).to(probs)

    def log_prob(self, value):
        checked(self, value)
        return self._categorical.log_prob(value.max(-1)[1])

    def entropy(self):
        return self._categorical.entropy()

    def enumerate_support(self, expand=True):
        n = self.event_shape[0]
        values = torch.eye(n, dtype=self._param.dtype, device=self._param.device).view((n, *(1,) * len(self.batch_shape), n))
        return values.expand((n, *self.batch_shape, n)) if expand else values


class OneHotCategoricalStraightThrough(OneHotCategorical):
    """The same, with the gradients of the probabilities in place of those of the draw."""

    has_rsample = True

    def rsample(self, sample_shape=torch.Size()):
        drawn, probs = self.sample(sample_shape), self._categorical.probs
        return drawn + (probs - probs.detach())
