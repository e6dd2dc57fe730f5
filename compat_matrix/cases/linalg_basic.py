"""Matrix products: every combination of ranks, gradients, refusals."""

from compat_matrix.case import attempt, case
from compat_matrix.probes import each, evaluate, fails, probe, table

V2, V3 = [1.0, -2.0], [0.5, 1.0, -1.0]
M23 = [[1.0, 2.0, 3.0], [-1.0, 0.5, 2.0]]
M32 = [[1.0, 0.0], [2.0, -1.0], [0.5, 3.0]]
M22 = [[2.0, 1.0], [0.5, 3.0]]
B223 = [M23, [[0.0, 1.0, -1.0], [2.0, 2.0, 0.5]]]
B232 = [M32, [[-1.0, 1.0], [0.0, 2.0], [1.0, 1.0]]]
table("linalg_basic.matmul", probe, [
    ("vector vector", "x @ y", {"x": V3, "y": V3}), ("matrix vector", "x @ y", {"x": M23, "y": V3}),
    ("vector matrix", "x @ y", {"x": V2, "y": M23}), ("matrix matrix", "x @ y", {"x": M23, "y": M32}),
    ("itself", "x @ x", {"x": M22}),
    ("batch batch", "x @ y", {"x": B223, "y": B232}), ("batch matrix", "x @ y", {"x": B223, "y": M32}),
    ("matrix batch", "x @ y", {"x": M23, "y": B232}), ("batch vector", "x @ y", {"x": B223, "y": V3}),
    ("vector batch", "x @ y", {"x": V3, "y": B232}),
    ("broadcast batch", "x @ y", {"x": [B223], "y": [[M32], [M32]]}),
    ("one batch", "x[:1] @ y", {"x": B223, "y": B232}),
    ("four dims", "x @ y", {"x": [B223, B223], "y": [B232, B232]}),
    ("transposed", "x @ y.t()", {"x": M23, "y": M23}), ("squared", "(x @ y) ** 2", {"x": M23, "y": M32}),
    ("chain", "x @ y @ z", {"x": M23, "y": M32, "z": M22}),
    ("empty inner", "x.view(2, 0) @ y.view(0, 3)", {"x": [], "y": []}),
    ("no rows", "x.view(0, 3) @ y", {"x": [], "y": M32}),
    ("function", "torch.matmul(x, y)", {"x": M23, "y": M32}), ("method", "x.matmul(y)", {"x": M23, "y": M32}),
    ("reflected", "x.__rmatmul__(y)", {"x": M32, "y": M23}),
    ("constant left", "torch.ones(2, 2).double() @ x", {"x": M22}),
    ("power", "torch.linalg.matrix_power(x, 3)", {"x": M22}),
    ("power negative", "torch.matrix_power(x, -1)", {"x": M22}),
    ("multi_dot", "torch.linalg.multi_dot([x, y, z])", {"x": M23, "y": M32, "z": M22}),
    ("chain_matmul", "torch.linalg.multi_dot([x, y])", {"x": M23, "y": M32}),
])
table("linalg_basic.products", probe, [
    ("mm", "torch.mm(x, y)", {"x": M23, "y": M32}), ("bmm", "torch.bmm(x, y)", {"x": B223, "y": B232}),
    ("mv", "torch.mv(x, y)", {"x": M23, "y": V3}), ("dot", "torch.dot(x, y)", {"x": V3, "y": V3}),
    ("inner", "torch.inner(x, y)", {"x": M23, "y": M23}), ("outer", "torch.outer(x, y)", {"x": V2, "y": V3}),
    ("ger", "torch.ger(x, y)", {"x": V2, "y": V3}),
    ("vdot", "torch.vdot(x, y)", {"x": V3, "y": V3}),
    ("addmm", "torch.addmm(b, x, y)", {"b": M22, "x": M23, "y": M32}),
    ("addmm scaled", "torch.addmm(b, x, y, beta=0.5, alpha=2)", {"b": M22, "x": M23, "y": M32}),
    ("addmm broadcast", "torch.addmm(b, x, y)", {"b": V2, "x": M23, "y": M32}),
    ("addmm beta zero", "torch.addmm(b, x, y, beta=0)", {"b": [[float("nan")] * 2] * 2, "x": M23, "y": M32}),
    ("addmv", "torch.addmv(b, x, y, beta=2, alpha=3)", {"b": V2, "x": M23, "y": V3}),
    ("addbmm", "torch.addbmm(b, x, y)", {"b": M22, "x": B223, "y": B232}),
    ("baddbmm", "torch.baddbmm(b, x, y, beta=0.5, alpha=2)", {"b": [M22, M22], "x": B223, "y": B232}),
    ("addr", "torch.addr(b, x, y)", {"b": [[1.0, 2.0, 3.0]] * 2, "x": V2, "y": V3}),
    ("linear", "F.linear(x, w, b)", {"x": M23, "w": M23, "b": V2}),
    ("linear no bias", "F.linear(x, w)", {"x": B223, "w": M23}),
    ("linear vector", "F.linear(x, w, b)", {"x": V3, "w": M23, "b": V2}),
    ("bilinear", "F.bilinear(x, y, w)", {"x": M22, "y": M23, "w": B223}),
    ("tensordot", "torch.tensordot(x, y, 1)", {"x": M23, "y": M32}),
    ("tensordot dims", "torch.tensordot(x, y, ([0, 1], [1, 0]))", {"x": M23, "y": M32}),
    ("tensordot outer", "torch.tensordot(x, y, 0)", {"x": V2, "y": V3}),
    ("kron", "torch.kron(x, y)", {"x": M22, "y": V2}),
    ("cross", "torch.linalg.cross(x, y)", {"x": V3, "y": [1.0, 2.0, 3.0]}), ("trace", "x.trace()", {"x": M22}),
    ("vecdot", "torch.linalg.vecdot(x, y)", {"x": M23, "y": M23}),
    ("mul sum", "(x * y).sum(-1)", {"x": M23, "y": M23}),
    ("sspaddmm like", "x.addmm(y, z)", {"x": M22, "y": M23, "z": M32}),
])
EINSUM = {"trace": ("ii->", M22), "diagonal": ("ii->i", M22), "transpose": ("ij->ji", M23),
    "sum": ("ij->", M23), "row": ("ij->i", M23), "implicit": ("ij", M23), "implicit order": ("ba", M23),
    "ellipsis": ("...i->...", B223)}
