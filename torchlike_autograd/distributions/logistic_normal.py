"""torch.distributions.logistic_normal (layer 8)."""

from __future__ import annotations

from . import constraints
from .independent import Independent
from .normal import Normal
from .transformed_distribution import TransformedDistribution
from .transforms import StickBreakingTransform

__all__ = ["LogisticNormal"]


class LogisticNormal(TransformedDistribution):
    """A stick broken at normal numbers: n of them make n + 1 parts of one."""

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.simplex
    has_rsample = True

    def __init__(self, loc, scale, validate_args=None):
        base = Normal(loc, scale, validate_args=validate_args)
        if not base.batch_shape:
            base = base.expand([1])
        super().__init__(base, StickBreakingTransform(), validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        return super().expand(batch_shape, _instance=self._get_checked_instance(LogisticNormal, _instance))

    @property
    def loc(self):
        """The means of the normal numbers."""
        return _normal(self).loc

    @property
    def scale(self):
        """Their standard deviations."""
        return _normal(self).scale


def _normal(own):
    return own.base_dist.base_dist if isinstance(own.base_dist, Independent) else own.base_dist
