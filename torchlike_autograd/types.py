"""torch.types (layer 8): names for annotations."""

import builtins as _builtins
from os import PathLike as _PathLike
from typing import IO as _IO
from typing import Any, Union

from ._core.devices import device as _device_class
from ._core.dtypes import dtype as _dtype  # noqa: F401
from ._tensor import Size, Tensor
from .storage import UntypedStorage as Storage

__all__ = ["Device", "FileLike", "Number", "Storage"]

_int, _float, _bool, _complex, _str, _bytes = int, float, bool, complex, str, bytes
_device = _device_class
_size = Union[Size, list[int], tuple[int, ...]]
Number = Union[int, float, bool]
_Number = (int, float, bool)
Device = Union[_device_class, str, int, None]
FileLike = Union[str, _PathLike, _IO[_builtins.bytes]]
_TensorOrTensors = Union[Tensor, tuple[Tensor, ...]]
_symsize = _size
_TensorOrOptionalTensors = Union[Tensor, tuple[Union[Tensor, None], ...]]
IntLikeType, FloatLikeType, BoolLikeType = int, float, bool  # there are no symbolic numbers here
