"""Operators at calls that lie between the usual ones: one operand where several are usual, dims of one, nothing at all, two dtypes, more than there is room for."""

from compat_matrix.case import case
from compat_matrix.observe import attempt

INF, NAN = float("inf"), float("nan")


@case("operators_between.einsum of one operand shows it")
def _(torch):
    for equation in ("ab->ba", "ba", "aa->a", "ab", "aa", "ab->a", "...a->a...", "ab->"):
        x = torch.arange(9.0).reshape(3, 3).requires_grad_()
        y = x * 1
        out = torch.einsum(equation, y)
        yield f"{equation}, shape, strides, a view", tuple(out.shape), out.stride(), out._is_view()
        yield f"{equation}, nodes", out.grad_fn.name(), out.grad_fn.next_functions[0][0].name()
        yield f"{equation}, gradient", torch.autograd.grad(out.sum(), x)[0]
        with torch.no_grad():
            out.add_(1)
        yield f"{equation}, after a write", y.detach()


@case("operators_between.views of dims of one")
def _(torch):
    for shape, order, size in (((1, 3), (1, 0), (3, 1, 1)), ((1, 3), (1, 0), (1, 3, 1)), ((2, 1, 3), (1, 0, 2), (2, 3)), ((2, 1, 3), (1, 0, 2), (1, 2, 1, 3)),
                               ((4, 1), (1, 0), (2, 2))):
        x = torch.arange(12.0)[:torch.Size(shape).numel()].reshape(shape).permute(order)
        yield f"{shape} {order} {size}", x.view(size).stride(), x.reshape(size).stride(), x.flatten().stride()
    for a, b in (((2, 2), (1, 2)), ((2, 1), (3, 1)), ((2, 2), (3, 1))):
        x, y = torch.ones(a[::-1]).t(), torch.ones(b[::-1]).t()
        yield f"kron {a} {b}", attempt(lambda x=x, y=y: torch.kron(x, y).stride()), attempt(lambda a=a, y=y: torch.kron(torch.ones(a), y).stride())


@case("operators_between.products with zeros and infinities")
def _(torch):
    for dtype in (torch.float32, torch.float64):
        big = 1e30 if dtype is torch.float32 else 1e200
        x = torch.tensor([[big, big, 0.0, big], [big, 0.0, 0.0, 2.0], [3.0, 0.0, big, 5.0], [big, big, big, 2.0]], dtype=dtype, requires_grad=True)
        yield f"{dtype}, by rows", torch.autograd.grad(x.prod(1).sum(), x)[0]
        yield f"{dtype}, by columns", torch.autograd.grad(x.prod(0, keepdim=True).sum(), x)[0]
    x = torch.tensor([2.0, 0.0, 3.0, 0.0], dtype=torch.float64, requires_grad=True)
    g = torch.autograd.grad(x.prod(), x, create_graph=True)[0]
    yield "twice", g, torch.autograd.grad(g[1], x)[0]


@case("operators_between.floats that no integer holds, in sums")
def _(torch):
    for dtype in (torch.int32, torch.int64, torch.uint8, torch.int16):
        for v in (INF, -INF, NAN, 1e10, -3.7):
            x = torch.tensor([v])
            yield f"{dtype} {v}", x.sum(dtype=dtype), x.cumsum(0, dtype=dtype), x.prod(0, dtype=dtype), x.to(dtype)


@case("operators_between.entries of a dim")
def _(torch):
    x = torch.tensor([[[1, 2, 1], [3, 4, 3]], [[1, 2, 1], [3, 4, 3]]])
    for name in ("unique", "unique_consecutive"):
        for dim in range(3):
            yield f"{name}, {dim}", getattr(torch, name)(x, dim=dim), getattr(torch, name)(x, dim=dim).stride()
        yield f"{name}, no dims", attempt(lambda name=name: getattr(torch, name)(torch.tensor(1.0), dim=-1))
    yield "complex", attempt(lambda: torch.unique_consecutive(torch.ones(2, dtype=torch.complex64), dim=-1))


