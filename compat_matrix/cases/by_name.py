"""Names that other cases meet only in passing, each called and looked at by itself."""

import pickle

from compat_matrix.case import attempt, case


@case("by_name.covariance")
def _(torch):
    x = torch.tensor([[1.0, 2.0, 4.0], [2.0, 1.0, 0.0]], requires_grad=True)
    yield "values", x.cov(), x.cov(correction=0), x.cov(fweights=torch.tensor([1, 2, 1])), x.cov(aweights=torch.tensor([0.5, 2.0, 1.0])), x[0].cov()
    x.cov().sum().backward()
    yield "grad", x.grad
    yield "refused", attempt(lambda: torch.ones(2, 2, 2).cov()), attempt(lambda: x.cov(fweights=torch.ones(3))), attempt(lambda: x.cov(fweights=torch.tensor([1])))


@case("by_name.truth")
def _(torch):
    yield "values", [torch.tensor(v).is_nonzero() for v in (0.0, 2.0, False, [3], [[0]], 1j)]
    yield "refused", attempt(lambda: torch.ones(2).is_nonzero()), attempt(lambda: torch.ones(0).is_nonzero())
    z = torch.ones(2, dtype=torch.complex64)
    yield "conj", torch.is_conj(z), torch.is_conj(z.conj()), torch.is_conj(z.conj().resolve_conj()), torch.is_conj(input=torch.ones(1)), attempt(lambda: torch.is_conj(3))


@case("by_name.norms")
def _(torch):
    x = torch.tensor([[1.0, 2.0, 4.0], [2.0, -1.0, 0.5]], requires_grad=True)
    w, b = torch.tensor([1.0, 0.5, 2.0], requires_grad=True), torch.tensor([0.1, 0.2, 0.3], requires_grad=True)
    for name, y in (("layer", torch.layer_norm(x, (3,))), ("layer of all", torch.layer_norm(x, normalized_shape=[3], weight=w, bias=b, eps=1e-3)),
                    ("layer cudnn", torch.layer_norm(x, (2, 3), None, None, 1e-5, False)), ("rms", torch.rms_norm(x, (3,))),
                    ("rms of all", torch.rms_norm(x, (3,), w, 1e-3))):
        yield name, y, y.grad_fn.name(), torch.autograd.grad((y * y * y).sum(), (x, w, b), allow_unused=True)
    for f in (torch.layer_norm, torch.rms_norm):
        yield f"refused {f.__name__}", attempt(lambda f=f: f(x, (4,))), attempt(lambda f=f: f(x, 3)), attempt(lambda f=f: f(x, ()))


@case("by_name.written")
def _(torch):
    a, leaf = torch.tensor([3.0, -2.0]), torch.ones(1, requires_grad=True)
    yield "square_", torch.square_(a) is a, a, a._version, torch.square_(torch.tensor([3])), attempt(lambda: torch.square_(leaf))
    yield "zero_", torch.zero_(a) is a, a, a._version, attempt(lambda: torch.zero_(leaf)), attempt(lambda: torch.zero_(3))
    x = torch.tensor([2.0, 3.0], requires_grad=True)
    y = x * 1
    torch.square_(y)
    y.sum().backward()
    yield "grad", y.grad_fn.name(), x.grad


@case("by_name.positive")
def _(torch):
    a = torch.tensor([1.0, -2.0], requires_grad=True)
    yield "same", a.positive() is a, torch.positive(a) is a, +a is a, a.positive()
    yield "refused", attempt(lambda: torch.tensor([True]).positive()), attempt(lambda: torch.positive(torch.tensor([True]))), attempt(lambda: +torch.tensor([True]))


@case("by_name.dropout")
def _(torch):
    a = torch.ones(8, requires_grad=True)
    yield "off", torch.dropout(a, 0.5, False) is a, torch.dropout(a, 0.0, True), torch.dropout(a, 1.0, True)
    torch.manual_seed(0)
    out = torch.dropout(a, 0.5, True)
    yield "on", out, out.grad_fn.name(), torch.dropout(input=a, p=0.25, train=True)
    yield "grad", torch.autograd.grad(out.sum(), a)
    yield "refused", attempt(lambda: torch.dropout(a, 2.0, True)), attempt(lambda: torch.dropout(a, 0.5))


@case("by_name.module_dtypes")
def _(torch):
    nn = torch.nn
    for name in ("float", "double", "half", "bfloat16"):
        net = nn.Sequential(nn.Linear(2, 2, dtype=torch.float64 if name == "float" else None), nn.BatchNorm1d(2))
        back = getattr(net, name)()
        yield name, back is net, [p.dtype for p in net.parameters()], [b.dtype for b in net.buffers()]
    net = nn.Linear(2, 2)
    yield "type", net.type(torch.float64) is net, net.weight.dtype, net.type(torch.float16).bias.dtype
    yield "requires_grad_", net.requires_grad_(False) is net, [p.requires_grad for p in net.parameters()], [p.requires_grad for p in net.requires_grad_().parameters()]
    net = nn.Linear(2, 1)
    net(torch.ones(1, 2)).sum().backward()
    net.zero_grad(set_to_none=False)
    yield "zero_grad", [p.grad for p in net.parameters()], net.zero_grad(), [p.grad for p in net.parameters()]


