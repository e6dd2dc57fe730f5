"""torch.masked (layer 8): operations that leave elements out, filled from the composites.

Masked tensors (`MaskedTensor`, `masked_tensor`) are named, for programs that ask whether they were given one, and cannot be made.
"""

from ._core import publish as _publish

_WHY = "there is no MaskedTensor here; torch.masked's functions take masks"

MaskedTensor = _publish.refused_class("torch.masked", "MaskedTensor", _WHY)
as_masked_tensor, masked_tensor = _publish.refused("torch.masked", "as_masked_tensor", "masked_tensor", why=_WHY).values()


def is_masked_tensor(obj, /) -> bool:
    """Whether a value is a MaskedTensor: none is."""
    return isinstance(obj, MaskedTensor)


__all__ = ["MaskedTensor", "as_masked_tensor", "is_masked_tensor", "masked_tensor", *_publish.install(globals(), "torch.masked")]
__getattr__ = _publish.missing("torch.masked")
