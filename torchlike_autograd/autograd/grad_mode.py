"""Grad modes (layer 7): no_grad, enable_grad, set_grad_enabled as context managers, decorators and (the last) function."""

from __future__ import annotations

import functools
import inspect

from .._core.arrivals import AS_IT_COMES
from .._core.nodes import Leaf
from .._core.placed import cut
from .._core.record import INFERENCE, thread
from .._core.saying import warn
from .._core.shown import Shown
from .._core.storage import REPLAY, cell_of
from .._tensor import Tensor

__all__ = ["enable_grad", "enforce_grad_layout_policy", "inference_mode", "no_grad", "set_grad_enabled", "set_multithreading_enabled"]


def is_grad_enabled() -> bool:
    """Whether calls are recorded for differentiation in this thread."""
    state = thread.state
    return state.extra["grad"] if state.inference else state.grad


def set_mode(enabled):
    """Set the grad mode of this thread; inside inference mode nothing is recorded whatever it is."""
    state = thread.state
    if state.inference:
        state.extra["grad"] = enabled
    else:
        state.grad = enabled
    if not enabled:
        cut()


class _DecoratorContextManager(metaclass=Shown):
    """A context manager that is a decorator too; generators and coroutines run in the mode and leave the caller's alone."""

    def __enter__(self):
        raise NotImplementedError

    def __exit__(self, exc_type, exc_value, traceback):
        raise NotImplementedError

    def clone(self):
        """A fresh one for each use as a decorator."""
        return type(self)()

    def __call__(self, f):
        if inspect.isclass(f):
            warn(
                "Decorating classes is deprecated and will be disabled in future versions. You should only decorate functions or methods. To preserve the "
                "current behavior of class decoration, you can directly decorate the `__init__` method and nothing else.", FutureWarning)
            made = f
            f = lambda *args, **kwargs: made(*args, **kwargs)  # noqa: E731 (a function without the name of the class, as in torch)
        return context_decorator(self.clone, f)


def context_decorator(ctx, func):
    """A function that runs `func` inside a context: `ctx()` gives a fresh one for each call.  Raises RuntimeError for a class."""
    if callable(ctx) and hasattr(ctx, "__enter__"):
        raise AssertionError(f"Passed in {ctx} is both callable and also a valid context manager (has __enter__), making it ambiguous which interface to use.  "
                             "If you intended to pass a context manager factory, rewrite your call as context_decorator(lambda: ctx()); if you intended to "
                             "pass a context manager directly, rewrite your call as context_decorator(lambda: ctx)")
    made = ctx if callable(ctx) else lambda: ctx
    if inspect.isclass(func):
        raise RuntimeError("Cannot decorate classes; it is ambiguous whether or not only the constructor or all methods should have the context "
                           "manager applied; "
                           "additionally, decorating a class at definition-site will prevent use of the identifier as a conventional type.  To specify which "
                           "methods to decorate, decorate each of them individually.")
    if inspect.isgeneratorfunction(func):
        return _wrap_generator(made, func)

    @functools.wraps(func)
    def wrapper(*args, **kwargs):
        with made():
            return func(*args, **kwargs)

    return wrapper


def _wrap_generator(made, f):
    @functools.wraps(f)
    def wrapper(*args, **kwargs):
        inner = f(*args, **kwargs)
        try:
            with made():
                sent = inner.send(None)
            while True:
                try:
                    answer = yield sent
                except GeneratorExit:
                    with made():
                        inner.close()
                    raise
                except BaseException as e:
                    with made():
                        sent = inner.throw(e)
                else:
                    with made():
                        sent = inner.send(answer)
        except StopIteration as e:
            return e.value

    return wrapper


class _NoParamDecoratorContextManager(_DecoratorContextManager):
    """One without settings: as a decorator it may stand without parentheses."""

    def __new__(cls, orig_func=None):
        self = object.__new__(cls)
        if orig_func is not None:
            return self(orig_func)
        return self


class _Fixed(_NoParamDecoratorContextManager):
    _tl_value = False

    def __enter__(self):
        state = thread.state
        if state.inference:
            self.prev = state.extra["grad"]
            state.extra["grad"] = self._tl_value
            return
        self.prev = state.grad
        state.grad = self._tl_value
        if not self._tl_value:
            cut()

    def __exit__(self, exc_type, exc_value, traceback):
        if thread.state.inference:
            thread.state.extra["grad"] = self.prev
        else:
            thread.state.grad = self.prev


class no_grad(_Fixed):
    """Calls inside are not recorded for differentiation."""

    prev = False  # what leaving one that was not entered puts back


class enable_grad(_Fixed):
    """Calls inside are recorded for differentiation."""

    _tl_value = True


class _Switch(_DecoratorContextManager):
    """Set at once, by its making and not by `with`; as a context manager restore it after; as a decorator only inside the function.

    `_tl_now` and `_tl_turn` read and write what is switched.
    """

    _tl_name = ""  # as torch's errors give it

    def __call__(self, f):
        self._tl_turn(self.prev)
        return super().__call__(f)

    def __enter__(self):
        """Nothing to do."""

    def __exit__(self, exc_type, exc_value, traceback):
        self._tl_turn(self.prev)

    def clone(self):
        return type(self)(self.mode)


