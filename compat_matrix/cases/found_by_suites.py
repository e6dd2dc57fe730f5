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


@case("found_by_suites.memory_that_stands_out")
def _(torch):
    """Under deterministic algorithms memory that nobody wrote holds NaN, True or the largest number, unless it is told not to be filled."""
    t = torch.utils.deterministic
    for asked, fills in ((True, True), (True, False)):
        torch.use_deterministic_algorithms(asked)
        t.fill_uninitialized_memory = fills
        try:
            for dtype in (torch.float32, torch.bfloat16, torch.complex64, torch.int8, torch.uint8, torch.int64, torch.bool) if fills else ():
                like = torch.zeros(2, 2, dtype=dtype)
                made = (torch.empty(2, dtype=dtype), torch.empty(2, out=like.clone()), torch.empty_like(like), torch.empty_strided((2,), (1,), dtype=dtype),
                        torch.empty_permuted((1, 2), (1, 0), dtype=dtype), like.new_empty(2), like.new_empty_strided((2,), (1,)), like[0].clone().resize_(3),
                        like.new(2))
                yield str(dtype), [x.tolist() for x in made]
            yield f"legacy {fills}", torch.Tensor(2).tolist() if fills else t.fill_uninitialized_memory
            t.fill_uninitialized_memory = 1
        except RuntimeError as refused:
            yield f"mode {fills}", str(refused)
        finally:
            torch.use_deterministic_algorithms(False)
            t.fill_uninitialized_memory = True


@case("found_by_suites.products_of_small_integers")
def _(torch):
    """`_int_mm` sums int8 in int32; `_addmm_activation` is `addmm` and an activation."""
    a, b = torch.arange(-6, 6, dtype=torch.int8).reshape(3, 4) * 20, torch.arange(-10, 10, dtype=torch.int8).reshape(4, 5) * 12
    for name, f in {
        "product": lambda: torch._int_mm(a, b), "unsigned": lambda: torch._int_mm(a.to(torch.uint8), b), "nothing": lambda: torch._int_mm(a[:, :0], b[:0]),
        "out": lambda: torch._int_mm(a, b, out=torch.empty(3, 5, dtype=torch.int32)), "wrong out": lambda: torch._int_mm(a, b, out=torch.empty(3, 5)),
        "small out": lambda: torch._int_mm(a, b, out=torch.empty(0, dtype=torch.int32)), "sizes": lambda: torch._int_mm(a.t(), b),
        "dtype": lambda: torch._int_mm(a, b.int()), "halves": lambda: torch._int_mm(a.half(), b), "vector": lambda: torch._int_mm(a[0], b),
        "relu": lambda: torch._addmm_activation(torch.ones(5), a.float(), b.float(), beta=2, alpha=.5),
        "gelu": lambda: torch._addmm_activation(torch.ones(5), a.float() / 100, b.float() / 100, use_gelu=True),
    }.items():
        yield name, _made(f)


@case("found_by_suites.masks_of_masked_operations")
def _(torch):
    """What torch.masked's functions say of masks and dims."""
    m, t, k = torch.masked, torch.tensor([[1., 2], [3, 4]]), torch.tensor([True, False])
    for name, f in {
        "all": lambda: m._canonical_dim(None, 3), "some": lambda: m._canonical_dim([2, -3], 3), "twice": lambda: m._canonical_dim((0, 0), 3),
        "beyond": lambda: m._canonical_dim(4, 3), "input": lambda: m._input_mask(t, mask=k), "none": lambda: m._input_mask(t, mask=None),
        "sum": lambda: m._output_mask(m.sum, t, 1, mask=k, keepdim=True), "norm": lambda: m._output_mask(m.norm, t, 2., 0, mask=k),
        "softmax": lambda: m._output_mask(m.softmax, t, 0, mask=k), "other": lambda: m._output_mask(3, t, mask=k), "where": lambda: m._where(k, t, torch.tensor(7.)),
    }.items():
        try:
            yield name, f()
        except (IndexError, RuntimeError, ValueError) as refused:
            yield name, type(refused).__name__, str(refused)


@case("found_by_suites.sparse_odds_and_ends")
def _(torch):
    """Sparse tensors of one number, told to be coalesced, multiplied by ones without dims; formats of memory are refused."""
    s, eye = torch.sparse_coo_tensor([[0, 0, 1]], [1., 2, 3], (3,)), torch.eye(3).to_sparse()
    yield "told", s._coalesced_(True) is s, s.is_coalesced(), s._coalesced_(False).is_coalesced(), s._version, s.coalesce()._coalesced_(False).coalesce()._values()
    for size in ((2, 3), None):
        yield f"number {size}", *((x._indices(), x._values(), x.shape) for x in [torch.sparse_coo_tensor([[0], [2]], 1., *([size] if size else []))])
    two = torch.tensor(2.).to_sparse()
    yield "products", [(x * y).to_dense() for x, y in ((eye, two), (two, eye), (two, two))]
    for f in (torch.empty_like, torch.zeros_like):
        try:
            f(eye, memory_format=torch.preserve_format)
        except RuntimeError as refused:
            yield f.__name__, str(refused)
    for size in ((0, 2), (2, 0), (0,), (0, 2, 3)):
        yield f"empty {size}", [(x._indices(), x._values(), x.shape) for x in (torch.zeros(size).to_sparse(), torch.zeros(size).to_sparse(1))]
    yield "layouts", [str(f(x, layout=layout).layout) for f, x, layout in (
        (torch.empty_like, eye, torch.strided), (torch.zeros_like, eye, torch.strided), (torch.zeros_like, torch.ones(2, 2), torch.sparse_coo))]
    a = torch.tensor([[1., 0.], [2., 3.]])
    yield "shared", torch.ones(0).new(a.storage()).data_ptr() == a.data_ptr(), torch.Tensor(a.storage()).tolist()
