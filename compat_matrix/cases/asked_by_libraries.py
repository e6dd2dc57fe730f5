"""What libraries take from below the public names, or in PyTorch's ways of old."""

from importlib import import_module

from compat_matrix.case import case, raises

OLD = {
    "add_": "a.clone().add_(k, b)", "add": "torch.add(a, k, b)", "sub": "a.sub(k, b)", "add of a number": "torch.add(a, k, 3)", "addcmul_": "a.clone().addcmul_(k, b, b)",
    "addcdiv": "torch.addcdiv(a, k, b, b + 1)", "addmm": "torch.addmm(k, m, m, m)", "addmm, both": "torch.addmm(k, m, k, m, m)", "addmv": "torch.addmv(k, a, k, m, b)",
    "addr_": "m.clone().addr_(k, b, b)", "baddbmm": "torch.baddbmm(k, m[None], k, m[None], m[None])", "addbmm": "torch.addbmm(m, k, m[None], m[None])",
}


@case("asked_by_libraries.numbers_of_old")
def numbers_of_old(torch):
    """A tensor of no dims that needs no gradient stands for a number where the order of arguments is that of old."""
    names = {"torch": torch, "a": torch.ones(3), "b": torch.arange(3.0), "m": torch.eye(3)}
    for kind, k in {"float": torch.tensor(2.5), "long": torch.tensor(3), "one element": torch.tensor([2.0]), "leaf": torch.tensor(1.0, requires_grad=True)}.items():
        for name, text in OLD.items():
            yield f"{name}: {kind}", raises(lambda: eval(text, {**names, "k": k})) or eval(text, {**names, "k": k})


@case("asked_by_libraries.strides_kept")
def strides_kept(torch):
    """The strides that products keep: none of what gets no gradient, those of a view also where nobody holds it."""
    linear = torch.nn.functional.linear
    x, w, b = torch.ones(5, 3), torch.ones(4, 3, requires_grad=True), torch.ones(4, requires_grad=True)
    z, y = torch.ones(3, 5).t().requires_grad_(), torch.ones(6, 3)[::2].requires_grad_()
    for name, out in {"linear": linear(x, w, b), "linear of t": linear(z, w, b), "mm": x @ w.t(), "mm of t": z @ w.t(), "constant": torch.mm(z, x.t()),
                      "addmm": torch.addmm(b, x, w.t()), "both constant": torch.addmm(b, x, w.t().detach()), "steps": z @ y.t(), "t first": y.t() @ y}.items():
        node = out.grad_fn
        yield name, [(key, getattr(node, key)) for key in sorted(dir(node)) if key.endswith(("sym_strides", "sym_sizes"))]


@case("asked_by_libraries.parsed")
def parsed(torch):
    parse = torch._C._nn._parse_to
    for name, args, kwargs in (("device", ("cpu",), {}), ("dtype", (torch.float64,), {}), ("named", (), {"dtype": torch.float32, "device": "cpu"}),
                               ("tensor", (torch.ones(2, dtype=torch.float64),), {}), ("flags", ("cpu", torch.float64, True), {}), ("blocking", (), {"non_blocking": True}),
                               ("format", (), {"memory_format": torch.channels_last}), ("nothing", (), {}), ("none", (None,), {}), ("device none", ("cpu", None), {})):
        yield name, [str(x) for x in parse(*args, **kwargs)]
    yield "copy", raises(lambda: parse("cpu", copy=True))


@case("asked_by_libraries.formatted")
def formatted(torch):
    for data in ([1.0, 2.5, 100.0], [1, 25], [1e10, 25.0], 2.5, [0.0, float("inf")], [1.0, 2.0]):
        one = torch._tensor_str._Formatter(torch.tensor(data))
        numbers = (1, 2) if one.floating_dtype is False else (1.0, 2.5, -3.0)
        yield str(data), one.width(), [one.format(x) for x in numbers]


@case("asked_by_libraries.reached")
def reached(torch):
    """Modules that are there as soon as PyTorch is imported, and names of old."""
    for path in ("_utils", "_jit_internal", "__future__", "_C._nn", "multiprocessing.reductions", "nn.parallel.comm", "utils.collect_env", "distributed.rpc"):
        out = torch
        for name in path.split("."):
            out = getattr(out, name)
        yield path, type(out).__name__
    yield "mixin", torch.autograd.function._ContextMethodMixin is torch.autograd.function.FunctionCtx
    yield "dispatched", type(torch._jit_internal.boolean_dispatched).__name__
    yield "switches", [torch._C._jit_set_profiling_mode(x) for x in (False, True)], torch._C._jit_override_can_fuse_on_cpu(False)
    yield "device", torch._C._get_default_device()
    yield "layout", str(torch.jagged), isinstance(torch.jagged, torch.layout)
    x, w = torch.arange(12.0).reshape(1, 2, 6), torch.ones(2, 2, 3)
    yield "_convolution", torch.ops.aten._convolution(x, w, None, [1], [0], [1], False, [0], 1, False, False, False, False)


