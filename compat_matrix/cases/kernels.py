"""What torch's kernels take and refuse: dtypes, empty inputs, outputs of other dtypes, complex gradients."""

from compat_matrix.case import attempt, case
from compat_matrix.probes import fails, probe, table

M = [[4.0, 1.0, 0.5], [1.0, 3.0, -1.0], [0.5, -1.0, 5.0]]
Z = [[complex(a, 0.5) for a in row] for row in M]
GIVEN = {"x": [3.0, -1.0, 2.0], "m": M, "z": Z, "b": [True, False, True], "l": [3, 1, 2], "i": [0, 0, 1]}
COMPLEX = ("torch.geqrf(z)", "torch.nan_to_num(z)", "torch.nan_to_num(z * 1)", "(z * 1).nan_to_num_().shape", "F.silu(z)", "F.silu(z * 1, inplace=True).shape",
           "F.soft_margin_loss(z, z.detach())", "torch.select_scatter(z, z[0], 0, 0)", "torch.select_scatter(z.detach(), z[0], 0, 0)", "torch.slice_scatter(z, z)",
           "F.bilinear(z, z, torch.ones(2, 3, 3, dtype=torch.complex128))", "torch.mode(z[0, 0])", "torch.index_reduce(z, 0, i, z, 'prod')",
           "torch.index_reduce(z, 0, i, z, 'amax')", "torch.index_reduce(z.detach()[0], 0, i, z.detach()[0], 'mean')", "torch.unique_consecutive(z.detach())",
           "torch.unique(z.detach(), dim=0)", "F.cosine_embedding_loss(z, z, l)", "torch.aminmax(z.detach()[0, 0], dim=0)", "torch.isin(z, x)",
           "torch.convolution(z[None], z[None], None, (1,), (0,), (1,), False, (0,), 1)", "torch.fft.rfft2(z)")
KINDS = ("F.soft_margin_loss(l, l)", "F.soft_margin_loss(l.byte(), l)", "F.soft_margin_loss(b, b)", "F.bilinear(b, b, torch.ones(2, 3, 3, dtype=torch.bool))",
         "torch.isin(b, b)", "torch.isin(l, True)", "torch.isin(1j, l)", "torch.gradient(l.byte())", "F.pad(b[None], (1, 1), 'reflect')",
         "F.pad(b[None, None], (1, 1), 'replicate')", "b.clone().cumsum_(0)", "b.clone().cumprod_(0)", "x.detach().clone().cumsum_(0, dtype=torch.int64)",
         "l.byte().cumsum_(0, dtype=torch.float32)", "torch.index_reduce(b, 0, i, b, 'amax')", "torch.index_reduce(b[None], 1, i, b[None], 'mean')",
         "torch.scatter_reduce(b, 0, i, b, 'mean')", "torch.tril_indices(2, 2, dtype=torch.uint8)", "F.margin_ranking_loss(b, b, b)",
         "torch.trapezoid(b, x)", "torch.norm(m.half(), 'nuc')", "F.embedding(i, torch.ones(2, 2, dtype=torch.int64), max_norm=1.0)",
         "F.adaptive_max_pool3d(torch.ones(1, 1, 4, 4, 4, dtype=torch.int64), 2)", "torch.linspace(0, 1, 2, dtype=torch.bool)",
         *(f"F.conv{n}d(torch.ones(1, 1, {size}).{kind}(), torch.ones(1, 1, {kernel}).{kind}(), {how})" for kind in ("bool", "int") for n, size, kernel in (
             (1, "6", "2"), (2, "6, 6", "2, 2"), (3, "6, 6, 6", "2, 2, 2"), (3, "6, 6, 6", "1, 1, 1")) for how in ("dilation=1", "dilation=2")
           if kind == "bool" or how == "dilation=2"),
         *(f"F.conv_transpose{n}d(torch.ones(1, 1, {size}).{kind}(), torch.ones(1, 1, {size}).{kind}())" for kind in ("bool", "byte") for n, size in (
             (1, "2"), (2, "2, 2"), (3, "2, 2, 2"))),
         "torch.diff(m, 0, prepend=torch.ones(2, 2))", "torch.diff(m, 1, prepend=torch.ones(3))", "x.squeeze(2**63)", "x.sum(-2**70)",
         "torch.tensor_split(x, 2**63)")
table("kernels.refused", fails, [(e, e, GIVEN) for e in (*COMPLEX, *KINDS)])

