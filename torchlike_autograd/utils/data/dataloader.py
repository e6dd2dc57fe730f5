"""torch.utils.data.dataloader (layer 8).

Workers run in this process, one after the other, because XLA's threads do not survive a fork.  Everything else is as with PyTorch's processes: each has its own
copy of the dataset object (and of the objects and containers that it holds, up to a size; arrays and what cannot be copied are shared), its own seeds for
torch, `random` and NumPy, its `get_worker_info()`; keys are drawn `prefetch_factor` batches ahead for each worker, and batches come in the same order; with
`in_order=False` in the order in which workers that run at once would have had them ready.  What differs: a worker computes when its batch is asked for, globals
are shared with it, `timeout` and `multiprocessing_context` are checked and change nothing.
"""

from __future__ import annotations

import collections
import collections.abc
import copy
import itertools
import multiprocessing
import multiprocessing.context
import os
import random
import time
import traceback
from typing import Any, Generic, TypeVar

import numpy as np

from ..._core import profiling
from ..._core.devices import accelerator
from ..._core.saying import warn
from ..._functions.random import Generator, default_generator
from ..._tensor import Tensor, from_array
from ...autograd.profiler import record_function
from ._utils.collate import default_collate, default_convert
from ._utils.pin_memory import pin_memory as pinned
from .datapipes.datapipe import IterDataPipe, MapDataPipe
from .dataset import IterableDataset, Subset, TensorDataset
from .graph_settings import apply_random_seed, apply_sharding, apply_shuffle_settings
from .sampler import BatchSampler, RandomSampler, Sampler, SequentialSampler, _T_co, draw_seed

__all__ = ["DataLoader", "default_collate", "default_convert", "get_worker_info"]
_T = TypeVar("_T")
_collate_fn_t = collections.abc.Callable[[list[_T]], Any]
_worker_init_fn_t = collections.abc.Callable[[int], None]


class _DatasetKind:
    Map, Iterable = 0, 1

    @staticmethod
    def create_fetcher(kind, dataset, auto_collation, collate_fn, drop_last):
        """What fetches batches of a dataset of this kind."""
        return _Fetcher(kind, dataset, auto_collation, collate_fn, drop_last)


class WorkerInfo:
    """What a worker knows of itself."""

    def __init__(self, **kwargs):
        self._names = tuple(kwargs)
        self.__dict__.update(kwargs)

    def __repr__(self):
        return f"WorkerInfo({', '.join(f'{k}={getattr(self, k)}' for k in self._names)})"


_current = [None]


def get_worker_info():
    """The `WorkerInfo` inside a worker (id, num_workers, seed, dataset), None outside."""
    return _current[0]


class _InfiniteConstantSampler(Sampler):
    def __iter__(self):
        while True:
            yield None


