"""torch.nn.common_types (layer 8): names for types in annotations."""

from __future__ import annotations

from typing import TypeVar

from .._tensor import Tensor

T = TypeVar("T")


def _sizes(n, kind=int):
    """One number, or n of them."""
    return kind | tuple[(kind,) * n]


_scalar_or_tuple_any_t = T | tuple[T, ...]
_scalar_or_tuple_1_t, _scalar_or_tuple_2_t, _scalar_or_tuple_3_t, _scalar_or_tuple_4_t, _scalar_or_tuple_5_t, _scalar_or_tuple_6_t = (
    _sizes(n, T) for n in range(1, 7))
_size_any_t = int | tuple[int, ...]
_size_1_t, _size_2_t, _size_3_t, _size_4_t, _size_5_t, _size_6_t = (_sizes(n) for n in range(1, 7))
_size_any_opt_t = int | None | tuple[int | None, ...]
_size_2_opt_t = int | None | tuple[int | None, int | None]
_size_3_opt_t = int | None | tuple[int | None, int | None, int | None]
_ratio_2_t, _ratio_3_t = _sizes(2, float), _sizes(3, float)
_ratio_any_t = float | tuple[float, ...]
_tensor_list_t = Tensor | tuple[Tensor, ...]
_maybe_indices_t = Tensor | tuple[Tensor, Tensor]
