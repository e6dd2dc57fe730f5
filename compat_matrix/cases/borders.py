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
    ("vander of a number", "torch.linalg.vander(x, N=3)", {"x": 2.0}), ("corrcoef complex", "torch.corrcoef(x)", {"x": [[1 + 1j, 2 - 1j, 0.5j], [0.3 + 0j, 1j, 2 + 1j]]}),
    ("weighted", "torch.cov(x, fweights=torch.tensor([1, 2, 1]))", {"x": M23}), ("no index", "x.gather(0, torch.ones(0, dtype=torch.uint8))", {"x": V}),
    ("no groups", "F.group_norm(x[:0], 1)", {"x": M23}), ("no planes", "F.fractional_max_pool3d(x.expand(1, 4, 2, 3)[None, :, :, :0].reshape(0, 1, 4, 5, 4), (2, 2, 1), "
     "output_ratio=(0.5, 0.5, 0.5))", {"x": M23}),
    ("classes and places", "F.linear_cross_entropy(x, w, torch.tensor([[0, 1], [1, 0]]), linear_bias=b)",
     {"x": M23, "w": [[[1.0, 0.5, -1.0], [0.0, 2.0, 1.0]], [[0.3, -0.2, 0.1], [1.0, 1.0, -1.0]]], "b": [[0.1, 0.2], [0.3, -0.4]]}),
    ("whole frames", "torch.istft(x, n_fft=4, center=False, window=torch.ones(4, dtype=torch.float64))", {"x": [[complex(i, j) for j in range(3)] for i in range(4)]})])
E = {"c": V, "m": M23, "i": [1, 2], "b": [True, False]}
table("borders.refused", fails, [(e, e, E) for e in (
    "torch.cov(c, fweights=torch.ones(5, 5))", "torch.cov(c, aweights=torch.ones(5, 5))", "torch.cov(c, fweights=torch.ones(5))",
    "torch.cov(c, aweights=torch.ones(5, dtype=torch.int64))", "torch.cov(c, fweights=torch.ones(2, dtype=torch.int64))", "torch.cov(c, aweights=torch.ones(2))",
    "torch.cov(c, fweights=torch.tensor([1, -1, 1, 1, 1]))", "torch.cov(c, aweights=torch.tensor([1, -1.0, 1, 1, 1]))",
    "torch.cov(c, fweights=torch.zeros(5, dtype=torch.int64))", "torch.cov(c, fweights=torch.ones(5, dtype=torch.bool))",
    "torch.dsplit(torch.ones(2, 2, 5), 0)", "torch.hsplit(c, 0)", "torch.vsplit(m, 0)", "torch.vsplit(m, -1)",
    "torch.fft.fftn(torch.tensor(1.0), dim=(0,))", "torch.linspace(torch.ones(2), torch.ones(2), 3)", "torch.logspace(torch.ones(2), torch.tensor(1.0), 3)",
    "F.conv1d(torch.ones(1, 1, 4), torch.ones(1, 1, 2), dilation=-1)", "F.conv2d(torch.ones(1, 1, 4, 4), torch.ones(1, 1, 2, 2), dilation=(-1, 1))",
    "F.conv1d(torch.ones(1, 1, 4), torch.ones(1, 2))", "F.conv2d(torch.ones(1, 1, 4, 4), torch.ones(1, 2, 2), padding='same')",
    "F.conv_transpose1d(torch.ones(1, 1, 4), torch.ones(1, 2))", "F.adaptive_avg_pool3d(torch.ones(1, 1, 1, 1, 1), (-1, 0, 2))",
    "F.adaptive_max_pool1d(torch.ones(1, 1, 1), -1)", "F.adaptive_max_pool2d(torch.ones(1, 1, 1, 1), (-1, 0))",
    "F.adaptive_max_pool3d(torch.ones(1, 1, 1, 1, 1), (-1, 0, 2))", "F.avg_pool3d(torch.ones(1, 2, 4, 4), 2, padding=-1)", "F.avg_pool3d(torch.ones(1, 1, 4, 4), 2, padding=4)",
    "F.max_pool1d(torch.ones(1, 1, 9), 2, padding=-1, return_indices=True)", "F.max_pool1d(torch.ones(1, 1, 9), 2, padding=4, return_indices=True)",
    "F.linear_cross_entropy(torch.ones(2, 3, 3), torch.ones(2, 3), torch.ones(3, 2))", "F.linear_cross_entropy(m, torch.ones(2), torch.ones(2, 2))",
    "F.linear_cross_entropy(m, torch.ones(2, 4), torch.ones(2, 2))", "F.linear_cross_entropy(m, torch.ones(2, 3), torch.ones(2, 2), ignore_index=0)",
    "F.linear_cross_entropy(m[0], torch.ones(2, 4, 3), torch.ones(2, 4))", "F.linear_cross_entropy(m, torch.ones(2, 3), torch.ones(2), linear_bias=torch.ones(3))")])


@case("borders.no forward derivative")
def _(torch):
    F, fw = torch.nn.functional, torch.autograd.forward_ad
    x = torch.tensor([[4.0, 1.0], [1.0, 3.0]], dtype=torch.float64)
    long = torch.tensor([0, 1])
    for label, f in (
            ("cdist", lambda d: torch.cdist(d, x)), ("pdist", F.pdist), ("cholesky", torch.cholesky), ("grid", lambda d: F.grid_sample(d[None, None], x[None, None] / 9)),
            ("index_reduce", lambda d: d.index_reduce(0, long, x, "prod")), ("margins", lambda d: F.multi_margin_loss(d, long)),
            ("labels", lambda d: F.multilabel_margin_loss(d, torch.tensor([[0, -1], [1, -1]]))), ("bag", lambda d: F.embedding_bag(long, d, long[:1])),
            ("attention", lambda d: F.scaled_dot_product_attention(d[None, None], d[None, None], d[None, None])), ("segments", lambda d: torch.segment_reduce(d, "sum", lengths=long + 1 - long)),
            ("ctc", lambda d: F.ctc_loss(d[:, None].log_softmax(-1), long[None, 1:], torch.tensor([2]), torch.tensor([1]))),
            ("ormqr", lambda d: torch.ormqr(d, x[0], x)), ("drawn", lambda d: torch.bernoulli(d / 4)), ("linalg.cholesky", torch.linalg.cholesky)):
        with fw.dual_level():
            dual = fw.make_dual(x, torch.ones_like(x))
            yield label, attempt(lambda f=f, dual=dual: fw.unpack_dual(f(dual)).tangent)
