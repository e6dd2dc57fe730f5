"""Transforms of vectors and matrices, and transforms side by side (layer 8; public in `transforms`)."""

from __future__ import annotations

import math

from . import _names as torch
from . import constraints
from .transforms import _FEW, Simple, Transform, _clipped_sigmoid  # cycle: that module ends with this one
from .utils import _sum_rightmost, lazy_property, tril_matrix_to_vec, vec_to_tril_matrix

F = torch.functional


class SoftmaxTransform(Simple, Transform):
    """exp(x) divided by its sum along the last dim; not one to one, the inverse is log(y)."""

    domain, codomain = constraints.real_vector, constraints.simplex

    def _call(self, x):
        grown = (x - x.max(-1, True)[0]).exp()
        return grown / grown.sum(-1, True)

    def _inverse(self, y):
        return y.log()

    def forward_shape(self, shape):
        return _with_dims(shape, 1)

    def inverse_shape(self, shape):
        return _with_dims(shape, 1)


def _with_dims(shape, n):
    if len(shape) < n:
        raise ValueError(_FEW)
    return shape


def _breaks(n, like):
    """The numbers n, n - 1, ..., 1 of what is left to be broken."""
    return n + 1 - like.new_ones(n).cumsum(-1)


class StickBreakingTransform(Simple, Transform):
    """A stick broken at shares sigmoid(x_k - log(what is left)): n numbers become n + 1 parts of one."""

    domain, codomain = constraints.real_vector, constraints.simplex
    bijective = True

    def _call(self, x):
        share = _clipped_sigmoid(x - _breaks(x.shape[-1], x).log())
        rest = (1 - share).cumprod(-1)
        return F.pad(share, [0, 1], value=1) * F.pad(rest, [1, 0], value=1)

    def _inverse(self, y):
        part = y[..., :-1]
        left = torch.clamp(1 - part.cumsum(-1), min=torch.finfo(y.dtype).tiny)
        return part.log() - left.log() + _breaks(part.shape[-1], part).log()

    def log_abs_det_jacobian(self, x, y):
        x = x - _breaks(x.shape[-1], x).log()
        return (-x + F.logsigmoid(x) + y[..., :-1].log()).sum(-1)

    def forward_shape(self, shape):
        return (*_with_dims(shape, 1)[:-1], shape[-1] + 1)

    def inverse_shape(self, shape):
        return (*_with_dims(shape, 1)[:-1], shape[-1] - 1)


class LowerCholeskyTransform(Simple, Transform):
    """A matrix without what is above its diagonal, the diagonal exponentiated."""

    domain, codomain = constraints.independent(constraints.real, 2), constraints.lower_cholesky

    def _call(self, x):
        return x.tril(-1) + x.diagonal(dim1=-2, dim2=-1).exp().diag_embed()

    def _inverse(self, y):
        return y.tril(-1) + y.diagonal(dim1=-2, dim2=-1).log().diag_embed()


class PositiveDefiniteTransform(Simple, Transform):
    """L L^T with the L of `LowerCholeskyTransform`."""

    domain, codomain = constraints.independent(constraints.real, 2), constraints.positive_definite

    def _call(self, x):
        lower = LowerCholeskyTransform()(x)
        return lower @ lower.mT

    def _inverse(self, y):
        return LowerCholeskyTransform().inv(torch.safe_cholesky(y))


