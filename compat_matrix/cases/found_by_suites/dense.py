"""Of operators, modules, files and test classes."""

import array
import collections
import ctypes
import gzip
import importlib
import json
import logging
import os
import pickle
import socket
import tempfile
import warnings

import numpy as np

from compat_matrix.case import case
from compat_matrix.cases.found_by_suites import _made


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



@case("found_by_suites.autocast_of_overloads")
def _(torch):
    """Operators of torch.ops.aten and the losses of torch._C._nn are cast as their functions are, also where they are first named inside."""
    a, h = torch.full((3, 3), 0.5), torch.full((3, 3), 0.25).bfloat16()
    with torch.autocast("cpu"):
        yield "mm", torch.ops.aten.mm.default(a, a)
        yield "addmm", torch.ops.aten.addmm.default(a, a, a)
        yield "linear", torch.ops.aten.linear(a, a), torch.ops.aten.linear.default(a, a)
        yield "cat", torch.ops.aten.cat.default([a, h]).dtype
        for name in ("mse_loss", "binary_cross_entropy", "smooth_l1_loss", "huber_loss", "soft_margin_loss"):
            yield name, getattr(torch._C._nn, name)(h, h).dtype, getattr(torch.ops.aten, name)(h, h, reduction=1).dtype
    yield "after", torch.ops.aten.mm.default(a, a).dtype
    yield "methods", torch.Tensor.__div__(a, 2), torch.Tensor.__idiv__(a, 2)



@case("found_by_suites.numpy_in_forward")
def _(torch):
    """A Function's forward runs outside of the transformation around it, and may hand what it is given to NumPy."""
    class Cube(torch.autograd.Function):
        @staticmethod
        def forward(x):
            return torch.tensor(x.numpy() ** 3)

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(*inputs)

        @staticmethod
        @torch.autograd.function.once_differentiable
        def backward(ctx, g):
            x, = ctx.saved_tensors
            return torch.tensor(3 * x.detach().numpy() ** 2 * g.detach().numpy())

    for needs in (False, True):
        x = torch.tensor(2., requires_grad=needs)
        out, pull = torch.func.vjp(Cube.apply, x)
        g, = pull(torch.tensor(1.5))
        yield f"vjp {needs}", out.detach(), g.detach()



@case("found_by_suites.map_of_slices")
def _(torch):
    """The map of functorch.experimental.control_flow, and what it refuses."""
    map_of = importlib.import_module(f"{torch.__name__}._higher_order_ops.map").map
    x, y = torch.arange(6.).reshape(3, 2).requires_grad_(), torch.tensor([2., 3.])
    out = map_of(lambda a, b: {"product": a["k"] * b, "sum": a["k"].sum()}, {"k": x}, y)
    yield "results", out["product"], out["sum"]
    yield "grad", torch.autograd.grad(out["product"].sum(), x)[0]
    for xs in ([1], torch.ones(0, 2), [torch.ones(2), torch.ones(3)]):
        yield f"refused {xs}", _made(lambda xs=xs: map_of(lambda a: a, xs))



@case("found_by_suites.own_operators_in_modes")
def _(torch):
    """A mode is told of operators of a program's own; FlopCounterMode counts them by their formulas."""
    mode_of = importlib.import_module(f"{torch.__name__}.utils._python_dispatch").TorchDispatchMode
    counting = importlib.import_module(f"{torch.__name__}.utils.flop_counter")

    @torch.library.custom_op("found_by_suites::scaled", mutates_args=())
    def scaled(x: torch.Tensor) -> torch.Tensor:
        return x * 2

    scaled.register_autograd(lambda ctx, g: g * 2)
    heard = []

    class Mode(mode_of):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            heard.append(str(func))
            return func(*args, **(kwargs or {}))

    x = torch.ones(3, requires_grad=True)
    with Mode():
        y = scaled(x)
    yield "heard", "found_by_suites.scaled.default" in heard
    yield "result", y, torch.autograd.grad(y.sum(), x)[0]
    counting.register_flop_formula(torch.ops.found_by_suites.scaled)(lambda *args, **kwargs: 7)
    with counting.FlopCounterMode(display=False) as mode:
        scaled(x.detach())
    yield "counted", mode.get_total_flops()



