"""torch.masked (layer 8): tensors of which a mask says what is there, and operations that leave elements out.

The functions are composites; `MaskedTensor` and what makes one come from `maskedtensor/`, when they are first asked for: from then on every function looks
at its arguments.
"""

from .._core import publish as _publish

_MASKED_TENSORS = ("MaskedTensor", "as_masked_tensor", "is_masked_tensor", "masked_tensor")

__all__ = [*_MASKED_TENSORS, *(_name for _name in _publish.install(globals(), "torch.masked") if not _name.startswith("_"))]
_missing = _publish.missing("torch.masked")


def __getattr__(name):
    if name not in _MASKED_TENSORS:
        return _missing(name)
    from . import maskedtensor  # only for programs that ask for it

    globals()[name] = getattr(maskedtensor, name)
    return globals()[name]
