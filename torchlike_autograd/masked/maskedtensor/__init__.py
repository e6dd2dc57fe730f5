"""torch.masked.maskedtensor (layer 8): tensors of which a mask says what is there."""

from . import _forms, _members, binary, passthrough, reductions, unary  # noqa: F401 (each fills the table of calls)
from .core import MaskedTensor, is_masked_tensor
from .creation import as_masked_tensor, masked_tensor  # noqa: F401

__all__ = ["MaskedTensor", "is_masked_tensor"]
