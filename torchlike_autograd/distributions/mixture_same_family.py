"""torch.distributions.mixture_same_family (layer 8)."""

from __future__ import annotations

from . import _names as torch
from . import constraints
from .categorical import Categorical
from .constraints import MixtureSameFamilyConstraint
from .distribution import Distribution, checked, ended

__all__ = ["MixtureSameFamily"]


class MixtureSameFamily(Distribution):
    """A mixture: the last batch dim of the component distribution is chosen by a Categorical."""

    arg_constraints: dict = {}
    has_rsample = False

    def __init__(self, mixture_distribution, component_distribution, validate_args=None):
        self._mixture_distribution, self._component_distribution = mixture_distribution, component_distribution
        if not isinstance(mixture_distribution, Categorical):
            raise ValueError(" The Mixture distribution needs to be an  instance of torch.distributions.Categorical")
        if not isinstance(component_distribution, Distribution):
            raise ValueError("The Component distribution needs to be an instance of torch.distributions.Distribution")
        chosen, batch = mixture_distribution.batch_shape, component_distribution.batch_shape[:-1]
        for size1, size2 in zip(reversed(chosen), reversed(batch)):
            if size1 != 1 and size2 != 1 and size1 != size2:
                raise ValueError(f"`mixture_distribution.batch_shape` ({chosen}) is not compatible with "
                                 f"`component_distribution.batch_shape`({batch})")
        k, components = mixture_distribution.logits.shape[-1], component_distribution.batch_shape[-1]
        if k is not None and components is not None and k != components:
            raise ValueError(f"`mixture_distribution component` ({k}) does not equal `component_distribution.batch_shape[-1]` ({components})")
        self._num_component = k
        event_shape = component_distribution.event_shape
        self._event_ndims = len(event_shape)
        super().__init__(batch_shape=batch, event_shape=event_shape, validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        shape = torch.Size(batch_shape)
        new = self._get_checked_instance(MixtureSameFamily, _instance)
        new._component_distribution = self._component_distribution.expand(shape + torch.Size((self._num_component,)))
        new._mixture_distribution = self._mixture_distribution.expand(shape)
        new._num_component, new._event_ndims = self._num_component, self._event_ndims
        return ended(self, new, shape, new._component_distribution.event_shape)

    @constraints.dependent_property
    def support(self):
        return MixtureSameFamilyConstraint(self._component_distribution.support)

    @property
    def mixture_distribution(self):
        """The Categorical that chooses."""
        return self._mixture_distribution

    @property
    def component_distribution(self):
        """The distributions that are mixed."""
        return self._component_distribution

    @property
    def mean(self):
        weights = self._pad_mixture_dimensions(self.mixture_distribution.probs)
        return torch.sum(weights * self.component_distribution.mean, dim=_component_dim(self))

    @property
    def variance(self):
        """The mean of the variances and the variance of the means."""
        weights = self._pad_mixture_dimensions(self.mixture_distribution.probs)
        within = torch.sum(weights * self.component_distribution.variance, dim=_component_dim(self))
        between = torch.sum(weights * (self.component_distribution.mean - self._pad(self.mean)).pow(2.0), dim=_component_dim(self))
        return within + between

    def cdf(self, x):
        below = self.component_distribution.cdf(self._pad(x))
        return torch.sum(below * self.mixture_distribution.probs, dim=-1)

    def log_prob(self, x):
        checked(self, x)
        of_each = self.component_distribution.log_prob(self._pad(x))
        weights = torch.log_softmax(self.mixture_distribution.logits, dim=-1)
        return torch.logsumexp(of_each + weights, dim=-1)

    def sample(self, sample_shape=torch.Size()):
        with torch.no_grad():
            front = len(sample_shape) + len(self.batch_shape)
            chosen = self.mixture_distribution.sample(sample_shape)
            drawn = self.component_distribution.sample(sample_shape)
            places = chosen.reshape(chosen.shape + torch.Size([1] * (self._event_ndims + 1)))
            places = places.repeat(torch.Size([1] * len(chosen.shape)) + torch.Size([1]) + self.event_shape)
            return torch.gather(drawn, front, places).squeeze(front)

    def _pad(self, x):
        return x.unsqueeze(_component_dim(self))

    def _pad_mixture_dimensions(self, x):
        missing = len(self.batch_shape) - len(self.mixture_distribution.batch_shape)
        shape = x.shape
        return x.reshape(shape[:-1] + torch.Size([1] * missing) + shape[-1:] + torch.Size([1] * self._event_ndims))

    def __repr__(self):
        return f"MixtureSameFamily(\n  {self.mixture_distribution},\n  {self.component_distribution})"


def _component_dim(own):
    return -1 - own._event_ndims
