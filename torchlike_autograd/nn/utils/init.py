"""torch.nn.utils.init (layer 8)."""

from __future__ import annotations

import inspect

from ..._core import rng


def skip_init(module_cls, *args, **kwargs):
    """A module whose parameters have unspecified values; the generator is as before."""
    from ..modules.module import Module

    if not issubclass(module_cls, Module):
        raise RuntimeError(f"Expected a Module; got {module_cls}")
    if "device" not in inspect.signature(module_cls).parameters:
        raise RuntimeError("Module must support a 'device' arg to skip initialization")
    state, pending = rng.get_rng_state(), kwargs
    try:
        return module_cls(*args, **pending)
    finally:
        rng.set_rng_state(state)
