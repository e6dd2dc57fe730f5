"""torch.distributions.beta (layer 8)."""

from __future__ import annotations

from . import _names as torch
from . import constraints
from .dirichlet import Dirichlet
from .distribution import checked, ended
from .exp_family import ExponentialFamily
from .utils import are_numbers, broadcast_all

__all__ = ["Beta"]


class Beta(ExponentialFamily):
    """The first of two parts of a Dirichlet draw."""

    arg_constraints = {"concentration1": constraints.positive, "concentration0": constraints.positive}
    support = constraints.unit_interval
    has_rsample = True

    def __init__(self, concentration1, concentration0, validate_args=None):
        if are_numbers(concentration1, concentration0):
            both = torch.tensor([float(concentration1), float(concentration0)])
        else:
            both = torch.stack(broadcast_all(concentration1, concentration0), -1)
        self._dirichlet = Dirichlet(both, validate_args=validate_args)
        super().__init__(self._dirichlet._batch_shape, validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        new = self._get_checked_instance(Beta, _instance)
        new._dirichlet = self._dirichlet.expand(torch.Size(batch_shape))
        return ended(self, new, batch_shape)

    @property
    def mean(self):
        return self.concentration1 / (self.concentration1 + self.concentration0)

    @property
    def mode(self):
        return self._dirichlet.mode[..., 0]

    @property
    def variance(self):
        total = self.concentration1 + self.concentration0
        return self.concentration1 * self.concentration0 / (total.pow(2) * (total + 1))

    def rsample(self, sample_shape=()):
        return self._dirichlet.rsample(sample_shape).select(-1, 0)

    def log_prob(self, value):
        checked(self, value)
        return self._dirichlet.log_prob(torch.stack([value, 1.0 - value], -1))

    def entropy(self):
        return self._dirichlet.entropy()

    @property
    def concentration1(self):
        """The concentration of the part that is returned."""
        return _part(self, 0)

    @property
    def concentration0(self):
        """The concentration of the rest."""
        return _part(self, 1)

    @property
    def _natural_params(self):
        return self.concentration1, self.concentration0

    def _log_normalizer(self, x, y):
        return torch.lgamma(x) + torch.lgamma(y) - torch.lgamma(x + y)


def _part(own, i):
    part = own._dirichlet.concentration[..., i]
    return part if isinstance(part, torch.Tensor) else torch.tensor([part])