PAIRS = {"matmul": ("ij,jk->ik", M23, M32), "outer": ("i,j->ij", V2, V3), "dot": ("i,i->", V3, V3),
    "batch": ("bij,bjk->bik", B223, B232), "hadamard": ("ij,ij->ij", M23, M23), "implicit": ("ij,jk", M23, M32),
    "ellipsis": ("...ij,...jk->...ik", B223, M32), "sum over both": ("ij,kj->", M23, M23),
    "spaces": ("i j, j k -> i k", M23, M32),
         "batched vector": ("bi,bi->b", M23, M23), "broadcast": ("bij,j->bi", B223, V3),
         "repeated": ("ii,i->i", M22, V2), "capital": ("iJ,Jk->ik", M23, M32),
         "transposed out": ("ij,jk->ki", M23, M32), "size one": ("ij,ik->jk", M23, M22)}
table("linalg_basic.einsum", probe,
    [(n, f"torch.einsum('{e}', x)", {"x": x}) for n,
        (e, x) in EINSUM.items()] + [(f"{n} pair", f"torch.einsum('{e}', x, y)", {"x": x, "y": y}) for n,
        (e, x, y) in PAIRS.items()] + [
    ("three", "torch.einsum('ij,jk,kl->il', x, y, z)", {"x": M23, "y": M32, "z": M22}),
    ("bilinear form", "torch.einsum('i,ij,j->', x, y, z)", {"x": V2, "y": M23, "z": V3}),
    ("list of operands", "torch.einsum('ij,jk', [x, y])", {"x": M23, "y": M32}),
    ("sublists", "torch.einsum(x, [0, 1], y, [1, 2], [0, 2])", {"x": M23, "y": M32}),
    ("attention", "torch.einsum('bqd,bkd->bqk', x, y).softmax(-1)", {"x": B223, "y": B223}),
])
G = {"x": M23, "y": M32, "v": V3, "w": V2, "b": B223, "s": 2.0}
table("linalg_basic.refused", fails, [(n, e, G) for n, e in {
    "inner dims": "x @ x", "vector dims": "v @ w", "matrix vector": "x @ w", "vector matrix": "v @ x",
    "zero dim left": "s @ x", "zero dim right": "x @ s", "number": "x @ 2.0", "batch inner": "b @ b",
    "batch sizes": "torch.cat([b, b]) @ b.mT[:1].expand(3, 3, 2)", "mm dims": "torch.mm(b, b)",
    "mm vector": "torch.mm(x, v)", "mm shapes": "torch.mm(x, x)",
    "bmm dims": "torch.bmm(x, y)", "bmm batch": "torch.bmm(b, b.mT[:1])", "bmm shapes": "torch.bmm(b, b)",
    "mv dims": "torch.mv(v, v)", "mv shapes": "torch.mv(x, w)", "dot dims": "torch.dot(x, x)",
    "dot shapes": "torch.dot(v, w)", "outer dims": "torch.outer(x, v)", "dtype matmul": "x @ y.float()",
    "dtype mm": "torch.mm(x, y.float())", "dtype dot": "torch.dot(v, v.float())",
    "dtype linear": "F.linear(x, x.float())", "int float": "x @ torch.ones(3, 2, dtype=torch.int64)",
    "addmm shapes": "torch.addmm(x, x, y)", "addmm inner": "torch.addmm(w, x, x)",
    "addmm int alpha": "torch.addmm(torch.ones(1, 1).long(), torch.ones(1, 1).long(), torch.ones(1, 1).long(), alpha=1.5)",
    "baddbmm": "torch.baddbmm(b, b, b)", "linear shapes": "F.linear(x, y)", "linear bias": "F.linear(x, x, v)",
    "einsum operands": "torch.einsum('ij,jk', x)", "einsum dims": "torch.einsum('ijk', x)",
    "einsum sizes": "torch.einsum('ij,jk->ik', x, x)",
    "einsum output": "torch.einsum('ij->k', x)", "einsum twice": "torch.einsum('ij->ii', x)",
    "einsum character": "torch.einsum('i1->i', x)", "einsum ellipsis": "torch.einsum('..i->i', x)",
    "einsum diagonal": "torch.einsum('ii->i', x)", "einsum nothing": "torch.einsum('ij')",
    "einsum many": "torch.einsum('i', x, y)", "tensordot": "torch.tensordot(x, x, 1)", "trace": "v.trace()",
    "cross": "torch.linalg.cross(x, y)", "kron": "torch.kron(x, 2)",
    "bool matmul": "torch.ones(2, 2).bool() @ torch.ones(2, 2).bool()",
    "matrix_power": "torch.linalg.matrix_power(x, 2)", "multi_dot": "torch.linalg.multi_dot([x])",
    "t of batch": "b.t()", "mT of vector": "v.mT", "bilinear": "F.bilinear(x, x, x)",
    "vdot": "torch.vdot(v, w)", "addmv": "torch.addmv(v, x, v)", "ger": "torch.ger(x, x)",
    "chain": "torch.linalg.multi_dot([x, x])", "inner": "torch.inner(v, w)",
}.items()])


