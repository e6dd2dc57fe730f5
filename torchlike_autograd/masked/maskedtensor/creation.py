"""torch.masked.maskedtensor.creation (layer 8): what makes masked tensors."""

from __future__ import annotations

from ..._core.composite import named
from ..._core.overriding import Off
from .core import MaskedTensor, checked, copied, over, says_prototype

__all__ = ["as_masked_tensor", "masked_tensor"]


def masked_tensor(data, mask, requires_grad=False) -> MaskedTensor:
    """A masked tensor of copies of data and mask, without their history: a leaf."""
    return MaskedTensor(data, mask, requires_grad)


def as_masked_tensor(data, mask) -> MaskedTensor:
    """A masked tensor through which data differentiates.  Unlike PyTorch the gradient that data gets is an ordinary tensor, 0 where the mask is False."""
    with Off():
        data, mask = checked(data, mask)
        says_prototype(data)
        return over(named("_masked_made")(data, mask), copied(mask), data)
