"""torch.nn.utils.parametrizations (layer 8): orthogonal weights, spectral norm, weight norm."""

from __future__ import annotations

from enum import Enum, auto

from ..._core.composite import named
from ..._core.dtypes import finfo
from ..._core.publish import load_all
from ..._functions.create import eye
from ..._tensor import Tensor
from ...autograd.grad_mode import no_grad
from .. import functional as F
from ..modules.module import Module
from . import parametrize
from .weight_norm import norm_except_dim, product

__all__ = ["orthogonal", "spectral_norm", "weight_norm"]

_T = load_all()
_cat, _mv = named("cat"), named("mv")


class _OrthMaps(Enum):
    matrix_exp = auto()
    cayley = auto()
    householder = auto()


def _make_orthogonal(a):
    """The orthogonal factor of a matrix; an orthogonal matrix gives itself."""
    q, r = _T["torch.linalg.qr"](a)
    return q * r.diagonal(dim1=-2, dim2=-1).sgn().unsqueeze(-2)


def _is_orthogonal(q, eps=None):
    """Whether the columns are orthonormal, within rounding."""
    n, k = q.size(-2), q.size(-1)
    if n < k:
        return False
    eps = 10.0 * n * finfo(q.dtype).eps if eps is None else eps
    unit = eye(k, dtype=q.dtype)
    return bool((q.mH @ q - unit).abs().max() <= eps)


class _Orthogonal(Module):
    """An orthogonal matrix from a matrix without constraints."""

    def __init__(self, weight, orthogonal_map, *, use_trivialization=True):
        super().__init__()
        if weight.is_complex() and orthogonal_map == _OrthMaps.householder:
            raise ValueError("The householder parametrization does not support complex tensors.")
        self.shape, self.orthogonal_map = weight.shape, orthogonal_map
        if use_trivialization:
            self.register_buffer("base", None)

    def forward(self, X):
        x = X
        n, k = x.size(-2), x.size(-1)
        turned = n < k
        if turned:
            x, n, k = x.mT, k, n
        if self.orthogonal_map == _OrthMaps.householder:
            a = x.tril(diagonal=-1)
            tau = 2.0 / (1.0 + (a * a).sum(dim=-2))
            q = _T["torch.linalg.householder_product"](a, tau) * x.diagonal(dim1=-2, dim2=-1).int().unsqueeze(-2)
        else:
            q = self._by_skew(x.tril(), n, k)
        if hasattr(self, "base"):
            q = self.base @ q
        return q.mT if turned else q

    def _by_skew(self, x, n, k):
        """The exponential, or the Cayley transform, of a skew-symmetric matrix."""
        if n != k:
            x = _cat([x, x.new_zeros((*x.shape[:-2], n, n - k))], -1)
        a = x - x.mH
        if self.orthogonal_map == _OrthMaps.matrix_exp:
            q = _T["torch.linalg.matrix_exp"](a)
        else:
            unit = eye(n, dtype=a.dtype)
            q = _T["torch.linalg.solve"](unit - 0.5 * a, unit + 0.5 * a)
        return q[..., :k] if n != k else q

    def _inverse_of_reflectors(self, q):
        """The reflectors of a matrix, with the signs of its triangular factor on their diagonal."""
        if self.orthogonal_map != _OrthMaps.householder:
            raise NotImplementedError("It is not possible to assign to the matrix exponential or the Cayley parametrizations when use_trivialization=False.")
        a, tau = _T["torch.geqrf"](q)
        signs = a.diagonal(dim1=-2, dim2=-1)
        signs.sign_()
        signs[tau == 0.0] *= -1  # a column without a reflection has its sign in the factor alone
        return a

    @no_grad()
    def right_inverse(self, Q):
        """What `forward` takes to a given matrix (the nearest orthogonal one); the matrix itself is kept as `base`."""
        q = Q
        if q.shape != self.shape:
            raise ValueError(f"Expected a matrix or batch of matrices of shape {self.shape}. Got a tensor of shape {q.shape}.")
        n, k = q.size(-2), q.size(-1)
        turned = n < k
        if turned:
            q, n, k = q.mT, k, n
        if not hasattr(self, "base"):
            inverse = self._inverse_of_reflectors(q)
            return inverse.mT if turned else inverse
        if n == k:
            q = q.clone() if _is_orthogonal(q) else _make_orthogonal(q)
        else:
            q = _make_orthogonal(_cat([q, _T["torch.randn"](*q.shape[:-2], n, n - k, dtype=q.dtype)], -1))
        self.base = q
        out = q.new_zeros((*q.shape[:-2], n, k))
        out.diagonal(dim1=-2, dim2=-1).fill_(-1.0)
        return out.mT if turned else out


