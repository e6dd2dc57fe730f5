"""torch.distributions.multivariate_normal (layer 8)."""

from __future__ import annotations

import math

from . import _names as torch
from . import constraints
from .distribution import Distribution, Located, checked, ended
from .utils import _standard_normal, lazy_property

__all__ = ["MultivariateNormal"]


def _batch_mv(matrix, vector):
    """Matrices times vectors, batch by batch."""
    return torch.matmul(matrix, vector.unsqueeze(-1)).squeeze(-1)


def _batch_mahalanobis(lower, x):
    """|L^-1 x|^2 for stacks of Cholesky factors and of vectors, whose batch dims broadcast."""
    n = x.shape[-1]
    batch = torch.broadcast_shapes(lower.shape[:-2], x.shape[:-1])
    solved = torch.solve_triangular(lower.expand((*batch, n, n)), x.expand((*batch, n)).unsqueeze(-1), upper=False)
    return solved.pow(2).sum((-2, -1))


def _precision_to_scale_tril(precision):
    """The Cholesky factor of the inverse of a positive definite matrix, from the factor of the matrix turned around."""
    turned = torch.safe_cholesky(torch.flip(precision, (-2, -1)))
    inverse = torch.transpose(torch.flip(turned, (-2, -1)), -2, -1)
    eye = torch.eye(precision.shape[-1], dtype=precision.dtype, device=precision.device)
    return torch.solve_triangular(inverse, eye.expand(inverse.shape), upper=False)


def _half_log_det(lower):
    return lower.diagonal(dim1=-2, dim2=-1).log().sum(-1)


_MATRICES = ("covariance_matrix", "precision_matrix", "scale_tril")


class MultivariateNormal(Located, Distribution):
    """Normal vectors; their covariance is given itself, by its inverse or by its Cholesky factor."""

    arg_constraints = {"loc": constraints.real_vector, "covariance_matrix": constraints.positive_definite, "precision_matrix": constraints.positive_definite,
                       "scale_tril": constraints.lower_cholesky}
    support = constraints.real_vector
    has_rsample = True

    def __init__(self, loc, covariance_matrix=None, precision_matrix=None, scale_tril=None, validate_args=None):
        if loc.dim() < 1:
            raise ValueError("loc must be at least one-dimensional.")
        given = {k: v for k, v in zip(_MATRICES, (covariance_matrix, precision_matrix, scale_tril)) if v is not None}
        if len(given) != 1:
            raise ValueError("Exactly one of covariance_matrix or precision_matrix or scale_tril may be specified.")
        ((name, matrix),) = given.items()
        if matrix.dim() < 2:
            said = "scale_tril matrix" if name == "scale_tril" else name
            raise ValueError(f"{said} must be at least two-dimensional, with optional leading batch dimensions")
        batch_shape = torch.broadcast_shapes(matrix.shape[:-2], loc.shape[:-1])
        setattr(self, name, matrix.expand((*batch_shape, -1, -1)))
        self.loc = loc.expand((*batch_shape, -1))
        super().__init__(batch_shape, self.loc.shape[-1:], validate_args=validate_args)
        self._unbroadcasted_scale_tril = _factor(name, matrix)

    def expand(self, batch_shape, _instance=None):
        new = self._get_checked_instance(MultivariateNormal, _instance)
        shape = torch.Size(batch_shape)
        new.loc = self.loc.expand(shape + self.event_shape)
        new._unbroadcasted_scale_tril = self._unbroadcasted_scale_tril
        for name in _MATRICES:
            if name in self.__dict__:
                setattr(new, name, getattr(self, name).expand(shape + self.event_shape + self.event_shape))
        return ended(self, new, shape, self.event_shape)

    @lazy_property
    def scale_tril(self):
        """The Cholesky factor of the covariance."""
        return _square(self, self._unbroadcasted_scale_tril)

    @lazy_property
    def covariance_matrix(self):
        """The covariance."""
        return _square(self, torch.matmul(self._unbroadcasted_scale_tril, self._unbroadcasted_scale_tril.mT))

    @lazy_property
    def precision_matrix(self):
        """The inverse of the covariance."""
        return _square(self, torch.cholesky_inverse(self._unbroadcasted_scale_tril))

    @property
    def variance(self):
        return self._unbroadcasted_scale_tril.pow(2).sum(-1).expand(self._batch_shape + self._event_shape)

    def rsample(self, sample_shape=torch.Size()):
        shape = self._extended_shape(sample_shape)
        eps = _standard_normal(shape, dtype=self.loc.dtype, device=self.loc.device)
        return self.loc + _batch_mv(self._unbroadcasted_scale_tril, eps)

    def log_prob(self, value):
        checked(self, value)
        lower = self._unbroadcasted_scale_tril
        distance = _batch_mahalanobis(lower, value - self.loc)
        return -0.5 * (self._event_shape[0] * math.log(2 * math.pi) + distance) - _half_log_det(lower)

    def entropy(self):
        h = 0.5 * self._event_shape[0] * (1.0 + math.log(2 * math.pi)) + _half_log_det(self._unbroadcasted_scale_tril)
        return h if len(self._batch_shape) == 0 else h.expand(self._batch_shape)


def _square(own, matrix):
    return matrix.expand(own._batch_shape + own._event_shape + own._event_shape)


def _factor(name, matrix):
    """The Cholesky factor of a covariance that is given in one of three ways."""
    if name == "scale_tril":
        return matrix
    return torch.safe_cholesky(matrix) if name == "covariance_matrix" else _precision_to_scale_tril(matrix)
