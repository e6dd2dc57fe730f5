"""torch.distributions.dirichlet (layer 8)."""

from __future__ import annotations

from ..autograd.function import Function, once_differentiable
from . import _names as torch
from . import constraints
from .distribution import checked, ended
from .exp_family import ExponentialFamily

__all__ = ["Dirichlet"]


def _Dirichlet_backward(x, concentration, grad_output):
    """The gradient in the concentrations: each one moves its own part, and the others in proportion."""
    total = concentration.sum(-1, True).expand_as(concentration)
    return torch._dirichlet_grad(x, concentration, total) * (grad_output - (x * grad_output).sum(-1, True))


class _Dirichlet(Function):
    """A draw, with its implicit derivative of first order."""

    @staticmethod
    def forward(ctx, concentration):
        x = torch._sample_dirichlet(concentration)
        ctx.save_for_backward(x, concentration)
        return x

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        return _Dirichlet_backward(*ctx.saved_tensors, grad_output)


class Dirichlet(ExponentialFamily):
    """Vectors of parts that sum to one, with the concentrations along the last dim."""

    arg_constraints = {"concentration": constraints.independent(constraints.positive, 1)}
    support = constraints.simplex
    has_rsample = True

    def __init__(self, concentration, validate_args=None):
        if concentration.dim() < 1:
            raise ValueError("`concentration` parameter must be at least one-dimensional.")
        self.concentration = concentration
        super().__init__(concentration.shape[:-1], concentration.shape[-1:], validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        new = self._get_checked_instance(Dirichlet, _instance)
        new.concentration = self.concentration.expand(torch.Size(batch_shape) + self.event_shape)
        return ended(self, new, batch_shape, self.event_shape)

    def rsample(self, sample_shape=()):
        return _Dirichlet.apply(self.concentration.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value):
        checked(self, value)
        a = self.concentration
        return torch.xlogy(a - 1.0, value).sum(-1) + torch.lgamma(a.sum(-1)) - torch.lgamma(a).sum(-1)

    @property
    def mean(self):
        return self.concentration / self.concentration.sum(-1, True)

    @property
    def mode(self):
        """The mode where all concentrations are above 1, or the corner of the largest one where none is; between, where the others are 0."""
        above = (self.concentration - 1).clamp(min=0.0)
        mode = above / above.sum(-1, True)
        corner = (self.concentration < 1).all(dim=-1)
        mode[corner] = torch.functional.one_hot(mode[corner].argmax(dim=-1), above.shape[-1]).to(mode)
        return mode

    @property
    def variance(self):
        total = self.concentration.sum(-1, True)
        return self.concentration * (total - self.concentration) / (total.pow(2) * (total + 1))

    def entropy(self):
        a, k = self.concentration, self.concentration.size(-1)
        total = a.sum(-1)
        return torch.lgamma(a).sum(-1) - torch.lgamma(total) - (k - total) * torch.digamma(total) - ((a - 1.0) * torch.digamma(a)).sum(-1)

    @property
    def _natural_params(self):
        return (self.concentration,)

    def _log_normalizer(self, x):
        return x.lgamma().sum(-1) - torch.lgamma(x.sum(-1))
