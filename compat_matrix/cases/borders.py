"""The borders of operators: unusual shapes, dtypes and refusals, as held-out samples ask for them."""

from compat_matrix.case import attempt, case
from compat_matrix.probes import fails, probe, table

P, V, M23 = [0.2, 0.8], [1.0, -2.0, 0.5, 3.0, 1.5], [[1.0, -2.0, 3.0], [4.0, 5.0, 0.5]]
Z23 = [[complex(a, b) for a, b in zip(row, row[::-1])] for row in M23]


@case("borders.drawn")
def _(torch):
    p = torch.tensor(P, requires_grad=True)
    for label, f in (("bernoulli", lambda: torch.bernoulli(p)), ("of a number", lambda: torch.bernoulli(p, 0.5)), ("method", lambda: p.bernoulli()),
                     ("poisson", lambda: torch.poisson(p)), ("normal", lambda: torch.normal(p, p)), ("mean", lambda: torch.normal(p, 1.0)),
                     ("deviation", lambda: torch.normal(0.0, p))):
        torch.manual_seed(0)
        out = f()
        yield label, out.detach(), out.requires_grad, out.grad_fn.name(), attempt(lambda out=out: torch.autograd.grad(out.sum(), p))


TAKEN = {"x": V, "m": M23, "z": Z23, "s": 2.0}
table("borders.values", probe, [
    ("vander of a number", "torch.linalg.vander(x, N=3)", {"x": 2.0}), ("corrcoef complex", "torch.corrcoef(x)", {"x": [[1 + 1j, 2 - 1j, 0.5j],
        [0.3 + 0j, 1j, 2 + 1j]]}),
    ("weighted", "torch.cov(x, fweights=torch.tensor([1, 2, 1]))", {"x": M23}), ("no index", "x.gather(0, torch.ones(0, dtype=torch.uint8))", {"x": V}),
    ("no groups", "F.group_norm(x[:0], 1)", {"x": M23}),
    ("no planes", "F.fractional_max_pool3d(x.expand(1, 4, 2, 3)[None, :, :, :0].reshape(0, 1, 4, 5, 4), (2, 2, 1), "
     "output_ratio=(0.5, 0.5, 0.5))", {"x": M23}),
    ("classes and places", "F.linear_cross_entropy(x, w, torch.tensor([[0, 1], [1, 0]]), linear_bias=b)",
     {"x": M23, "w": [[[1.0, 0.5, -1.0], [0.0, 2.0, 1.0]], [[0.3, -0.2, 0.1], [1.0, 1.0, -1.0]]], "b": [[0.1, 0.2], [0.3, -0.4]]}),
    ("whole frames", "torch.istft(x, n_fft=4, center=False, window=torch.ones(4, dtype=torch.float64))",
     {"x": [[complex(i, j) for j in range(3)] for i in range(4)]})])
