"""torch.utils.data.datapipes._hook_iterator (layer 8): what happens around `__iter__` of a pipe.

Only the newest iterator of a pipe may go on; `reset` is called as one begins; what goes wrong in one names its pipe; a profile counts each item.
"""

from __future__ import annotations

import contextlib
import functools
import inspect

from ...._core import profiling
from ....autograd.profiler import record_function

_ONE = "single iterator per IterDataPipe constraint"
FEEDBACK = f"\nFor feedback regarding this {_ONE}, feel free to comment on this issue: https://github.com/pytorch/data/issues/45."


def described(pipe):
    """Class and arguments of a pipe: ``MapperIterDataPipe(datapipe=..., fn=...)``."""
    def told(x):
        return x.__name__ if inspect.isfunction(x) else repr(x)

    names = [n for n in sorted(inspect.signature(type(pipe)).parameters) if hasattr(pipe, n)]
    return f"{type(pipe).__name__}({', '.join(f'{n}={told(getattr(pipe, n))}' for n in names)})"


def replaced(pipe):
    """The words for an iterator that goes on after another began."""
    return (f"This iterator has been invalidated because another iterator has been created from the same IterDataPipe: {described(pipe)}\n"
            "This may be caused by multiple references to the same IterDataPipe. We recommend using `.fork()` if that is necessary.")


_NO_RANGE = contextlib.nullcontext()


def _profiled(pipe):
    if profiling.current() is None:
        return _NO_RANGE
    if "_profile_name" not in vars(pipe):
        pipe._profile_name = described(pipe).replace("IterDataPipe", "").replace("MapDataPipe", "")
    return record_function(pipe._profile_name)


def _named_in(error, pipe):
    """The error, telling in which pipe it was raised (the innermost only)."""
    if not error.args or not isinstance(error.args[0], str):
        error.args = (f"\nThis exception is thrown by __iter__ of {described(pipe)}",)
    elif "thrown by __iter__ of" not in error.args[0] and _ONE not in error.args[0]:
        error.args = (f"{error.args[0]}\nThis exception is thrown by __iter__ of {described(pipe)}", *error.args[1:])


class _Iterator:
    """An iterator that `__iter__` of a pipe returned."""

    def __init__(self, iterator, pipe, number, counts):
        self.iterator, self.datapipe, self.iterator_id, self.counts = iterator, pipe, number, counts

    def __iter__(self):
        return self

    def __next__(self):
        with _profiled(self.datapipe):
            self.datapipe._check_iterator(self.iterator_id)
            item = next(self.iterator)
            if self.counts:
                self.datapipe._number_of_samples_yielded += 1
            return item

    def __getattr__(self, name):
        return getattr(self.iterator, name)


def _of_generator(body):
    @functools.wraps(body)
    def __iter__(self, *args, **kwargs):
        items, number = body(self, *args, **kwargs), self._begin_iterator()
        try:
            while True:
                with _profiled(self):
                    self._check_iterator(number)
                    item = next(items)
                self._number_of_samples_yielded += 1
                yield item
        except StopIteration:
            return
        except Exception as e:
            _named_in(e, self)
            raise
        finally:
            items.close()

    return __iter__


def hook_iterator(cls):
    """Put the above around `__iter__` (and `__next__`) that the class itself defines."""
    own = vars(cls)
    body = own.get("__iter__")
    if body is None:
        return
    if inspect.isgeneratorfunction(body):
        cls.__iter__ = _of_generator(body)
        return
    has_next = "__next__" in own
    if has_next:
        step = own["__next__"]

        @functools.wraps(step)
        def __next__(self, *args, **kwargs):
            with _profiled(self):
                item = step(self, *args, **kwargs)
            self._number_of_samples_yielded += 1
            return item

        cls.__next__ = __next__

    @functools.wraps(body)
    def __iter__(self, *args, **kwargs):
        iterator = body(self, *args, **kwargs)
        return _Iterator(iterator, self, self._begin_iterator(), not (has_next and iterator is self))

    cls.__iter__ = __iter__
