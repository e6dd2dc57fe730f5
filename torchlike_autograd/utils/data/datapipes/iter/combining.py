"""torch.utils.data.datapipes.iter.combining (layer 8): one pipe of several, several of one."""

from __future__ import annotations

import collections
import copy as _copy

from ....._core.saying import warn
from .._decorator import functional_datapipe
from .._hook_iterator import FEEDBACK, described
from ..datapipe import IterDataPipe
from ..utils.common import StreamWrapper, _check_unpickable_fn, lengths

__all__ = ["ConcaterIterDataPipe", "DemultiplexerIterDataPipe", "ForkerIterDataPipe", "MultiplexerIterDataPipe", "ZipperIterDataPipe"]


class Forgetful:
    """Pipes whose copies (pickled) begin anew: without what a pass has stored, which `reset` makes."""

    of_a_pass: tuple = ()

    def __getstate__(self):
        state = {k: v for k, v in vars(self).items() if k not in self.of_a_pass}
        hook = type(self).getstate_hook
        return state if hook is None else hook(state)

    def __setstate__(self, state):
        vars(self).update(state)
        self.reset()


@functional_datapipe("concat")
class ConcaterIterDataPipe(IterDataPipe):
    """Several pipes, one after the other."""

    def __init__(self, *datapipes):
        if not datapipes:
            raise ValueError("Expected at least one DataPipe, but got nothing")
        if not all(isinstance(p, IterDataPipe) for p in datapipes):
            raise TypeError("Expected all inputs to be `IterDataPipe`")
        self.datapipes = datapipes

    def __iter__(self):
        for pipe in self.datapipes:
            yield from pipe

    def __len__(self):
        return sum(lengths(self, *self.datapipes))


@functional_datapipe("zip")
class ZipperIterDataPipe(IterDataPipe):
    """Tuples of the items of several pipes, as long as the shortest."""

    def __init__(self, *datapipes):
        if not all(isinstance(p, IterDataPipe) for p in datapipes):
            raise TypeError("All inputs are required to be `IterDataPipe` for `ZipIterDataPipe`.")
        self.datapipes = datapipes

    def __iter__(self):
        yield from zip(*[iter(p) for p in self.datapipes])

    def __len__(self):
        return min(lengths(self, *self.datapipes))


@functional_datapipe("mux")
class MultiplexerIterDataPipe(Forgetful, IterDataPipe):
    """An item of each pipe in turn, until the shortest has no more."""

    of_a_pass = ("buffer",)

    def __init__(self, *datapipes):
        self.datapipes = datapipes
        self.reset()

    def reset(self):
        self.buffer: list = []

    def __iter__(self):
        iterators = [iter(p) for p in self.datapipes]
        while iterators:
            for it in iterators:  # a turn that not all can take is dropped
                try:
                    self.buffer.append(next(it))
                except StopIteration:
                    self.buffer.clear()
                    return
            yield from self.buffer
            self.buffer.clear()

    def __len__(self):
        return min(lengths(self, *self.datapipes)) * len(self.datapipes)


class _Container(Forgetful, IterDataPipe):
    """A pipe that several children read from, each at its own pace: `get_next_element_by_instance(i)` goes over what child i gets."""

    of_a_pass = ("_datapipe_iterator", "_stopped")

    def reset(self):
        self._datapipe_iterator, self._stopped = None, [True] * self.num_instances

    def _start(self, i):
        """Let the children read when the first of them begins."""
        if self._datapipe_iterator is None and self._stopped[i]:
            self._datapipe_iterator, self._stopped = iter(self.main_datapipe), [False] * self.num_instances
            return True
        return False

    def _cleanup(self, items):
        while items:
            StreamWrapper.close_streams(items.popleft())


def _same(x):
    return x


class _ForkerIterDataPipe(_Container):
    of_a_pass = (*_Container.of_a_pass, "buffer", "_read", "_passed", "_end")

    def __init__(self, datapipe, num_instances, buffer_size=1000, copy=None):
        if buffer_size < 0:
            warn("Unlimited buffer size is set for `fork`, please be aware of OOM at random places")
        if copy not in (None, "shallow", "deep"):
            raise ValueError(f"Unknown copy method `{copy}` requested, choose one of None, `shallow` or `deep`.")
        self.main_datapipe, self.num_instances, self.buffer_size = datapipe, num_instances, buffer_size
        self.copy_fn = {None: _same, "shallow": _copy.copy, "deep": _copy.deepcopy}[copy]
        self.reset()

    def reset(self):
        super().reset()  # below: the items that not all have read, how many each has, how many all have, how many there are
        self.buffer, self._read, self._passed, self._end = collections.deque(), [0] * self.num_instances, 0, None

    def __len__(self):
        return len(self.main_datapipe)

    def _next(self, i):
        """The next item of child i; StopIteration at the end."""
        place = self._read[i] - self._passed
        if place < len(self.buffer):
            x = self.buffer[place]
        else:
            if self._read[i] == self._end:
                raise StopIteration
            try:
                x = next(self._datapipe_iterator)
            except StopIteration:
                self._datapipe_iterator, self._end = None, self._read[i]
                raise
            self.buffer.append(x)
        self._read[i] += 1
        if min(self._read) > self._passed:
            self._passed += 1
            self.buffer.popleft()
        if 0 <= self.buffer_size < len(self.buffer):
            raise BufferError(f"ForkerIterDataPipe buffer overflow,buffer size {self.buffer_size} is insufficient.")
        return self.copy_fn(x)

    def get_next_element_by_instance(self, instance_id):
        """Over the items, for one child."""
        self._start(instance_id)
        try:
            while not self._stopped[instance_id]:
                try:
                    x = self._next(instance_id)
                except StopIteration:
                    break
                yield x
        finally:
            self._stopped[instance_id] = True
            if all(self._stopped):
                self._datapipe_iterator = None
                self._cleanup(self.buffer)

    def is_every_instance_exhausted(self):
        """Whether all children have had all."""
        return self._end is not None and all(self._stopped)

    def get_length_by_instance(self, instance_id):
        """As many as the pipe has."""
        return len(self.main_datapipe)