def _tensor_of(module, name):
    found = getattr(module, name, None)
    if not isinstance(found, Tensor):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    return found


def orthogonal(module, name="weight", orthogonal_map=None, *, use_trivialization=True):
    """Keep a weight orthogonal."""
    weight = _tensor_of(module, name)
    if weight.ndim < 2:
        raise ValueError(f"Expected a matrix or batch of matrices. Got a tensor of {weight.ndim} dimensions.")
    if orthogonal_map is None:
        orthogonal_map = "matrix_exp" if weight.size(-2) == weight.size(-1) or weight.is_complex() else "householder"
    found = getattr(_OrthMaps, orthogonal_map, None)
    if found is None:
        raise ValueError(f'orthogonal_map has to be one of "matrix_exp", "cayley", "householder". Got: {orthogonal_map}')
    parametrize.register_parametrization(module, name, _Orthogonal(weight, found, use_trivialization=use_trivialization), unsafe=True)
    return module


class _WeightNorm(Module):
    """A weight from its length and its direction."""

    def __init__(self, dim=0):
        super().__init__()
        self.dim = -1 if dim is None else dim

    def forward(self, weight_g, weight_v):
        return product(weight_v, weight_g, self.dim)

    def right_inverse(self, weight):
        """(length, direction)."""
        return norm_except_dim(weight, self.dim), weight


def weight_norm(module, name="weight", dim=0):
    """Give a module a weight of separate length and direction."""
    parametrize.register_parametrization(module, name, _WeightNorm(dim), unsafe=True)

    def rename(state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs):
        """Take state dicts of the older weight_norm."""
        for i, old in enumerate((f"{prefix}{name}_g", f"{prefix}{name}_v")):
            if old in state_dict:
                state_dict[f"{prefix}parametrizations.{name}.original{i}"] = state_dict.pop(old)

    module._register_load_state_dict_pre_hook(rename)
    return module


class _SpectralNorm(Module):
    """A weight divided by its greatest singular value."""

    def __init__(self, weight, n_power_iterations=1, dim=0, eps=1e-12):
        super().__init__()
        if dim >= weight.ndim or dim < -weight.ndim:
            raise IndexError(f"Dimension out of range (expected to be in range of [-{weight.ndim}, {weight.ndim - 1}] but got {dim})")
        if n_power_iterations <= 0:
            raise ValueError(f"Expected n_power_iterations to be positive, but got n_power_iterations={n_power_iterations}")
        self.dim, self.eps = dim % weight.ndim, eps
        if weight.ndim > 1:
            self.n_power_iterations = n_power_iterations
            matrix = self._reshape_weight_to_matrix(weight)
            h, w = matrix.size()
            u, v = matrix.new_empty(h).normal_(0, 1), matrix.new_empty(w).normal_(0, 1)
            self.register_buffer("_u", F.normalize(u, dim=0, eps=eps))
            self.register_buffer("_v", F.normalize(v, dim=0, eps=eps))
            self._power_method(matrix, 15)

    def _reshape_weight_to_matrix(self, weight):
        if self.dim != 0:
            weight = weight.permute(self.dim, *(d for d in range(weight.dim()) if d != self.dim))
        return weight.flatten(1)

    def _power_method(self, weight_mat, n_power_iterations):
        with no_grad():
            for _ in range(n_power_iterations):
                self._u.copy_(F.normalize(_mv(weight_mat, self._v), dim=0, eps=self.eps))
                self._v.copy_(F.normalize(_mv(weight_mat.mH, self._u), dim=0, eps=self.eps))

    def forward(self, weight):
        if weight.ndim == 1:
            return F.normalize(weight, dim=0, eps=self.eps)
        matrix = self._reshape_weight_to_matrix(weight)
        if self.training:
            self._power_method(matrix, self.n_power_iterations)
        u, v = self._u.clone(), self._v.clone()
        return weight / named("vdot")(u, _mv(matrix, v))

    def right_inverse(self, value):
        """The weight itself."""
        return value


def spectral_norm(module, name="weight", n_power_iterations=1, eps=1e-12, dim=None):
    """Divide a module's weight by its greatest singular value."""
    weight = _tensor_of(module, name)
    if dim is None:
        from ..modules.conv import _ConvTransposeNd

        dim = 1 if isinstance(module, _ConvTransposeNd) else 0
    parametrize.register_parametrization(module, name, _SpectralNorm(weight, n_power_iterations, dim, eps))
    return module
