"""Modules below the public names that libraries import, and where functions say that they come from."""

import importlib
import io
import itertools
import pickle

from compat_matrix.case import attempt, case


def module(torch, path):
    """A module of torch's, by its path below the root."""
    return importlib.import_module(f"{torch.__name__}.{path}")


@case("lower_names.functions_pickled_by_name")
def _(torch):
    F = torch.nn.functional
    for f in (F.relu, F.linear, F.gelu, F.softmax, F.pad, F.one_hot, F.softplus, F.cross_entropy, torch.add, torch.relu, torch.where, torch.nn.init.zeros_):
        yield f"{f.__module__.partition('.')[2]}.{f.__name__}", pickle.loads(pickle.dumps(f)) is f
    layer = torch.nn.TransformerEncoderLayer(4, 2, activation=F.relu)
    yield "layer", pickle.loads(pickle.dumps(layer)).activation is F.relu
    file = io.BytesIO()
    torch.save(layer, file)
    file.seek(0)
    yield "saved", torch.load(file, weights_only=False).activation is F.relu, b"_functions" in file.getvalue()


@case("lower_names.c_nn")
def _(torch):
    nn, F = module(torch, "_C._nn"), torch.nn.functional
    yield "same", nn.gelu is F.gelu, nn.linear is F.linear, nn.one_hot is F.one_hot, nn.softplus is F.softplus, torch._C._nn is nn
    x = torch.tensor([[-1.0, 0.5, 2.0]], requires_grad=True)
    for i, y in enumerate((nn.gelu(x, approximate="tanh"), nn.silu(x), nn.leaky_relu(x, 0.1), nn.elu(x), nn.hardtanh(x, -1.0, 1.0), nn.mse_loss(x, x.detach() * 2, 1),
              nn.smooth_l1_loss(x, x.detach() * 2, 2, 1.0), nn.reflection_pad1d(x, [1, 1]), nn.log_sigmoid(x), nn.glu(torch.cat([x, x[:, :1]], 1)))):
        yield i, y, torch.autograd.grad(y.sum(), x)
    yield "written", nn.silu_(torch.ones(2)), nn.elu_(torch.tensor([-1.0]))


@case("lower_names.prims_common")
def _(torch):
    p = module(torch, "_prims_common")
    kinds = p.ELEMENTWISE_TYPE_PROMOTION_KIND
    args = [torch.ones(2, dtype=torch.float16), torch.ones(2, dtype=torch.int64), torch.ones((), dtype=torch.float64), torch.ones(2, dtype=torch.bool),
            torch.ones(2, dtype=torch.complex64), torch.ones((), dtype=torch.int32), True, 2, 2.5, 1j]
    for kind in kinds:
        yield kind.name, [p.elementwise_dtypes(*x, type_promotion_kind=kind) for x in [*((a,) for a in args), *itertools.product(args, args)]]
    yield "strides", p.make_contiguous_strides_for((2, 0, 3)), p.make_contiguous_strides_for((4, 2, 3), False), p.make_channels_last_2d_strides_for((2, 3, 4, 5))
    yield "shapes", p.is_expandable_to((3, 1), (2, 3, 4)), p.infer_size((2, -1), 6), attempt(lambda: p.infer_size((4, -1), 6)), p.reduction_dims((2, 3), None)
    yield "dims", p.canonicalize_dims(3, (0, -1)), attempt(lambda: p.canonicalize_dim(2, 5)), p.invert_perm((2, 0, 1))
    yield "same", attempt(lambda: p.check_same_dtype(torch.ones(1), torch.ones(1, dtype=torch.int64))), attempt(lambda: p.check_same_dtype(2, None))


@case("lower_names.jit_internal")
def _(torch):
    j = module(torch, "_jit_internal")
    f = j.boolean_dispatch("flag", 1, False, lambda x, flag=True: "yes", lambda x, flag=False: "no", __name__, "f")
    yield "dispatched", f(1), f(1, True), f(1, flag=True)
    yield "kinds", j.is_optional(j.Optional[int]), j.is_list(j.List[int]), j.is_tuple(j.Tuple[int, int]), j.is_dict(j.Dict[str, int]), j.is_optional(int)
    yield "marks", j.get_torchscript_modifier(j._copy_to_script_wrapper(lambda: 0)), j.is_scripting(), j.get_callable_argument_names(lambda a, b=1: 0)


@case("lower_names.settings_of_compilers")
def _(torch):
    for path in ("_dynamo.config", "_inductor.config", "_functorch.config"):
        config = module(torch, path)
        yield path, attempt(lambda: setattr(config, "nothing_of_this_name", 1)), attempt(lambda: config.nothing_of_this_name)  # noqa: B023
    dynamo = module(torch, "_dynamo.config")
    before = dynamo.suppress_errors
    with dynamo.patch(suppress_errors=True):
        yield "within", dynamo.suppress_errors
    yield "after", before, dynamo.suppress_errors


def counting(data):
    """A pipe of numbers."""

    class Count(data.IterDataPipe):
        def __init__(self, n):
            self.n = n

        def __iter__(self):
            return iter(range(self.n))

    return Count


