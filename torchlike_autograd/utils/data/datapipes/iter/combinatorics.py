"""torch.utils.data.datapipes.iter.combinatorics (layer 8): pipes that give the items of another in another order."""

from __future__ import annotations

import random
from collections.abc import Sized

from ...sampler import SequentialSampler, draw_seed
from ..datapipe import IterDataPipe, functional_datapipe

__all__ = ["SamplerIterDataPipe", "ShufflerIterDataPipe"]


class SamplerIterDataPipe(IterDataPipe):
    """What a sampler, made over a pipe, gives; AssertionError for a pipe without a length."""

    def __init__(self, datapipe, sampler=SequentialSampler, sampler_args=None, sampler_kwargs=None):
        if not isinstance(datapipe, Sized):
            raise AssertionError("Sampler class requires input datapipe implemented `__len__`")
        self.datapipe = datapipe
        self.sampler_args = () if sampler_args is None else sampler_args
        self.sampler_kwargs = {} if sampler_kwargs is None else sampler_kwargs
        self.sampler = sampler(*self.sampler_args, data_source=self.datapipe, **self.sampler_kwargs)

    def __iter__(self):
        return iter(self.sampler)

    def __len__(self):
        if isinstance(self.sampler, Sized):
            return len(self.sampler)
        raise TypeError(f"{type(self).__name__} instance doesn't have valid length")


@functional_datapipe("shuffle")
class ShufflerIterDataPipe(IterDataPipe):
    """The items in random order, by a buffer of `buffer_size`, drawn by a generator that `torch.manual_seed` seeds."""

    def __init__(self, datapipe, *, buffer_size=10000, unbatch_level=0):
        if buffer_size <= 0:
            raise AssertionError("buffer_size should be larger than 0")
        self.datapipe = datapipe if unbatch_level == 0 else datapipe.unbatch(unbatch_level=unbatch_level)
        self.buffer_size, self._enabled, self._seed = buffer_size, True, None

    def set_shuffle(self, shuffle=True):
        """Switch it on or off; itself."""
        self._enabled = shuffle
        return self

    def set_seed(self, seed):
        """The seed of the next pass; itself."""
        self._seed = seed
        return self

    def __iter__(self):
        if not self._enabled:
            yield from self.datapipe
            return
        draw, buffer, self._seed = random.Random(self._seed if self._seed is not None else draw_seed()), [], None
        for x in self.datapipe:
            if len(buffer) == self.buffer_size:
                i = draw.randint(0, len(buffer) - 1)
                out, buffer[i] = buffer[i], x
                yield out
            else:
                buffer.append(x)
        while buffer:
            yield buffer.pop(draw.randint(0, len(buffer) - 1))

    def __len__(self):
        if isinstance(self.datapipe, Sized):
            return len(self.datapipe)
        raise TypeError(f"{type(self).__name__} instance doesn't have valid length")
