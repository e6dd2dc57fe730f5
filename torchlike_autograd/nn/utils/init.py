"""torch.nn.utils.init (layer 8)."""

from __future__ import annotations

import inspect


def skip_init(module_cls, *args, **kwargs):
    """A module whose parameters have unspecified values; the generator is as before."""
    from ..modules.module import Module

    if not issubclass(module_cls, Module):
        raise RuntimeError(f"Expected a Module; got {module_cls}")
    if "device" not in inspect.signature(module_cls).parameters:
        raise RuntimeError("Module must support a 'device' arg to skip initialization")
    device = kwargs.pop("device", "cpu")
    return module_cls(*args, **{**kwargs, "device": "meta"}).to_empty(device=device)