class DataLoader(Generic[_T_co]):
    """Batches of a dataset."""

    __initialized = False

    def __init__(self, dataset, batch_size=1, shuffle=None, sampler=None, batch_sampler=None, num_workers=0, collate_fn=None, pin_memory=False,
                 drop_last=False, timeout=0, worker_init_fn=None, multiprocessing_context=None, generator=None, *, prefetch_factor=None,
                 persistent_workers=False, pin_memory_device="", in_order=True):
        _check_workers(num_workers, timeout, prefetch_factor, persistent_workers)
        self.dataset, self.num_workers = dataset, num_workers
        self.prefetch_factor = 2 if num_workers > 0 and prefetch_factor is None else prefetch_factor
        self.pin_memory, self.pin_memory_device, self.timeout, self.worker_init_fn = pin_memory, pin_memory_device, timeout, worker_init_fn
        self.multiprocessing_context, self.in_order = multiprocessing_context, in_order
        if isinstance(dataset, IterableDataset):
            self._dataset_kind = _DatasetKind.Iterable
            if isinstance(dataset, IterDataPipe):
                apply_shuffle_settings(dataset, shuffle)  # torch 2.13 goes over the pipe as it was given: a shuffler put at its end is not asked
                shuffle = None
            _check_iterable(shuffle, sampler, batch_sampler)
        else:
            self._dataset_kind = _DatasetKind.Map
            shuffle = bool(shuffle)
        if sampler is not None and shuffle:
            raise ValueError("sampler option is mutually exclusive with shuffle")
        if batch_sampler is not None:
            if batch_size != 1 or shuffle or sampler is not None or drop_last:
                raise ValueError("batch_sampler option is mutually exclusive with batch_size, shuffle, sampler, and drop_last")
            batch_size, drop_last = None, False
        elif batch_size is None and drop_last:
            raise ValueError("batch_size=None option disables auto-batching and is mutually exclusive with drop_last")
        if sampler is None:
            sampler = (_InfiniteConstantSampler() if self._dataset_kind == _DatasetKind.Iterable
                       else RandomSampler(dataset, generator=generator) if shuffle else SequentialSampler(dataset))
        if batch_size is not None and batch_sampler is None:
            batch_sampler = BatchSampler(sampler, batch_size, drop_last)
        self.batch_size, self.drop_last, self.sampler, self.batch_sampler, self.generator = batch_size, drop_last, sampler, batch_sampler, generator
        self.collate_fn = collate_fn if collate_fn is not None else default_collate if self._auto_collation else default_convert
        self.persistent_workers = persistent_workers
        self.__initialized = True
        self._IterableDataset_len_called = None
        self._iterator = None
        self.check_worker_number_rationality()

    def __setattr__(self, attr, val):
        if self.__initialized and attr in ("batch_size", "batch_sampler", "sampler", "drop_last", "dataset", "persistent_workers"):
            raise ValueError(f"{attr} attribute should not be set after {type(self).__name__} is initialized")
        super().__setattr__(attr, val)

    @property
    def multiprocessing_context(self):
        return self.__multiprocessing_context

    @multiprocessing_context.setter
    def multiprocessing_context(self, context):
        if context is not None and not self.num_workers > 0:
            raise ValueError(f"multiprocessing_context can only be used with multi-process loading (num_workers > 0), but got num_workers={self.num_workers}")
        if isinstance(context, str):
            valid = multiprocessing.get_all_start_methods()
            if context not in valid:
                raise ValueError(f"multiprocessing_context option should specify a valid start method in {valid}, but got multiprocessing_context='{context}'")
            context = multiprocessing.get_context(context)
        if context is not None and not isinstance(context, multiprocessing.context.BaseContext):
            raise TypeError("multiprocessing_context option should be a valid context object or a string specifying the start method, but got "
                            f"multiprocessing_context={context}")
        self.__multiprocessing_context = context

    @property
    def _auto_collation(self):
        return self.batch_sampler is not None

    @property
    def _index_sampler(self):
        return self.batch_sampler if self._auto_collation else self.sampler

    def __iter__(self):
        if self.persistent_workers and self.num_workers > 0:
            if self._iterator is None:
                self._iterator = self._get_iterator()
            else:
                self._iterator._reset(self)
            return self._iterator
        return self._get_iterator()

    def _get_iterator(self):
        if self.num_workers == 0:
            return _SingleProcessDataLoaderIter(self)
        self.check_worker_number_rationality()
        return _MultiProcessingDataLoaderIter(self)

    def __len__(self):
        if self._dataset_kind != _DatasetKind.Iterable:
            return len(self._index_sampler)
        n = self._IterableDataset_len_called = len(self.dataset)
        if self.batch_size is None:
            return n
        return n // self.batch_size if self.drop_last else -(-n // self.batch_size)

    def check_worker_number_rationality(self):
        """Warn where there are more workers than cores."""
        most = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
        if self.num_workers > most:
            warn(f"This DataLoader will create {self.num_workers} worker processes in total. Our suggested max number of worker in current system is {most}, "
                 "which is smaller than what this DataLoader is going to create. Please be aware that excessive worker creation might get DataLoader running "
                 "slow or even freeze, lower the worker number to avoid potential slowness/freeze if necessary.")


def _check_workers(num_workers, timeout, prefetch_factor, persistent_workers):
    if num_workers < 0:
        raise ValueError("num_workers option should be non-negative; use num_workers=0 to disable multiprocessing.")
    if timeout < 0:
        raise ValueError("timeout option should be non-negative")
    if num_workers == 0 and prefetch_factor is not None:
        raise ValueError("prefetch_factor option could only be specified in multiprocessing.let num_workers > 0 to enable multiprocessing, otherwise set "
                         "prefetch_factor to None.")
    if prefetch_factor is not None and prefetch_factor < 0:
        raise ValueError("prefetch_factor option should be non-negative")
    if persistent_workers and num_workers == 0:
        raise ValueError("persistent_workers option needs num_workers > 0")


