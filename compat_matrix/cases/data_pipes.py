"""Datasets that are made from others by methods: what they give, say and refuse, by iteration and by keys, alone and in loaders."""

import copy
import os
import pickle
import tempfile
import warnings

from ..case import case, raises


def _inc(x):
    return x + 1


def _even(x):
    return x % 2 == 0


def _mod3(x):
    return x % 3


def _add(a, b):
    return a + b


def _not_three(x):
    if x == 3:
        raise ValueError("not three")
    return x


def _told(f):
    """What a call gives, or how it refuses, and of what it warns."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            out = f()
        except (AssertionError, AttributeError, BufferError, IndexError, RuntimeError, TypeError, ValueError) as refused:
            out = type(refused).__name__, str(refused)
    return out, [(w.category.__name__, str(w.message)) for w in said]


@case("data_pipes.by_iteration")
def _(torch):
    pipes = torch.utils.data.datapipes.iter
    a, pairs = pipes.IterableWrapper(range(10)), pipes.IterableWrapper([(1, 2, 3), (4, 5, 6)])
    for name, f in {
        "chained": lambda: list(a.map(_inc).filter(_even).batch(3)), "lengths": lambda: [len(p) for p in (
            a.batch(3), a.batch(3, drop_last=True), a.concat(a), a.zip(a), a.mux(a), a.map(_inc), a.shuffle(), a.sharding_filter())],
        "no length": lambda: len(a.filter(_even)), "column": lambda: list(pairs.map(_inc, input_col=1)), "columns": lambda: list(pairs.map(_add, [0, 2])),
        "appended": lambda: list(pairs.map(_add, [0, 2], -1)), "placed": lambda: list(pairs.map(_add, [0, 2], 1)), "two places": lambda: pairs.map(_inc, 0, [2, 1]),
        "too few": lambda: a.map(_add), "too many": lambda: a.map(_inc, [0, 1]), "no input": lambda: a.map(_inc, output_col=1), "no function": lambda: a.map(3),
        "lambda": lambda: list(a.filter(lambda x: x > 7)), "not a bool": lambda: list(a.filter(_mod3)), "raised inside": lambda: list(a.map(_not_three).batch(2)),
        "grouped": lambda: list(a.groupby(_mod3)), "grouped by two": lambda: list(a.groupby(_mod3, group_size=2, keep_key=True)),
        "grouped in a buffer": lambda: list(a.groupby(_mod3, buffer_size=4, group_size=4, guaranteed_group_size=2)),
        "short groups": lambda: list(a.groupby(_mod3, buffer_size=3, group_size=3)),
        "dropped groups": lambda: list(a.groupby(_mod3, buffer_size=4, group_size=4, guaranteed_group_size=3, drop_remaining=True)),
        "unbatched": lambda: list(a.batch(2).batch(2).unbatch(-1)), "too deep": lambda: list(a.batch(2).unbatch(3)), "level": lambda: list(a.unbatch(-2)),
        "collated": lambda: [t.tolist() for t in a.batch(4).collate()], "collated by": lambda: list(a.batch(4).collate(collate_fn=sum)),
        "shown": lambda: [repr(a), str(a.batch(2)), repr(a.map(_inc)), a.nothing], "pickled": lambda: list(pickle.loads(pickle.dumps(a.map(_inc).batch(4)))),
        "mux": lambda: list(a.mux(pipes.IterableWrapper("ab"))), "not copied": lambda: list(pipes.IterableWrapper(x for x in range(3))),
        "concat": lambda: a.concat([1]), "zip": lambda: a.zip([1]),
    }.items():
        yield name, *_told(f)


@case("data_pipes.one_iterator_at_a_time")
def _(torch):
    data = torch.utils.data
    a = data.datapipes.iter.IterableWrapper(range(4))

    class Own(data.IterDataPipe):
        def __init__(self):
            self.n = self.resets = 0

        def __iter__(self):
            self.n = 0
            return self

        def __next__(self):
            if self.n == 3:
                raise StopIteration
            self.n += 1
            return self.n

        def reset(self):
            self.resets += 1

    def older(pipe):
        first = iter(pipe)
        next(first)
        return next(iter(pipe)), next(first)

    yield "generator", *_told(lambda: older(a))
    yield "through another", *_told(lambda: older(a.map(_inc)))
    own = Own()
    yield "own", list(own), list(own), own.resets, own._valid_iterator_id, own._number_of_samples_yielded


@case("data_pipes.several_of_one")
def _(torch):
    a = torch.utils.data.datapipes.iter.IterableWrapper(range(7))
    for name, f in {
        "fork": lambda: [list(p) for p in a.fork(2)], "together": lambda: list(zip(*a.fork(3))), "twice": lambda: [[list(p) for p in both] for both in [a.fork(2)] * 2],
        "too far": lambda: list(a.fork(2, buffer_size=3)[0]), "one": lambda: a.fork(1) is a, "none": lambda: a.fork(0), "copy": lambda: a.fork(2, copy="x"),
        "unlimited": lambda: len(a.fork(2, buffer_size=-1)), "length": lambda: len(a.fork(2)[1]), "pickled": lambda: [list(p) for p in pickle.loads(pickle.dumps(a.fork(2)))],
        "demux": lambda: [list(p) for p in a.demux(3, _mod3)], "backwards": lambda: [list(p) for p in a.demux(3, _mod3)[::-1]],
        "out of range": lambda: list(a.demux(2, _mod3)[1]), "full": lambda: list(a.demux(3, _mod3, buffer_size=1)[2]),
        "no length": lambda: len(a.demux(3, _mod3)[0]), "mixed again": lambda: list(a.demux(3, _mod3)[0].mux(a)), "half read": lambda: [next(iter(a.fork(2)[0]))] * 2,
    }.items():
        yield name, *_told(f)
    one, two = a.fork(2)
    first = iter(one)
    yield "begun", next(first), next(iter(two))
    yield "anew", *_told(lambda: list(one))
    yield "older", *_told(lambda: next(first))


@case("data_pipes.by_keys_and_in_loaders")
def _(torch):
    data = torch.utils.data
    m, a = data.datapipes.map.SequenceWrapper(range(7)), data.datapipes.iter.IterableWrapper(range(10))

    def loaded(pipe, epochs=2, **more):
        loader = data.DataLoader(pipe, batch_size=2, **more)
        return [[x.tolist() for x in loader] for _ in range(epochs)], torch.rand(1).item()

    def graph(pipe):
        def shown(g):
            return [(repr(p), shown(inner)) for p, inner in g.values()]

        return shown(data.graph.traverse_dps(pipe))

    for name, f in {
        "keys": lambda: [list(p) for p in (m.map(_inc), m.batch(3), m.zip(m), m.concat(m))], "lengths": lambda: [len(m.batch(3, drop_last=True)), len(m.concat(m))],
        "past": lambda: m.concat(m)[20], "past zip": lambda: m.zip(m)[20], "past batch": lambda: m.batch(2)[9],
        "shuffled keys": lambda: [list(m.shuffle()), list(m.shuffle().set_seed(4)), list(m.shuffle(indices=[3, 1]).set_shuffle(False))],
        "graph": lambda: graph(a.shuffle().map(_inc).zip(a.batch(2))), "graph of forks": lambda: graph(a.fork(2)[0]), "no pipe": lambda: data.graph.traverse_dps([a]),
        "sharded": lambda: list(data.graph_settings.apply_sharding(a.sharding_filter().map(_inc), 3, 1)),
        "sharded twice": lambda: data.graph_settings.apply_sharding(a.sharding_filter().sharding_filter(), 3, 1),
        "no such part": lambda: a.sharding_filter().apply_sharding(2, 2),
        "loader": lambda: loaded(a.shuffle().sharding_filter().map(_inc), shuffle=True),
        "workers": lambda: loaded(a.shuffle().sharding_filter().map(_inc), shuffle=True, num_workers=2),
        "kept workers": lambda: loaded(a.shuffle().sharding_filter(), shuffle=True, num_workers=2, persistent_workers=True),
        "two in a tuple":
            lambda: loaded(a.map(_inc).mux(data.datapipes.iter.IterableWrapper(range(50, 57))).sharding_filter(), num_workers=2), "keys in workers": lambda: loaded(m.map(_inc), num_workers=2),
    }.items():
        torch.manual_seed(3)
        yield name, *_told(f)


@case("data_pipes.files")
def _(torch):
    pipes = torch.utils.data.datapipes.iter
    with tempfile.TemporaryDirectory() as folder:
        os.mkdir(f"{folder}/inner")
        for name in ("b.txt", "a.txt", "inner/c.py"):
            with open(f"{folder}/{name}", "w") as f:
                f.write(name * 2)
        listed = pipes.FileLister(folder, recursive=True)
        yield "listed", [os.path.relpath(p, folder) for p in listed], [os.path.relpath(p, folder) for p in pipes.FileLister(folder, "*.txt")]
        yield "read", [(os.path.basename(n), t) for n, t in pipes.FileLister(folder, ["a*", "b*"]).open_files().read_from_stream(4)]
        for name, f in {"length": lambda: len(listed), "mode": lambda: listed.open_files("w"), "encoding": lambda: listed.open_files("b", encoding="u")}.items():
            yield name, *_told(f)


@case("data_pipes.chance_named")
def _(torch):
    data = torch.utils.data

    @data.non_deterministic
    class Drawn(data.IterDataPipe):
        def __iter__(self):
            yield 1

    yield "allowed", list(Drawn())
    with data.guaranteed_datapipes_determinism():
        yield "guaranteed", *_told(Drawn)
    for kind in (3, int):
        yield str(kind), *_told(lambda: data.non_deterministic(kind))
    yield "copied", list(copy.deepcopy(Drawn()))


@case("data_pipes.of frames")
def _(torch):
    """A pipe of the kind that frames are made of is a pipe that says so."""
    class Rows(torch.utils.data.DFIterDataPipe):
        def __iter__(self):
            yield from range(3)

    rows = Rows()
    yield "items", list(rows), rows._is_dfpipe(), isinstance(rows, torch.utils.data.IterDataPipe), torch.utils.data.DFIterDataPipe.__mro__[1].__name__


@case("data_pipes.validation")
def _(torch):
    """Arguments that have to be pipes, items that have to be of a pipe's type: PyTorch's pipes have none any more unless a program gives its classes one."""
    data = torch.utils.data

    class Below:
        def issubtype(self, other):
            return other is self

        def issubtype_of_instance(self, item):
            return item < 2

        def __repr__(self):
            return "below 2"

    class Plain(data.IterDataPipe[int]):
        def __iter__(self):
            yield 1

    class Typed(data.IterDataPipe):
        type = Below()

        @data.runtime_validation
        def __iter__(self):
            yield from (1, 2)

    class Other(Typed):
        type = Below()

    class Mapped(data.MapDataPipe):
        def __getitem__(self, index):
            return index

    @data.argument_validation
    def any_pipe(pipe: data.IterDataPipe, n: int = 2, *, other: data.MapDataPipe = None):
        return n

    @data.argument_validation
    def typed(pipe: Typed):
        return sorted(pipe)

    yield "refused", [raises(lambda a=a: any_pipe(a)) for a in (3, None, Mapped(), Plain())], raises(any_pipe), raises(lambda: any_pipe(1, 2, 3))
    yield "subtypes", raises(lambda: typed(Other())), raises(lambda: typed(Plain())), raises(lambda: typed(Typed()))
    yield "items", raises(lambda: list(Typed())), next(iter(Typed()))
    with data.runtime_validation_disabled():
        yield "unchecked", list(Typed()), typed(Typed())
    yield "checked again", raises(lambda: list(Typed()))
    yield "parameters", [str(kind).rpartition(".")[2] for kind in (Plain[int], Plain[int, str], data.IterDataPipe[int])], list(Plain())
