"""torch.utils.data.datapipes.iter.grouping (layer 8): pipes that put items together, or take them apart."""

from __future__ import annotations

import collections

from .._decorator import functional_datapipe
from ..datapipe import DataChunk, IterDataPipe
from ..utils.common import _check_unpickable_fn, lengths
from .combining import Forgetful

__all__ = ["BatcherIterDataPipe", "GrouperIterDataPipe", "UnBatcherIterDataPipe"]


@functional_datapipe("batch")
class BatcherIterDataPipe(IterDataPipe):
    """Lists of `batch_size` items, the last one shorter unless `drop_last`."""

    def __init__(self, datapipe, batch_size, drop_last=False, wrapper_class=DataChunk):
        if batch_size <= 0:
            raise AssertionError("Batch size is required to be larger than 0!")
        self.datapipe, self.batch_size, self.drop_last, self.wrapper_class = datapipe, batch_size, drop_last, wrapper_class

    def __iter__(self):
        batch: list = []
        for x in self.datapipe:
            batch.append(x)
            if len(batch) == self.batch_size:
                yield self.wrapper_class(batch)
                batch = []
        if batch and not self.drop_last:
            yield self.wrapper_class(batch)

    def __len__(self):
        n = lengths(self, self.datapipe)[0]
        return n // self.batch_size if self.drop_last else -(-n // self.batch_size)


@functional_datapipe("unbatch")
class UnBatcherIterDataPipe(IterDataPipe):
    """The items of lists, `unbatch_level` deep; all the way down for -1."""

    def __init__(self, datapipe, unbatch_level=1):
        self.datapipe, self.unbatch_level = datapipe, unbatch_level

    def _dive(self, x, level):
        if level < -1:
            raise ValueError("unbatch_level must be -1 or >= 0")
        if level == 0 or (level == -1 and not isinstance(x, list)):
            yield x
        elif not isinstance(x, list):
            raise IndexError(f"unbatch_level {self.unbatch_level} exceeds the depth of the DataPipe")
        else:
            for part in x:
                yield from self._dive(part, level if level == -1 else level - 1)

    def __iter__(self):
        for x in self.datapipe:
            yield from self._dive(x, self.unbatch_level)


@functional_datapipe("groupby")
class GrouperIterDataPipe(Forgetful, IterDataPipe):
    """Lists of items of the same key: given as soon as a list has `group_size` items, or is the longest when all together are `buffer_size`."""

    of_a_pass = ("buffer_elements", "curr_buffer_size")

    def __init__(self, datapipe, group_key_fn, *, keep_key=False, buffer_size=10000, group_size=None, guaranteed_group_size=None, drop_remaining=False):
        _check_unpickable_fn(group_key_fn)
        if group_size is not None and buffer_size is not None and not 0 < group_size <= buffer_size:
            raise AssertionError("group_size must be > 0 and <= buffer_size")
        if guaranteed_group_size is not None and (group_size is None or not 0 < guaranteed_group_size <= group_size):
            raise AssertionError("guaranteed_group_size must be > 0 and <= group_size and group_size must be set")
        self.datapipe, self.group_key_fn, self.keep_key = datapipe, group_key_fn, keep_key
        self.max_buffer_size, self.group_size, self.drop_remaining, self.wrapper_class = buffer_size, group_size, drop_remaining, DataChunk
        self.guaranteed_group_size = group_size if guaranteed_group_size is None else guaranteed_group_size
        self.reset()

    def reset(self):
        self.buffer_elements, self.curr_buffer_size = collections.defaultdict(list), 0

    def _take(self, key):
        items = self.buffer_elements.pop(key)
        self.curr_buffer_size -= len(items)
        return items

    def _remove_biggest_key(self):
        """The longest list of the buffer; None where it is too short to be given and may be dropped."""
        key = max(self.buffer_elements, key=lambda k: len(self.buffer_elements[k]))
        short = self.guaranteed_group_size is not None and len(self.buffer_elements[key]) < self.guaranteed_group_size
        if short and not self.drop_remaining:
            raise RuntimeError("Failed to group items", str(self.buffer_elements[key]))
        items = self._take(key)
        return None if short else items

    def _made(self, key, items):
        chunk = self.wrapper_class(items)
        return (key, chunk) if self.keep_key else chunk

    def __iter__(self):
        for x in self.datapipe:
            key = self.group_key_fn(x)
            self.buffer_elements[key].append(x)
            self.curr_buffer_size += 1
            if self.group_size == len(self.buffer_elements[key]):
                yield self._made(key, self._take(key))
            if self.curr_buffer_size == self.max_buffer_size:
                items = self._remove_biggest_key()
                if items is not None:
                    yield self._made(key, items)  # torch names it by the key of the newest item
        for key in tuple(self.buffer_elements):
            yield self._made(key, self._take(key))
