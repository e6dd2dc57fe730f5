"""torch.testing._internal.common_mkldnn (layer 8): products are made as the default matmul precision says; there is no other one to test."""

from ..._core import publish as _publish


def reduced_f32_on_and_off(bf32_precision=1e-2, tf32_precision=1e-5):
    """A test as it is."""
    return lambda f: f


__getattr__ = _publish.missing("torch.testing._internal.common_mkldnn")
