"""torch.utils.data.datapipes.iter.callable (layer 8): pipes that put items through a function."""

from __future__ import annotations

import collections
import functools

from ..._utils.collate import default_collate
from .._decorator import functional_datapipe
from ..datapipe import IterDataPipe
from ..utils.common import _check_unpickable_fn, columns, lengths, validate_input_col

__all__ = ["CollatorIterDataPipe", "MapperIterDataPipe"]


@functional_datapipe("map")
class MapperIterDataPipe(IterDataPipe):
    """``fn`` of each item; of a column of it with `input_col`, put in the place of `output_col` (or of the input)."""

    def __init__(self, datapipe, fn, input_col=None, output_col=None):
        _check_unpickable_fn(fn)
        if input_col is None and output_col is not None:
            raise ValueError("`output_col` must be None when `input_col` is None.")
        if isinstance(output_col, (list, tuple)):
            if len(output_col) > 1:
                raise ValueError("`output_col` must be a single-element list or tuple")
            output_col = output_col[0]
        validate_input_col(fn, input_col)
        self.datapipe, self.fn, self.input_col, self.output_col = datapipe, fn, input_col, output_col

    def _apply_fn(self, data):
        out = self.fn(*columns(data, self.input_col))
        if self.input_col is None:
            return out
        new = list(data) if isinstance(data, tuple) else data  # a list or dict is written to, as in torch
        if self.output_col == -1:
            new.append(out)
        elif self.output_col is not None:
            new[self.output_col] = out
        elif isinstance(self.input_col, (list, tuple)):  # the first of the columns takes it, the others go
            new[self.input_col[0]] = out
            for i in sorted(self.input_col[1:], reverse=True):
                del new[i]
        else:
            new[self.input_col] = out
        return tuple(new) if isinstance(data, tuple) else new

    def __iter__(self):
        for data in self.datapipe:
            yield self._apply_fn(data)

    def __len__(self):
        return lengths(self, self.datapipe)[0]


def _collate_columns(conversion, item):
    """A named tuple of the columns of the one data frame in a batch, each by its own function."""
    if len(item.items) > 1:
        raise RuntimeError("Only supports one DataFrame per batch")
    frame = item[0]
    names = list(frame.columns)
    if any(n not in names for n in conversion):
        raise RuntimeError("Conversion keys mismatch")
    if any(n not in conversion for n in names):
        raise RuntimeError("unable to import default collation function from the TorchArrow")
    if not all(callable(f) for f in conversion.values()):
        raise RuntimeError("Collate (DF)DataPipe requires callable as dict values")
    return collections.namedtuple("CollateResult", map(str, names))(*(conversion[n](frame[n]) for n in names))


@functional_datapipe("collate")
class CollatorIterDataPipe(MapperIterDataPipe):
    """Each batch as tensors: by `default_collate`, by a function, or the columns of a data frame by a dict of functions."""

    def __init__(self, datapipe, conversion=default_collate, collate_fn=None):
        if collate_fn is None:
            collate_fn = conversion if callable(conversion) else functools.partial(_collate_columns, conversion)
        super().__init__(datapipe, fn=collate_fn)
