"""torch.utils.data.datapipes.map (layer 8): pipes by keys: wrap, map, batch, zip, concat, shuffle."""

from __future__ import annotations

import copy
from collections.abc import Sized

from ....._core import publish as _publish
from ....._core.saying import warn
from .._decorator import functional_datapipe
from ..datapipe import DataChunk, MapDataPipe
from ..iter.combinatorics import Shuffles
from ..utils.common import _check_unpickable_fn, lengths

__all__ = ["Batcher", "Concater", "Mapper", "SequenceWrapper", "Shuffler", "Zipper"]


class SequenceWrapperMapDataPipe(MapDataPipe):
    """The items of a sequence or mapping: of a copy of it unless `deepcopy` is False or it cannot be copied."""

    def __init__(self, sequence, deepcopy=True):
        self.sequence = sequence
        if deepcopy:
            try:
                self.sequence = copy.deepcopy(sequence)
            except TypeError:
                warn("The input sequence can not be deepcopied, please be aware of in-place modification would affect source data")

    def __getitem__(self, index):
        return self.sequence[index]

    def __len__(self):
        return len(self.sequence)


def _same(data):
    return data


@functional_datapipe("map")
class MapperMapDataPipe(MapDataPipe):
    """``fn`` of each item."""

    def __init__(self, datapipe, fn=_same):
        _check_unpickable_fn(fn)
        self.datapipe, self.fn = datapipe, fn

    def __len__(self):
        return len(self.datapipe)

    def __getitem__(self, index):
        return self.fn(self.datapipe[index])


@functional_datapipe("batch")
class BatcherMapDataPipe(MapDataPipe):
    """Lists of `batch_size` items, the last one shorter unless `drop_last`."""

    def __init__(self, datapipe, batch_size, drop_last=False, wrapper_class=DataChunk):
        if batch_size <= 0:
            raise AssertionError("Batch size is required to be larger than 0!")
        self.datapipe, self.batch_size, self.drop_last, self.wrapper_class = datapipe, batch_size, drop_last, wrapper_class

    def __getitem__(self, index):
        batch: list = []
        try:
            batch.extend(self.datapipe[i] for i in range(index * self.batch_size, (index + 1) * self.batch_size))
        except IndexError as e:
            if self.drop_last or not batch:
                raise IndexError(f"Index {index} is out of bound.") from e
        return self.wrapper_class(batch)

    def __len__(self):
        n = lengths(self, self.datapipe)[0]
        return n // self.batch_size if self.drop_last else -(-n // self.batch_size)


def _checked(datapipes):
    if not datapipes:
        raise ValueError("Expected at least one DataPipe, but got nothing")
    if not all(isinstance(p, MapDataPipe) for p in datapipes):
        raise TypeError("Expected all inputs to be `MapDataPipe`")
    if not all(isinstance(p, Sized) for p in datapipes):
        raise TypeError("Expected all inputs to be `Sized`")
    return datapipes


@functional_datapipe("concat")
class ConcaterMapDataPipe(MapDataPipe):
    """Several pipes, one after the other."""

    def __init__(self, *datapipes):
        self.datapipes = _checked(datapipes)

    def __getitem__(self, index):
        passed = 0
        for p in self.datapipes:
            if index - passed < len(p):
                return p[index - passed]
            passed += len(p)
        raise IndexError(f"Index {index} is out of range.")

    def __len__(self):
        return sum(map(len, self.datapipes))


@functional_datapipe("zip")
class ZipperMapDataPipe(MapDataPipe):
    """Tuples of the items of several pipes."""

    def __init__(self, *datapipes):
        self.datapipes = _checked(datapipes)

    def _at(self, pipe, index):
        try:
            return pipe[index]
        except IndexError as e:
            raise IndexError(f"Index {index} is out of range for one of the input MapDataPipes {pipe}.") from e

    def __getitem__(self, index):
        return tuple(self._at(p, index) for p in self.datapipes)

    def __len__(self):
        return min(map(len, self.datapipes))


class ShufflerIterDataPipe(Shuffles):
    """By iteration: the items of a pipe by keys, the keys (by default its numbers) in random order."""

    def __init__(self, datapipe, *, indices=None):
        self.datapipe = datapipe
        self.indices = list(range(len(datapipe))) if indices is None else indices
        self._shuffled_indices = self.indices
        self._shuffle_on()

    def reset(self):
        self._reseed()
        self._shuffled_indices = self._rng.sample(self.indices, len(self.indices))

    def __iter__(self):
        if not self._enabled:
            for i in self.indices:
                yield self.datapipe[i]
            return
        while self._shuffled_indices:
            yield self.datapipe[self._shuffled_indices.pop()]

    def __len__(self):
        return len(self.datapipe)


MapDataPipe.register_datapipe_as_function("shuffle", ShufflerIterDataPipe)
Batcher, Concater, Mapper = BatcherMapDataPipe, ConcaterMapDataPipe, MapperMapDataPipe
SequenceWrapper, Shuffler, Zipper = SequenceWrapperMapDataPipe, ShufflerIterDataPipe, ZipperMapDataPipe
__getattr__ = _publish.missing("torch.utils.data.datapipes.map")