@case("found_by_suites.handles_of_libraries")
def _(torch):
    """What a Library has registered goes with its handle."""
    for turn in range(2):
        lib = torch.library.Library("found_by_suites_lib", "FRAGMENT")
        lib.define("one(Tensor a) -> Tensor")
        lib.impl("one", lambda a: a + 1, "CPU")
        yield f"result {turn}", torch.ops.found_by_suites_lib.one(torch.ones(2))
        del lib.m



@case("found_by_suites.overloads_that_write")
def _(torch):
    """The overloads `out` of operators, and others' refusal of `out=`."""
    add, a, out = torch.ops.aten.add, torch.tensor(2), torch.tensor(0)
    yield "add", add.out(a, a, out=out), out, str(add.out)
    yield "mm", torch.ops.aten.mm.out(torch.ones(2, 2), torch.ones(2, 2), out=torch.empty(2, 2))
    yield "refused", _made(lambda: add.Tensor(a, a, out=out))
    yield "no such", _made(lambda: hasattr(torch.ops.aten.view, "out") or torch.tensor(0))



@case("found_by_suites.callbacks_of_futures")
def _(torch):
    """Errors of callbacks are nobody's, those of `then` are its Future's; what a Future is not."""
    logging.getLogger(f"{torch.__name__}.futures").setLevel(logging.CRITICAL)

    def wrong(future):
        raise ValueError("Expected error")

    future = torch.futures.Future()
    after = future.then(wrong)
    future.add_done_callback(wrong)
    future.set_result(torch.ones(2))
    future.add_done_callback(lambda: None)
    yield "value", future.wait()
    yield "then", "Expected error" in _made(after.wait)[1]
    yield "none", _made(lambda: torch.futures.collect_all((future, None)))[0], _made(lambda: torch.futures.wait_all((None,)))[0]
    yield "pickled", _made(lambda: pickle.dumps(future))



@case("found_by_suites.notes_of_profiles")
def _(torch):
    """Traces hold the notes, packed where their name says so; steps are counted and traces named."""
    steps = torch.autograd.profiler.KinetoStepTracker
    before = steps.current_step()
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], schedule=torch.profiler.schedule(wait=0, warmup=0, active=4),
                                experimental_config=torch._C._profiler._ExperimentalConfig(verbose=True), custom_trace_id_callback=lambda: "named") as p:
        for _ in range(2):
            torch.ones(2) + 1
            p.step()
        p.add_metadata("one", "text")
        p.add_metadata_json("two", "[1, 2]")
    yield "steps", steps.current_step() - before
    yield "named", p.get_trace_id()
    with tempfile.TemporaryDirectory() as folder:
        p.export_chrome_trace(os.path.join(folder, "t.json.gz"))
        with gzip.open(os.path.join(folder, "t.json.gz"), "rt") as f:
            trace = json.load(f)
        yield "notes", trace["one"], trace["two"]



