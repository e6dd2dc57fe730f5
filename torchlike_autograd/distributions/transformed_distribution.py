"""torch.distributions.transformed_distribution (layer 8)."""

from __future__ import annotations

from . import _names as torch
from . import constraints
from .distribution import Distribution, checked, ended
from .independent import Independent
from .transforms import ComposeTransform, Transform
from .utils import _sum_rightmost

__all__ = ["TransformedDistribution"]


class TransformedDistribution(Distribution):
    """The distribution of the images of a base distribution's values under transforms."""

    arg_constraints: dict = {}

    def __init__(self, base_distribution, transforms, validate_args=None):
        if isinstance(transforms, Transform):
            self.transforms = [transforms]
        elif isinstance(transforms, list):
            if not all(isinstance(t, Transform) for t in transforms):
                raise ValueError("transforms must be a Transform or a list of Transforms")
            self.transforms = transforms
        else:
            raise ValueError(f"transforms must be a Transform or list, but was {transforms}")
        whole = ComposeTransform(self.transforms)
        batch, event = _fit(self, base_distribution, whole)
        super().__init__(batch, event, validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        new = self._get_checked_instance(TransformedDistribution, _instance)
        shape = torch.Size(batch_shape)
        whole = shape + self.event_shape
        for t in reversed(self.transforms):
            whole = t.inverse_shape(whole)
        new.base_dist = self.base_dist.expand(whole[:len(whole) - len(self.base_dist.event_shape)])
        new.transforms = self.transforms
        return ended(self, new, shape, self.event_shape)

    @constraints.dependent_property(is_discrete=False)
    def support(self):
        if not self.transforms:
            return self.base_dist.support
        found = self.transforms[-1].codomain
        if len(self.event_shape) > found.event_dim:
            found = constraints.independent(found, len(self.event_shape) - found.event_dim)
        return found

    @property
    def has_rsample(self):
        return self.base_dist.has_rsample

    def sample(self, sample_shape=torch.Size()):
        with torch.no_grad():
            return _through(self, self.base_dist.sample(sample_shape))

    def rsample(self, sample_shape=torch.Size()):
        return _through(self, self.base_dist.rsample(sample_shape))

    def log_prob(self, value):
        checked(self, value)
        dims, log_prob, y = len(self.event_shape), 0.0, value
        for t in reversed(self.transforms):
            x = t.inv(y)
            dims += t.domain.event_dim - t.codomain.event_dim
            log_prob = log_prob - _sum_rightmost(t.log_abs_det_jacobian(x, y), dims - t.domain.event_dim)
            y = x
        return log_prob + _sum_rightmost(self.base_dist.log_prob(y), dims - len(self.base_dist.event_shape))

    def _monotonize_cdf(self, value):
        """The same where the transforms rise, 1 - value where they fall."""
        sign = 1
        for t in self.transforms:
            sign = sign * t.sign
        if isinstance(sign, int) and sign == 1:
            return value
        return sign * (value - 0.5) + 0.5

    def cdf(self, value):
        for t in self.transforms[::-1]:
            value = t.inv(value)
        if self._validate_args:
            self.base_dist._validate_sample(value)
        return self._monotonize_cdf(self.base_dist.cdf(value))

    def icdf(self, value):
        return _through(self, self.base_dist.icdf(self._monotonize_cdf(value)))


def _through(own, x):
    for t in own.transforms:
        x = t(x)
    return x


def _fit(own, base, whole):
    """Keep the base distribution, expanded and reinterpreted as far as the transforms ask for; the shapes of the images."""
    shape = base.batch_shape + base.event_shape
    if len(shape) < whole.domain.event_dim:
        raise ValueError("base_distribution needs to have shape with size at least "
                         f"{whole.domain.event_dim}, but got {shape}.")
    forward = whole.forward_shape(shape)
    wanted = whole.inverse_shape(forward)
    if shape != wanted:
        base = base.expand(wanted[:len(wanted) - len(base.event_shape)])
    missing = whole.domain.event_dim - len(base.event_shape)
    own.base_dist = Independent(base, missing) if missing > 0 else base
    gained = whole.codomain.event_dim - whole.domain.event_dim
    event_dim = max(whole.codomain.event_dim, len(base.event_shape) + gained)
    cut = len(forward) - event_dim
    return torch.Size(forward[:cut]), torch.Size(forward[cut:])