def _check_iterable(shuffle, sampler, batch_sampler):
    for name, value, wrong in (("shuffle", shuffle, shuffle not in (False, None)), ("sampler", sampler, sampler is not None),
                               ("batch_sampler", batch_sampler, batch_sampler is not None)):
        if wrong:
            raise ValueError(f"DataLoader with IterableDataset: expected unspecified {name} option, but got {name}={value}")


# Fetching

def _fetcher(dataset, loader):
    """What fetches the batches of a loader from its dataset, or a worker's copy of it."""
    return _DatasetKind.create_fetcher(loader._dataset_kind, dataset, loader._auto_collation, loader.collate_fn, loader.drop_last)


class _Fetcher:
    """Batches of one dataset object, by keys or as they come."""

    def __init__(self, kind, dataset, auto_collation, collate_fn, drop_last):
        self.dataset, self.auto, self.collate, self.drop_last = dataset, auto_collation, collate_fn, drop_last
        self.it = None if kind == _DatasetKind.Map else iter(dataset)
        self.ended = False

    def fetch(self, keys):
        """The batch of some keys; StopIteration at the end of an iterable dataset."""
        if self.it is not None:
            return self._next(keys)
        if not self.auto:
            return self.collate(self.dataset[keys])
        if self.collate is default_collate:
            rows = _rows_at_once(self.dataset, keys)
            if rows is not None:
                return rows
        if callable(getattr(self.dataset, "__getitems__", None)):
            return self.collate(self.dataset.__getitems__(keys))
        return self.collate([self.dataset[k] for k in keys])

    def _next(self, keys):
        if self.ended:
            raise StopIteration
        if not self.auto:
            return self.collate(next(self.it))
        data = list(itertools.islice(self.it, len(keys)))
        self.ended = len(data) < len(keys)
        if not data or (self.drop_last and self.ended):
            raise StopIteration
        return self.collate(data)


def _rows_at_once(dataset, keys):
    """What stacking the rows of tensors without history gives, as one call for each tensor; None for other datasets."""
    while type(dataset) is Subset:
        keys, dataset = [dataset.indices[k] for k in keys], dataset.dataset
    if type(dataset) is not TensorDataset or not all(type(k) is int for k in keys) or any(type(t) is not Tensor or t.requires_grad for t in dataset.tensors):
        return None
    n = len(dataset)
    if not all(-n <= k < n for k in keys):
        return None
    from ..._core.dtypes import int64

    rows = np.array([k % n for k in keys], np.int64)
    out = []
    for t in dataset.tensors:
        v = t._tl_v
        if t._tl_cell is None and type(v.array) is np.ndarray:
            out.append(from_array(v.array[rows], v.aval.dtype))
        else:
            out.append(t.index_select(0, from_array(rows, int64)))
    return out


# Iterating

_MOST = 10_000  # longer containers are shared


def own_copy(x, memo=None):
    """What a process of its own would have of an object: other objects of classes written in Python, lists, dicts and sets, the same arrays and tensors."""
    memo = {} if memo is None else memo
    if id(x) in memo:
        return memo[id(x)]
    kind = type(x)
    if kind in (list, tuple, dict, set, collections.deque):
        if len(x) > _MOST:
            return x
        if kind is tuple:
            out = memo[id(x)] = tuple([own_copy(y, memo) for y in x])
            return out
        out = memo[id(x)] = copy.copy(x)
        if kind is list:
            out[:] = [own_copy(y, memo) for y in x]
        elif kind is dict:
            out.update({k: own_copy(y, memo) for k, y in x.items()})
        return out
    if isinstance(x, (Tensor, np.ndarray, type)) or not hasattr(x, "__dict__") or callable(x) or kind.__module__ in ("builtins", "io", "threading"):
        return x
    try:
        out = memo[id(x)] = copy.copy(x)
        if out.__dict__ is not x.__dict__:
            for k, y in list(vars(out).items()):
                out.__dict__[k] = own_copy(y, memo)
    except Exception:  # no copies of its class, or of what it holds
        out = memo[id(x)] = x
    return out