E = {"c": V, "m": M23, "i": [1, 2], "b": [True, False]}
table("borders.refused", fails, [(e, e, E) for e in (
    "torch.cov(c, fweights=torch.ones(5, 5))", "torch.cov(c, aweights=torch.ones(5, 5))", "torch.cov(c, fweights=torch.ones(5))",
    "torch.cov(c, aweights=torch.ones(5, dtype=torch.int64))", "torch.cov(c, fweights=torch.ones(2, dtype=torch.int64))",
    "torch.cov(c, aweights=torch.ones(2))",
    "torch.cov(c, fweights=torch.tensor([1, -1, 1, 1, 1]))", "torch.cov(c, aweights=torch.tensor([1, -1.0, 1, 1, 1]))",
    "torch.cov(c, fweights=torch.zeros(5, dtype=torch.int64))", "torch.cov(c, fweights=torch.ones(5, dtype=torch.bool))",
    "torch.dsplit(torch.ones(2, 2, 5), 0)", "torch.hsplit(c, 0)", "torch.vsplit(m, 0)", "torch.vsplit(m, -1)",
    "torch.fft.fftn(torch.tensor(1.0), dim=(0,))", "torch.linspace(torch.ones(2), torch.ones(2), 3)", "torch.logspace(torch.ones(2), torch.tensor(1.0), 3)",
    "F.conv1d(torch.ones(1, 1, 4), torch.ones(1, 1, 2), dilation=-1)", "F.conv2d(torch.ones(1, 1, 4, 4), torch.ones(1, 1, 2, 2), dilation=(-1, 1))",
    "F.conv1d(torch.ones(1, 1, 4), torch.ones(1, 2))", "F.conv2d(torch.ones(1, 1, 4, 4), torch.ones(1, 2, 2), padding='same')",
    "F.conv_transpose1d(torch.ones(1, 1, 4), torch.ones(1, 2))", "F.adaptive_avg_pool3d(torch.ones(1, 1, 1, 1, 1), (-1, 0, 2))",
    "F.adaptive_max_pool1d(torch.ones(1, 1, 1), -1)", "F.adaptive_max_pool2d(torch.ones(1, 1, 1, 1), (-1, 0))",
    "F.adaptive_max_pool3d(torch.ones(1, 1, 1, 1, 1), (-1, 0, 2))", "F.avg_pool3d(torch.ones(1, 2, 4, 4), 2, padding=-1)",
    "F.avg_pool3d(torch.ones(1, 1, 4, 4), 2, padding=4)",
    "torch.narrow(c, 0, torch.tensor([1]), 1)", "torch.narrow(c, 0, torch.tensor(1.0), 1)", "torch.narrow(c, 0, torch.tensor(True), 1)",
    "torch.multinomial(torch.tensor([1.0, float('nan')]), 2, True)", "F.rrelu(c, 0.3, 0.1)",
    "F.max_pool1d(torch.ones(1, 1, 9), 2, padding=-1, return_indices=True)", "F.max_pool1d(torch.ones(1, 1, 9), 2, padding=4, return_indices=True)",
    "F.linear_cross_entropy(torch.ones(2, 3, 3), torch.ones(2, 3), torch.ones(3, 2))", "F.linear_cross_entropy(m, torch.ones(2), torch.ones(2, 2))",
    "F.linear_cross_entropy(m, torch.ones(2, 4), torch.ones(2, 2))", "F.linear_cross_entropy(m, torch.ones(2, 3), torch.ones(2, 2), ignore_index=0)",
    "F.linear_cross_entropy(m[0], torch.ones(2, 4, 3), torch.ones(2, 4))",
    "F.linear_cross_entropy(m, torch.ones(2, 3), torch.ones(2), linear_bias=torch.ones(3))")])


@case("borders.no forward derivative")
def _(torch):
    F, fw = torch.nn.functional, torch.autograd.forward_ad
    x = torch.tensor([[4.0, 1.0], [1.0, 3.0]], dtype=torch.float64)
    long = torch.tensor([0, 1])
    for label, f in (
            ("cdist", lambda d: torch.cdist(d, x)), ("pdist", F.pdist), ("cholesky", torch.cholesky),
            ("grid", lambda d: F.grid_sample(d[None, None], x[None, None] / 9)),
            ("index_reduce", lambda d: d.index_reduce(0, long, x, "prod")), ("margins", lambda d: F.multi_margin_loss(d, long)),
            ("labels", lambda d: F.multilabel_margin_loss(d, torch.tensor([[0, -1], [1, -1]]))), ("bag", lambda d: F.embedding_bag(long, d, long[:1])),
            ("attention", lambda d: F.scaled_dot_product_attention(d[None, None], d[None, None], d[None, None])),
            ("segments", lambda d: torch.segment_reduce(d, "sum", lengths=long + 1 - long)),
            ("ctc", lambda d: F.ctc_loss(d[:, None].log_softmax(-1), long[None, 1:], torch.tensor([2]), torch.tensor([1]))),
            ("ormqr", lambda d: torch.ormqr(d, x[0], x)), ("drawn", lambda d: torch.bernoulli(d / 4)), ("linalg.cholesky", torch.linalg.cholesky)):
        with fw.dual_level():
            dual = fw.make_dual(x, torch.ones_like(x))
            yield label, attempt(lambda f=f, dual=dual: fw.unpack_dual(f(dual)).tangent)


