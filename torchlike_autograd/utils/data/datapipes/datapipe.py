"""torch.utils.data.datapipes.datapipe (layer 8): datasets that are made from others by methods, ``pipe.map(f).batch(2)``."""

from __future__ import annotations

import contextlib
import functools
import types
from typing import TypeVar

from ..dataset import Dataset, IterableDataset
from ._hook_iterator import FEEDBACK, hook_iterator, replaced

__all__ = ["DFIterDataPipe", "DataChunk", "IterDataPipe", "MapDataPipe"]

_T = TypeVar("_T")
_T_co = TypeVar("_T_co", covariant=True)


class _Registered:
    """Pipes that answer to the functional names of others, and that hooks may pickle in their place."""

    getstate_hook = reduce_ex_hook = str_hook = repr_hook = None

    def __class_getitem__(cls, params):
        return types.GenericAlias(cls, params)  # also of classes that were derived without a parameter of their own, as in torch

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

    @classmethod
    def register_function(cls, function_name, function):
        """Let pipes have a method `function_name`, which calls `function` with the pipe first."""
        cls.functions[function_name] = function

    @classmethod
    def set_getstate_hook(cls, hook_fn):
        """hook_fn(attributes) -> what `pickle` keeps of a pipe; None takes it away, RuntimeError where one is set."""
        _set_hook(cls, "getstate_hook", hook_fn)

    @classmethod
    def set_reduce_ex_hook(cls, hook_fn):
        """hook_fn(pipe) -> what `__reduce_ex__` returns, NotImplementedError for the usual; None takes it away, RuntimeError where one is set."""
        _set_hook(cls, "reduce_ex_hook", hook_fn)

    def __getstate__(self):
        hook = type(self).getstate_hook
        return self.__dict__ if hook is None else hook(self.__dict__)

    def __reduce_ex__(self, protocol):
        hook = type(self).reduce_ex_hook
        if hook is not None:
            with contextlib.suppress(NotImplementedError):
                return hook(self)
        return super().__reduce_ex__(protocol)

    def __str__(self):
        return type(self).__qualname__ if self.str_hook is None else type(self).str_hook(self)

    def __repr__(self):
        return type(self).__qualname__ if self.repr_hook is None else type(self).repr_hook(self)

    def __dir__(self):
        return [*super().__dir__(), *self.functions]


def _set_hook(cls, name, hook_fn):
    kind = next(c for c in (*cls.__mro__, cls) if "functions" in vars(c))  # IterDataPipe or MapDataPipe
    if getattr(kind, name) is not None and hook_fn is not None:
        raise RuntimeError(f"Attempt to override existing {name}")
    setattr(kind, name, hook_fn)


class IterDataPipe(_Registered, IterableDataset[_T_co]):
    """A dataset by iteration, with the methods that were registered for such; one iterator of it is valid at a time."""

    functions: dict = {}
    _valid_iterator_id: int | None = None
    _number_of_samples_yielded = 0

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        hook_iterator(cls)

    def __iter__(self):
        return self

    def __getitem__(self, index):
        raise NotImplementedError("Subclasses of Dataset should implement __getitem__.")

    def reset(self):
        """Called before iteration anew; nothing here."""

    def _begin_iterator(self):
        """The number of an iterator that begins: the older ones end by it."""
        self._valid_iterator_id = 0 if self._valid_iterator_id is None else self._valid_iterator_id + 1
        self._number_of_samples_yielded = 0
        self.reset()
        return self._valid_iterator_id

    def _check_iterator(self, number):
        if self._valid_iterator_id != number:
            raise RuntimeError(replaced(self) + FEEDBACK)


hook_iterator(IterDataPipe)


class DFIterDataPipe(IterDataPipe):
    """A pipe of data frames."""

    def _is_dfpipe(self):
        return True


class MapDataPipe(_Registered, Dataset[_T_co]):
    """A dataset by keys, with the methods that were registered for such."""

    functions: dict = {}


class DataChunk(list[_T]):
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
