"""torch.utils.data.datapipes.datapipe (layer 8): datasets that are made from others by methods, ``pipe.map(f).batch(2)``.

What differs: a second iterator of a pipe does not invalidate the first.
"""

from __future__ import annotations

import functools
from typing import TypeVar

from ..dataset import Dataset, IterableDataset

__all__ = ["DataChunk", "IterDataPipe", "MapDataPipe", "functional_datapipe"]

_T_co = TypeVar("_T_co", covariant=True)


class _Registered:
    """Pipes that answer to the functional names of others."""

    def __getattr__(self, name):
        made = type(self).functions.get(name)
        if made is None:
            raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}")  # so in torch, a quote missing
        return functools.partial(made, self)

    @classmethod
    def register_datapipe_as_function(cls, function_name, cls_to_register, enable_df_api_tracing=False):
        """Let pipes have a method `function_name` that makes a `cls_to_register`; Exception where the name is taken."""
        if function_name in cls.functions:
            raise Exception(f"Unable to add DataPipe function name {function_name} as it is already taken")
        cls.functions[function_name] = cls_to_register

    def __str__(self):
        return type(self).__qualname__

    __repr__ = __str__


class IterDataPipe(_Registered, IterableDataset[_T_co]):
    """A dataset by iteration, with the methods that were registered for such."""

    functions: dict = {}

    def __iter__(self):
        return self

    def __getitem__(self, index):
        raise NotImplementedError("Subclasses of Dataset should implement __getitem__.")

    def reset(self):
        """Called before iteration anew; nothing here."""


class MapDataPipe(_Registered, Dataset[_T_co]):
    """A dataset by keys, with the methods that were registered for such."""

    functions: dict = {}


class DataChunk(list):
    """A batch of a pipe: a list that shows where it was nested."""

    def __init__(self, items):
        items = list(items)
        super().__init__(items)
        self.items = items

    def as_str(self, indent=""):
        """Its items in brackets."""
        return indent + "[" + ", ".join(map(str, self)) + "]"

    def raw_iterator(self):
        """Over its items as they are."""
        yield from self.items


class functional_datapipe:
    """A decorator: pipes get a method of this name that makes one of the decorated class."""

    def __init__(self, name: str, enable_df_api_tracing=False):
        self.name = name

    def __call__(self, cls):
        for kind in (IterDataPipe, MapDataPipe):
            if isinstance(cls, type) and issubclass(cls, kind):
                kind.register_datapipe_as_function(self.name, cls)
                return cls
        raise TypeError("`functional_datapipe` can only decorate IterDataPipe or MapDataPipe")
