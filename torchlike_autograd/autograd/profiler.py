"""torch.autograd.profiler (layer 7): regions can be named; recording them is JAX's profiler's."""

from __future__ import annotations

import functools

from .._core import publish as _publish

__all__ = ["emit_itt", "emit_nvtx", "profile", "record_function"]


class record_function:
    """Names a region of the program, as context or decorator; nothing is recorded."""

    def __init__(self, name, args=None):
        self.name, self.args = name, args

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        return None

    def __call__(self, f):
        @functools.wraps(f)
        def named(*args, **kwargs):
            with self:
                return f(*args, **kwargs)

        return named


class profile:
    """NotImplementedError unless it is switched off (``enabled=False``): use `jax.profiler`."""

    def __init__(self, *args, **kwargs):
        enabled = kwargs.get("enabled", args[0] if args and isinstance(args[0], bool) else True)
        if enabled:
            raise NotImplementedError("torch.profiler.profile: nothing is recorded here; use jax.profiler.trace(directory)")

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        return None

    def step(self):
        """The next step begins."""


class emit_nvtx(profile):
    """As `profile`."""


class emit_itt(profile):
    """As `profile`."""


class EventList(list):
    """What a profile recorded: nothing is."""


class FunctionEvent:
    """One entry of such a list."""


__getattr__ = _publish.missing("torch.autograd.profiler")
