"""torch.jit.annotations (layer 8): the types that annotations for TorchScript were written with."""

from typing import Any, Dict, List, Optional, Tuple, Union  # noqa: UP035

from .._core import publish as _publish
from ..futures import Future

__all__ = ["Any", "Dict", "Future", "List", "Optional", "Tuple", "Union"]
__getattr__ = _publish.missing("torch.jit.annotations")
