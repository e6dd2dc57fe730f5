"""torch.jit.annotations (layer 8): the types that annotations for TorchScript were written with."""

from typing import Any, Dict, List, Optional, Tuple, Union  # noqa: UP035

from .._core import publish as _publish
from .._jit_internal import BroadcastingList1, BroadcastingList2, BroadcastingList3
from ..futures import Future

__all__ = ["Any", "BroadcastingList1", "BroadcastingList2", "BroadcastingList3", "Dict", "Future", "List", "Optional", "Tuple", "Union"]
__getattr__ = _publish.missing("torch.jit.annotations")
