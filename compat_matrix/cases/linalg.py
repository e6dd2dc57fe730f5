"""Decompositions and what is made of them: values and gradients that do not depend on signs and phases, edges, refusals."""

from compat_matrix.case import attempt, case
from compat_matrix.probes import evaluate, fails, leaf, probe, table

M22, M33 = [[2.0, 1.0], [0.5, 3.0]], [[2.0, 1.0, -0.5], [0.5, -1.0, 0.25], [1.5, 0.75, 3.0]]
M32, M23 = [[1.0, 0.0], [2.0, -1.0], [0.5, 3.0]], [[1.0, 2.0, 3.0], [-1.0, 0.5, 2.0]]
B22 = [M22, [[1.0, -2.0], [3.0, 0.5]]]
C22 = [[2 + 1j, 0.5j], [1 - 1j, 3 + 0.5j]]
C32 = [[1 + 0.5j, 0.25j], [2 - 1j, -1 + 1j], [0.5j, 3 + 0j]]
SYM = [[2.0, 1.0, 0.5], [1.0, -3.0, 0.25], [0.5, 0.25, 1.0]]
SINGULAR, RANK1 = [[1.0, 2.0], [2.0, 4.0]], [[1.0, 2.0], [2.0, 4.0], [3.0, 6.0]]
M44 = [[3.0, 1.0, 0.0, 0.5], [1.0, -2.0, 0.25, 0.0], [0.0, 1.0, 2.0, 1.0], [1.0, 0.0, 0.0, 1.5]]
EYE = [[1.0, 0.0], [0.0, 1.0]]
V2, V3 = [1.0, -2.0], [0.5, 1.0, -1.0]
EMPTY = {"nothing": "x.view(0, 0)", "no rows": "x.view(0, 3)", "no columns": "x.view(3, 0)", "no batch": "x.view(0, 2, 2)"}

