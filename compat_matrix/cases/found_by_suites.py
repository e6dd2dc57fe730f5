"""What the test suites of packages found."""

import array
import ctypes
import importlib
import warnings

import numpy as np

from compat_matrix.case import case


def _made(f):
    """What a tensor is, or its refusal."""
    try:
        found = f()
    except (RuntimeError, TypeError, ValueError) as refused:
        return type(refused).__name__, str(refused)
    return found, found.dtype, found.requires_grad, found.grad_fn and found.grad_fn.name()


@case("found_by_suites.buffers_as_tensors")
def _(torch):
    """`asarray` reads the bytes of whatever offers a buffer, in the dtype asked for or the default one."""
    for code in "bhiqfd":
        for copy in (None, True, False):
            yield f"{code} {copy}", _made(lambda code=code, copy=copy: torch.asarray(array.array(code, [1, 2]), copy=copy))
        yield f"{code} float64", _made(lambda code=code: torch.asarray(array.array(code, [1, 2]), dtype=torch.float64))
        yield f"{code} as_tensor", _made(lambda code=code: torch.as_tensor(array.array(code, [1, 2])))
    for name, f in {
        "ctypes": lambda: torch.asarray((ctypes.c_double * 2)(1, 2), dtype=torch.float64, copy=False),
        "scalar": lambda: torch.asarray(np.float32(3)), "scalar aliased": lambda: torch.asarray(np.float32(3), copy=False),
        "aliased": lambda: torch.asarray(bytearray(8), copy=False), "copied": lambda: torch.asarray(bytearray(8), copy=True, requires_grad=True),
        "empty": lambda: torch.asarray(array.array("f", [])), "not there": lambda: torch.asarray(array.array("f", [1.]), device="meta", copy=False),
        "whole numbers": lambda: torch.asarray(array.array("f", [1.]), dtype=torch.int32, requires_grad=True),
        "a list": lambda: torch.asarray([1.], copy=False),
    }.items():
        yield name, _made(f)


@case("found_by_suites.device_that_was")
def _(torch):
    """A device type that is named no longer warns, once in a process."""
    for name in ("mkldnn", "mkldnn:0"):
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            torch.set_warn_always(True)
            try:
                yield name, str(torch.device(name)), [(str(w.message), w.category.__name__) for w in said]
            finally:
                torch.set_warn_always(False)


@case("found_by_suites.pipes_in_another_order")
def _(torch):
    """`SamplerIterDataPipe` and `ShufflerIterDataPipe`, where torch keeps them."""
    pipes = torch.utils.data.datapipes.iter
    combinatorics = pipes.combinatorics

    def over(n=10):
        return pipes.IterableWrapper(range(n))

    sampled, shuffled = combinatorics.SamplerIterDataPipe, combinatorics.ShufflerIterDataPipe
    yield "names", sampled.__name__, shuffled.__name__, pipes.Sampler is sampled, pipes.Shuffler is shuffled, combinatorics.__all__, repr(shuffled(over()))
    for name, f in {
        "in turn": lambda: list(sampled(over())), "length": lambda: len(sampled(over(4))), "no length": lambda: sampled(iter([1, 2])),
        "drawn": lambda: list(sampled(over(), torch.utils.data.RandomSampler)),
        "replaced": lambda: list(sampled(over(), torch.utils.data.RandomSampler, sampler_kwargs={"replacement": True, "num_samples": 4})),
        "shuffled": lambda: list(shuffled(over())), "by three": lambda: list(shuffled(over(), buffer_size=3)), "seeded": lambda: list(shuffled(over()).set_seed(5)),
        "off": lambda: list(shuffled(over()).set_shuffle(False)), "enabled": lambda: shuffled(over())._enabled,
        "no buffer": lambda: shuffled(over(), buffer_size=0), "shuffled length": lambda: len(shuffled(over(4))),
        "unbatched": lambda: list(shuffled(pipes.IterableWrapper([[1, 2], [3, 4]]), unbatch_level=1)),
        "unbatched length": lambda: len(shuffled(pipes.IterableWrapper([[1, 2], [3, 4]]), unbatch_level=1)),
        "by method": lambda: list(over().shuffle(buffer_size=5)),
    }.items():
        torch.manual_seed(3)
        try:
            yield name, f()
        except (AssertionError, TypeError) as refused:
            yield name, type(refused).__name__, str(refused)