@case("borders.histograms")
def _(torch):
    y = torch.tensor([1.0, 2.0, 2.5, 0.0, 4.0])
    w, z = torch.tensor([1.0, 2.0, 3.0, 4.0, 5.0]), torch.tensor([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0]])
    for label, f in (
            ("plain", lambda: torch.histogram(y, 4)), ("range", lambda: torch.histogram(y, 4, range=(0.0, 2.0))),
            ("edges", lambda: torch.histogram(y, torch.tensor([0.0, 1.0, 3.0]))),
            ("weights", lambda: torch.histogram(y, 3, weight=w)), ("density", lambda: y.histogram(3, density=True)),
            ("both", lambda: torch.histogram(y, 2, weight=w, density=True)),
            ("same", lambda: torch.histogram(torch.ones(3), 2)), ("empty", lambda: torch.histogram(torch.ones(0), 2)),
            ("ints", lambda: torch.histogram(torch.tensor([1, 2]), 3)),
            ("none", lambda: torch.histogram(y, 0)), ("not finite", lambda: torch.histogram(y, 2, range=(0.0, float("inf")))),
            ("order", lambda: torch.histogram(y, 2, range=(2.0, 1.0))),
            ("rows", lambda: torch.histogram(y, torch.ones(2, 2))), ("dtype", lambda: torch.histogram(y, torch.ones(3).double())),
            ("weight dtype", lambda: torch.histogram(y, 3, weight=w.double())), ("weight shape", lambda: torch.histogram(y, 3, weight=w[:4])),
            ("three", lambda: torch.histogram(y, 2, range=(1.0, 1.0, 2.0))), ("two dims", lambda: torch.histogramdd(z, [2, 3])),
            ("int", lambda: torch.histogramdd(z, 2).hist),
            ("ranges", lambda: torch.histogramdd(z, [2, 2], range=[0.0, 1.0, 0.0, 1.0])), ("bad", lambda: torch.histogramdd(z, [2])),
            ("one dim", lambda: torch.histogramdd(y, [2])),
            ("edges of two", lambda: torch.histogramdd(z, [torch.tensor([0.0, 1.0, 2.0]), torch.tensor([0.0, 2.0])])),
            ("weighted", lambda: torch.histogramdd(z, 2, weight=w[:3], density=True)), ("bad range", lambda: torch.histogramdd(z, [2, 2], range=[0.0, 1.0]))):
        yield label, attempt(f)
    out = torch.empty(0), torch.empty(0)
    yield "out", torch.histogram(y, 2, out=out)[0] is out[0], out


@case("borders.out")
def _(torch):
    x = torch.tensor([0.2, 0.8])
    for label, f in (("bernoulli", lambda out: torch.bernoulli(x, out=out)), ("rand", lambda out: torch.rand(3, out=out)),
                     ("randn", lambda out: torch.randn(2, 2, out=out)),
                     ("normal", lambda out: torch.normal(x, x, out=out)), ("multinomial", lambda out: torch.multinomial(x, 1, out=out)),
                     ("diff", lambda out: torch.diff(x, out=out)),
                     ("randint", lambda out: torch.randint(0, 9, (3,), out=out)), ("randperm", lambda out: torch.randperm(4, out=out)),
                     ("histc", lambda out: torch.histc(x, 3, out=out)), ("as_strided_copy", lambda out: torch.as_strided_copy(x, (2, 2), (0, 1), out=out))):
        out = torch.empty(0, dtype=torch.int64 if label in ("multinomial", "randint", "randperm") else torch.float32)
        torch.manual_seed(0)
        yield label, attempt(lambda f=f, out=out: (f(out) is out, out))


@case("borders.copies by to")
def _(torch):
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    for label, f in (("flags", lambda: x.to(torch.float32, False, True)), ("device", lambda: x.to("cpu", torch.float32, False, True)),
                     ("like", lambda: x.to(x, False, True)),
                     ("one flag", lambda: x.to(torch.float32, True)), ("named", lambda: x.to(torch.float32, copy=True))):
        out = f()
        yield label, out is x, out.grad_fn.name() if out.grad_fn is not None else None