def _begin(switch, mode):
    if not isinstance(mode, bool):
        raise TypeError(f"{switch._tl_name}(): argument 'enabled' (position 1) must be bool, not {type(mode).__name__}")
    switch.mode = mode
    switch.prev = switch._tl_now()
    switch._tl_turn(mode)


class set_grad_enabled(_Switch):
    """Set the mode at once; as a context manager restore it after; as a decorator only inside the function."""

    _tl_name, _tl_now, _tl_turn = "set_grad_enabled", staticmethod(is_grad_enabled), staticmethod(set_mode)

    def __init__(self, mode):
        _begin(self, mode)

    def __enter__(self):
        self._tl_turn(self.mode)

    def __str__(self):
        return f"{type(self).__module__}.{type(self).__name__}(mode={self.mode})"

    __repr__ = __str__


def is_view_replay_enabled() -> bool:
    """Whether views made now show a node for each operator that made them when they are read again after a write."""
    return thread.state in REPLAY


def _set_view_replay(mode):
    (REPLAY.add if mode else REPLAY.discard)(thread.state)


def set_versions(tensors, versions):
    """Set the version counters of tensors; RuntimeError below 0."""
    tensors = (tensors,) if isinstance(tensors, Tensor) else tuple(tensors)
    versions = (versions,) if isinstance(versions, int) else tuple(versions)
    if len(tensors) != len(versions):
        raise RuntimeError(f"tensors_len={len(tensors)}, versions_len={len(versions)}")
    for t, n in zip(tensors, versions):
        if n < 0:
            raise RuntimeError(f"Cannot set a version_counter to a value below 0: {n}")
        cell_of(t)
        t._tl_counter.n = n
        if t._tl_v.seen is not None:
            t._tl_v.seen = (t._tl_counter, n)


class _unsafe_preserve_version_counter:
    """Writes inside do not count; what a backward pass reads may then be wrong, which nothing will notice."""

    def __init__(self, tensors):
        self.tensors = (tensors,) if isinstance(tensors, Tensor) else tensors
        if not isinstance(self.tensors, tuple):
            raise AssertionError("Expected tensors to be a tuple")
        self.versions = tuple(t._version for t in self.tensors)

    def __enter__(self):
        """Nothing to do."""

    def __exit__(self, *exc):
        set_versions(self.tensors, self.versions)


class _force_original_view_tracking(_Switch):
    """Set at once whether views are replayed; as a context manager restore it after; as a decorator only inside the function."""

    _tl_name, _tl_now, _tl_turn = "set_view_replay_enabled", staticmethod(is_view_replay_enabled), staticmethod(_set_view_replay)

    def __init__(self, mode):
        _begin(self, mode)


def is_multithreading_enabled() -> bool:
    """What `set_multithreading_enabled` said last; a pass runs in its caller's thread either way."""
    return thread.state.extra.get("multithreading", True)


def _set_multithreading(mode):
    thread.state.extra["multithreading"] = mode


class set_multithreading_enabled(_Switch):
    """Remember the switch at once; as a context manager restore it after; decorating leaves it switched."""

    _tl_name, _tl_now, _tl_turn = "_set_multithreading_enabled", staticmethod(is_multithreading_enabled), staticmethod(_set_multithreading)
    __call__ = _DecoratorContextManager.__call__

    def __init__(self, mode):
        _begin(self, mode)


def is_grad_layout_enforcement_enabled() -> bool:
    """Whether the `.grad` that a backward pass in this thread makes lies in memory as its leaf does."""
    return thread.state not in AS_IT_COMES


def _set_grad_layout_enforcement(enabled):
    (AS_IT_COMES.discard if enabled else AS_IT_COMES.add)(thread.state)
    Leaf.watched[0] = Leaf.watched[0] or not enabled  # remembered passes do not ask


class enforce_grad_layout_policy(_Switch):
    """Set at once whether the `.grad` that a backward pass makes lies in memory as its leaf does; if not, it lies as it came.

    Gradients come row by row here, but for views of a cotangent that the caller gave; PyTorch's come as the operator that made them left them, and a cotangent
    that reaches the leaf untouched is copied to lie as the leaf either way.
    """

    _tl_name = "set_grad_layout_enforcement_enabled"
    _tl_now, _tl_turn = staticmethod(is_grad_layout_enforcement_enabled), staticmethod(_set_grad_layout_enforcement)

    def __init__(self, enable=True):
        _begin(self, enable)


def is_inference_mode_enabled() -> bool:
    """Whether this thread is in inference mode."""
    return thread.state.inference


class inference_mode(_DecoratorContextManager):
    """Calls inside are not recorded and what they make are inference tensors: no versions, not to be written or saved for a backward pass outside."""

    def __new__(cls, mode=True):
        self = object.__new__(cls)
        if not isinstance(mode, bool):
            self.mode = True
            return self(mode)
        return self

    def __init__(self, mode=True):
        self.mode = mode

    def __enter__(self):
        state = thread.state
        self.prev = state.inference, state.grad, state.extra.get("grad")
        state.inference = self.mode
        state.grad, state.extra["grad"] = (INFERENCE, False) if self.mode else (True, None)
        if self.mode:
            cut()

    def __exit__(self, *exc):
        state = thread.state
        state.inference, state.grad, state.extra["grad"] = self.prev

    def clone(self):
        return type(self)(self.mode)
