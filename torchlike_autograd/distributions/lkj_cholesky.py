"""torch.distributions.lkj_cholesky (layer 8)."""

from __future__ import annotations

import math

from . import _names as torch
from . import constraints
from .beta import Beta
from .distribution import Distribution, checked, ended
from .utils import broadcast_all

__all__ = ["LKJCholesky"]


class LKJCholesky(Distribution):
    """Cholesky factors of correlation matrices with a density of |correlation|^(concentration - 1) (Lewandowski, Kurowicka and Joe, 2009)."""

    arg_constraints = {"concentration": constraints.positive}
    support = constraints.corr_cholesky

    def __init__(self, dim, concentration=1.0, validate_args=None):
        if dim < 2:
            raise ValueError(f"Expected dim to be an integer greater than or equal to 2. Found dim={dim}.")
        self.dim = dim
        (self.concentration,) = broadcast_all(concentration)
        like = {"dtype": self.concentration.dtype, "device": self.concentration.device}
        row = torch.cat([torch.zeros((1,), **like), torch.arange(dim - 1, **like)])  # how many places a row has, less its diagonal and one more
        marginal = self.concentration + 0.5 * (dim - 2)
        self._beta = Beta(row + 0.5, marginal.unsqueeze(-1) - 0.5 * row)
        super().__init__(self.concentration.size(), torch.Size((dim, dim)), validate_args)

    def expand(self, batch_shape, _instance=None):
        new = self._get_checked_instance(LKJCholesky, _instance)
        shape = torch.Size(batch_shape)
        new.dim, new.concentration = self.dim, self.concentration.expand(shape)
        new._beta = self._beta.expand((*shape, self.dim))
        return ended(self, new, shape, self.event_shape)

    def sample(self, sample_shape=torch.Size()):
        """The onion method: each row is a direction times the root of a beta number, the rest of it on the diagonal."""
        y = self._beta.sample(sample_shape).unsqueeze(-1)
        normal = torch.randn(self._extended_shape(sample_shape), dtype=y.dtype, device=y.device).tril(-1)
        direction = normal / normal.norm(dim=-1, keepdim=True)
        direction[..., 0, :].fill_(0.0)
        w = torch.sqrt(y) * direction
        rest = torch.clamp(1 - torch.sum(w**2, dim=-1), min=torch.finfo(w.dtype).tiny).sqrt()
        return w + torch.diag_embed(rest)

    def log_prob(self, value):
        checked(self, value)
        n, eta = self.dim, self.concentration
        diagonal = value.diagonal(dim1=-1, dim2=-2)[..., 1:]
        powers = 2 * (eta - 1).unsqueeze(-1) + n - torch.arange(2, n + 1, device=eta.device)
        alpha = eta + 0.5 * (n - 1)
        constant = 0.5 * (n - 1) * math.log(math.pi) + torch.mvlgamma(alpha - 0.5, n - 1) - torch.lgamma(alpha) * (n - 1)
        return torch.sum(powers * diagonal.log(), dim=-1) - constant
