"""torch.utils._python_dispatch (layer 7): modes that hear of every operator; `_core/listening.py` says how, and what differs."""

from __future__ import annotations

import contextlib

from .._core.listening import Inside, Listening, stack

__all__ = ["TorchDispatchMode", "is_in_torch_dispatch_mode", "is_traceable_wrapper_subclass"]


class TorchDispatchMode:
    """Inside, each operator goes to ``__torch_dispatch__(func, types, args, kwargs)``, which gives its result; the modes outside hear what it calls."""

    def __init__(self, _dispatch_key=None):
        if _dispatch_key is not None:
            raise NotImplementedError("torch.utils._python_dispatch.TorchDispatchMode: modes of a dispatch key of their own")

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        """To be overridden."""
        raise NotImplementedError

    def __enter__(self):
        entered = self.__dict__.setdefault("_tl_entered", [])
        entered.append(self._tl_listening())
        entered[-1].__enter__()
        return self

    def _tl_listening(self):
        return Listening(self)

    def __exit__(self, exc_type, exc_val, exc_tb):
        self._tl_entered.pop().__exit__(exc_type, exc_val, exc_tb)

    @classmethod
    def push(cls, *args, **kwargs):
        """One of the class: the old spelling."""
        return cls(*args, **kwargs)

    @classmethod
    def is_infra_mode(cls):
        """False: it is the program's own."""
        return False


def _get_current_dispatch_mode():
    return stack()[-1] if stack() else None


def _get_current_dispatch_mode_stack():
    return list(stack())


@contextlib.contextmanager
def _disable_current_modes():
    found = list(stack())
    if not found:
        yield found
        return
    with Listening(None):
        yield found


@contextlib.contextmanager
def _pop_mode_temporarily(k=None):
    if not stack():
        raise AssertionError("Mode stack is empty")
    with Inside(True) as mode:
        yield mode


def is_in_torch_dispatch_mode(include_infra_modes=True):
    """Whether a mode is entered in this thread."""
    return bool(stack())


def is_traceable_wrapper_subclass(t):
    """Whether a tensor says how it is taken apart and put together."""
    return hasattr(t, "__tensor_flatten__") and hasattr(t, "__tensor_unflatten__")


def is_traceable_wrapper_subclass_type(t):
    """The same of a class."""
    return hasattr(t, "__tensor_flatten__") and hasattr(t, "__tensor_unflatten__")