@case("borders.internals")
def _(torch):
    x = torch.arange(6.0, dtype=torch.float64).reshape(2, 3).requires_grad_()
    for size in ((1, 3), (3,), (2, 3), (), (2,), (1, 2, 3), (2, 1)):
        yield f"sum to {size}", attempt(lambda size=size: x.sum_to_size(size).detach())
        yield f"gradient {size}", attempt(lambda size=size: torch.autograd.grad(x.sum_to_size(size).sum(), x))
    for p, train in ((0.5, True), (0.5, False), (1.0, True), (0.0, True)):
        torch.manual_seed(0)
        out, mask = torch.native_dropout(x, p, train)
        yield f"dropout {p} {train}", out.detach(), mask, out.grad_fn.name(), torch.autograd.grad(out.sum(), x)
    a = [torch.arange(6.0).reshape(3, 2), torch.arange(4.0).reshape(4, 1)]
    for label, f in (("rows", lambda: torch._chunk_cat(a, 0, 2)), ("columns", lambda: torch._chunk_cat([x.detach()], 1, 2)),
                     ("none", lambda: torch._chunk_cat([], 0, 2)),
                     ("no chunks", lambda: torch._chunk_cat(a, 0, 0)), ("sizes", lambda: torch._chunk_cat(a, -1, 2)),
                     ("strides", lambda: torch.empty_permuted((2, 3, 5), (0, 2, 1)).stride()),
                     ("layout", lambda: torch.empty_permuted((2, 3, 5), (0, 2))), ("twice", lambda: torch.empty_permuted((2, 3, 5), (0, 2, 2))),
                     ("beyond", lambda: torch.empty_permuted((2, 3, 5), (0, 2, 5)))):
        yield label, attempt(f)
    y = x.detach()[0].requires_grad_()
    for name in ("softmax", "log_softmax"):
        out = getattr(torch, f"_{name}_backward_data")(y, torch.softmax(x.detach()[1], 0), 0, torch.float64)
        yield name, out.detach(), torch.autograd.grad(out.pow(2).sum(), y)
    i, m = torch.tensor([0, 5, -1]), torch.tensor([True, False, True])
    out = torch._unsafe_masked_index(y, m, [i], 7.0)
    yield "masked index", out.detach(), torch.autograd.grad(out.pow(2).sum(), y)
    yield "masked put", torch._unsafe_masked_index_put_accumulate(y.detach(), m, [i], torch.ones(3, dtype=torch.float64))


@case("borders.low rank")
def _(torch):
    a = torch.tensor([[1.0, 2.0, 0.5], [0.0, -1.0, 2.0], [3.0, 1.0, 1.0], [2.0, 2.0, -1.0]], dtype=torch.float64, requires_grad=True)
    for label, f in (("svd", lambda: torch.svd_lowrank(a, 2)), ("less", lambda: torch.svd_lowrank(a, 2, M=a.detach().mean(0, keepdim=True))),
                     ("wide", lambda: torch.svd_lowrank(a.t(), 2, niter=1)),
                     ("pca", lambda: torch.pca_lowrank(a)), ("as it is", lambda: torch.pca_lowrank(a, 2, center=False))):
        torch.manual_seed(0)
        u, s, v = f()
        yield label, [tuple(t.shape) for t in (u, s, v)], s.detach(), (u * s @ v.mT).detach(), torch.autograd.grad((u * s @ v.mT).pow(2).sum(), a)
    yield "refused", attempt(lambda: torch.pca_lowrank(a, 7)), attempt(lambda: torch.pca_lowrank(a, 2, niter=-1)), attempt(lambda: torch.svd_lowrank(a[0]))


@case("borders.kept")
def _(torch):
    x = torch.ones(1, 1, 4, 4, dtype=torch.float64, requires_grad=True)
    for label, f in (("adaptive", lambda: torch.nn.functional.adaptive_max_pool2d(x, (None, None))),
                     ("fractional", lambda: torch.nn.functional.fractional_max_pool2d(x, 1, output_ratio=(0.5, 0.5)))):
        torch.manual_seed(0)
        g, = torch.autograd.grad(f().sum(), x, create_graph=True)
        yield label, g.detach(), g.requires_grad
    yield "put", torch.zeros(3, dtype=torch.bool).put_(torch.tensor([0, 0]), torch.tensor([True, True]), accumulate=True)
    yield "lu", type(torch.ones(2, 2).lu(get_infos=True)).__name__, type(torch.lu(torch.ones(2, 2), get_infos=True)).__name__


@case("borders.linear cross entropy")
def _(torch):
    x = torch.tensor([[1.0, -2.0, 3.0], [4.0, 5.0, 0.5]], requires_grad=True)
    for label, more, target in (("plain", {}, torch.tensor([1, 0])), ("bias", {"bias": True, "label_smoothing": 0.1}, torch.tensor([1, -100])),
                                ("places", {"out_features": (2,), "reduction": "sum"}, torch.tensor([[0, 1], [1, 0]])),
                                ("weights", {"weight": torch.tensor([1.0, 2.0]), "ignore_index": 0}, torch.tensor([1, 0]))):
        torch.manual_seed(0)
        m = torch.nn.LinearCrossEntropyLoss(3, 2, **more)
        loss = m(x, target)
        yield label, repr(m), list(m.state_dict()), loss.detach(), torch.autograd.grad(loss, [x, *m.parameters()])