table("linalg.eigen", probe, [
    ("values", "torch.linalg.eigh(x)[0]", {"x": SYM}), ("upper", "torch.linalg.eigh(x, 'U')[0]", {"x": M33}),
    ("lower only", "torch.linalg.eigvalsh(x)", {"x": M33}), ("squares", "torch.linalg.eigh(x)[1] ** 2", {"x": SYM}),
    ("rebuilt", "(lambda d: d[1] * d[0].exp() @ d[1].mT)(torch.linalg.eigh(x))", {"x": SYM}),
    ("complex values", "torch.linalg.eigvalsh(x @ x.mH)", {"x": C22}),
    ("complex squares", "torch.linalg.eigh(x @ x.mH)[1].abs() ** 2", {"x": C22}),
    ("repeated values", "torch.linalg.eigvalsh(x)", {"x": EYE}), ("repeated vectors", "torch.linalg.eigh(x)[1]", {"x": EYE}),
    ("batch", "torch.linalg.eigh(x)[1] ** 2", {"x": B22}), ("any values", "torch.linalg.eigvals(x)", {"x": M22}),
    ("any pair", "torch.linalg.eigvals(x)", {"x": [[0.0, 1.0], [-2.0, 0.5]]}),
    ("any squares", "torch.linalg.eig(x)[1].abs() ** 2", {"x": M33}),
    ("any complex", "torch.linalg.eig(x)[1].abs() ** 2", {"x": C22}), ("any batch", "torch.linalg.eigvals(x)", {"x": B22}),
    ("function of", "(lambda d: (d[1] * d[0].exp() @ torch.linalg.inv(d[1])).real)(torch.linalg.eig(x))", {"x": M33}),
    ("without grad", "torch.linalg.eigvalsh(x.detach())", {"x": SYM}), ("any without grad", "torch.linalg.eigvals(x.detach())", {"x": M22}),
])
table("linalg.singular", probe, [
    ("values", "torch.linalg.svdvals(x)", {"x": M32}), ("wide", "torch.linalg.svdvals(x)", {"x": M23}),
    ("left squares", "torch.linalg.svd(x, False)[0] ** 2", {"x": M32}), ("right squares", "torch.linalg.svd(x, False)[2] ** 2", {"x": M23}),
    ("wide left", "torch.linalg.svd(x, False)[0] ** 2", {"x": M23}),
    ("full", "torch.linalg.svd(x)[0][:, :2] ** 2", {"x": M32}), ("full wide", "torch.linalg.svd(x)[2][:2] ** 2", {"x": M23}),
    ("polar", "(lambda d: d[0] @ d[2])(torch.linalg.svd(x, full_matrices=False))", {"x": M32}),
    ("complex polar", "(lambda d: d[0] @ d[2])(torch.linalg.svd(x, full_matrices=False))", {"x": C32}),
    ("complex values", "torch.linalg.svdvals(x)", {"x": C32}),
    ("complex squares", "torch.linalg.svd(x, full_matrices=False)[0].abs() ** 2", {"x": C32}),
    ("repeated", "torch.linalg.svdvals(x)", {"x": EYE}), ("repeated vectors", "torch.linalg.svd(x)[0]", {"x": EYE}),
    ("zero value", "torch.linalg.svdvals(x)", {"x": SINGULAR}), ("batch", "torch.linalg.svdvals(x)", {"x": B22}),
    ("old", "(lambda d: d[0] * d[1] @ d[2].mT)(torch.svd(x))", {"x": M32}), ("old full", "torch.svd(x, some=False)[2].abs()", {"x": M22}),
    ("old complex", "(lambda d: d[0] * d[1] @ d[2].mH)(torch.svd(x))", {"x": C32}), ("old values", "torch.svd(x, compute_uv=False)", {"x": M32}),
    ("without grad", "torch.linalg.svdvals(x.detach())", {"x": M32}),
])
table("linalg.pseudo", probe, [
    ("tall", "torch.linalg.pinv(x)", {"x": M32}), ("wide", "torch.linalg.pinv(x)", {"x": M23}), ("complex", "torch.linalg.pinv(x)", {"x": C32}),
    ("rank one", "torch.linalg.pinv(x, rtol=1e-6)", {"x": RANK1}), ("cut", "torch.linalg.pinv(x, 0.6)", {"x": M32}),
    ("absolute", "torch.linalg.pinv(x, atol=2.6)", {"x": M32}), ("tensor", "torch.linalg.pinv(x, atol=torch.tensor(2.6))", {"x": M32}),
    ("both", "torch.linalg.pinv(x, atol=0.1, rtol=torch.tensor(0.9))", {"x": M32}),
    ("hermitian", "torch.linalg.pinv(x, hermitian=True)", {"x": SYM}), ("batch", "torch.linalg.pinv(x)", {"x": B22}),
    ("old", "torch.pinverse(x)", {"x": M32}), ("method", "x.pinverse(0.6)", {"x": M32}), ("zeros", "torch.linalg.pinv(x)", {"x": [[0.0, 0.0]]}),
    ("rank", "torch.linalg.matrix_rank(x)", {"x": RANK1}), ("rank tol", "torch.linalg.matrix_rank(x, 2.6)", {"x": M32}),
    ("rank rtol", "torch.linalg.matrix_rank(x, rtol=0.9)", {"x": M32}), ("rank hermitian", "torch.linalg.matrix_rank(x, hermitian=True)", {"x": SYM}),
    ("rank batch", "torch.linalg.matrix_rank(x)", {"x": [M22, SINGULAR]}),
    ("rank tensor", "torch.linalg.matrix_rank(x, tol=torch.tensor([2.6, 0.1]))", {"x": B22}),
])
for driver in ("gels", "gelsy", "gelsd", "gelss"):
    table(f"linalg.lstsq.{driver}", probe, [
        (n, f"torch.linalg.lstsq(x, y, driver='{driver}')[:2]", {"x": x, "y": y}) for n, x, y in (
            ("tall", M32, [[1.0], [2.0], [0.5]]), ("wide", M23, [[1.0], [2.0]]), ("several", M32, M32), ("vector", M32, V3),
            ("batch", [M32, M32], [M32, M32]))] + [
        ("ranks", f"torch.linalg.lstsq(x, y, driver='{driver}')[2:]", {"x": M32, "y": V3}),
        ("complex", f"torch.linalg.lstsq(x, y, driver='{driver}')[0]", {"x": C32, "y": C32})])
