"""torch.utils.data.datapipes._decorator (layer 8): what decorates classes of pipes: a method of others, a warning against chance."""

from __future__ import annotations

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


__getattr__ = _publish.missing("torch.utils.data.datapipes._decorator")