@case("operators_between.two dtypes")
def _(torch):
    F = torch.nn.functional
    for a, b in ((torch.float64, torch.float32), (torch.float32, torch.float64), (torch.bfloat16, torch.float32)):
        x, y = torch.tensor([0.3, -0.4], dtype=a, requires_grad=True), torch.tensor([0.6, 0.1], dtype=b)
        yield f"{a} {b}, soft margin", F.soft_margin_loss(x, y).dtype, F.soft_margin_loss(x, y, reduction="none").dtype
        yield f"{a} {b}, huber", F.huber_loss(x, y).dtype, attempt(lambda x=x, y=y: torch.autograd.grad(F.huber_loss(x, y), x))
        yield f"{a} {b}, rms", F.rms_norm(x, (2,), y).dtype
    x = torch.zeros(2, 3, 2)
    for dtype in (torch.uint8, torch.int32):
        yield f"classes of {dtype}", attempt(lambda d=dtype: F.cross_entropy(x, torch.zeros(2, 2, dtype=d))), attempt(lambda d=dtype: F.nll_loss(x, torch.zeros(2, 2, dtype=d)))
    z = torch.ones(2, dtype=torch.complex128)
    y = torch.ones(2, dtype=torch.float64, requires_grad=True)
    yield "ldexp", attempt(lambda: torch.autograd.grad(torch.ldexp(z, y).real.sum(), y))


