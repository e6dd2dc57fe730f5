"""torch.testing._internal.common_methods_invocations (layer 8): helpers only; the table of operators that PyTorch has there is `compat_matrix`'s here."""

from ..._core import publish as _publish


def mask_not_all_zeros(shape):
    """A random mask of a non-empty shape with at least one True."""
    table = _publish.load_all()
    while True:
        mask = table["torch.randn"](shape).gt(0)
        if mask.sum() > 0:
            return mask


__getattr__ = _publish.missing("torch.testing._internal.common_methods_invocations")
