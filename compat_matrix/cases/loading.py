"""torch.utils.data: datasets, samplers and their orders for a seed, loaders, workers, collating."""

import collections
import random

import numpy as np

from compat_matrix.case import case, raises, warned

Point = collections.namedtuple("Point", "x y")


def D(torch):
    return torch.utils.data


def rows(torch, n=10):
    return D(torch).TensorDataset(torch.arange(float(n)), torch.arange(n) * 10)


@case("loading.datasets")
def _(torch):
    T = rows(torch)
    yield "tensor", T[3], len(T), T[-1], T[2:4]
    yield "mismatch", raises(lambda: D(torch).TensorDataset(torch.ones(2), torch.ones(3)))
    yield "none", raises(lambda: D(torch).TensorDataset())
    yield "abstract", raises(lambda: D(torch).Dataset()[0])
    yield "no length", raises(lambda: len(D(torch).Dataset()))
    yield "sum", len(T + T), (T + T)[12]
    C = D(torch).ConcatDataset([T, rows(torch, 3)])
    yield "concat", len(C), C[-1], C[10], C.cumulative_sizes
    yield "concat errors", raises(lambda: C[-30]), raises(lambda: D(torch).ConcatDataset([])), raises(lambda: C[99])
    yield "old name", warned(lambda: C.cummulative_sizes)
    S = D(torch).Subset(T, [5, 7, 2])
    yield "subset", len(S), S[1], S[[0, 2]]
    K = D(torch).StackDataset(T, T)
    yield "stack", K[1], len(K), D(torch).StackDataset(a=T)[2]
    yield "stack errors", raises(lambda: D(torch).StackDataset()), raises(lambda: D(torch).StackDataset(T, [1]))


def stream(torch, n=5, length=None):
    class Stream(D(torch).IterableDataset):
        def __init__(self):
            self.n = n

        def __iter__(self):
            return iter(range(self.n))

    if length is not None:
        Stream.__len__ = lambda self: length
    return Stream()


@case("loading.iterable")
def _(torch):
    I = stream(torch)
    yield "batches", list(D(torch).DataLoader(I, batch_size=2)), list(D(torch).DataLoader(I, batch_size=2, drop_last=True))
    yield "one by one", list(D(torch).DataLoader(I, batch_size=None))
    yield "sum", list(I + I)
    yield "chain", list(D(torch).ChainDataset([I, I])), raises(lambda: list(D(torch).ChainDataset([[1], I]))), len(
        D(torch).ChainDataset([stream(torch, 5, 3), stream(torch, 5, 4)]))
    yield "no length", raises(lambda: len(D(torch).DataLoader(I)))
    L = D(torch).DataLoader(stream(torch, 5, 3))
    yield "told too few", len(L), len(warned(lambda: list(L)))
    yield "refused", [raises(lambda kw=kw: D(torch).DataLoader(stream(torch), **kw)) for kw in ({"shuffle": True}, {"sampler": [1]}, {"batch_sampler": [1]})]
    yield "abstract", raises(lambda: D(torch).IterableDataset())
    yield "concat", raises(lambda: D(torch).ConcatDataset([I]))


