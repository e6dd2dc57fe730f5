"""torch.distributions.chi2 (layer 8)."""

from __future__ import annotations

from . import constraints
from .gamma import Gamma

__all__ = ["Chi2"]


class Chi2(Gamma):
    """The distribution of a sum of `df` squares of standard normals."""

    arg_constraints = {"df": constraints.positive}
    _tl_params = Gamma._tl_params

    def __init__(self, df, validate_args=None):
        super().__init__(0.5 * df, 0.5, validate_args=validate_args)

    @property
    def df(self):
        """Degrees of freedom."""
        return self.concentration * 2
