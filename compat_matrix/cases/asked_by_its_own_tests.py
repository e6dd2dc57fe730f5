"""What PyTorch's own tests of tensors, reductions, searches and named results lean on, seldom met elsewhere."""

from compat_matrix.case import attempt, case


@case("asked_by_its_own_tests.imaginary numbers are true")
def _(torch):
    i = torch.tensor([2j, 0j, 1 + 0j])
    yield "casts", i.bool(), i.to(torch.bool), i.to(torch.complex128).bool(), torch.zeros(3, dtype=torch.bool).copy_(i)
    yield "of a number", torch.full((2,), 2j, dtype=torch.bool), torch.zeros(2, dtype=torch.bool).fill_(2j)
    b = torch.zeros(3, dtype=torch.bool)
    b[0], b[1] = 2j, torch.tensor(2j)
    yield "assigned", b, torch.zeros(2, dtype=torch.bool).masked_fill_(torch.tensor([True, False]), 2j)


@case("asked_by_its_own_tests.roots below the branch cut")
def _(torch):
    for dtype in (torch.complex64, torch.complex128):
        for n in (1, 2000):
            z = torch.tensor([complex(-4, -0.0), complex(-4, 0.0), complex(4, -0.0), complex(0, -0.0), complex(-4, -1e-30)], dtype=dtype).repeat(n)
            yield f"{dtype} {n}", torch.sqrt(z)[-5:], torch.rsqrt(z)[:3], (z**0.5)[:3], (z**-0.5)[:3]
    z = torch.tensor([complex(-4, -0.0), complex(-4, 0.0)], dtype=torch.complex128, requires_grad=True)
    for name in ("sqrt", "rsqrt", "acosh"):
        yield f"gradient of {name}", torch.autograd.grad(getattr(torch, name)(z).sum().real, z)[0].sum()


@case("asked_by_its_own_tests.exponentials of single precision")
def _(torch):
    m = torch.tensor([[1.0, 2.0], [4.0, 5.0]])
    for a in (m, m * 2, m / 4, torch.complex(m, m / 2)):
        yield f"of {a.tolist()}", torch.linalg.matrix_exp(a)
    x = m.clone().requires_grad_()
    yield "gradient", torch.autograd.grad(torch.matrix_exp(x).sum(), x)[0]


@case("asked_by_its_own_tests.views of conjugates as pairs")
def _(torch):
    z = torch.tensor([[1 + 2j]])
    for name, make in (("conj", lambda: z.conj()), ("mH", lambda: z.mH), ("resolved", lambda: z.conj().resolve_conj()), ("physical", lambda: z.conj_physical()),
                       ("twice", lambda: z.conj().conj()), ("negative", lambda: torch._neg_view(z))):
        yield name, attempt(lambda make=make: torch.view_as_real(make()))
    yield "parts", z.conj().real, z.conj().imag


@case("asked_by_its_own_tests.refused values")
def _(torch):
    x = torch.arange(6.0).reshape(2, 3)
    for most in (-1, 1j, torch.tensor(-1.0), float("nan"), 0, 1):
        yield f"renorm {most}", attempt(lambda most=most: x.renorm(2, 0, most))
    at = torch.tensor([0])
    for t in (x, x.long(), x > 1):
        yield f"index_fill {t.dtype}", attempt(lambda t=t: t.index_fill(0, at, torch.tensor(1 + 1j))), attempt(lambda t=t: t.clone().index_fill_(0, at, torch.tensor(1j)))
    rows, order = torch.tensor([5, 1, 3]), torch.tensor([1, 2, 0])
    for sorter in (order, order - 1, order + 1, order.int()):
        yield f"sorter {sorter.tolist()} {sorter.dtype}", attempt(lambda sorter=sorter: torch.searchsorted(rows, torch.tensor([3]), sorter=sorter).tolist())
    yield "one row only", attempt(lambda: torch.searchsorted(torch.tensor(1.0), 1.0)), attempt(lambda: torch.searchsorted(torch.tensor(1.0), torch.ones(2)))
    for other in (torch.tensor(True), x > 1):
        yield f"ldexp {other.ndim}", [attempt(lambda t=t, other=other: torch.ldexp(t, other)) for t in (x, x.half(), x.long(), x > 1)]
    yield "topk", attempt(lambda: torch.tensor([1j]).topk(1)), attempt(lambda: torch.tensor([True]).topk(1))
    yield "resize_", attempt(lambda: torch.ones(3).resize_(-1)), attempt(lambda: torch.ones(3).resize_((2, -2)))


@case("asked_by_its_own_tests.dtypes of eight bits are not promoted")
def _(torch):
    f = torch.float8_e5m2
    for other in (torch.float32, torch.float64, torch.bool, torch.int32, torch.complex64, torch.float8_e4m3fn, f):
        yield str(other), attempt(lambda other=other: torch.promote_types(f, other)), attempt(lambda other=other: torch.promote_types(other, f))