@case("loading.samplers")
def _(torch):
    d = D(torch)
    T = rows(torch)
    torch.manual_seed(3)
    yield "random", list(d.RandomSampler(T)), list(d.RandomSampler(T))
    yield "more", list(d.RandomSampler(T, num_samples=25)), len(d.RandomSampler(T, num_samples=25))
    yield "replacement", list(d.RandomSampler(T, True, 40))
    yield "weighted", list(d.WeightedRandomSampler([0.1, 0.9, 0.5], 7)), list(d.WeightedRandomSampler([0.1, 0.9, 0.5], 3, False))
    yield "subset", list(d.SubsetRandomSampler([5, 6, 7])), len(d.SubsetRandomSampler([5, 6]))
    g = torch.Generator().manual_seed(11)
    yield "generator", list(d.RandomSampler(T, generator=g)), list(d.RandomSampler(T, True, 5, g)), list(d.WeightedRandomSampler([1, 2], 5, generator=g))
    yield "sequential", list(d.SequentialSampler(T)), len(d.SequentialSampler(T))
    yield "batches", list(d.BatchSampler(range(5), 2, False)), list(d.BatchSampler(range(5), 2, True)), len(d.BatchSampler(range(5), 2, False))
    for i, f in enumerate((
        lambda: d.RandomSampler([]), lambda: d.RandomSampler(T, num_samples=0), lambda: d.RandomSampler(T, replacement=3),
        lambda: d.WeightedRandomSampler([0.1], 0), lambda: d.WeightedRandomSampler([[0.1]], 1), lambda: d.WeightedRandomSampler([0.1], 1, 3),
        lambda: list(d.WeightedRandomSampler([0.1], 2, False)), lambda: d.BatchSampler(range(5), 0, True), lambda: d.BatchSampler(range(5), 2, 3),
        lambda: d.DistributedSampler(T), lambda: d.DistributedSampler(T, 2, 5),
    )):
        yield f"error {i}", raises(f)
    s = d.DistributedSampler(T, 3, 1)
    first = list(s)
    s.set_epoch(1)
    yield "distributed", first, list(s), len(s), list(d.DistributedSampler(T, 3, 2, shuffle=False, drop_last=True))
    yield "after", torch.randint(0, 1000, (2,))


@case("loading.random_split")
def _(torch):
    d = D(torch)
    for lengths in ([3, 7], [0.25, 0.25, 0.5], [0.1, 0.9]):
        parts = d.random_split(rows(torch), lengths, generator=torch.Generator().manual_seed(1))
        yield str(lengths), [list(p.indices) for p in parts], parts[1][0]
    torch.manual_seed(4)
    yield "default", [list(p.indices) for p in d.random_split(range(6), [2, 4])]
    yield "errors", [raises(lambda k=k: d.random_split(rows(torch), k)) for k in ([3, 3], [0.5, 1.5], [0.5, 0.7])]
    yield "empty", warned(lambda: d.random_split(range(1), [0.5, 0.5]))


@case("loading.order")
def _(torch):
    T = rows(torch)
    for label, kw in {"shuffle": {"shuffle": True}, "plain": {}, "workers": {"shuffle": True, "num_workers": 2}, "drop": {"shuffle": True, "drop_last": True},
                      "sampler": {"sampler": D(torch).SubsetRandomSampler([1, 2, 3, 4])}}.items():
        torch.manual_seed(5)
        loader = D(torch).DataLoader(T, 3, **kw)
        yield label, [list(b) for b in loader], [b[1].tolist() for b in loader], len(loader), torch.randint(0, 1000, (1,))
    g = torch.Generator().manual_seed(7)
    yield "generator", [b[1].tolist() for b in D(torch).DataLoader(T, 3, shuffle=True, generator=g)], torch.randint(0, 1000, (1,), generator=g)
    yield "batch sampler", [b[0].tolist() for b in D(torch).DataLoader(T, batch_sampler=[[0, 3], [9]])]
    yield "without batches", [b[1] for b in D(torch).DataLoader(T, batch_size=None)][:3]
    it = iter(D(torch).DataLoader(T, 4))
    yield "by hand", next(it)[0], len(it)


@case("loading.workers")
def _(torch):
    d = D(torch)

    class Told(d.Dataset):
        def __len__(self):
            return 6

        def __getitem__(self, i):
            w = d.get_worker_info()
            return (i, w.id, w.num_workers, w.seed, torch.initial_seed(), torch.randint(0, 1000, (1,)).item(), random.random(), float(np.random.rand()))

    torch.manual_seed(5)
    yield "what they see", [[x.tolist() for x in b] for b in d.DataLoader(Told(), 2, num_workers=2)]
    kept = d.DataLoader(Told(), 3, num_workers=2, persistent_workers=True)
    yield "persistent", [[b[5].tolist() for b in kept] for _ in range(3)]
    yield "outside", d.get_worker_info()

    class Own(d.IterableDataset):
        def __init__(self):
            self.n = 7

        def __iter__(self):
            w = d.get_worker_info()
            yield from range(w.id * 100, w.id * 100 + self.n + w.id * 3)

    yield "each its own", [b.tolist() for b in d.DataLoader(Own(), 2, num_workers=2)]

    def init(i):
        d.get_worker_info().dataset.n = i + 1

    data = Own()
    yield "worker_init_fn", [b.tolist() for b in d.DataLoader(data, 2, num_workers=2, worker_init_fn=init)], data.n

    class Bad(d.Dataset):
        def __len__(self):
            return 3

        def __getitem__(self, i):
            raise KeyError("no " + str(i)) if i else ValueError("none")

    for workers in (0, 1):
        found = raises(lambda: list(d.DataLoader(Bad(), num_workers=workers)))
        yield f"error {workers}", found["error"]["class"], found["error"]["message"].split("\n")[0]