@case("found_by_suites.forms_and_weak_keys")
def _(torch):
    """Forms of named tuples and with members of enumerations as text; dictionaries by identity joined with others."""
    tree = importlib.import_module(f"{torch.__name__}.utils._pytree")
    weak = importlib.import_module(f"{torch.__name__}.utils.weak").WeakIdKeyDictionary
    immutable = importlib.import_module(f"{torch.__name__}.fx.immutable_collections")
    Point = collections.namedtuple("Point", ["x", "y"])
    _, form = tree.tree_flatten(Point(1, 2))
    yield "unnamed", _made(lambda: tree.treespec_dumps(form))[0]
    tree._register_namedtuple(Point, serialized_type_name="found_by_suites.Point")
    yield "named", tree.treespec_dumps(form), tree.treespec_loads(tree.treespec_dumps(form)) == form
    _, form = tree.tree_flatten({socket.AF_INET: 1})
    yield "members", tree.treespec_dumps(form), tree.treespec_loads(tree.treespec_dumps(form)) == form
    for x in (immutable.immutable_list([1, 2]), immutable.immutable_dict(a=1)):
        yield f"paths {x}", [(tree.keystr(path), leaf) for path, leaf in tree.tree_flatten_with_path(x)[0]]
    a, b = torch.ones(1), torch.ones(2)
    one, two = weak({a: 1}), weak([(b, 2)])
    yield "joined", sorted((one | two).values()), sorted((one | {b: 3}).values()), sorted(({b: 3} | one).values())
    yield "refused", [type(x).__name__ for x in (one.__or__([1]), one.__ror__([1]))]



@case("found_by_suites.events_of_all_turns")
def _(torch):
    """`acc_events` keeps the events of earlier turns; averages say which ranges are the user's; whether a profile is entered."""
    def steps(**more):
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], schedule=torch.profiler.schedule(wait=0, warmup=1, active=2, repeat=2),
                                    **more) as p:
            for _ in range(8):
                with torch.profiler.record_function("mine"):
                    torch.ones(2).add(1)
                p.step()
        return p

    for acc in (True, False):
        p = steps(acc_events=acc)
        yield f"{acc}", [(a.count, a.is_user_annotation, str(a.device_type)) for a in p.key_averages() if a.key == "mine"]
        yield f"events {acc}", sum(e.name == "aten::add" for e in p.events())
    told = [torch.autograd.profiler._is_profiler_enabled]
    with torch.autograd.profiler.profile():
        told.append(torch.autograd.profiler._is_profiler_enabled)
    yield "entered", [*told, torch.autograd.profiler._is_profiler_enabled]
    kinds = torch.profiler.DeviceType
    yield "kinds", [(n, int(m.value)) for n, m in sorted(kinds.__members__.items())], repr(kinds.CPU), torch.autograd.DeviceType is kinds



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



@case("found_by_suites.networks_at_their_limits")
def _(torch):
    """Probabilities of huge log-odds, counts beside a number, pools without results and volumes without batches, and old checkpoints of OneCycleLR."""
    for dtype, most in ((torch.float32, 1e38), (torch.float64, 1e308)):
        for logit in (most, -most):
            logits = torch.tensor([logit], dtype=dtype, requires_grad=True)
            own = torch.distributions.ContinuousBernoulli(logits=logits)
            out = own.log_prob((logits > 0).to(dtype).detach())
            out.sum().backward()
            yield f"{dtype} {logit}", own.probs, out, own.mean, own.variance, own.entropy(), logits.grad
    for kind in (torch.distributions.Binomial, torch.distributions.NegativeBinomial):
        for more in ({"probs": 0.5}, {"logits": 0.1}):
            own = kind(torch.ones(2, 2), **more)
            yield f"{kind.__name__} {more}", own.batch_shape, own.param_shape, own.log_prob(torch.zeros(2, 2)), own.sample().shape, own.expand((3, 2, 2)).batch_shape
    for n, shape in ((2, (2, 3, 8, 8)), (3, (2, 3, 8, 8, 8)), (3, (3, 8, 8, 8))):
        for size in ((0, 1, 1), (1, 1, 0), (0, 0, 0)):
            x = torch.rand(shape, requires_grad=True)
            out, index = getattr(torch.nn.functional, f"fractional_max_pool{n}d")(x, [2] * n, output_size=size[-n:], return_indices=True)
            out.sum().backward()
            yield f"{shape} {size}", out, index, x.grad
    for shape in ((1, 6, 7, 8, 9), (1, 1, 7, 8, 9), (2, 6, 7, 8, 9)):
        x = torch.arange(float(torch.Size(shape).numel())).view(shape).contiguous(memory_format=torch.channels_last_3d)
        one = x[0]
        for i, v in enumerate((x, one, one.contiguous(), one[:, ::2], x[:, :, 0], one.contiguous(memory_format=torch.channels_last), one.transpose(1, 2))):
            try:
                out, index = torch.nn.functional.max_pool3d(v, 1, return_indices=True)
                yield f"{shape} {i}", v.stride(), out.shape, out.stride(), index.stride(), out
            except RuntimeError as refused:
                yield f"{shape} {i}", v.stride(), str(refused)
    sgd = torch.optim.SGD([torch.ones(1, requires_grad=True)], lr=0.5, momentum=0.9)
    rates = torch.optim.lr_scheduler.OneCycleLR(sgd, max_lr=25, total_steps=4)
    del rates._anneal_func_type
    rates.load_state_dict({**rates.state_dict(), "anneal_func": lambda start, end, part: start + (end - start) * part * part})
    for i in range(3):
        sgd.step()
        rates.step()
        yield f"rates {i}", rates.get_last_lr()
    rates._anneal_func_type = "other"
    try:
        rates.step()
    except ValueError as refused:
        yield "refused", str(refused)