table("linalg.lstsq", probe, [
    ("default", "torch.linalg.lstsq(x, y)", {"x": M32, "y": V3}), ("rank one", "torch.linalg.lstsq(x, y, rcond=1e-6)", {"x": RANK1, "y": V3}),
    ("rank one gelsd", "torch.linalg.lstsq(x, y, rcond=1e-6, driver='gelsd')[:2]", {"x": RANK1, "y": V3})])
table("linalg.condition", probe, [(str(p), f"torch.linalg.cond(x, {p!r})", {"x": M33}) for p in (None, 2, -2, 1, -1, "fro", "nuc")] + [
    ("inf", "torch.linalg.cond(x, inf)", {"x": M33}), ("tall", "torch.linalg.cond(x)", {"x": M32}), ("batch", "torch.linalg.cond(x, 1)", {"x": B22}),
    ("singular", "torch.linalg.cond(x, 1)", {"x": SINGULAR}), ("complex", "torch.linalg.cond(x, 1)", {"x": C22})])
table("linalg.factors", probe, [
    ("qr", "torch.linalg.qr(x)[1].abs()", {"x": M33}), ("qr complex", "torch.linalg.qr(x)[1].abs()", {"x": C32}),
    ("projection", "(lambda q: q @ q.mT)(torch.linalg.qr(x)[0])", {"x": M32}), ("qr wide", "torch.linalg.qr(x)[1].abs()", {"x": M23}),
    ("qr r", "torch.linalg.qr(x, mode='r')[1].abs()", {"x": M32}), ("qr complete", "torch.linalg.qr(x, mode='complete')[1].abs()", {"x": M32}),
    ("qr complete wide", "torch.linalg.qr(x, mode='complete')[1].abs()", {"x": M23}), ("old qr", "torch.qr(x)[1].abs()", {"x": M32}),
    ("lu", "torch.linalg.lu(x)", {"x": M33}), ("lu tall", "torch.linalg.lu(x)", {"x": M32}), ("lu factor", "torch.linalg.lu_factor(x)", {"x": M33}),
    ("lu solve", "torch.linalg.lu_solve(*torch.linalg.lu_factor(x), y)", {"x": M33, "y": M32}),
    ("lu solve adjoint", "torch.linalg.lu_solve(*torch.linalg.lu_factor(x), y, adjoint=True)", {"x": M33, "y": M32}),
    ("lu solve right", "torch.linalg.lu_solve(*torch.linalg.lu_factor(x), y, left=False)", {"x": M33, "y": M23}),
    ("unpacked", "(lambda d: d[0] @ d[1] @ d[2])(torch.lu_unpack(*torch.linalg.lu_factor(x)))", {"x": M33}),
    ("old lu", "torch.lu(x)", {"x": M33}), ("old lu infos", "torch.lu(x, get_infos=True)", {"x": M33}), ("method lu", "x.lu()[0]", {"x": M22}),
    ("cholesky", "torch.linalg.cholesky(x @ x.mT)", {"x": M33}), ("cholesky upper", "torch.linalg.cholesky(x @ x.mT, upper=True)", {"x": M33}),
    ("cholesky complex", "torch.linalg.cholesky(x @ x.mH)", {"x": C22}), ("old cholesky", "torch.cholesky(x @ x.mT, upper=True)", {"x": M22}),
    ("cholesky solve", "torch.cholesky_solve(y, torch.linalg.cholesky(x @ x.mT))", {"x": M33, "y": M32}),
    ("cholesky inverse", "torch.cholesky_inverse(torch.linalg.cholesky(x @ x.mT))", {"x": M33}),
    ("householder", "torch.linalg.householder_product(x, y)", {"x": M32, "y": V2}), ("geqrf", "torch.geqrf(x)[1].detach()", {"x": M32}),
])
table("linalg.inverses", probe, [
    ("inv", "torch.linalg.inv(x)", {"x": M33}), ("complex", "torch.linalg.inv(x)", {"x": C22}), ("batch", "x.inverse()", {"x": B22}),
    ("inv_ex", "torch.linalg.inv_ex(x)", {"x": M33}), ("solve", "torch.linalg.solve(x, y)", {"x": M33, "y": M32}),
    ("solve right", "torch.linalg.solve(x, y, left=False)", {"x": M33, "y": M23}), ("solve vector", "torch.linalg.solve(x, y)", {"x": M33, "y": V3}),
    ("solve batch", "torch.linalg.solve(x, y)", {"x": B22, "y": B22}), ("solve vectors", "torch.linalg.solve(x, y)", {"x": B22, "y": M22}),
    ("solve_ex", "torch.linalg.solve_ex(x, y)", {"x": M33, "y": M32}), ("solve complex", "torch.linalg.solve(x, y)", {"x": C22, "y": C22}),
    ("tensorinv", "torch.linalg.tensorinv(x.view(2, 2, 4)) * 1", {"x": M44}),
    ("tensorsolve", "torch.linalg.tensorsolve(x.view(2, 2, 4), y)", {"x": M44, "y": M22}),
    ("triangular", "torch.linalg.solve_triangular(x, y, upper=True)", {"x": M33, "y": M32}),
    ("triangular right", "torch.linalg.solve_triangular(x, y, upper=False, left=False)", {"x": M33, "y": M23}),
    ("unit", "torch.linalg.solve_triangular(x, y, upper=False, unitriangular=True)", {"x": M33, "y": M32}),
    ("old triangular", "torch.triangular_solve(y, x)[0]", {"x": M33, "y": M32}),
    *[(f"power {n}", f"torch.linalg.matrix_power(x, {n})", {"x": M22}) for n in (0, 1, 2, 5, -1, -3)],
    ("power batch", "torch.linalg.matrix_power(x, 2)", {"x": B22}), ("exp", "torch.linalg.matrix_exp(x)", {"x": M33}),
    ("exp complex", "torch.matrix_exp(x)", {"x": C22}), ("exp batch", "x.matrix_exp()", {"x": B22}),
    ("exp large", "torch.linalg.matrix_exp(x * 20)", {"x": [[-1.0, 0.5], [0.25, -2.0]]}),
])
table("linalg.determinants", probe, [
    ("det", "torch.linalg.det(x)", {"x": M33}), ("complex", "torch.det(x)", {"x": C22}), ("batch", "x.det()", {"x": B22}),
    ("singular", "torch.linalg.det(x)", {"x": SINGULAR}), ("zeros", "torch.linalg.det(x)", {"x": [[0.0, 0.0], [0.0, 0.0]]}),
    ("slogdet", "torch.linalg.slogdet(x)", {"x": M33}), ("slogdet complex", "torch.slogdet(x)", {"x": C22}),
    ("logdet", "torch.logdet(x)", {"x": M22}),
    ("logdet negative", "torch.logdet(x)", {"x": [[1.0, 2.0], [3.0, 4.0]]}), ("logdet complex", "x.logdet()", {"x": C22}),
    ("one", "torch.linalg.det(x)", {"x": [[3.0]]}), ("four", "torch.linalg.det(x)", {"x": M44}),
    ("nuclear", "torch.linalg.matrix_norm(x, 'nuc')", {"x": M32}), ("spectral complex", "torch.linalg.matrix_norm(x, 2)", {"x": C32}),
    ("smallest", "torch.linalg.norm(x, -2)", {"x": M33}), ("old nuclear", "torch.norm(x, 'nuc')", {"x": M32}),
])
NAMES = {"nothing": ("inv", "det", "slogdet", "eigh", "eigvalsh", "cholesky", "matrix_exp", "lu", "qr", "svd", "pinv", "cond"),
         "no rows": ("svd", "svdvals", "qr", "pinv", "matrix_rank", "lu"), "no columns": ("svd", "qr", "pinv", "lu"),
         "no batch": ("inv", "det", "eigvals", "cholesky", "svdvals", "matrix_rank")}
