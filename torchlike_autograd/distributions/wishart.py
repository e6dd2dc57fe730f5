"""torch.distributions.wishart (layer 8)."""

from __future__ import annotations

import math

from .._core.saying import warn
from . import _names as torch
from . import constraints
from .chi2 import Chi2
from .distribution import checked, ended
from .exp_family import ExponentialFamily
from .multivariate_normal import _MATRICES, _factor, _half_log_det
from .utils import are_numbers, lazy_property

__all__ = ["Wishart"]


def _mvdigamma(x, p):
    """The sum of digamma(x - i / 2) for i below p."""
    steps = torch.arange(p, dtype=x.dtype, device=x.device).div(2).expand((*x.shape, -1))
    return torch.digamma(x.unsqueeze(-1) - steps).sum(-1)


class Wishart(ExponentialFamily):
    """Sums of `df` outer products of normal vectors; their covariance is given itself, by its inverse or by its Cholesky factor."""

    support = constraints.positive_definite
    has_rsample = True
    _mean_carrier_measure = 0

    @property
    def arg_constraints(self):
        return {"covariance_matrix": constraints.positive_definite, "precision_matrix": constraints.positive_definite, "scale_tril": constraints.lower_cholesky,
                "df": constraints.greater_than(self.event_shape[-1] - 1)}

    def __init__(self, df, covariance_matrix=None, precision_matrix=None, scale_tril=None, validate_args=None):
        given = {k: v for k, v in zip(_MATRICES, (covariance_matrix, precision_matrix, scale_tril)) if v is not None}
        if len(given) != 1:
            raise AssertionError("Exactly one of covariance_matrix or precision_matrix or scale_tril may be specified.")
        ((name, matrix),) = given.items()
        if matrix.dim() < 2:
            raise ValueError("scale_tril must be at least two-dimensional, with optional leading batch dimensions")
        if are_numbers(df):
            batch_shape = torch.Size(matrix.shape[:-2])
            self.df = torch.tensor(df, dtype=matrix.dtype, device=matrix.device)
        else:
            batch_shape = torch.broadcast_shapes(matrix.shape[:-2], df.shape)
            self.df = df.expand(batch_shape)
        event_shape = matrix.shape[-2:]
        if self.df.le(event_shape[-1] - 1).any():
            raise ValueError(f"Value of df={df} expected to be greater than ndim - 1 = {event_shape[-1] - 1}.")
        setattr(self, name, matrix.expand((*batch_shape, -1, -1)))
        super().__init__(batch_shape, event_shape, validate_args=validate_args)
        self._batch_dims = [-(i + 1) for i in range(len(self._batch_shape))]
        if self.df.lt(event_shape[-1]).any():
            warn("Low df values detected. Singular samples are highly likely to occur for ndim - 1 < df < ndim.")
        self._unbroadcasted_scale_tril = _factor(name, matrix)
        self._dist_chi2 = _squares(self, self.df)

    def expand(self, batch_shape, _instance=None):
        new = self._get_checked_instance(Wishart, _instance)
        shape = torch.Size(batch_shape)
        new._unbroadcasted_scale_tril = self._unbroadcasted_scale_tril.expand(shape + self.event_shape)
        new.df = self.df.expand(shape)
        new._batch_dims = [-(i + 1) for i in range(len(shape))]
        for name in _MATRICES:
            if name in self.__dict__:
                setattr(new, name, getattr(self, name).expand(shape + self.event_shape))
        new._event_shape = self.event_shape
        new._dist_chi2 = _squares(new, new.df)
        return ended(self, new, shape, self.event_shape)

    @lazy_property
    def scale_tril(self):
        """The Cholesky factor of the covariance."""
        return _square(self, self._unbroadcasted_scale_tril)

    @lazy_property
    def covariance_matrix(self):
        """The covariance of the vectors."""
        return _square(self, self._unbroadcasted_scale_tril @ self._unbroadcasted_scale_tril.mT)

    @lazy_property
    def precision_matrix(self):
        """Its inverse."""
        n = self._event_shape[-1]
        eye = torch.eye(n, dtype=self._unbroadcasted_scale_tril.dtype, device=self._unbroadcasted_scale_tril.device)
        return _square(self, torch.cholesky_solve(eye, self._unbroadcasted_scale_tril))

    @property
    def mean(self):
        return _as_matrix(self, self.df) * self.covariance_matrix

    @property
    def mode(self):
        """NaN where df is at most the size of the matrices plus one."""
        factor = self.df - self.covariance_matrix.shape[-1] - 1
        factor[factor <= 0] = math.nan
        return _as_matrix(self, factor) * self.covariance_matrix

    @property
    def variance(self):
        v = self.covariance_matrix
        diagonal = v.diagonal(dim1=-2, dim2=-1)
        return _as_matrix(self, self.df) * (v.pow(2) + diagonal.unsqueeze(-1) * diagonal.unsqueeze(-2))

    def _bartlett_sampling(self, sample_shape=torch.Size()):
        """Bartlett's decomposition: roots of chi-squares on the diagonal, normals below."""
        n = self._event_shape[-1]
        noise = self._dist_chi2.rsample(sample_shape).sqrt().diag_embed(dim1=-2, dim2=-1)
        rows, columns = torch.tril_indices(n, n, offset=-1)
        below = torch.randn((*torch.Size(sample_shape), *self._batch_shape, n * (n - 1) // 2), dtype=noise.dtype, device=noise.device)
        noise[..., rows, columns] = below
        lower = self._unbroadcasted_scale_tril @ noise
        return lower @ lower.mT

    def rsample(self, sample_shape=torch.Size(), max_try_correction=None):
        """Singular draws are made anew, `max_try_correction` (10) times; in torch 2.13, and so here, at first those that are not singular."""
        tries = 10 if max_try_correction is None else max_try_correction
        sample_shape = torch.Size(sample_shape)
        sample = self._bartlett_sampling(sample_shape)
        anew = _whole(self, self.support.check(sample))
        if anew.any():
            warn("Singular sample detected.")
            for _ in range(tries):
                fresh = self._bartlett_sampling(anew[anew].shape)
                sample[anew] = fresh
                anew[anew.clone()] = _whole(self, ~self.support.check(fresh))
                if not anew.any():
                    break
        return sample

    def log_prob(self, value):
        checked(self, value)
        nu, p, lower = self.df, self._event_shape[-1], self._unbroadcasted_scale_tril
        trace = torch.cholesky_solve(value, lower).diagonal(dim1=-2, dim2=-1).sum(-1)
        return (-nu * (p * math.log(2) / 2 + _half_log_det(lower)) - torch.mvlgamma(nu / 2, p=p) + (nu - p - 1) / 2 * torch.slogdet(value)[1] - trace / 2)

    def entropy(self):
        nu, p = self.df, self._event_shape[-1]
        return ((p + 1) * (p * math.log(2) / 2 + _half_log_det(self._unbroadcasted_scale_tril)) + torch.mvlgamma(nu / 2, p=p)
                - (nu - p - 1) / 2 * _mvdigamma(nu / 2, p=p) + nu * p / 2)

    @property
    def _natural_params(self):
        nu, p = self.df, self._event_shape[-1]
        return -self.precision_matrix / 2, (nu - p - 1) / 2

    def _log_normalizer(self, x, y):
        p = self._event_shape[-1]
        half = y + (p + 1) / 2
        return half * (-torch.slogdet(-2 * x)[1] + math.log(2) * p) + torch.mvlgamma(half, p=p)


def _whole(own, checked):
    return checked.amax(own._batch_dims) if own._batch_shape else checked


def _as_matrix(own, numbers):
    return numbers.view((*own._batch_shape, 1, 1))


def _square(own, matrix):
    return matrix.expand(own._batch_shape + own._event_shape)


def _squares(own, df):
    n = own._event_shape[-1]
    steps = torch.arange(n, dtype=own._unbroadcasted_scale_tril.dtype, device=own._unbroadcasted_scale_tril.device)
    return Chi2(df=df.unsqueeze(-1) - steps.expand((*df.shape, -1)))
