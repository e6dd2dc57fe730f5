"""torch.utils (layer 7)."""

from .._core import publish as _publish
from . import _foreach_utils, _python_dispatch, _pytree, _traceback, checkpoint, data, deterministic, dlpack, hooks, weak  # noqa: F401
from ._swap import set_module, swap_tensors

__all__ = ["checkpoint", "data", "deterministic", "dlpack", "hooks", "set_module", "swap_tensors", "weak"]
__getattr__ = _publish.missing("torch.utils")