class _Worker:
    """One worker: its dataset object, its random state, what it knows of itself."""

    def __init__(self, loader, i, base_seed):
        self.loader, self.i = loader, i
        seed = base_seed + i
        self.active, self.waiting, self.clock, self.ready = True, collections.deque(), 0.0, None
        dataset = own_copy(loader.dataset)
        self.info = WorkerInfo(id=i, num_workers=loader.num_workers, seed=seed, dataset=dataset, rng=None, worker_method="multiprocessing")
        self.fetcher = self.states = None
        self._inside(lambda: self._begin(seed, base_seed))

    def _begin(self, seed, base_seed):
        default_generator.manual_seed(seed)
        random.seed(seed)
        np.random.seed(np.random.SeedSequence([self.i, base_seed & 0xFFFFFFFF, base_seed >> 32, 0]).generate_state(4))
        if isinstance(self.info.dataset, (IterDataPipe, MapDataPipe)):
            apply_sharding(self.info.dataset, self.info.num_workers, self.i)
        if self.loader.worker_init_fn is not None:
            self.loader.worker_init_fn(self.i)
        self.fetcher = _fetcher(self.info.dataset, self.loader)

    def restart(self, seed=None):
        """Begin an epoch with the random state and the dataset object that there are; its pipes draw by this seed."""
        if seed is not None:
            apply_random_seed(self.info.dataset, Generator().manual_seed(seed))
        self.active, self.ready, self.clock = True, None, 0.0
        self.waiting.clear()
        self._inside(self._refetch)

    def _refetch(self):
        self.fetcher = _fetcher(self.info.dataset, self.loader)

    def fetch(self, keys):
        """A batch, made in this worker's state."""
        return self._inside(lambda: self.fetcher.fetch(keys))

    def finish(self):
        """When this worker is done with the first of its keys, by its own clock; what came of them stays until `take`."""
        if self.ready is None:
            begun = time.perf_counter()
            try:
                self.ready = self.fetch(self.waiting[0]), None
            except Exception as e:
                self.ready = None, e
            self.clock += time.perf_counter() - begun
        return self.clock

    def take(self):
        """The batch of the first of its keys, or what was raised for it."""
        self.finish()
        self.waiting.popleft()
        (data, raised), self.ready = self.ready, None
        if raised is not None:
            raise raised
        return data

    def _inside(self, f):
        outer = default_generator.get_state(), random.getstate(), np.random.get_state()
        _current[0] = self.info
        if self.states is not None:
            _restore(self.states)
        try:
            return f()
        except StopIteration:
            raise
        except Exception as e:
            raise _caught(e, self.i) from None
        finally:
            self.states = default_generator.get_state(), random.getstate(), np.random.get_state()
            _current[0] = None
            _restore(outer)


def _restore(states):
    default_generator.set_state(states[0])
    random.setstate(states[1])
    np.random.set_state(states[2])


def _caught(e, i):
    """The exception of a worker, as PyTorch raises it again."""
    text = f"Caught {type(e).__name__} in DataLoader worker process {i}.\nOriginal {''.join(traceback.format_exception(e))}"
    if type(e) is KeyError:
        return KeyError(_Message(text))
    try:
        return type(e)(text)
    except Exception:  # its class takes other arguments
        return RuntimeError(text)


class _Message(str):
    """Text that a KeyError shows as it is."""

    __slots__ = ()
    __repr__ = str.__str__


_REPLICAS = ("For multiprocessing data-loading, this could be caused by not properly configuring the IterableDataset replica at each worker. Please see "
             "https://pytorch.org/docs/stable/data.html#torch.utils.data.IterableDataset for examples.")


