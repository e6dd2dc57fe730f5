"""torch.types (layer 8): names for annotations; there are no symbolic numbers here, so that theirs are the plain ones."""

from __future__ import annotations

import builtins
import os
from collections.abc import Sequence
from typing import IO, Union

from ._core.devices import device as _torch_device
from ._core.dtypes import dtype as _torch_dtype
from ._core.layouts import layout as _torch_layout
from ._tensor import Size, Tensor
from .storage import UntypedStorage as Storage

__all__ = ["Device", "FileLike", "Number", "Storage"]

_bool, _bytes, _complex, _float, _int, _str = builtins.bool, builtins.bytes, builtins.complex, builtins.float, builtins.int, builtins.str
_device, _dtype, _layout = _torch_device, _torch_dtype, _torch_layout
_size = Size | list[int] | tuple[int, ...]
_symsize = Size | Sequence[int]
_TensorOrTensors = Tensor | Sequence[Tensor]
_TensorOrOptionalTensors = Tensor | Sequence[Tensor | None]
_Number = (int, float, bool)

Number = int | float | bool
Device = _device | str | int | None
FileLike = Union[str, os.PathLike[str], IO[bytes]]  # noqa: UP007
IntLikeType, FloatLikeType, BoolLikeType = int, float, bool