@case("found_by_suites.pipes_in_loaders")
def _(torch):
    """A DataLoader switches the shufflers of its pipe and seeds them from its generator."""
    pipes, data = torch.utils.data.datapipes.iter, torch.utils.data

    def over(n=10):
        return pipes.IterableWrapper(range(n))

    def loaded(pipe, **more):
        return [x.tolist() for x in data.DataLoader(pipe, batch_size=4, **more)], torch.rand(1).item()

    for name, f in {
        "as it is": lambda: loaded(over()), "nothing to shuffle": lambda: loaded(over(), shuffle=True), "shuffled": lambda: loaded(over().shuffle()),
        "on": lambda: loaded(over().shuffle().set_shuffle(False), shuffle=True), "off": lambda: loaded(over().shuffle().map(abs), shuffle=False),
        "two": lambda: loaded(over().shuffle().map(abs).shuffle()), "beside": lambda: loaded(over().shuffle().zip(over().shuffle()).map(sum)),
        "own generator": lambda: loaded(over().shuffle(), generator=torch.Generator().manual_seed(7)), "sampler": lambda: loaded(over(), sampler=[1]),
        "settings": lambda: list(data.graph_settings.apply_shuffle_settings(over(), shuffle=True)),
        "seeds": lambda: list(data.graph_settings.apply_random_seed(over().shuffle(), torch.Generator().manual_seed(1))),
    }.items():
        torch.manual_seed(3)
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            try:
                yield name, f(), [str(w.message) for w in said if "shuffle" in str(w.message)]
            except ValueError as refused:
                yield name, str(refused)


@case("found_by_suites.offered_by_dlpack")
def _(torch):
    """What offers its values by DLPack is a tensor of them; what cannot be offered is refused."""

    class Offered:
        def __init__(self, x):
            self.x = x

        def __dlpack__(self, **kwargs):
            return self.x.__dlpack__(**kwargs)

        def __dlpack_device__(self):
            return self.x.__dlpack_device__()

    t, sparse = torch.arange(3), torch.eye(2).to_sparse()
    for name, f in {
        "tensor": lambda: torch.tensor(Offered(t)), "as_tensor": lambda: torch.as_tensor(Offered(t)), "asarray": lambda: torch.asarray(Offered(t)),
        "dtype": lambda: torch.tensor(Offered(t), dtype=torch.float64, requires_grad=True), "copied": lambda: torch.asarray(Offered(t), copy=True),
        "aliased": lambda: torch.asarray(Offered(t), copy=False), "new": lambda: torch.ones(1).new_tensor(Offered(t)),
    }.items():
        yield name, _made(f)
    for name, f in {**{f"stream {s!r}": lambda s=s: t.__dlpack__(stream=s) for s in (1, True, 1.5, "a")}, "sparse": sparse.__dlpack__}.items():
        try:
            f()
        except (AssertionError, BufferError, TypeError) as refused:
            yield name, type(refused).__name__, str(refused)
    yield "sizes", [torch.FloatStorage(kind(3)).size() for kind in (np.int8, np.int64, np.uint8)]


@case("found_by_suites.made_for_tests")
def _(torch):
    """Complex tensors for tests own their memory; comparisons and decorators of tests take what PyTorch's do."""
    common_utils = importlib.import_module(f"{torch.__name__}.testing._internal.common_utils")

    for more in ({}, {"noncontiguous": True}, {"exclude_zero": True}):
        x = torch.testing.make_tensor((2, 3), dtype=torch.complex64, device="cpu", **more)
        yield f"complex {more}", x._is_view(), x._version, x.stride(), x
    same = common_utils.TestCase()
    same.assertEqual("float16", np.dtype("float16"))
    same.compare_with_numpy(torch.fliplr, np.fliplr, torch.ones(2, 3))
    seen = []
    common_utils.coalescedonoff(lambda self, coalesced: seen.append(coalesced))(None)
    yield "both", seen
    for n in (0, 1, 2):
        places = [[0, 1], [0, 0], [1, 0]][n]
        yield f"in order {places}", bool(common_utils.is_coalesced_indices(torch.sparse_coo_tensor([places], [1., 2.], (2,))))

    class twice(common_utils._TestParametrizer):
        def _parametrize_test(self, test, generic_cls, device_cls):
            for n in (1, 2):
                yield test, f"by_{n}", {"n": n}, lambda _: []

    class Tests(common_utils.TestCase):
        @common_utils.parametrize("m", [3, 4])
        @twice()
        def test_it(self, m, n):
            pass

    yield "names", sorted(k for k in vars(common_utils.instantiate_parametrized_tests(Tests)) if k.startswith("test"))


@case("found_by_suites.conjugates_of_sparse")
def _(torch):
    """Sparse tensors are conjugated at once."""
    for name, x in {"complex": torch.sparse_coo_tensor([[0, 1]], [1j, 2.], (3,)), "twice": torch.sparse_coo_tensor([[0, 0]], [1j, 2.], (3,)),
                    "real": torch.eye(2).to_sparse()}.items():
        for f in (torch.conj, torch.conj_physical, torch.resolve_conj, torch.resolve_neg):
            out = f(x)
            yield f"{name} {f.__name__}", out is x, out.is_coalesced(), out.is_conj(), out._indices(), out._values()