@case("found_by_suites.sizes_that_cannot_be_counted")
def _(torch):
    t, whole = torch.zeros(2, 3), torch.empty((), dtype=torch.float64)
    for k, (size, stride, offset) in enumerate((((1,), (1,), 2**63 - 1), ((2,), (1,), 2**62), ((2,), (2**61,), 0), ((2,), (2**40,), 0), ((0,), (2**62,), 4))):
        yield f"as_strided {k}", _made(lambda size=size, stride=stride, offset=offset: t.as_strided(size, stride, offset))
    for k, size in enumerate(((2, 4, 2**29, 2**29), (8, 8, 2**29, 2**29), (0, 4, 2**61), (3, 0, 2**62, 2))):
        yield f"resize_ {k}", _made(lambda size=size: whole.resize_(size))



@case("found_by_suites.chunks_side_by_side")
def _(torch):
    cat = importlib.import_module(f"{torch.__name__}._utils")._maybe_view_chunk_cat
    for shape, count, dim in (((4, 3), 4, 0), ((4, 1, 3), 4, 2), ((4, 2, 3), 4, 2), ((4, 3), 2, 1), ((2, 3), 2, 1)):
        t = torch.arange(float(np.prod(shape))).view(shape)
        out = cat(t, count, dim)
        yield f"{shape} {count} {dim}", out, out._is_view()
    deprecated = importlib.import_module(f"{torch.__name__}._functorch.deprecated")
    yield "deprecated", sorted(n for n in ("vmap", "grad", "jvp", "make_functional") if callable(getattr(deprecated, n)))



@case("found_by_suites.histograms_of_extremes")
def _(torch):
    """`histc` of one value, also where a number further is none, of ranges that overflow, and what it refuses first."""
    most, inf, nan = torch.finfo(torch.float32).max, float("inf"), float("nan")
    for values in ([most, most], [-most], [-most, most, 0.0], [3e9, 3e9], [16777216.0], [inf], [nan], [1.0, nan], [nan] * 3, []):
        yield f"{values}", _made(lambda v=values: torch.histc(torch.tensor(v), 4))
    for kind in ("int32", "bool", "complex64", "uint16"):
        t = torch.tensor([1, 2], dtype=getattr(torch, kind))
        for named, more in (("crossed", {"min": 5, "max": 1}), ("given", {"min": 1, "max": 5}), ("found", {}), ("none", {"bins": 0})):
            yield f"{kind} {named}", _made(lambda t=t, more=more: torch.histc(t, **{"bins": 4, **more}))



@case("found_by_suites.rows_with_nan_in_order")
def _(torch):
    """Few rows are put in order by insertion, and NaN is neither before nor after another value."""
    nan = float("nan")
    for n, rows in enumerate(([nan, 0, 0, nan, nan, 1], [[nan, 0], [0, 1], [nan, 0], [0, 1], [0, 0]], [[1, nan], [1, nan], [nan, 1], [nan, 2], [0, nan]])):
        yield str(n), torch.unique(torch.tensor(rows), return_inverse=True, return_counts=True, dim=0)