BAD = ({"num_workers": -1}, {"timeout": -1}, {"prefetch_factor": 2}, {"num_workers": 1, "prefetch_factor": -1}, {"persistent_workers": True},
       {"batch_size": None, "shuffle": True, "drop_last": True}, {"batch_size": 0}, {"batch_size": 2.5}, {"batch_sampler": [[1]], "batch_size": 2},
       {"batch_size": None, "drop_last": True}, {"multiprocessing_context": "x"}, {"drop_last": 3}, {"batch_size": True}, {"sampler": [1], "shuffle": True})


@case("loading.options")
def _(torch):
    d = D(torch)
    for i, kw in enumerate(BAD):
        yield str(i), raises(lambda kw=kw: d.DataLoader(rows(torch), **kw))
    L = d.DataLoader(rows(torch), 2)
    yield "set", raises(lambda: setattr(L, "batch_size", 3)), raises(lambda: setattr(L, "dataset", 3))
    yield "context", raises(lambda: setattr(L, "multiprocessing_context", "spawn")), L.multiprocessing_context
    yield "pinned", warned(lambda: list(d.DataLoader([1, 2], pin_memory=True)))
    yield "attributes", L.batch_size, L.drop_last, type(L.sampler).__name__, type(L.batch_sampler).__name__, L.num_workers, L.collate_fn is d.default_collate
    yield "collate_fn", list(d.DataLoader([1, 2, 3], 2, collate_fn=lambda b: sum(b)))

    class Many(d.Dataset):
        def __len__(self):
            return 4

        def __getitems__(self, keys):
            return [k * 10 for k in keys]

    yield "__getitems__", list(d.DataLoader(Many(), 2))
    yield "key too large", raises(lambda: list(d.DataLoader(rows(torch), sampler=[50])))


@case("loading.collate")
def _(torch):
    c = D(torch).default_collate
    for i, x in enumerate((
        [1, 2], [1.0, 2.0], ["a", "b"], [True, False], [np.ones(2), np.ones(2)], [np.float32(1), np.float64(2)], [(1, 2), (3, 4)], [[1, 2], [3, 4]],
        [Point(1, 2.0), Point(3, 4.0)], [{"a": 1, "b": (1.5, "x")}, {"a": 2, "b": (2.5, "y")}], [collections.OrderedDict(a=1)], [np.int32(3), np.int32(4)],
        [torch.ones(2), torch.zeros(2)], [torch.tensor(1), torch.tensor(2)],
    )):
        yield f"{i}", c(x), type(c(x)).__name__
    for i, x in enumerate(([[1], [1, 2]], [torch.ones(2), torch.ones(3)], [None, None], [object(), 1], [np.array("a")], [{1}, {2}], [])):
        yield f"error {i}", raises(lambda x=x: c(x))
    v = D(torch).default_convert
    for i, x in enumerate((1, np.ones(2), np.float64(2), [np.ones(1)], {"a": np.ones(1)}, Point(np.ones(1), 2), "s", (np.ones(1),))):
        yield f"convert {i}", v(x)
    w = torch.ones(2, requires_grad=True)
    yield "with history", c([w, w * 2]).grad_fn.name(), c([w, w]).requires_grad
    got = c([w * 3, w])
    got.sum().backward()
    yield "gradient", w.grad
    x = torch.arange(4.0)
    x.requires_grad_()
    (b,) = next(iter(D(torch).DataLoader(D(torch).TensorDataset(x), 3)))
    b.sum().backward()
    yield "through a loader", b.requires_grad, x.grad