for edge, names in NAMES.items():
    table(f"linalg.empty.{edge}", probe, [(n, f"torch.linalg.{n}({EMPTY[edge]})", {"x": [], "order": 1}) for n in names])
GIVEN = {"x": M23, "s": SINGULAR, "n": [[1.0, 2.0], [2.0, 1.0]], "b": [EYE, SINGULAR], "v": V3, "m": M22}
table("linalg.refused", fails, [(e, e, GIVEN) for e in (
    "torch.linalg.inv(s)", "torch.linalg.inv(b)", "torch.linalg.inv_ex(s, check_errors=True)", "torch.inverse(s)", "torch.linalg.solve(s, m)",
    "torch.linalg.solve(b, m)", "torch.linalg.solve_ex(s, m, check_errors=True)", "torch.linalg.cholesky(n)", "torch.cholesky(n)",
    "torch.linalg.cholesky(torch.stack([m, n]))", "torch.linalg.cholesky_ex(n, check_errors=True)", "torch.linalg.lu_factor(s)",
    "torch.linalg.matrix_power(s, -2)", "torch.linalg.tensorinv(s, 1)", "torch.linalg.inv(x)", "torch.linalg.inv(v)",
    "torch.linalg.inv(3)", "torch.linalg.inv()",
    "torch.linalg.det(x)", "torch.det(3)", "torch.linalg.solve(m, v)", "torch.linalg.solve(m)", "torch.linalg.solve(m, m.float())", "torch.linalg.eigh(x)",
    "torch.linalg.eigh(m, 'Q')", "torch.linalg.eigvalsh(3)", "torch.linalg.eigvals(v)", "torch.linalg.svd(v)",
    "torch.linalg.svd(m, driver='gesvd')", "torch.svd(v)",
    "torch.linalg.qr(m, mode='x')", "torch.linalg.lstsq(x, v)", "torch.linalg.lstsq(m, m, driver='x')", "torch.linalg.lstsq(m, m.float())",
    "torch.linalg.pinv(v)", "torch.linalg.pinv(3)", "torch.linalg.pinv(m, atol=torch.tensor(1j))", "torch.linalg.matrix_rank(v)", "torch.linalg.cond(v)",
    "torch.linalg.cond(m, 3)", "torch.linalg.cond(x, 1)", "torch.linalg.cond(m, 'x')", "torch.linalg.lu_factor(m, pivot=False)", "torch.linalg.lu(v)",
    "torch.linalg.matrix_power(m, 2.0)", "torch.linalg.matrix_exp(x)", "torch.logdet(x)", "torch.cholesky_solve(v, m)", "torch.linalg.tensorsolve(x, v)",
    "torch.linalg.householder_product(x, v)", "torch.linalg.cholesky(m, True)", "torch.linalg.solve_triangular(m, m)")])


