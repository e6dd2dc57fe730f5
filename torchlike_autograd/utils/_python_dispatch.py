"""torch.utils._python_dispatch (layer 7): operators here do not go through a dispatcher that a mode could listen to."""

import contextlib


class TorchDispatchMode:
    """A base class; entering a mode raises NotImplementedError."""

    def __init__(self, _dispatch_key=None):
        self._dispatch_key = _dispatch_key

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        """Never called."""
        raise NotImplementedError("torch.utils._python_dispatch.TorchDispatchMode")

    def __enter__(self):
        raise NotImplementedError("torch.utils._python_dispatch.TorchDispatchMode: operators do not go through a dispatcher here")

    def __exit__(self, *exc):
        """Nothing was entered."""


def _disable_current_modes():
    return contextlib.nullcontext([])


def _get_current_dispatch_mode():
    return None


def is_in_torch_dispatch_mode(include_infra_modes=True):
    """False."""
    return False


def is_traceable_wrapper_subclass(t):
    """False."""
    return False