@case("loading.training")
def _(torch):
    torch.manual_seed(0)
    x = torch.randn(20, 3)
    y = x @ torch.tensor([[1.0], [-2.0], [0.5]])
    w = torch.nn.Parameter(torch.zeros(3, 1))
    o = torch.optim.SGD([w], lr=0.1, momentum=0.9)
    losses = []
    for _epoch in range(3):
        for a, b in D(torch).DataLoader(D(torch).TensorDataset(x, y), 8, shuffle=True):
            loss = ((a @ w - b) ** 2).mean()
            o.zero_grad()
            loss.backward()
            o.step()
            losses.append(loss.item())
    yield "losses", torch.tensor(losses)
    yield "weights", w.detach()


@case("loading.workers.own_containers")
def _(torch):
    class Holder:
        def __init__(self):
            self.seen = []

    class Data(torch.utils.data.Dataset):
        def __init__(self):
            self.hits, self.table, self.holder = [], {"n": [0]}, Holder()

        def __len__(self):
            return 8

        def __getitem__(self, i):
            self.hits.append(i)
            self.table["n"][0] += 1
            self.holder.seen.append(i)
            return len(self.hits), self.table["n"][0], len(self.holder.seen)

    data = Data()
    yield "seen", list(torch.utils.data.DataLoader(data, num_workers=2, batch_size=2))
    yield "outside", data.hits, data.table, data.holder.seen


@case("loading.workers.prefetch")
def _(torch):
    class Log(torch.utils.data.Sampler):
        def __init__(self):
            self.drawn = []

        def __iter__(self):
            for i in range(12):
                self.drawn.append(i)
                yield i

        def __len__(self):
            return 12

    for kw in ({}, {"prefetch_factor": 1}, {"batch_size": 3}, {"prefetch_factor": 4}):
        log = Log()
        it = iter(torch.utils.data.DataLoader(list(range(12)), sampler=log, num_workers=2, **kw))
        counts = [len(log.drawn)]
        for _ in range(3):
            next(it)
            counts.append(len(log.drawn))
        yield str(kw), counts, [x.tolist() for x in it]
    torch.manual_seed(0)
    it = iter(torch.utils.data.DataLoader(list(range(12)), shuffle=True, num_workers=2))
    yield "drawn before", torch.rand(1), next(it), torch.rand(1)


@case("loading.workers.uneven")
def _(torch):
    d = torch.utils.data

    class Uneven(d.IterableDataset):
        def __iter__(self):
            w = d.get_worker_info()
            k = 0 if w is None else w.id
            return iter(range(100 * k, 100 * k + 1 + 3 * k))

    for kw in ({}, {"batch_size": 2}, {"batch_size": None}, {"batch_size": 2, "drop_last": True}):
        yield str(kw), [x.tolist() if isinstance(x, torch.Tensor) else x for x in d.DataLoader(Uneven(), num_workers=2, **kw)]
    kept = d.DataLoader(Uneven(), num_workers=2, persistent_workers=True, batch_size=2)
    yield "twice", [[x.tolist() for x in kept] for _ in range(2)]


@case("loading.workers.stop_iteration_in_a_map")
def _(torch):
    class Bad(torch.utils.data.Dataset):
        def __len__(self):
            return 10

        def __getitem__(self, i):
            if i == 3:
                raise StopIteration("s")
            return i

    for workers in (0, 1):
        yield str(workers), [x.tolist() for x in torch.utils.data.DataLoader(Bad(), num_workers=workers, batch_size=2)]


@case("loading.workers.context")
def _(torch):
    d = torch.utils.data
    yield "refused", [raises(lambda c=c: d.DataLoader([1], num_workers=1, multiprocessing_context=c)) for c in ("foo", 3)]
    yield "kept", type(d.DataLoader([1], num_workers=1, multiprocessing_context="spawn").multiprocessing_context).__name__