@case("linalg_basic.dtypes")
def _(torch):
    for name in ("float16", "bfloat16", "float32", "float64", "int32", "int64", "uint8", "complex64"):
        a = torch.tensor([[1, 2], [3, 4]]).to(getattr(torch, name))
        yield (name, attempt(lambda a=a: a @ a), attempt(lambda a=a: torch.dot(a[0], a[1])),
            attempt(lambda a=a: torch.einsum("ij,jk", a, a)))


def properties(torch, expression):
    x = torch.tensor([[4.0, 1.0], [1.0, 3.0]], dtype=torch.float64, requires_grad=True)
    out = evaluate(torch, expression, x=x, b=torch.tensor([[1.0], [2.0]], dtype=torch.float64))
    yield "value", out.detach(), out.grad_fn.name()
    g, = torch.autograd.grad((out * torch.arange(1.0, out.numel() + 1,
        dtype=torch.float64).reshape(out.shape)).sum(), x, create_graph=True)
    yield "first", g.detach()
    yield "second", torch.autograd.grad((g * g).sum(), x)


each("linalg_basic.solvers", properties, {
    "inv": "torch.linalg.inv(x)", "inverse": "x.inverse()", "det": "torch.linalg.det(x)",
    "logdet": "x.logdet()", "slogdet": "torch.linalg.slogdet(x)[1]", "solve": "torch.linalg.solve(x, b)",
    "cholesky": "torch.linalg.cholesky(x)",
    "cholesky_solve": "torch.cholesky_solve(b, torch.linalg.cholesky(x))",
    "triangular": "torch.linalg.solve_triangular(x.tril(), b, upper=False)",
    "eigvalsh": "torch.linalg.eigvalsh(x)", "svdvals": "torch.linalg.svdvals(x)",
    "pinv": "torch.linalg.pinv(x)", "matrix_exp": "torch.linalg.matrix_exp(x)",
    "nuclear": "torch.linalg.matrix_norm(x, 'nuc')", "spectral": "torch.linalg.matrix_norm(x, 2)",
    "qr": "torch.linalg.qr(x)[1].abs()", "eigh vectors": "torch.linalg.eigh(x)[1].abs()",
    "lstsq": "torch.linalg.lstsq(x, b)[0]",
})