@case("linalg.failing later")
def _(torch):
    """Matrices that are computed: the error comes at the call or, at the latest, when the result is looked at."""
    for name, expression in (("inv", "torch.linalg.inv(x * 2)"), ("cholesky", "torch.linalg.cholesky(x - 4)"),
    ("solve", "torch.linalg.solve(x + 0, x)"),
                             ("lu", "torch.linalg.lu_factor(x * 1)[0]"), ("svd", "torch.linalg.svdvals(x / 0)"),
                             ("eig", "torch.linalg.eigvals(x / 0)")):
        yield name, attempt(lambda e=expression: evaluate(torch, e, x=leaf(torch, SINGULAR)).detach().tolist())


@case("linalg.failing and going on")
def _(torch):
    """The jitter loop: a factorisation that fails is tried again with more on the diagonal."""
    x = leaf(torch, [[1.0, 2.0], [2.0, 1.0]])
    for i in range(5):
        try:
            factor = torch.linalg.cholesky(x.detach() + torch.eye(2, dtype=torch.float64) * i)
            factor.sum().item()
            break
        except RuntimeError:
            continue
    yield "tries", i, factor


@case("linalg.info")
def _(torch):
    x = torch.tensor([EYE, SINGULAR, [[1.0, 2.0], [2.0, 1.0]], [[-1.0, 0.0], [0.0, 1.0]]], dtype=torch.float64)
    yield "cholesky", torch.linalg.cholesky_ex(x)
    yield "inv", torch.linalg.inv_ex(x)[1]
    yield "solve", torch.linalg.solve_ex(x, x)[1]
    yield "lu", torch.linalg.lu_factor_ex(x)