@case("operators_between.nothing")
def _(torch):
    e = torch.ones(0, 3, dtype=torch.int32)
    for name, f in (("//", lambda: e // 0), ("%", lambda: e % 0), ("floor_divide", lambda: torch.floor_divide(e, torch.zeros(3, dtype=torch.int32))),
                    ("fmod", lambda: torch.fmod(e, 0)), ("remainder", lambda: e.clone().remainder_(0)), ("something", lambda: torch.ones(1, 3, dtype=torch.int32) // 0)):
        yield name, attempt(lambda f=f: f().tolist())
    for r in ("sum", "prod", "mean", "amin", "amax"):
        yield f"scatter_reduce {r}", attempt(lambda r=r: torch.zeros(2, 0).scatter_reduce(1, torch.zeros(2, 1, dtype=torch.int64), torch.ones(2, 1), r).tolist())
    yield "embedding", attempt(lambda: torch.nn.functional.embedding(torch.tensor([0]), torch.zeros(0, 3)))
    for dtype in (torch.float16, torch.bfloat16):
        yield f"cdist {dtype}", torch.cdist(torch.ones(0, 2, dtype=dtype), torch.ones(3, 2, dtype=dtype)), torch.cdist(torch.ones(2, 0, dtype=dtype), torch.ones(3, 0, dtype=dtype))


@case("operators_between.kinds of numbers")
def _(torch):
    for dtype in (torch.uint16, torch.uint32, torch.uint64):
        m, v = torch.ones(2, 2, dtype=dtype), torch.ones(3, dtype=dtype)
        for name, f in (("mm", lambda m=m: m @ m), ("dot", lambda v=v: v.dot(v)), ("mv", lambda m=m: m.mv(m[0])), ("bmm", lambda m=m: torch.bmm(m[None], m[None])),
                        ("addr", lambda m=m: torch.addr(m, m[0], m[0])), ("cross", lambda v=v: torch.linalg.cross(v, v)),
                        ("masked_fill", lambda m=m: m.masked_fill(m == 1, 2)), ("masked_scatter", lambda m=m: m.masked_scatter(m == 1, m)),
                        ("lerp", lambda v=v: torch.lerp(torch.ones(3), v, 0.5))):
            yield f"{name}, {dtype}", attempt(f)
    for dtype in (torch.float16, torch.bfloat16):
        x, y = torch.ones(3, 2, dtype=dtype, requires_grad=True), torch.zeros(4, 2, dtype=dtype, requires_grad=True)
        far = torch.cdist(x, y, compute_mode="use_mm_for_euclid_dist")
        yield f"cdist by products, {dtype}", far, torch.autograd.grad(far.sum(), (x, y))
        h = torch.tensor([1.0, 2.0, 3.0], dtype=dtype)
        yield f"histogram, {dtype}", tuple(torch.histogram(h, 4, range=(0.0, 4.0))), attempt(lambda h=h: torch.histogram(h, 3))
    c = torch.tensor([1j])
    yield "clamp", attempt(lambda: torch.clamp(c, c, c)), attempt(lambda: torch.clamp(torch.ones(1), c, c)), attempt(lambda: torch.clamp(torch.ones(1), c))


@case("operators_between.more than memory holds")
def _(torch):
    n = 2**44
    for name, f in (("zeros", lambda: torch.zeros(n)), ("repeat", lambda: torch.ones(5).repeat(n)), ("contiguous", lambda: torch.ones(1).expand(n).contiguous()),
                    ("outer", lambda: torch.ones(1).expand(n) * torch.ones(3, 1)), ("fft", lambda: torch.fft.fft(torch.ones(5), n=n))):
        yield name, attempt(f)
    yield "without data", torch.zeros(n, device="meta").shape, torch.ones(1).expand(n).shape


@case("operators_between.gradients that are refused")
def _(torch):
    for sizes in (((3, 1), (3, 4), (3, 1)), ((3, 1), (3, 1), (3, 4)), ((3, 4), (3, 1), (4,)), ((4,), (3, 4), (4,))):
        for k in range(3):
            ts = [torch.full(s, v, requires_grad=i == k) for i, (s, v) in enumerate(zip(sizes, (0.0, -1.0, 1.0)))]
            yield f"clamp {sizes} {k}", attempt(lambda ts=ts, k=k: torch.autograd.grad(torch.clamp(*ts).sum(), ts[k])[0].shape)
    for r in ("sum", "mean", "prod", "amin", "amax"):
        s = torch.ones(3, requires_grad=True)
        yield f"scatter_reduce {r}", attempt(lambda s=s, r=r: torch.autograd.grad(torch.zeros(4).scatter_reduce(0, torch.zeros(2, dtype=torch.int64), s, r).sum(), s))
    F = torch.nn.functional
    for name, f in (("layer", lambda x, b: F.layer_norm(x, (4,), None, b)), ("batch", lambda x, b: F.batch_norm(x, None, None, None, b, True))):
        x, b = torch.tensor([[1.0, 2, 3, 5], [2, 7, 1, 8]], dtype=torch.float64, requires_grad=True), torch.ones(4, dtype=torch.float64, requires_grad=True)
        gs = torch.autograd.grad(f(x, b).square().sum(), (x, b), create_graph=True)
        yield f"{name}, both", attempt(lambda gs=gs, x=x: torch.autograd.grad(gs, x, [torch.ones_like(g) for g in gs]))
    i, w, p = torch.tensor([[0, 1]]), torch.ones(3, 2, requires_grad=True), torch.ones(1, 2, requires_grad=True)
    out = F.embedding_bag(i, w, mode="sum", per_sample_weights=p)
    gw, gp = torch.autograd.grad(out.square().sum(), (w, p), create_graph=True)
    yield "bags", attempt(lambda: torch.autograd.grad(gw.sum(), w)), attempt(lambda: torch.autograd.grad(gp.sum(), p))


@case("operators_between.broadcast and infinite")
def _(torch):
    y, x = torch.tensor([[0.0], [INF], [NAN], [2.0]], requires_grad=True), torch.tensor([0.0, 1.0, -1.0])
    g = torch.linspace(-1, 1, 12).reshape(4, 3)
    yield "xlogy", torch.autograd.grad(torch.xlogy(x, y), y, g)[0]
    t, z = torch.ones(3, requires_grad=True), torch.tensor([INF, 0.0, 2.0])
    g = torch.tensor([[1.0, 1.0, 1.0], [-2.0, -1.0, 1.0]])
    yield "addcmul", torch.autograd.grad(torch.addcmul(torch.zeros(2, 3), t, z), t, g)[0]
    yield "addcdiv", torch.autograd.grad(torch.addcdiv(torch.zeros(2, 3), t, 1 / z), t, g)[0]


@case("operators_between.spellings and wrong arguments")
def _(torch):
    x, aten = torch.tensor([1.0, 2.0]), torch.ops.aten
    yield "self by name", aten.add(self=x, other=x), aten.add.Tensor(self=x, other=x), aten.sin(self=x), aten.sum.dim_IntList(self=x, dim=[0])
    for zs in ((), (1,), (2,), (3, 2)):
        z = torch.ones(zs[::-1]).permute(tuple(range(len(zs)))[::-1])
        yield f"addr of {zs}", torch.addr(z, torch.ones(3), torch.ones(2)).stride()
    big = torch.arange(12.0).reshape(3, 4)
    yield "integral over places of fewer dims", torch.trapezoid(big[None], big * 2), torch.cumulative_trapezoid(big[None], big * 2)
    odd = torch.arange(4)[1::2]
    yield "retyped", attempt(lambda: odd.view(torch.int32)), attempt(lambda: odd[:1].view(torch.int32)), attempt(lambda: torch.ones(2, 3).half().t().view(torch.float32))
    F, lp = torch.nn.functional, torch.zeros(4, 1, 3).log_softmax(-1)
    for name, f in (("tril_indices", lambda: torch.tril_indices(1.5, 2)), ("no dtype", lambda: torch.tril_indices(2, 2, dtype=None)), ("pad", lambda: F.pad(x, (1.5, 1))),
                    ("cartesian_prod", lambda: torch.cartesian_prod(x, None)), ("unique_consecutive", lambda: torch.unique_consecutive([x])),
                    ("nonzero_static", lambda: torch.nonzero_static(x, size=-1)), ("ctc", lambda: F.ctc_loss(lp, torch.ones(1, 2).long(), torch.tensor([4]), torch.tensor([2.0]))),
                    ("poisson", lambda: F.poisson_nll_loss(x, x, full=None)), ("stft", lambda: torch.stft(torch.ones(9), 4, return_complex=True, align_to_window=True)),
                    ("full_like", lambda: torch.full_like(x, torch.tensor(1.0, requires_grad=True))), ("margin", lambda: F.multilabel_margin_loss(torch.tensor(1.0), torch.tensor([0])))):
        yield name, attempt(f)
    leaf = torch.ones(1, 3).expand(2, 3).requires_grad_()
    yield "leaf first", attempt(lambda: leaf.bitwise_not_()), attempt(lambda: leaf.lcm_(leaf))


@case("operators_between.identity into a tensor")
def _(torch):
    for name, out in (("rows", torch.ones(2, 3)), ("columns", torch.ones(3, 2).t()), ("another shape", torch.ones(2)), ("part", torch.ones(4, 4)[:2, :3]),
                      ("integers", torch.ones(2, 3, dtype=torch.int8)), ("one place", torch.ones(()).expand(2, 3))):
        yield name, attempt(lambda out=out: torch.eye(2, 3, out=out)), out.stride()


@case("operators_between.ties of segments")
def _(torch):
    for reduce in ("max", "min"):
        for g in ([1.0, -1.0], [-2.0, 3.0]):
            x = torch.tensor([1.0, 1.0, 1.0, 2.0, 2.0], requires_grad=True)
            yield f"{reduce} {g}", torch.autograd.grad(torch.segment_reduce(x, reduce, lengths=torch.tensor([3, 2])), x, torch.tensor(g))[0]
    for reduce in ("mean", "prod", "amax", "amin"):
        x = torch.ones(2, 3, requires_grad=True)
        out = x.index_reduce(1, torch.tensor([0, 2], dtype=torch.int32), torch.ones(2, 2), reduce, include_self=False)
        yield f"index_reduce {reduce}", attempt(lambda out=out, x=x: torch.autograd.grad(out.sum(), x))
    for f in (torch.quantile, torch.nanquantile):
        yield f.__name__, attempt(lambda f=f: f(torch.ones(0), 1.5, interpolation="bad")), attempt(lambda f=f: f(torch.ones(0), 0.5, interpolation="bad"))