@case("asked_by_its_own_tests.tensors in the place of dims")
def _(torch):
    x, one, zero = torch.arange(6.0).reshape(2, 3), torch.tensor([1]), torch.tensor(1)
    calls = {
        "cumsum": lambda d: x.cumsum(d), "argmax": lambda d: x.argmax(d), "unsqueeze": lambda d: x.unsqueeze(d), "squeeze": lambda d: x.squeeze(d),
        "transpose": lambda d: x.transpose(d, 0), "select": lambda d: x.select(d, 0), "select at": lambda d: x.select(0, d), "repeat": lambda d: x.repeat(d, 1),
        "flip": lambda d: x.flip(d), "topk": lambda d: torch.topk(x, d), "narrow": lambda d: x.narrow(0, d, 1), "chunk": lambda d: torch.chunk(x, d),
        "sort": lambda d: x.sort(d), "gather": lambda d: x.gather(d, torch.tensor([[0]])), "softmax": lambda d: torch.softmax(x, d).sum(d),
        "cat": lambda d: torch.cat([x, x], d), "diagonal": lambda d: x.diagonal(d), "tril": lambda d: x.tril(d), "flatten": lambda d: x.flatten(d),
        "sum": lambda d: x.sum(d), "unbind": lambda d: x.unbind(d),
    }
    for name, f in calls.items():
        yield name, attempt(lambda f=f: f(one)), attempt(lambda f=f: f(zero))


@case("asked_by_its_own_tests.runs by position")
def _(torch):
    a = torch.tensor([1, 1, 2])
    for given in ((True,), (False,), (True, True), (True, False), (False, True), (False, False), (True, True, 0), (False, True, 0)):
        yield f"{given}", torch.unique_consecutive(a, *given), a.unique_consecutive(*given)
    for given in (True, False):
        yield f"{given} by name", torch.unique_consecutive(a, given, return_counts=True), torch.unique_consecutive(a, given, return_counts=False)
    n = torch.tensor(3)
    yield "of a number", torch.unique(n, return_inverse=True), torch.unique_consecutive(n, return_inverse=True, return_counts=True)


@case("asked_by_its_own_tests.named results as classes")
def _(torch):
    pytree = torch.utils._pytree
    m = torch.max(torch.arange(6.0).reshape(2, 3), 1)
    made = type(m)
    yield "asked", hasattr(m, "_fields"), m.__match_args__, pytree.is_namedtuple_instance(m), pytree.is_structseq_instance(m)
    for given in ((), ((1, 2),), ([1, 2],), ((1,),), (1, 2), (1,), ((1, 2), 3), ((1, 2), {}), (iter((1, 2)),)):
        yield f"{len(given)} {given if given and not hasattr(given[0], '__next__') else ''}", attempt(lambda given=given: made(*given))
    yield "trees", str(pytree.tree_structure(m)), pytree.tree_map(lambda t: t * 2, m), type(pytree.tree_map(lambda t: t, m)) is made
    yield "data", torch.utils.data.default_convert(m), torch.utils.data.default_collate([m, m])
    every = torch.return_types.all_return_types
    yield "all", [(c.__name__, c.n_fields, c.__match_args__) for c in every]
    yield "listed", {c.__name__ for c in every} <= set(dir(torch.return_types))


@case("asked_by_its_own_tests.data side by side and counted late")
def _(torch):
    data = torch.utils.data
    DataLoader, IterableDataset, StackDataset = data.DataLoader, data.IterableDataset, data.StackDataset

    class Given(list):
        def __getitems__(self, places):
            return [self[i] * 10 for i in places][: 2]

    yield "stacked", StackDataset([1, 2], [3, 4]).__getitems__([0, 1]), StackDataset(a=[1, 2], b=[3, 4]).__getitems__([1])
    yield "asked at once", StackDataset(Given([1, 2]), [3, 4]).__getitems__([1, 0]), attempt(lambda: StackDataset(Given([1, 2, 3]), [3, 4, 5]).__getitems__([0, 1, 2]))
    yield "loaded", [[t.tolist() for t in batch] for batch in DataLoader(StackDataset([1, 2, 3], [4, 5, 6]), batch_size=2)]

    class Short(IterableDataset):
        def __iter__(self):
            return iter(range(4))

        def __len__(self):
            return 2

    import warnings

    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        list(DataLoader(Short()))
        late = len(said)
        loader = DataLoader(Short())
        len(loader)
        list(loader)
    yield "warnings", late, len(said)


@case("asked_by_its_own_tests.resized within its memory")
def _(torch):
    y = torch.arange(6.0)
    v = y[1:3]
    v.resize_(2, 2)
    v.mul_(2)
    yield "a view grown", v, y, v.storage_offset(), v.data_ptr() == y.data_ptr() + 4, v._version, v._base is y
    y = torch.arange(6.0)
    kept = y.view(2, 3)
    y.resize_(2)
    small = y.clone()
    y.zero_()
    yield "cut", small, kept, y._base is None, y._is_view(), y._version
    y.resize_(6)
    yield "grown again", y, kept
    t = torch.arange(6.0).view(2, 3).t()
    t.resize_(6)
    yield "transposed", t
    c = torch.arange(6.0).view(2, 3)[:, 1]
    c.resize_(3)
    yield "a column", c
    d = y.detach()
    d.resize_(2)
    d.fill_(7)
    yield "detached", y, d
    w = torch.ones(3)
    yield "like another", w.resize_as_(torch.ones(1)), w.resize_as_(torch.ones(3)), w.resize_(0), w.resize_(3, 1)
    x = torch.ones(2, requires_grad=True)
    z = torch.arange(4.0).resize_(2)
    (x * z).sum().backward()
    yield "in a graph", x.grad, attempt(lambda: x.resize_(1))
    out = torch.arange(4.0)[:2]
    yield "as output", torch.add(torch.ones(2), 1, out=out), out.resize_(3)