@case("linalg.out")
def _(torch):
    x = torch.tensor(M22, dtype=torch.float64)
    out = torch.empty(0, dtype=torch.float64)
    yield "inv", torch.linalg.inv(x, out=out) is out, out
    pair = torch.empty(0, dtype=torch.float64), torch.empty(0, dtype=torch.float64)
    found = torch.linalg.slogdet(x, out=pair)
    yield "slogdet", pair[0], pair[1], found.logabsdet is pair[1], type(found).__name__
    yield "names", [type(f(x)).__name__ for f in (torch.slogdet, torch.linalg.eigh, torch.linalg.qr, torch.svd, torch.linalg.lu_factor,
    torch.linalg.inv_ex)]
    yield "fields", torch.linalg.svd(x).Vh.shape, torch.linalg.eigh(x).eigenvalues.shape, torch.svd(x).V.shape, torch.linalg.lu(x).P


@case("linalg.dtypes")
def _(torch):
    for name in ("float16", "bfloat16", "float32", "float64", "int64", "complex64", "complex128", "bool"):
        x = torch.tensor(M22).to(getattr(torch, name))
        for f in ("inv", "det", "slogdet", "cholesky_ex", "eigvalsh", "eigvals", "svdvals", "pinv", "matrix_rank", "cond", "lu_factor", "matrix_power"):
            def dtype(f=f, x=x):
                found = getattr(torch.linalg, f)(x, *((2,) if f == "matrix_power" else ()))
                return [t.dtype for t in found] if isinstance(found, tuple) else found.dtype
            yield f"{name} {f}", attempt(dtype)


@case("linalg.phase")
def _(torch):
    """Losses that depend on the free phase of complex vectors have no gradient."""
    for name, expression in (("eig", "torch.linalg.eig(x)[1].imag.sum()"), ("eigh", "torch.linalg.eigh(x)[1].real.sum()"),
                             ("svd", "torch.linalg.svd(x)[0].real.sum()"), ("svd right", "torch.linalg.svd(x)[2].imag.sum()"),
                             ("eigh modulus", "torch.linalg.eigh(x)[1].abs().sum()"), ("svd modulus", "torch.linalg.svd(x)[0].abs().sum()")):
        x = leaf(torch, C22)
        if "eigh" in name:
            x = leaf(torch, [[2 + 0j, 1 - 1j], [1 + 1j, 3 + 0j]])
        yield name, attempt(lambda e=expression, x=x: torch.autograd.grad(evaluate(torch, e, x=x), x)[0])
