"""torch.distributions.lowrank_multivariate_normal (layer 8)."""

from __future__ import annotations

import math

from . import _names as torch
from . import constraints
from .distribution import Distribution, Located, checked, ended
from .multivariate_normal import _batch_mahalanobis, _batch_mv, _half_log_det
from .utils import _standard_normal, lazy_property

__all__ = ["LowRankMultivariateNormal"]


def _batch_capacitance_tril(w, d):
    """The Cholesky factor of I + W^T D^-1 W."""
    scaled = w.mT / d.unsqueeze(-2)
    k = torch.matmul(scaled, w)
    return torch.safe_cholesky(k + torch.eye(w.size(-1), dtype=w.dtype, device=w.device))


def _batch_lowrank_logdet(w, d, capacitance_tril):
    """log |W W^T + D|, by the determinant of the capacitance."""
    return 2 * _half_log_det(capacitance_tril) + d.log().sum(-1)


def _batch_lowrank_mahalanobis(w, d, x, capacitance_tril):
    """x^T (W W^T + D)^-1 x, by Woodbury's identity."""
    projected = _batch_mv(w.mT / d.unsqueeze(-2), x)
    return (x.pow(2) / d).sum(-1) - _batch_mahalanobis(capacitance_tril, projected)


class LowRankMultivariateNormal(Located, Distribution):
    """Normal vectors with the covariance W W^T + D: W `cov_factor`, D the diagonal `cov_diag`."""

    arg_constraints = {"loc": constraints.real_vector, "cov_factor": constraints.independent(constraints.real, 2),
                       "cov_diag": constraints.independent(constraints.positive, 1)}
    support = constraints.real_vector
    has_rsample = True

    def __init__(self, loc, cov_factor, cov_diag, validate_args=None):
        if loc.dim() < 1:
            raise ValueError("loc must be at least one-dimensional.")
        event_shape = loc.shape[-1:]
        if cov_factor.dim() < 2:
            raise ValueError("cov_factor must be at least two-dimensional, with optional leading batch dimensions")
        if cov_factor.shape[-2:-1] != event_shape:
            raise ValueError(f"cov_factor must be a batch of matrices with shape {event_shape[0]} x m")
        if cov_diag.shape[-1:] != event_shape:
            raise ValueError(f"cov_diag must be a batch of vectors with shape {event_shape}")
        try:
            wide_loc, self.cov_factor, wide_diag = torch.broadcast_tensors(loc.unsqueeze(-1), cov_factor, cov_diag.unsqueeze(-1))
        except RuntimeError as e:
            raise ValueError(f"Incompatible batch shapes: loc {loc.shape}, cov_factor {cov_factor.shape}, cov_diag {cov_diag.shape}") from e
        self.loc, self.cov_diag = wide_loc[..., 0], wide_diag[..., 0]
        self._unbroadcasted_cov_factor, self._unbroadcasted_cov_diag = cov_factor, cov_diag
        self._capacitance_tril = _batch_capacitance_tril(cov_factor, cov_diag)
        super().__init__(self.loc.shape[:-1], event_shape, validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        new = self._get_checked_instance(LowRankMultivariateNormal, _instance)
        shape = torch.Size(batch_shape)
        new.loc, new.cov_diag = (x.expand(shape + self.event_shape) for x in (self.loc, self.cov_diag))
        new.cov_factor = self.cov_factor.expand(shape + self.cov_factor.shape[-2:])
        for name in ("_unbroadcasted_cov_factor", "_unbroadcasted_cov_diag", "_capacitance_tril"):
            setattr(new, name, getattr(self, name))
        return ended(self, new, shape, self.event_shape)

    @lazy_property
    def variance(self):
        total = self._unbroadcasted_cov_factor.pow(2).sum(-1) + self._unbroadcasted_cov_diag
        return total.expand(self._batch_shape + self._event_shape)

    @lazy_property
    def scale_tril(self):
        """The Cholesky factor of the covariance: D^1/2 times that of I + D^-1/2 W W^T D^-1/2."""
        root = self._unbroadcasted_cov_diag.sqrt().unsqueeze(-1)
        scaled = self._unbroadcasted_cov_factor / root
        eye = torch.eye(self._event_shape[0], dtype=root.dtype, device=root.device)
        return _square(self, root * torch.safe_cholesky(torch.matmul(scaled, scaled.mT) + eye))

    @lazy_property
    def covariance_matrix(self):
        """The covariance."""
        w = self._unbroadcasted_cov_factor
        return _square(self, torch.matmul(w, w.mT) + torch.diag_embed(self._unbroadcasted_cov_diag))

    @lazy_property
    def precision_matrix(self):
        """The inverse of the covariance, by Woodbury's identity."""
        d = self._unbroadcasted_cov_diag
        a = torch.solve_triangular(self._capacitance_tril, self._unbroadcasted_cov_factor.mT / d.unsqueeze(-2), upper=False)
        return _square(self, torch.diag_embed(d.reciprocal()) - torch.matmul(a.mT, a))

    def rsample(self, sample_shape=torch.Size()):
        shape = self._extended_shape(sample_shape)
        of_factor = _standard_normal(shape[:-1] + self.cov_factor.shape[-1:], dtype=self.loc.dtype, device=self.loc.device)
        of_diag = _standard_normal(shape, dtype=self.loc.dtype, device=self.loc.device)
        return self.loc + _batch_mv(self._unbroadcasted_cov_factor, of_factor) + self._unbroadcasted_cov_diag.sqrt() * of_diag

    def log_prob(self, value):
        checked(self, value)
        distance = _batch_lowrank_mahalanobis(*_parts(self), value - self.loc, self._capacitance_tril)
        log_det = _batch_lowrank_logdet(*_parts(self), self._capacitance_tril)
        return -0.5 * (self._event_shape[0] * math.log(2 * math.pi) + log_det + distance)

    def entropy(self):
        h = 0.5 * (self._event_shape[0] * (1.0 + math.log(2 * math.pi)) + _batch_lowrank_logdet(*_parts(self), self._capacitance_tril))
        return h if len(self._batch_shape) == 0 else h.expand(self._batch_shape)


def _parts(own):
    return own._unbroadcasted_cov_factor, own._unbroadcasted_cov_diag


def _square(own, matrix):
    return matrix.expand(own._batch_shape + own._event_shape + own._event_shape)
