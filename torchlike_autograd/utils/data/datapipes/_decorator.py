"""torch.utils.data.datapipes._decorator (layer 8): what decorates pipes: a method of others, a warning against chance, checks of types."""

from __future__ import annotations

import functools
import inspect
from typing import Any, get_type_hints

from ...._core import publish as _publish
from .datapipe import IterDataPipe, MapDataPipe

_determinism = False


class functional_datapipe:
    """A decorator: pipes get a method of this name that makes one of the decorated class."""

    def __init__(self, name: str, enable_df_api_tracing=False):
        self.name, self.enable_df_api_tracing = name, enable_df_api_tracing

    def __call__(self, cls):
        for kind in (IterDataPipe, MapDataPipe):
            if issubclass(cls, kind):
                kind.register_datapipe_as_function(self.name, cls)
                break
        return cls


class guaranteed_datapipes_determinism:
    """While it holds (from its making on), pipes that are `non_deterministic` cannot be made."""

    def __init__(self):
        global _determinism
        self.prev, _determinism = _determinism, True

    def __enter__(self):
        pass

    def __exit__(self, *exc):
        global _determinism
        _determinism = self.prev


class non_deterministic:
    """A decorator: pipes of this class (or those for whose arguments a function answers True) give their items in no certain order."""

    def __init__(self, arg):
        self.cls = self.deterministic_fn = None
        if isinstance(arg, type):
            if not issubclass(arg, IterDataPipe):
                raise TypeError(f"Only `IterDataPipe` can be decorated with `non_deterministic`, but {arg.__name__} is found")
            self.cls = arg
        elif callable(arg):
            self.deterministic_fn = arg
        else:
            raise TypeError(f"{arg} can not be decorated by non_deterministic")

    def __call__(self, *args, **kwargs):
        if self.cls is not None:
            if _determinism:
                raise TypeError(f"{self.cls.__name__} is non-deterministic, but you set 'guaranteed_datapipes_determinism'. You can turn off determinism "
                                "for this DataPipe if that is acceptable for your application")
            return self.cls(*args, **kwargs)
        if not (isinstance(args[0], type) and issubclass(args[0], IterDataPipe)):
            raise TypeError(f"Only `IterDataPipe` can be decorated, but {args[0].__name__} is found")
        self.cls = args[0]
        return self.deterministic_wrapper_fn

    def deterministic_wrapper_fn(self, *args, **kwargs):
        """One of the class, where the function and the guarantee allow it."""
        chance = self.deterministic_fn(*args, **kwargs)
        if not isinstance(chance, bool):
            raise TypeError(f"deterministic_fn of `non_deterministic` decorator is required to return a boolean value, but {type(chance)} is found")
        if _determinism and chance:
            raise TypeError(f"{self.cls.__name__} is non-deterministic with the inputs, but you set 'guaranteed_datapipes_determinism'. You can turn off "
                            "determinism for this DataPipe if that is acceptable for your application")
        return self.cls(*args, **kwargs)


# Types: PyTorch's pipes have lost their `type`; as there, what is checked against one fails for want of it unless a program gives its classes one

_validation = True


def argument_validation(f):
    """A decorator: arguments that are annotated as pipes have to be pipes, whose `type` is a subtype of the annotation's; TypeError otherwise."""
    signature, hints = inspect.signature(f), get_type_hints(f)

    @functools.wraps(f)
    def checked(*args, **kwargs):
        for name, value in signature.bind(*args, **kwargs).arguments.items():
            hint = hints.get(name)
            if not isinstance(hint, type) or not issubclass(hint, (IterDataPipe, MapDataPipe)):
                continue
            if not isinstance(value, IterDataPipe):
                raise TypeError(f"Expected argument '{name}' as a IterDataPipe, but found {type(value)}")
            if not value.type.issubtype(hint.type):
                raise TypeError(f"Expected type of argument '{name}' as a subtype of hint {hint.type}, but found {value.type}")
        return f(*args, **kwargs)

    return checked


def runtime_validation(f):
    """A decorator of `__iter__`: items have to be of the pipe's `type`; RuntimeError otherwise."""
    if f.__name__ != "__iter__":
        raise TypeError(f"Can not decorate function {f.__name__} with 'runtime_validation'")

    @functools.wraps(f)
    def checked(self):
        if not _validation:
            yield from f(self)
            return
        for item in f(self):
            if not self.type.issubtype_of_instance(item):
                raise RuntimeError(f"Expected an instance as subtype of {self.type}, but found {item}({type(item)})")
            yield item

    return checked


class runtime_validation_disabled:
    """While it holds (from its making on), items are not checked."""

    def __init__(self) -> None:
        global _validation
        self.prev, _validation = _validation, False

    def __enter__(self) -> None:
        pass

    def __exit__(self, exc_type: Any, exc_value: Any, traceback: Any) -> None:
        global _validation
        _validation = self.prev


__getattr__ = _publish.missing("torch.utils.data.datapipes._decorator")