@case("lower_names.datapipes")
def _(torch):
    data = torch.utils.data

    Count = counting(data)
    pipe = Count(5)
    yield "plain", list(pipe), isinstance(pipe, data.IterableDataset), attempt(lambda: pipe.nope), attempt(lambda: pipe[0]), attempt(lambda: len(pipe))
    yield "made", list(pipe.batch(2)), list(pipe.batch(2, drop_last=True)), list(pipe.zip(Count(2))), list(pipe.concat(Count(2))), list(pipe.batch(2).unbatch())
    yield "mapped", list(pipe.map(str)), list(pipe.filter(_odd))
    torch.manual_seed(0)
    yield "shuffled", list(Count(8).shuffle()), list(Count(8).shuffle(buffer_size=3))
    yield "loaded", list(data.DataLoader(data.datapipes.iter.IterableWrapper(range(5)).batch(1).unbatch(), batch_size=2))


def _odd(x):
    return x % 2 == 1


@case("lower_names.benchmark_tables")
def _(torch):
    b = module(torch, "utils.benchmark")
    task = b.TaskSpec("x @ y", "", label="mm", sub_label="a", description="d", num_threads=2)
    m = b.Measurement(10, [1e-5, 1.1e-5, 1.2e-5, 1.05e-5, 1.3e-5], task)
    yield "one", str(m).partition("\n")[2], m.median, m.iqr, m.significant_figures, m.has_warnings, m.title, m.as_row_name
    yield "more", str(b.Measurement(1, [1e-3], b.TaskSpec("f(x)", "import a"))).partition("\n")[2]
    yield "rough", str(b.Measurement(1, [1e-3, 9e-3, 2e-3, 5e-3], b.TaskSpec("f(x)", "a = 1"))).partition("\n")[2]
    rows = [(sub, d, n) for sub in ("x", "yy") for d in ("d1", "d2") for n in (1, 4)]
    ms = [b.Measurement(10, [1e-5 * k + i * 1e-7 * k for i in range(20)], b.TaskSpec("s", "", label="mm", sub_label=sub, description=d, num_threads=n))
          for k, (sub, d, n) in enumerate(rows, 1)]
    table = b.Compare(ms)
    yield "table", str(table), str(b.Compare(ms[:2] + ms[4:]))
    table.trim_significant_figures()
    table.colorize()
    yield "coloured", str(table)
    yield "helpers", b.select_unit(3e-5), b.unit_to_english("us"), b.trim_sigfig(123.456, 2), b.ordered_unique([3, 1, 3])
    yield "refused", attempt(lambda: b.Timer(3)), attempt(lambda: b.Timer("1", global_setup="x"))
    yield "timed", b.Timer("y = 1 + 1").timeit(3).number_per_run, len(b.Timer("1 + 1").timeit(3).times)


@case("lower_names.mps")
def _(torch):
    yield "seed", torch.mps.manual_seed(1), attempt(lambda: torch.mps.get_rng_state()), attempt(lambda: torch.mps.set_per_process_memory_fraction(3.0))
    yield "fraction", attempt(lambda: torch.mps.set_per_process_memory_fraction(2)), attempt(lambda: torch.mps.recommended_max_memory())


@case("lower_names.type_of_the_class")
def _(torch):
    x = torch.tensor([1, 2])
    yield "plain", (x < 2).type(torch.Tensor), x.type(torch.FloatTensor), x.type("torch.DoubleTensor")


@case("lower_names.flex_attention")
def _(torch):
    flex = module(torch, "nn.attention.flex_attention")

    def causal(b, h, q, k):
        return q >= k

    torch.manual_seed(0)
    q, k, v, bias = torch.randn(1, 2, 8, 4), torch.randn(1, 2, 8, 4), torch.randn(1, 2, 8, 3), torch.randn(2, 15)
    mask = flex.create_block_mask(causal, None, None, 8, 8, device="cpu", BLOCK_SIZE=4)
    yield "mask", mask.kv_num_blocks, mask.kv_indices, mask.full_kv_num_blocks, mask.full_q_indices, mask.to_dense(), mask.sparsity(), mask.shape, repr(mask)
    uneven = flex.create_block_mask(causal, 2, 3, 10, 6, device="cpu", BLOCK_SIZE=(4, 2))
    yield "uneven", uneven.to_dense(), uneven.kv_num_blocks, uneven[0].shape, uneven[:, 1].kv_indices, uneven.numel()
    yield "plain", flex.flex_attention(q, k, v), flex.flex_attention(q, k, v, scale=0.3, block_mask=mask)
    yield "scored", flex.flex_attention(q, k, v, score_mod=lambda s, b, h, i, j: s + bias[h, i - j + 7], block_mask=mask)
    yield "shared", flex.flex_attention(q, k[:, :1], v[:, :1], enable_gqa=True)
    nothing = flex.create_block_mask(lambda b, h, q, k: (q > 2) & (q >= k), None, None, 8, 8, device="cpu", BLOCK_SIZE=4)
    yield "rows of nothing", flex.flex_attention(q, k, v, block_mask=nothing)
    yield "masks", flex.create_mask(flex.and_masks(causal, lambda b, h, q, k: q - k < 2), 1, 1, 4, 4, device="cpu")
    yield "refused", attempt(lambda: flex.flex_attention(q, k[:, :1], v[:, :1])), attempt(lambda: flex.flex_attention(q[0], k[0], v[0]))
    yield "sizes", attempt(lambda: flex.flex_attention(q[:, :, :6], k, v, block_mask=mask)), attempt(lambda: flex.flex_attention(q, k[..., :2], v))
