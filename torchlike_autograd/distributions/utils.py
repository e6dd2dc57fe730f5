"""torch.distributions.utils (layer 8): broadcasting of parameters, probabilities and logits, properties computed once, triangles as vectors."""

from __future__ import annotations

from functools import update_wrapper
from numbers import Number

from . import _names as torch

__all__ = ["broadcast_all", "clamp_probs", "lazy_property", "logits_to_probs", "probs_to_logits", "tril_matrix_to_vec", "vec_to_tril_matrix"]

euler_constant = 0.57721566490153286060  # Euler Mascheroni Constant
F = torch.functional


def broadcast_all(*values):
    """The values as tensors of one shape; numbers take dtype and device of the first tensor (the default dtype if there is none).

    ValueError for anything that is neither a tensor nor a number.
    """
    if not all(isinstance(v, Number) or _like_a_tensor(v) for v in values):
        raise ValueError("Input arguments must all be instances of Number, torch.Tensor or objects implementing __torch_function__.")
    if not all(_like_a_tensor(v) for v in values):
        first = next((v for v in values if isinstance(v, torch.Tensor)), None)
        like = {"dtype": torch.get_default_dtype()} if first is None else {"dtype": first.dtype, "device": first.device}
        values = [v if _like_a_tensor(v) else torch.tensor(v, **like) for v in values]
    return torch.broadcast_tensors(*values)


def _like_a_tensor(v):
    return isinstance(v, torch.Tensor) or hasattr(v, "__torch_function__")


def are_numbers(*values):
    """Whether no value is a tensor: the batch shape is () then."""
    return all(isinstance(v, Number) for v in values)


def _standard_normal(shape, dtype, device):
    return torch.randn(shape, dtype=dtype, device=device)


def _sum_rightmost(value, dim):
    """The sum over the last `dim` dims."""
    if dim == 0:
        return value
    return value.reshape((*value.shape[:-dim], -1)).sum(-1)


def logits_to_probs(logits, is_binary=False):
    """Probabilities from logits: a sigmoid for binary ones, a softmax along the last dim for others."""
    return torch.sigmoid(logits) if is_binary else F.softmax(logits, dim=-1)


def clamp_probs(probs):
    """Probabilities kept apart from 0 and 1 by the resolution of their dtype."""
    eps = torch.finfo(probs.dtype).eps
    return probs.clamp(min=eps, max=1 - eps)


def probs_to_logits(probs, is_binary=False):
    """The reverse of `logits_to_probs`, for probabilities kept apart from 0 and 1."""
    kept = clamp_probs(probs)
    return torch.log(kept) - torch.log1p(-kept) if is_binary else torch.log(kept)


class lazy_property:
    """A property that is computed once, with gradients on, and then stands in the instance; the class shows a property of the same function."""

    def __init__(self, wrapped):
        self.wrapped = wrapped
        update_wrapper(self, wrapped)

    def __get__(self, instance, obj_type=None):
        if instance is None:
            return _lazy_property_and_property(self.wrapped)
        with torch.enable_grad():
            value = self.wrapped(instance)
        setattr(instance, self.wrapped.__name__, value)
        return value


class _lazy_property_and_property(lazy_property, property):
    """What the class shows, a property for those who ask."""

    def __init__(self, wrapped):
        property.__init__(self, wrapped)


def _triangle(n, diag):
    """Row and column numbers of the places on and below a diagonal, row by row."""
    places = [(i, j) for i in range(n) for j in range(n) if j - i <= diag]
    return [torch.tensor([p[k] for p in places], dtype=torch.int64) for k in (0, 1)]


def tril_matrix_to_vec(mat, diag=0):
    """The places of square matrices on and below a diagonal, row by row."""
    n = mat.shape[-1]
    if not -n <= diag < n:
        raise ValueError(f"diag ({diag}) provided is outside [{-n}, {n - 1}].")
    rows, columns = _triangle(n, diag)
    return mat[..., rows, columns]


def vec_to_tril_matrix(vec, diag=0):
    """Square matrices whose places on and below a diagonal come from vectors, row by row; zeros above.  ValueError if no size fits."""
    length = vec.shape[-1]
    # n rows with diag extra diagonals hold n (n + 1 + 2 diag) / 2 - diag (diag + 1) / 2 places when diag >= 0
    n = (-(1 + 2 * diag) + ((1 + 2 * diag) ** 2 + 8 * length + 4 * abs(diag) * (diag + 1)) ** 0.5) / 2
    if round(n) - n > torch.finfo(vec.dtype).eps:
        raise ValueError(f"The size of last dimension is {length} which cannot be expressed as the lower triangular part of a square D x D matrix.")
    n = round(n)
    rows, columns = _triangle(n, diag)
    mat = vec.new_zeros((*vec.shape[:-1], n, n))
    mat[..., rows, columns] = vec
    return mat