@case("found_by_suites.arrays_in_sizes")
def _(torch):
    """An array without dims is an int in a list of them, but for a single one; other things around sizes and memory."""
    a, x = np.array(2), torch.ones(2, 3)
    for n, f in enumerate((lambda: torch.zeros(a), lambda: torch.ones(a, 3), lambda: torch.ones((np.int64(2), a)), lambda: x.new_zeros(a, 3), lambda: x.tile(a),
                           lambda: x.expand(a, 3), lambda: x.sum((np.array(0),)), lambda: x.permute((1, np.array(0))), lambda: torch.full((a,), 1.0),
                           lambda: x.unsqueeze(np.array(0)), lambda: torch.ones(np.array(2.0), 3), lambda: torch.ones((np.array([2]), 3)))):
        yield str(n), _made(f)

    class Wild:
        def __radd__(self, other):
            return 42

    yield "added", torch.Size([1]) + Wild()
    yield "empty", (torch.empty(2, 2)[0:0].view(0, 1).data_ptr(), torch.empty(2, 2).resize_(0, 2).data_ptr())
    for name, memory in (("untyped", lambda n: torch.empty(n).untyped_storage()), ("typed", lambda n: torch.empty(n).storage())):
        yield f"size {name}", memory(10).__sizeof__() - memory(0).__sizeof__()
    yield "copied", torch.tensor([1, 2], dtype=torch.uint8).untyped_storage().__copy__().tolist()



@case("found_by_suites.classes_of_device_tests")
def _(torch):
    """A class of a device's tests derives from the generic one, which has no tests any more: `super()` in its methods finds its way."""
    devices = importlib.import_module(f"{torch.__name__}.testing._internal.common_device_type")
    utils = importlib.import_module(f"{torch.__name__}.testing._internal.common_utils")

    class Generic(utils.TestCase):
        ready = False

        def setUp(self):
            super().setUp()
            self.ready = True

        def test_it(self, device):
            assert self.ready and device == "cpu"

    scope = {"Generic": Generic}
    devices.instantiate_device_type_tests(Generic, scope, only_for="cpu")
    made = scope["GenericCPU"]
    result = made("test_it_cpu").run()
    yield "made", (sorted(scope), issubclass(made, Generic), hasattr(Generic, "test_it"), result is None or result.wasSuccessful())


@case("found_by_suites.lists_in_themselves")
def _(torch):
    """Lists that hold themselves, and those that are nested deeper than tensors, are refused at once; nested ones below that are read."""
    own, first = [0], []
    own.append(own)
    first.append(first)
    for name, data in (("last", own), ("below", [[1, 2], own]), ("first", first)):
        for kind in ("tensor", "as_tensor"):
            yield f"{kind} {name}", _made(lambda kind=kind, data=data: getattr(torch, kind)(data))
    yield "index", _made(lambda: torch.ones(3)[own])
    nested = 1
    for depth in range(200):
        nested = [nested]
        if depth in (40, 199):
            yield str(depth), _made(lambda nested=nested: torch.tensor(nested).reshape(1))
    yield "numbers", _made(lambda: torch.arange(1.175494351e-38, 3.402823466e+38))


@case("found_by_suites.nothing_joined")
def _(torch):
    """Joining only tensors of shape (0,) gives one of them, along whatever dim is named."""
    e = torch.zeros(0, requires_grad=True)
    for dim in (0, 1, -2, 5):
        yield str(dim), torch.cat([e, e], dim), torch.cat([e.detach(), torch.zeros(0, dtype=torch.int64)], dim).dtype
        yield f"one {dim}", _made(lambda dim=dim: torch.cat([e, torch.ones(2)], dim))
    torch.cat([e, e], 3).sum().backward()
    yield "gradient", e.grad
