"""torch.distributions.multinomial (layer 8)."""

from __future__ import annotations

from . import _names as torch
from . import constraints
from .binomial import Binomial
from .categorical import Categorical
from .distribution import Distribution, checked, ended
from .utils import broadcast_all

__all__ = ["Multinomial"]


class Multinomial(Distribution):
    """How often each category comes in `total_count` draws."""

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}

    def __init__(self, total_count=1, probs=None, logits=None, validate_args=None):
        if not isinstance(total_count, int):
            raise NotImplementedError("inhomogeneous total_count is not supported")
        self.total_count = total_count
        self._categorical = Categorical(probs=probs, logits=logits)
        self._binomial = Binomial(total_count=total_count, probs=self.probs)
        super().__init__(self._categorical.batch_shape, self._categorical.param_shape[-1:], validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        new = self._get_checked_instance(Multinomial, _instance)
        new.total_count = self.total_count
        new._categorical = self._categorical.expand(torch.Size(batch_shape))
        return ended(self, new, batch_shape, self.event_shape)

    def _new(self, *args, **kwargs):
        return self._categorical._new(*args, **kwargs)

    @constraints.dependent_property(is_discrete=True, event_dim=1)
    def support(self):
        return constraints.multinomial(self.total_count)

    @property
    def probs(self):
        """The probabilities."""
        return self._categorical.probs

    @property
    def logits(self):
        """Logarithms of the probabilities."""
        return self._categorical.logits

    @property
    def param_shape(self):
        """The shape of the parameter that was given."""
        return self._categorical.param_shape

    @property
    def mean(self):
        return self.probs * self.total_count

    @property
    def variance(self):
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape=torch.Size()):
        sample_shape = torch.Size(sample_shape)
        drawn = self._categorical.sample(torch.Size((self.total_count,)) + sample_shape)
        drawn = drawn.permute(*range(1, drawn.dim()), 0)
        counts = self.probs.new_zeros(self._extended_shape(sample_shape))
        counts.scatter_add_(-1, drawn, torch.ones_like(drawn, dtype=counts.dtype))
        return counts

    def entropy(self):
        n = torch.tensor(self.total_count, device=self.probs.device)
        values = self._binomial.enumerate_support(expand=False)[1:]
        weights = torch.exp(self._binomial.log_prob(values))
        return n * self._categorical.entropy() - torch.lgamma(n + 1) + (weights * torch.lgamma(values + 1)).sum([0, -1])

    def log_prob(self, value):
        checked(self, value)
        logits, value = broadcast_all(self.logits, value)
        logits = logits.clone(memory_format=torch.contiguous_format)
        ways = torch.lgamma(value.sum(-1) + 1) - torch.lgamma(value + 1).sum(-1)
        logits[(value == 0) & (logits == -torch.inf)] = 0
        return ways + (logits * value).sum(-1)