@case("asked_by_libraries.parts_of_attention")
def parts_of_attention(torch):
    """What copies of PyTorch's own layers call."""
    F, ones = torch.nn.functional, torch.ones
    held = torch.tensor([True, False])
    yield "mask", F._canonical_mask(held, "m", None, "", torch.float32), F._canonical_mask(None, "m", None, "", torch.float32), F._none_or_dtype(held), F._none_or_dtype(None)
    yield "mask refused", raises(lambda: F._canonical_mask(ones(1, dtype=torch.int64), "m", None, "o", torch.float32)), raises(lambda: F._none_or_dtype(3))
    q, k, v = (torch.arange(float(n)).reshape(-1, 1, m) / 7 for n, m in ((8, 4), (15, 5), (18, 6)))
    good = (ones(4, 4), ones(4, 5), ones(4, 6))
    yield "projected", F._in_projection(q, k, v, *good), F._in_projection(q, k, v, *good, ones(4), None, ones(4))
    yield "packed", [F._in_projection_packed(*x, torch.arange(48.0).reshape(12, 4) / 9, ones(12)) for x in ((q, q, q), (q, q + 1, q + 2))]
    for name, more in (("query", (ones(3, 4), *good[1:])), ("key", (good[0], ones(4, 4), good[2])), ("value", (*good[:2], ones(4, 5))), ("query bias", (*good, ones(3))),
                       ("key bias", (*good, None, ones(3))), ("value bias", (*good, None, None, ones(3)))):
        yield name, raises(lambda: F._in_projection(q, k, v, *more))
    yield "ranks", F._mha_shape_check(q, q, q, None, None, 1), F._mha_shape_check(q[0], q[0], q[0], None, None, 1), raises(lambda: F._mha_shape_check(ones(2), q, q, None, None, 1))
    yield "padding", raises(lambda: F._check_key_padding_mask(ones(2, 3), 4, 2)), raises(lambda: F._check_key_padding_mask(ones(2, 3), 3, 1))
    yield "sizes", [raises(lambda: F._verify_batch_size(s)) for s in ([1, 2, 1], [1, 2], [2, 2])], [raises(lambda: F._verify_spatial_size(s)) for s in ([2, 3, 1], [2, 3, 2])]
    x = ones(1, 1, 3, 3)
    yield "unpooled", list(F._unpool_output_size(x, [2, 2], [2, 2], [0, 0], None)), raises(lambda: F._unpool_output_size(x, [2, 2], [2, 2], [0, 0], [9, 9]))
    layers = torch.nn.modules.transformer
    causal = layers._generate_square_subsequent_mask(3)
    yield "causal", [layers._detect_is_causal_mask(*args) for args in ((causal,), (None, True), (causal, None, 4), (causal, False), (None,), (causal + 1,))]
    yield "length", layers._get_seq_len(ones(2, 3), True), layers._get_seq_len(ones(2, 3, 4), True), layers._get_seq_len(ones(2, 3, 4), False)


LENT = {"nn.modules.conv": "Tensor _size_2_t _pair", "nn.modules.pooling": "_size_2_t _size_any_t", "nn.modules.upsampling": "_ratio_2_t",
        "nn.modules.activation": "NonDynamicallyQuantizableLinear constant_ xavier_uniform_", "nn.modules.module": "Any Callable Union", "optim.adam": "Optimizer ParamsT cast",
        "optim.sgd": "Optimizer", "distributions.normal": "Tensor broadcast_all", "distributions.transforms": "Distribution", "nn.functional": "Tensor GRID_SAMPLE_PADDING_MODES",
        "utils._foreach_utils": "_foreach_supported_types Indices", "jit": "_fork _wait _unwrap_optional optimized_execution fuser strict_fusion", "_compile": "_disable_dynamo"}


@case("asked_by_libraries.lent")
def lent(torch):
    """Names that modules hold because they import them."""
    for path, names in LENT.items():
        module = import_module(f"{torch.__name__}.{path}")
        yield path, [hasattr(module, name) for name in names.split()]
        yield f"{path}: none", hasattr(module, "no_such_name")
    collate = torch.utils.data._utils.collate
    yield "collate", collate.collate_tensor_fn([torch.ones(2), torch.zeros(2)]), collate.collate_float_fn([1.0, 2.0]), collate.collate_int_fn([1, 2]), collate.collate_str_fn(["a", "b"])
    yield "optional", raises(lambda: torch.jit._unwrap_optional(None)), torch.jit._unwrap_optional(3), raises(lambda: torch.jit.fuser("x").__enter__())
    yield "disabled", torch._disable_dynamo(lambda x: x + 1)(2), torch._disable_dynamo(recursive=False)(lambda x: x + 1)(3)


@case("asked_by_libraries.generic")
def generic(torch):
    """Classes that annotations give arguments to."""
    data = torch.utils.data
    for name in ("DataLoader", "Dataset", "IterableDataset", "ChainDataset", "ConcatDataset", "Subset", "TensorDataset", "Sampler", "BatchSampler", "DistributedSampler"):
        yield name, raises(lambda: getattr(data, name)[int]) is None

    class Loader(data.DataLoader[int]):
        pass

    yield "subclass", [x.tolist() for (x,) in Loader(data.TensorDataset(torch.arange(4)), batch_size=2)]