class CorrCholeskyTransform(Transform):
    """Cholesky factors of correlation matrices: tanh(x) in place of partial correlations, each row a broken stick of squares."""

    domain, codomain = constraints.real_vector, constraints.corr_cholesky
    bijective = True

    def _call(self, x):
        eps = torch.finfo(x.dtype).eps
        r = vec_to_tril_matrix(torch.tanh(x).clamp(min=-1 + eps, max=1 - eps), diag=-1)
        rest = (1 - r * r).sqrt().cumprod(-1)
        diagonal = torch.eye(r.shape[-1], dtype=r.dtype, device=r.device)
        return (r + diagonal) * F.pad(rest[..., :-1], [1, 0], value=1)

    def _inverse(self, y):
        rest = 1 - torch.cumsum(y * y, dim=-1)
        before = tril_matrix_to_vec(F.pad(rest[..., :-1], [1, 0], value=1), diag=-1)
        t = tril_matrix_to_vec(y, diag=-1) / before.sqrt()
        return (t.log1p() - t.neg().log1p()) / 2

    def log_abs_det_jacobian(self, x, y, intermediates=None):
        """The shares of the sticks, and the slopes of tanh; `intermediates` is not looked at."""
        rest = tril_matrix_to_vec(1 - (y * y).cumsum(dim=-1), diag=-2)
        return 0.5 * rest.log().sum(-1) + -2 * (x + F.softplus(-2 * x) - math.log(2.0)).sum(dim=-1)

    def forward_shape(self, shape):
        n = _with_dims(shape, 1)[-1]
        d = round((0.25 + 2 * n) ** 0.5 + 0.5)
        if d * (d - 1) // 2 != n:
            raise ValueError("Input is not a flattened lower-diagonal number")
        return (*shape[:-1], d, d)

    def inverse_shape(self, shape):
        d = _with_dims(shape, 2)[-1]
        if shape[-2] != d:
            raise ValueError("Input is not square")
        return (*shape[:-2], d * (d - 1) // 2)


# Transforms side by side

class _Sequence:
    """Transforms of pieces along a dim."""

    @property
    def bijective(self):
        return all(t.bijective for t in self.transforms)


def _check_dim(own, x):
    if not -x.dim() <= own.dim < x.dim():
        raise AssertionError(f"dim {own.dim} out of range for tensor with {x.dim()} dimensions")


def _keep(own, tseq, dim, cache_size):
    if not all(isinstance(t, Transform) for t in tseq):
        raise AssertionError("All elements of tseq must be Transform instances")
    Transform.__init__(own, cache_size=cache_size)
    own.transforms, own.dim = [t.with_cache(cache_size) for t in tseq] if cache_size else list(tseq), dim


class CatTransform(_Sequence, Transform):
    """Transforms of pieces of the given lengths (1 each), joined along `dim`."""

    def __init__(self, tseq, dim=0, lengths=None, cache_size=0):
        _keep(self, tseq, dim, cache_size)
        self.lengths = [1] * len(self.transforms) if lengths is None else list(lengths)
        if len(self.lengths) != len(self.transforms):
            raise AssertionError(f"lengths ({len(self.lengths)}) must match transforms ({len(self.transforms)})")

    @lazy_property
    def event_dim(self):
        return max(t.event_dim for t in self.transforms)

    @lazy_property
    def length(self):
        """The length along `dim`."""
        return sum(self.lengths)

    def with_cache(self, cache_size=1):
        return self if self._cache_size == cache_size else CatTransform(self.transforms, self.dim, self.lengths, cache_size)

    def _tl_pieces(self, x, name):
        _check_dim(self, x)
        if x.size(self.dim) != self.length:
            raise AssertionError(f"{name}.size({self.dim}) = {x.size(self.dim)} must equal length {self.length}")
        ends = [sum(self.lengths[:i]) for i in range(len(self.lengths))]
        return [x.narrow(self.dim, start, length) for start, length in zip(ends, self.lengths)]

    def _call(self, x):
        return torch.cat([t(piece) for t, piece in zip(self.transforms, self._tl_pieces(x, "x"))], dim=self.dim)

    def _inverse(self, y):
        return torch.cat([t.inv(piece) for t, piece in zip(self.transforms, self._tl_pieces(y, "y"))], dim=self.dim)

    def log_abs_det_jacobian(self, x, y):
        terms = []
        for t, before, after in zip(self.transforms, self._tl_pieces(x, "x"), self._tl_pieces(y, "y")):
            terms.append(_sum_rightmost(t.log_abs_det_jacobian(before, after), self.event_dim - t.event_dim))
        dim = (self.dim - x.dim() if self.dim >= 0 else self.dim) + self.event_dim
        return torch.cat(terms, dim=dim) if dim < 0 else sum(terms)

    @constraints.dependent_property
    def domain(self):
        return constraints.cat([t.domain for t in self.transforms], self.dim, self.lengths)

    @constraints.dependent_property
    def codomain(self):
        return constraints.cat([t.codomain for t in self.transforms], self.dim, self.lengths)


class StackTransform(_Sequence, Transform):
    """Transforms of pieces that are stacked along `dim`."""

    def __init__(self, tseq, dim=0, cache_size=0):
        _keep(self, tseq, dim, cache_size)

    def with_cache(self, cache_size=1):
        return self if self._cache_size == cache_size else StackTransform(self.transforms, self.dim, cache_size)

    def _slice(self, z):
        return [z.select(self.dim, i) for i in range(z.size(self.dim))]

    def _tl_pieces(self, x, name):
        _check_dim(self, x)
        if x.size(self.dim) != len(self.transforms):
            raise AssertionError(f"{name}.size({self.dim}) = {x.size(self.dim)} must equal len(transforms) {len(self.transforms)}")
        return self._slice(x)

    def _call(self, x):
        return torch.stack([t(piece) for t, piece in zip(self.transforms, self._tl_pieces(x, "x"))], dim=self.dim)

    def _inverse(self, y):
        return torch.stack([t.inv(piece) for t, piece in zip(self.transforms, self._tl_pieces(y, "y"))], dim=self.dim)

    def log_abs_det_jacobian(self, x, y):
        pairs = zip(self.transforms, self._tl_pieces(x, "x"), self._tl_pieces(y, "y"))
        return torch.stack([t.log_abs_det_jacobian(before, after) for t, before, after in pairs], dim=self.dim)

    @constraints.dependent_property
    def domain(self):
        return constraints.stack([t.domain for t in self.transforms], self.dim)

    @constraints.dependent_property
    def codomain(self):
        return constraints.stack([t.codomain for t in self.transforms], self.dim)
