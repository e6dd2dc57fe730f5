"""torch.utils.data.datapipes.iter.combinatorics (layer 8): pipes that give the items of another in another order."""

from __future__ import annotations

import random
from collections.abc import Sized

from ...sampler import SequentialSampler, draw_seed
from .._decorator import functional_datapipe
from ..datapipe import IterDataPipe
from ..utils.common import lengths

__all__ = ["SamplerIterDataPipe", "ShufflerIterDataPipe"]


class SamplerIterDataPipe(IterDataPipe):
    """What a sampler, made over a pipe, gives; AssertionError for a pipe without a length."""

    def __init__(self, datapipe, sampler=SequentialSampler, sampler_args=None, sampler_kwargs=None):
        if not isinstance(datapipe, Sized):
            raise AssertionError("Sampler class requires input datapipe implemented `__len__`")
        self.datapipe = datapipe
        self.sampler_args = () if sampler_args is None else sampler_args
        self.sampler_kwargs = {} if sampler_kwargs is None else sampler_kwargs
        self.sampler_kwargs["data_source"] = self.datapipe
        self.sampler = sampler(*self.sampler_args, **self.sampler_kwargs)

    def __iter__(self):
        return iter(self.sampler)

    def __len__(self):
        return lengths(self, self.sampler)[0]


class Shuffles(IterDataPipe):
    """A pipe with a random order: drawn by a generator of its own, which takes a seed from torch's as a pass begins."""

    def _shuffle_on(self):
        self._enabled, self._seed, self._rng = True, None, random.Random()

    def set_shuffle(self, shuffle=True):
        """Switch it on or off; itself."""
        self._enabled = shuffle
        return self

    def set_seed(self, seed):
        """The seed of the next pass; itself."""
        self._seed = seed
        return self

    def _reseed(self):
        self._rng.seed(draw_seed() if self._seed is None and self._enabled else self._seed)
        self._seed = None


@functional_datapipe("shuffle")
class ShufflerIterDataPipe(Shuffles):
    """The items in random order, by a buffer of `buffer_size`."""

    def __init__(self, datapipe, *, buffer_size=10000, unbatch_level=0):
        if buffer_size <= 0:
            raise AssertionError("buffer_size should be larger than 0")
        self.datapipe = datapipe if unbatch_level == 0 else datapipe.unbatch(unbatch_level=unbatch_level)
        self.buffer_size, self._buffer = buffer_size, []
        self._shuffle_on()

    def reset(self):
        self._buffer = []
        if self._enabled:
            self._reseed()

    def __iter__(self):
        if not self._enabled:
            yield from self.datapipe
            return
        for x in self.datapipe:
            if len(self._buffer) == self.buffer_size:
                i = self._rng.randint(0, len(self._buffer) - 1)
                out, self._buffer[i] = self._buffer[i], x
                yield out
            else:
                self._buffer.append(x)
        while self._buffer:
            yield self._buffer.pop(self._rng.randint(0, len(self._buffer) - 1))

    def __len__(self):
        return lengths(self, self.datapipe)[0]
