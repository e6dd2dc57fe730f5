"""torch.utils (layer 7)."""

from . import _python_dispatch, _pytree, checkpoint, data, dlpack, hooks  # noqa: F401

__all__ = ["checkpoint", "data", "dlpack", "hooks"]