class _DemultiplexerIterDataPipe(_Container):
    of_a_pass = (*_Container.of_a_pass, "child_buffers", "_exhausted")

    def __init__(self, datapipe, num_instances, classifier_fn, drop_none, buffer_size):
        if buffer_size < 0:
            warn("Unlimited buffer size is set for `demux`, please be aware of OOM at random places")
        self.main_datapipe, self.num_instances, self.buffer_size = datapipe, num_instances, buffer_size
        self.classifier_fn, self.drop_none = classifier_fn, drop_none
        self.reset()

    def reset(self):
        super().reset()
        self.child_buffers, self._exhausted = [collections.deque() for _ in range(self.num_instances)], False

    def _next(self, i):
        """The next item of child i, those of the others put aside; StopIteration at the end."""
        while not self._exhausted and not self._stopped[i]:
            x = next(self._datapipe_iterator)
            kind = self.classifier_fn(x)
            if kind is None and self.drop_none:
                StreamWrapper.close_streams(x)
                continue
            if kind is None or not 0 <= kind < self.num_instances:
                raise ValueError(f"Output of the classification fn should be between 0 and {self.num_instances - 1}. {kind} is returned.")
            if kind == i:
                return x
            self.child_buffers[kind].append(x)
            if 0 <= self.buffer_size < sum(map(len, self.child_buffers)):
                raise BufferError(f"DemultiplexerIterDataPipe buffer overflow, buffer size {self.buffer_size} is insufficient.")
        raise StopIteration

    def get_next_element_by_instance(self, instance_id):
        """Over the items of one child."""
        if self._start(instance_id):
            self._exhausted = False
        mine = self.child_buffers[instance_id]
        try:
            while not self._stopped[instance_id]:
                try:
                    x = mine.popleft() if mine else self._next(instance_id)
                except StopIteration:
                    self._exhausted, self._datapipe_iterator = True, None
                    break
                yield x
        finally:
            self._stopped[instance_id] = True
            if all(self._stopped):
                self._datapipe_iterator = None
            self._cleanup(mine)

    def is_every_instance_exhausted(self):
        """Whether all children have had all of theirs."""
        return self._exhausted and all(self._stopped)

    def get_length_by_instance(self, instance_id):
        """Not known before the items are seen."""
        raise TypeError


class _ChildDataPipe(IterDataPipe):
    """One of the children: they begin anew together, so an iterator of one ends the older iterators of all."""

    _is_child_datapipe = True

    def __init__(self, main_datapipe, instance_id):
        self.main_datapipe, self.instance_id = main_datapipe, instance_id

    def __iter__(self):
        return self.main_datapipe.get_next_element_by_instance(self.instance_id)

    def __len__(self):
        return self.main_datapipe.get_length_by_instance(self.instance_id)

    def _begin_iterator(self):
        main = self.main_datapipe
        if main._valid_iterator_id is None:
            main._valid_iterator_id = 0
        elif main._valid_iterator_id == self._valid_iterator_id:  # this child has begun already: a new round for all
            main._valid_iterator_id += 1
            if not main.is_every_instance_exhausted():
                warn("Some child DataPipes are not exhausted when __iter__ is called. We are resetting the buffer and each child DataPipe will read from "
                     "the start again.")
            main.reset()
        self._valid_iterator_id = main._valid_iterator_id
        return self._valid_iterator_id

    def _check_iterator(self, number):
        if not number == self._valid_iterator_id == self.main_datapipe._valid_iterator_id:
            raise RuntimeError("This iterator has been invalidated, because a new iterator has been created from one of the ChildDataPipes of "
                               f"{described(self.main_datapipe)}.{FEEDBACK}")


def _at_least_one(n):
    if n < 1:
        raise ValueError(f"Expected `num_instances` larger than 0, but {n} is found")


@functional_datapipe("fork")
class ForkerIterDataPipe(IterDataPipe):
    """A list of pipes that all give what this one gives; the fastest may be `buffer_size` items ahead of the slowest."""

    def __new__(cls, datapipe, num_instances, buffer_size=1000, copy=None):
        _at_least_one(num_instances)
        if num_instances == 1:
            return datapipe
        container = _ForkerIterDataPipe(datapipe, num_instances, buffer_size, copy)
        return [_ChildDataPipe(container, i) for i in range(num_instances)]


@functional_datapipe("demux")
class DemultiplexerIterDataPipe(IterDataPipe):
    """A list of pipes, each of the items for which `classifier_fn` gives its number (none gets those for which it gives None, with `drop_none`)."""

    def __new__(cls, datapipe, num_instances, classifier_fn, drop_none=False, buffer_size=1000):
        _at_least_one(num_instances)
        _check_unpickable_fn(classifier_fn)
        container = _DemultiplexerIterDataPipe(datapipe, num_instances, classifier_fn, drop_none, buffer_size)
        return [_ChildDataPipe(container, i) for i in range(num_instances)]
