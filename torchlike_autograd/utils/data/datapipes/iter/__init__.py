"""torch.utils.data.datapipes.iter (layer 8): pipes by iteration: wrap, map, filter, batch, unbatch, zip, concat, shuffle."""

from __future__ import annotations

from ....._core import publish as _publish
from ..datapipe import DataChunk, IterDataPipe, functional_datapipe
from .combinatorics import SamplerIterDataPipe as Sampler
from .combinatorics import ShufflerIterDataPipe as Shuffler

__all__ = ["Batcher", "Concater", "Filter", "IterableWrapper", "Mapper", "Sampler", "Shuffler", "UnBatcher", "Zipper"]


class IterableWrapper(IterDataPipe):
    """Goes over an iterable; over a copy of it unless `deepcopy` is False."""

    def __init__(self, iterable, deepcopy=True):
        self.iterable, self.deepcopy = iterable, deepcopy

    def __iter__(self):
        import copy

        yield from copy.deepcopy(self.iterable) if self.deepcopy else self.iterable

    def __len__(self):
        return len(self.iterable)


class _Over(IterDataPipe):
    """Goes over one other pipe."""

    def __len__(self):
        return len(self.datapipe)


def _at(data, input_col):
    """The arguments that a column, or a list of columns, of an item gives."""
    if input_col is None:
        return (data,)
    return tuple(data[i] for i in input_col) if isinstance(input_col, (list, tuple)) else (data[input_col],)


@functional_datapipe("map")
class Mapper(_Over):
    """``fn`` of each item; of a column of it with `input_col`, put in the place of `output_col` (or of the input)."""

    def __init__(self, datapipe, fn, input_col=None, output_col=None):
        if output_col is not None and input_col is None:
            raise ValueError("`output_col` must be None when `input_col` is None.")
        self.datapipe, self.fn, self.input_col, self.output_col = datapipe, fn, input_col, output_col

    def _apply_fn(self, data):
        out = self.fn(*_at(data, self.input_col))
        if self.input_col is None:
            return out
        place = self.output_col if self.output_col is not None else self.input_col
        place = place[0] if isinstance(place, (list, tuple)) else place
        new = dict(data) if isinstance(data, dict) else list(data)
        if place == -1 and not isinstance(new, dict) and self.output_col is not None:
            new.append(out)
        else:
            new[place] = out
        return tuple(new) if isinstance(data, tuple) else new

    def __iter__(self):
        for data in self.datapipe:
            yield self._apply_fn(data)


@functional_datapipe("filter")
class Filter(IterDataPipe):
    """The items (or those whose column) for which `filter_fn` is true; ValueError where it does not answer with a bool."""

    def __init__(self, datapipe, filter_fn, input_col=None):
        self.datapipe, self.filter_fn, self.input_col = datapipe, filter_fn, input_col

    def __iter__(self):
        for data in self.datapipe:
            kept = self.filter_fn(*_at(data, self.input_col))
            if not isinstance(kept, bool):
                raise ValueError("Boolean output is required for `filter_fn` of FilterIterDataPipe, got", type(kept))
            if kept:
                yield data


@functional_datapipe("batch")
class Batcher(IterDataPipe):
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
        n = len(self.datapipe)
        return n // self.batch_size if self.drop_last else -(-n // self.batch_size)


@functional_datapipe("unbatch")
class UnBatcher(IterDataPipe):
    """The items of lists, `unbatch_level` deep; all the way down for -1."""

    def __init__(self, datapipe, unbatch_level=1):
        self.datapipe, self.unbatch_level = datapipe, unbatch_level

    def _dive(self, x, level):
        if level == 0 or (level == -1 and not isinstance(x, (list, DataChunk))):
            yield x
        elif not isinstance(x, (list, DataChunk)):
            raise IndexError(f"unbatch_level {self.unbatch_level} exceeds the depth of the DataPipe")
        else:
            for part in x:
                yield from self._dive(part, level if level == -1 else level - 1)

    def __iter__(self):
        for x in self.datapipe:
            yield from self._dive(x, self.unbatch_level)


@functional_datapipe("zip")
class Zipper(IterDataPipe):
    """Tuples of the items of several pipes, as long as the shortest."""

    def __init__(self, *datapipes):
        self.datapipes = datapipes

    def __iter__(self):
        yield from zip(*self.datapipes)

    def __len__(self):
        return min(map(len, self.datapipes))


@functional_datapipe("concat")
class Concater(IterDataPipe):
    """Several pipes, one after the other."""

    def __init__(self, *datapipes):
        if not datapipes:
            raise ValueError("Expected at least one DataPipe, but got nothing")
        self.datapipes = datapipes

    def __iter__(self):
        for pipe in self.datapipes:
            yield from pipe

    def __len__(self):
        return sum(map(len, self.datapipes))


__getattr__ = _publish.missing("torch.utils.data.datapipes.iter")
