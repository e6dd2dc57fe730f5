"""torch.nn.modules.linear_cross_entropy_options (layer 8): how `linear_cross_entropy` is to divide its work."""

from __future__ import annotations

import dataclasses
from typing import Literal

from ..._core import dtypes

__all__ = ["LinearCrossEntropyOptions"]

_DTYPES = (None, dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64)


@dataclasses.dataclass(frozen=True, slots=True)
class LinearCrossEntropyOptions:
    """Checked as in PyTorch, and without effect: the loss is computed as a whole here, so that it has second derivatives and can be gone back through twice.

    Raises ValueError for a policy, method, chunk size or dtype that PyTorch does not have.
    """

    allow_retain_graph: bool = False
    batch_chunk_size: int | None = None
    chunking_method: str | None = "auto"
    acc_policy: Literal["accurate", "balanced", "compact", "auto"] = "auto"
    acc_dtype: dtypes.dtype | None = None

    def __post_init__(self):
        if self.batch_chunk_size is not None and not (isinstance(self.batch_chunk_size, int) and self.batch_chunk_size > 0):
            raise ValueError(f"batch_chunk_size must be positive int or None, got {self.batch_chunk_size}")
        if self.acc_policy not in ("accurate", "balanced", "compact", "auto"):
            raise ValueError(f"invalid acc_policy: {self.acc_policy!r}")
        if not any(self.acc_dtype is d for d in _DTYPES):
            shown = "{" + ", ".join(map(str, _DTYPES)) + "}"
            raise ValueError(f"acc_dtype must be one of {shown}, got {self.acc_dtype!r}. Pass acc_dtype=None to let the op pick automatically.")
        if self.chunking_method not in (None, "auto") and not _is_ratio(self.chunking_method):
            raise ValueError(f"invalid chunking_method: {self.chunking_method!r}")


def _is_ratio(method):
    name, colon, ratio = method.partition(":")
    return name == "aspect_ratio" and (not colon or (ratio.isdecimal() and int(ratio) > 0))