_NONE = {"x": [3.0, -1.0, 2.0], "m": M, "b": [True, False, True], "i": [0, 0, 1]}
table("kernels.taken", probe, [(e, e, _NONE) for e in (
    "b[0].clone().cumsum_(0)", "b[:0].clone().cumprod_(0)", "torch.linspace(2, 1, 1, dtype=torch.bool)", "torch.logspace(0, 1, 0, dtype=torch.bool)",
    "torch.mm(torch.ones(2, 0).bool(), torch.ones(0, 3).bool())", "torch.bmm(torch.ones(2, 1, 0).bool(), torch.ones(2, 0, 1).bool())",
    "torch.mv(torch.ones(0, 3).bool(), b)", "F.adaptive_avg_pool2d(torch.ones(0, 2, 4, 4), 2)", "F.hardtanh(torch.tensor([0, 1, 3], dtype=torch.uint8), -0.5, 0.5)",
    "torch.index_put(b, (i,), b, accumulate=True)", "torch.diff(x, 0, prepend=x, append=x)", "torch.diff(x, 2, prepend=x)", "torch.heaviside(b, b)",
    "torch.polar(x[:, None].abs(), x)", "torch.linalg.svdvals(m[:0, :0].bfloat16())", "torch.linalg.det(m[:0, :0].bfloat16())",
    "F.soft_margin_loss(x, i)", "F.conv2d(torch.ones(0, 1, 4, 4).bool(), torch.ones(1, 1, 2, 2).bool())",
    "torch.index_reduce(b[None], 0, i[:1], b[None], 'amin')")])


@case("kernels.tangent of polar")
def _(torch):
    fw = torch.autograd.forward_ad
    a, p = torch.tensor([[1.0], [2.0]], dtype=torch.float64), torch.tensor([0.3, -0.4, 2.0], dtype=torch.float64)
    with fw.dual_level():
        yield "tangent", fw.unpack_dual(torch.polar(fw.make_dual(a, a + 1), fw.make_dual(p, 2 * p))).tangent


INTO = ("torch.geqrf(m, out=(o, e))", "torch.geqrf(m, out=(e, o))", "torch.kthvalue(x, 1, out=(o, n))", "torch.kthvalue(x, 1, out=(e, o))", "torch.mode(x, out=(o, n))",
        "torch.mode(x, out=(e, o))", "torch.frexp(x, out=(e, o))", "torch.svd(m, out=(e, o, e))", "torch.qr(m, out=(e, o))", "torch.triangular_solve(m, m, out=(e, o))",
        "torch.lu(m, out=(o, n.int()))", "torch.lu(m, True, True, out=(o, n.int(), n.int()))", "torch.lu_unpack(m, torch.tensor([1, 2, 3]).int(), out=(e, o, e))",
        "torch.unbind_copy(m, out=[o, o, o])", "torch.split_with_sizes_copy(m, [2, 1], out=[o, o])", "torch.split_copy(m[:2], 1, out=[o.new_ones(1, 3), o.new_ones(1, 3)])",
        "torch.native_batch_norm(m, None, None, None, None, True, 0.1, 1e-5, out=(o, e, e))", "torch._C._nn.linear(m, m, x, out=o)", "torch.matmul(x, x, out=o)",
        "torch.matmul(m, x, out=o)", "torch.matmul(m, x, out=o.new_ones(3))", "torch.matmul(m[None], x, out=o)", "torch.mv(m, x, out=o.new_ones(3))",
        "torch.max(x, out=o)", "torch.mvlgamma(x + 3, 1, out=o)", "torch.mvlgamma(x.long() + 3, 1, out=o)", "torch.diff(x, 0, out=o)", "torch.narrow_copy(x, 0, 0, 1, out=o)",
        "torch.float_power(x, 2, out=o)", "torch.as_strided_copy(x, (2,), (1,), out=o)", "torch.conj_physical(x, out=o)", "torch.ldexp(x, x, out=o)",
        "torch.ldexp(x, x.long(), out=o)", "torch.lu_solve(m, m, torch.tensor([1, 2, 3]).int(), out=o)", "torch.sort(x, out=(e, n))")


def _written(torch, expression):
    for dtype in (torch.float64, torch.int64, torch.complex64):
        names = {"torch": torch, "x": torch.tensor([3.0, 1.0, 2.0]), "m": torch.tensor(M), "o": torch.empty(0, dtype=dtype), "e": torch.empty(0),
                 "n": torch.empty(0, dtype=torch.int64)}
        found = attempt(lambda names=names: eval(expression, names))
        if isinstance(found, dict):
            yield str(dtype), found
        else:
            yield str(dtype), type(found).__name__, names["o"].shape, names["e"].shape


for _expression in INTO:
    case(f"kernels.out.{_expression}", expression=_expression)(_written)


@case("kernels.return_types of out")
def _(torch):
    x, e, n = torch.tensor([3.0, 1.0, 2.0]), torch.empty(0), torch.empty(0, dtype=torch.int64)
    for f in (torch.max, torch.sort, torch.median, torch.cummax, torch.topk):
        out = f(x, *(() if f is torch.sort else (1,) if f is torch.topk else (0,)), out=(e.clone(), n.clone()))
        yield type(out).__name__, str(type(out)), getattr(torch.return_types, type(out).__name__) is type(out)