@case("asked_by_its_own_tests.facts about machines")
def _(torch):
    import importlib

    u, c = (importlib.import_module(f"{torch.__name__}.testing._internal.{name}") for name in ("common_utils", "common_cuda"))
    yield "versions", u.getRocmVersion(), u.is_navi3_arch(), u.REPEAT_COUNT, u.GRAPH_EXECUTOR, bool(c.IS_THOR)
    made = u.random_matrix_with_scaled_reduction_dim(3, 4, 2, dtype=torch.float32, reduction_dim=-2, requires_grad=True)
    yield "matrix", made.shape, made.dtype, made.requires_grad, made.is_leaf
    yield "marks", c.xfailIfSM89(len) is len, type(u.MI350_ARCH)


@case("asked_by_its_own_tests.outputs beside a dtype")
def _(torch):
    x = torch.arange(6.0).reshape(2, 3)
    for name in ("sum", "prod", "mean", "nansum", "cumsum", "cumprod"):
        f = getattr(torch, name)
        for dtype in (torch.float64, torch.float32):
            shape = (2, 3) if name.startswith("cum") else 3
            yield f"{name} {dtype}", attempt(lambda f=f, dtype=dtype, shape=shape: f(x, 0, dtype=torch.float32, out=torch.empty(shape, dtype=dtype)))
        yield f"{name} alone", attempt(lambda f=f, shape=shape: f(x, 0, out=torch.empty(shape, dtype=torch.float64)))
    yield "whole", attempt(lambda: torch.sum(x, dtype=torch.float32, out=torch.empty((), dtype=torch.float64)))
    yield "integers", attempt(lambda: torch.sum(x.long(), 0, dtype=torch.float32, out=torch.empty(3, dtype=torch.float64)))


@case("asked_by_its_own_tests.resized to a memory format")
def _(torch):
    last, y = torch.channels_last, torch.arange(16.0).view(1, 2, 2, 4)
    yield "smaller", y.clone().resize_(1, 2, 2, 2, memory_format=last), y.clone().resize_(1, 2, 2, 2, memory_format=last).stride()
    yield "as large", y.clone().resize_(1, 2, 2, 4, memory_format=last), y.clone().resize_(1, 4, 2, 2, memory_format=last).stride()
    yield "larger", torch.zeros(2, 3, 4, 5).resize_(3, 3, 4, 5, memory_format=last).stride()
    like = torch.ones(1, 2, 2, 2).to(memory_format=last)
    for form in (None, last, torch.preserve_format, torch.contiguous_format):
        yield f"like another {form}", y.clone().resize_as_(like, memory_format=form).stride()
    for form in (last, torch.channels_last_3d, torch.preserve_format):
        yield f"refused {form}", attempt(lambda form=form: torch.ones(3).resize_(2, 2, memory_format=form))


@case("asked_by_its_own_tests.lobpcg_twice")
def _(torch):
    """A gradient penalty on the largest eigenvalue and its vector."""
    a = torch.tensor([[2.0, 0.5, 0.1, 0.0, 0.2, 0.3], [0.5, 1.5, 0.2, 0.1, 0.0, 0.4], [0.1, 0.2, 3.0, 0.3, 0.1, 0.0], [0.0, 0.1, 0.3, 0.8, 0.2, 0.1],
                      [0.2, 0.0, 0.1, 0.2, 1.1, 0.5], [0.3, 0.4, 0.0, 0.1, 0.5, 0.9]], dtype=torch.float64, requires_grad=True)
    for k in (1, 2):
        d, u = torch.lobpcg(a, k=k, X=torch.eye(6, k, dtype=torch.float64), niter=500, tol=1e-13)
        (g,) = torch.autograd.grad(d.sum() + (u**4).sum(), a, create_graph=True)
        (g2,) = torch.autograd.grad((g * g).sum(), a)
        yield k, g.detach(), g2


@case("asked_by_its_own_tests.kept_of_what_is_overwritten")
def _(torch):
    """What counts as cloned where saved tensors may be written to: not what a write in place keeps for itself."""
    with torch.autograd.graph.allow_mutation_on_saved_tensors() as ctx:
        def counts():
            return len(list(ctx.cloned.items())), len(list(ctx.original.items()))

        a = torch.ones(2, 3, requires_grad=True).clone()
        out = (a**2).sum()
        yield "saved", counts()
        out.backward()
        yield "after backward", counts()
        a.sin_()
        yield "written", counts()
        out = (a**2).sum()
        yield "saved again", counts()
        a.sin_()
        yield "written again", counts()
        del out
        yield "dropped", counts()
