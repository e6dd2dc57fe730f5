"""torch.nn.parallel.scatter_gather (layer 8): spreading arguments over devices; there is one device here."""

from __future__ import annotations

from ..._core import publish as _publish

__all__ = ["gather", "scatter", "scatter_kwargs"]


def _needs_devices(*args, **kwargs):
    raise AssertionError("Torch not compiled with CUDA enabled")


scatter = gather = scatter_kwargs = _needs_devices
__getattr__ = _publish.missing("torch.nn.parallel.scatter_gather")
