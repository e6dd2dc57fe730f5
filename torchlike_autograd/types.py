"""torch.types (layer 8): names for annotations."""

from __future__ import annotations

import builtins
import os
from typing import Any, Union

from ._core import publish as _publish
from ._core.devices import device
from ._core.dtypes import dtype
from ._core.layouts import layout
from ._core.size import Size
from ._tensor import Tensor

_TensorOrTensors = Union[Tensor, "tuple[Tensor, ...]"]
_dtype, _device, _size, _layout, _int, _float, _bool, _complex = dtype, device, Size, layout, builtins.int, builtins.float, builtins.bool, builtins.complex
Number = int | float | bool
FileLike = Union[str, os.PathLike, Any]
Device = Union[device, str, int, None]
__all__ = ["Device", "FileLike", "Number", "Storage"]
Storage = Any
__getattr__ = _publish.missing("torch.types")
