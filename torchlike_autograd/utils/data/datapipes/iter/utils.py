"""torch.utils.data.datapipes.iter.utils (layer 8): a pipe over what can be gone over."""

from __future__ import annotations

import copy

from ....._core.saying import warn
from ..datapipe import IterDataPipe
from ..utils.common import lengths

__all__ = ["IterableWrapperIterDataPipe"]


class IterableWrapperIterDataPipe(IterDataPipe):
    """Goes over an iterable; over a copy of it unless `deepcopy` is False or it cannot be copied."""

    def __init__(self, iterable, deepcopy=True):
        self.iterable, self.deepcopy = iterable, deepcopy

    def __iter__(self):
        source = self.iterable
        if self.deepcopy:
            try:
                source = copy.deepcopy(self.iterable)
            except TypeError:
                warn("The input iterable can not be deepcopied, please be aware of in-place modification would affect source data.")
        yield from source

    def __len__(self):
        return lengths(self, self.iterable)[0]