@case("by_name.distribution_without")
def _(torch):
    D = torch.distributions.Distribution
    base = D(torch.Size([2]), torch.Size([3]), validate_args=False)
    yield "refused", [attempt(f) for f in (base.entropy, lambda: base.log_prob(torch.ones(3)), lambda: base.cdf(1.0), lambda: base.icdf(0.5), lambda: base.expand((2,)),
        lambda: base.enumerate_support(), lambda: base.rsample(), lambda: base.mean, lambda: base.variance)]
    yield "shapes", base.batch_shape, base.event_shape, base._extended_shape((4,))
    t = torch.distributions.transforms
    yield "event dims", [u.event_dim for u in (t.StickBreakingTransform(), t.LowerCholeskyTransform()) if hasattr(u, "event_dim")], t.ExpTransform().domain.event_dim


@case("by_name.errors")
def _(torch):
    from importlib import import_module
    checkpoint = import_module(f"{torch.__name__}.utils.checkpoint")
    yield "bases", [[b.__name__ for b in e.__mro__] for e in (torch.linalg.LinAlgError, checkpoint.CheckpointError, torch.OutOfMemoryError, torch.AcceleratorError)]
    try:
        torch.linalg.inv(torch.zeros(2, 2))
    except torch.linalg.LinAlgError as e:
        yield "caught", str(e)


@case("by_name.pipes")
def _(torch):
    data = torch.utils.data
    chunk = data.DataChunk([1, 2])
    yield "chunk", list(chunk), chunk.items, list(chunk.raw_iterator()), chunk.as_str("  "), isinstance(chunk, list), len(data.DataChunk(range(3)))

    class Pipe(data.IterDataPipe):
        def __init__(self, source, by=1):
            self.source, self.by = source, by

        def __iter__(self):
            return iter([self.by * v for v in self.source])

    name = "by_name_times"
    made = data.functional_datapipe(name)
    yield "decorator", made.name, made.enable_df_api_tracing, attempt(lambda: made(1)), attempt(lambda: made(int))
    try:
        yield "named", made(Pipe) is Pipe, list(Pipe([1, 2]).by_name_times(3)), attempt(lambda: made(Pipe)), attempt(lambda: Pipe([1]).by_name_no)
        yield "function", data.IterDataPipe.register_function(name, lambda self, k: [k, *self]), Pipe([1, 2]).by_name_times(7)
    finally:
        data.IterDataPipe.functions.pop(name, None)


@case("by_name.pickled_pipes")
def _(torch):
    data = torch.utils.data

    class Pipe(data.IterDataPipe):
        def __init__(self):
            self.source = [1, 2]

    base = data.IterDataPipe
    yield "hooks", base.getstate_hook, base.reduce_ex_hook, base.set_getstate_hook(lambda state: {**state, "more": 1}), Pipe().__getstate__()
    yield "twice", attempt(lambda: base.set_getstate_hook(len)), base.set_getstate_hook(None), Pipe().__getstate__()
    yield "reduced", base.set_reduce_ex_hook(lambda pipe: (list, (pipe.source,))), pickle.loads(pickle.dumps(Pipe())), attempt(lambda: base.set_reduce_ex_hook(len))
    yield "off", base.set_reduce_ex_hook(None), base.reduce_ex_hook


@case("by_name.fetchers")
def _(torch):
    kind = torch.utils.data._DatasetKind
    yield "map", kind.create_fetcher(kind.Map, [1, 2, 3], True, list, False).fetch([0, 2]), kind.create_fetcher(kind.Map, [4, 5], False, str, False).fetch(1)
    it = kind.create_fetcher(kind.Iterable, [1, 2, 3], True, list, False)
    yield "iterable", it.fetch([0, 1]), it.fetch([0, 1]), attempt(lambda: it.fetch([0, 1]))
    it = kind.create_fetcher(kind.Iterable, [1, 2, 3], True, list, True)
    yield "dropped", it.fetch([0, 1]), attempt(lambda: it.fetch([0, 1]))


@case("by_name.pipes_by_key")
def _(torch):
    base = torch.utils.data.MapDataPipe

    class Squares(base):
        def __getitem__(self, i):
            return i * i

        def __len__(self):
            return 3

    pipe = Squares()
    yield "items", [pipe[i] for i in range(len(pipe))], isinstance(pipe, torch.utils.data.Dataset), str(pipe), attempt(lambda: base()[0])