class _BaseDataLoaderIter:
    """What the iterators of a DataLoader have in common; one of a program's own says by `_next_data` what comes next."""

    _shared_seed = None

    def __init__(self, loader):
        self._dataset, self._dataset_kind, self._auto_collation = loader.dataset, loader._dataset_kind, loader._auto_collation
        self._drop_last, self._collate_fn, self._timeout, self._persistent_workers = (
            loader.drop_last, loader.collate_fn, loader.timeout, loader.persistent_workers)
        self._index_sampler, self._num_workers = loader._index_sampler, loader.num_workers
        self._IterableDataset_len_called = loader._IterableDataset_len_called  # what `len` says later on does not warn
        self._pin_memory, self._pin_memory_device = loader.pin_memory and accelerator() is not None, None
        if loader.pin_memory and not self._pin_memory:
            warn("'pin_memory' argument is set as true but no accelerator is found, then device pinned memory won't be used.")
        self._sampler_iter = iter(self._index_sampler)
        self._share_seed(loader)
        self._base_seed = draw_seed(loader.generator)
        self._num_yielded, self._profile_name = 0, f"enumerate(DataLoader)#{type(self).__name__}.__next__"

    def __iter__(self):
        return self

    def _share_seed(self, loader):
        """Draw the seed from which the pipes of the dataset, in all workers alike, get theirs."""
        if isinstance(self._dataset, IterDataPipe):
            self._shared_seed = draw_seed(loader.generator)
            apply_random_seed(self._dataset, Generator().manual_seed(self._shared_seed))

    def _reset(self, loader, first_iter=False):
        self._sampler_iter, self._num_yielded = iter(self._index_sampler), 0
        self._share_seed(loader)
        self._IterableDataset_len_called = loader._IterableDataset_len_called

    def _next_index(self):
        return next(self._sampler_iter)

    def _next_data(self):
        raise NotImplementedError

    def __next__(self):
        if profiling.current() is None:
            data = self._next_data()
        else:
            with record_function(self._profile_name):
                data = self._next_data()
        self._num_yielded += 1
        told = self._IterableDataset_len_called
        if self._dataset_kind == _DatasetKind.Iterable and told is not None and self._num_yielded > told:
            warn(f"Length of IterableDataset {self._dataset} was reported to be {told}(when accessing len(dataloader)), but {self._num_yielded} samples "
                 "have been fetched. " + (_REPLICAS if self._num_workers else ""))
        return data

    def __len__(self):
        return len(self._index_sampler)

    def __getstate__(self):
        raise NotImplementedError("{} cannot be pickled", type(self).__name__)


class _SingleProcessDataLoaderIter(_BaseDataLoaderIter):
    """The iterator of a DataLoader without workers."""

    def __init__(self, loader):
        super().__init__(loader)
        for name, value in (("timeout", self._timeout), ("num_workers", self._num_workers)):
            if value != 0:
                raise AssertionError(f"_SingleProcessDataLoaderIter requires {name} == 0")
        if isinstance(self._dataset, (IterDataPipe, MapDataPipe)):
            apply_sharding(self._dataset, 1, 0)
        self._dataset_fetcher = _fetcher(self._dataset, loader)

    def _next_data(self):
        data = self._dataset_fetcher.fetch(self._next_index())
        return pinned(data) if self._pin_memory else data


class _MultiProcessingDataLoaderIter(_BaseDataLoaderIter):
    """The iterator of a DataLoader with workers, which take turns in this process."""

    def __init__(self, loader):
        super().__init__(loader)
        self._prefetch_factor, self._worker_init_fn, self._in_order = loader.prefetch_factor, loader.worker_init_fn, loader.in_order
        self._workers = [_Worker(loader, i, self._base_seed) for i in range(self._num_workers)]
        self._reset(loader, first_iter=True)

    def _reset(self, loader, first_iter=False):
        super()._reset(loader)
        if not first_iter:
            for w in self._workers:  # they go on with their seeds: none is drawn, as in torch, but for pipes
                w.restart(self._shared_seed)
        self._worker_queue_idx_cycle, self._tl_turns = itertools.cycle(range(self._num_workers)), collections.deque()
        for _ in range(self._num_workers * self._prefetch_factor):
            self._try_put_index()

    def _try_put_index(self):
        """Give the next keys to the next worker that has not ended, and out of order to one that has not got its share yet."""
        try:
            keys = self._next_index()
        except StopIteration:
            return
        share = self._prefetch_factor * self._num_workers // max(sum(w.active for w in self._workers), 1)
        for i in itertools.islice(self._worker_queue_idx_cycle, self._num_workers):
            worker = self._workers[i]
            if worker.active and (self._in_order or len(worker.waiting) < share):
                worker.waiting.append(keys)
                self._tl_turns.append(worker)
                return

    def _next_worker(self):
        """Whose batch comes next: that of the oldest keys, out of order the one that is ready first."""
        if self._in_order:
            return self._tl_turns.popleft()
        first = min(dict.fromkeys(self._tl_turns), key=_Worker.finish)
        self._tl_turns.remove(first)
        return first

    def _next_data(self):
        while self._tl_turns:
            worker = self._next_worker()
            try:
                data = worker.take()
            except StopIteration:
                worker.active = self._dataset_kind != _DatasetKind.Iterable
                self._tl_turns = collections.deque(w for w in self._tl_turns if w.active)
                self._try_put_index()
                if worker.active:
                    raise
                continue
            except Exception:
                self._try_put_index()
                raise
            self._try_put_index()
            return pinned(data) if self._pin_memory else data
        raise StopIteration
