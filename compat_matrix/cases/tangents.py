"""Forward mode where the tangent is not what the gradient is the transpose of: ties, NaN, repeated writes, matrices of which a part is read."""

from compat_matrix.probes import each, evaluate, leaf

X, Y = [1.0, float("nan"), 2.0, float("nan"), 3.0], [float("nan"), 1.0, 2.0, float("nan"), 1.0]
M, P = [[3.0, 0.5, -1.0], [0.25, 2.0, 0.75], [-0.5, 1.5, 4.0]], [[4.0, 1.0, 0.5], [1.0, 3.0, 0.2], [0.5, 0.2, 2.0]]
B = [[1.0, -2.0], [0.5, 1.0], [2.0, 0.25]]
TWO = {"x": X, "y": Y}


def tangent(torch, expression):
    expression, inputs = expression
    fw = torch.autograd.forward_ad
    with fw.dual_level():
        made = {}
        for k, (name, value) in enumerate(inputs.items()):
            x = leaf(torch, value).detach()
            made[name] = x
            if x.is_floating_point() or x.is_complex():
                t = torch.arange(x.numel(), dtype=torch.float64).reshape(x.shape) * 0.3 + 0.7 * (k + 1)
                made[name] = fw.make_dual(x, t.to(x.dtype).sin())
        out = evaluate(torch, expression, i=torch.tensor([0, 1, 0]), **made)
        yield "tangents", [fw.unpack_dual(o).tangent for o in (out if isinstance(out, (tuple, list)) else [out]) if isinstance(o, torch.Tensor)]


CASES = {
    **{f: (f"torch.{f}(x, y)", TWO) for f in ("max", "min", "maximum", "minimum", "fmax", "fmin")},
    "mean of nothing": ("x.mean()", {"x": []}), "mean over nothing": ("x.mean(1)", {"x": [[], []]}), "mean": ("x.mean(1, keepdim=True)", {"x": M}),
    "embedding": ("F.embedding(i, x, padding_idx=0)", {"x": M}), "scatter larger": ("x.scatter(0, i[:2], y)", TWO), "scatter twice": ("x.scatter(0, i, y)", TWO),
    "scatter rows": ("x.scatter(1, i[None], y)", {"x": M, "y": P}), "index_put": ("x.index_put((i,), y)", {"x": M, "y": P}), "put": ("x.put(i, y[0])", {"x": M, "y": P}),
    "index_copy": ("x.index_copy(0, i, y)", {"x": M, "y": P}), "scatter_add": ("x.scatter_add(0, i[None], y)", {"x": M, "y": P}),
    "as_strided_scatter": ("torch.as_strided_scatter(x, y, (3,), (2,), 1)", {"x": M, "y": [1.0, 2.0, 3.0]}),
    "unpool1d": ("F.max_unpool1d(x, torch.tensor([[[0, 3, 0, 3]]]), 2, output_size=(8,))", {"x": [[[1.0, 2.0, 3.0, 4.0]]]}),
    "unpool2d": ("F.max_unpool2d(x, torch.tensor([[[[0, 3], [0, 7]]]]), 2)", {"x": [[[[1.0, 2.0], [3.0, 4.0]]]]}),
    "polar": ("torch.polar(x, y)", {"x": [1.0, -2.0, 0.0], "y": [0.3, 1.0, 2.0]}),
    "cholesky": ("torch.linalg.cholesky(x)", {"x": P}), "cholesky upper": ("torch.linalg.cholesky(x, upper=True)", {"x": P}),
    "cholesky_ex": ("torch.linalg.cholesky_ex(x)[0]", {"x": P}), "eigh": ("torch.linalg.eigh(x)[0]", {"x": P}), "eigvalsh": ("torch.linalg.eigvalsh(x, UPLO='U')", {"x": P}),
    "eigh vectors": ("torch.linalg.eigh(x)[1].abs()", {"x": P}), "eigh complex": ("torch.linalg.eigh(x)[0]", {"x": [[2.0 + 0j, 1 - 1j], [1 + 1j, 3.0 + 0j]]}),
    "cholesky complex": ("torch.linalg.cholesky(x)", {"x": [[2.0 + 0j, 0.5 - 1j], [0.5 + 1j, 3.0 + 0j]]}),
    "triangular": ("torch.triangular_solve(y, x)", {"x": M, "y": B}), "triangular lower": ("torch.triangular_solve(y, x, upper=False)", {"x": M, "y": B}),
    "triangular transposed": ("torch.triangular_solve(y, x, transpose=True)", {"x": M, "y": B}),
    "triangular unit": ("torch.triangular_solve(y, x, unitriangular=True)", {"x": M, "y": B}),
    "solve_triangular": ("torch.linalg.solve_triangular(x, y, upper=True)", {"x": M, "y": B}),
    "cholesky_solve": ("torch.cholesky_solve(y, x)", {"x": M, "y": B}), "lu_solve": ("torch.linalg.lu_solve(*torch.linalg.lu_factor(x), y)", {"x": M, "y": B}),
    "cholesky_inverse": ("torch.cholesky_inverse(x.tril())", {"x": M}), "cholesky_inverse full": ("torch.cholesky_inverse(x)", {"x": M}),
    "sort": ("x.sort()", {"x": X}), "max all": ("x.max()", {"x": [1.0, 3.0, 3.0]}), "amax": ("x.amax()", {"x": [1.0, 3.0, 3.0]}), "median": ("x.median()", {"x": X}),
    "clamp at": ("x.clamp(1.0, 3.0)", {"x": X}), "clamp tensors": ("torch.clamp(x, y, y + 1)", TWO), "abs": ("x.abs()", {"x": [0.0, -1.0]}), "relu": ("F.relu(x)", {"x": [0.0, -1.0, 2.0]}),
    "norm": ("x.norm()", {"x": [0.0, 0.0]}), "norm inf": ("x.norm(float('inf'))", {"x": [2.0, -2.0]}), "norm 1": ("x.norm(1)", {"x": [0.0, -2.0]}), "prod": ("x.prod()", {"x": [0.0, 2.0, 3.0]}),
    "cumprod": ("x.cumprod(0)", {"x": [0.0, 2.0, 3.0]}), "pow": ("x ** y", {"x": [0.0, 2.0, -1.0], "y": [0.0, 0.0, 2.0]}), "sqrt": ("x.sqrt()", {"x": [0.0, 2.0]}),
    "max nan": ("x.max()", {"x": X}), "min nan": ("x.min()", {"x": X}), "amax nan": ("x.amax()", {"x": X}), "nanmedian": ("x.nanmedian()", {"x": X}),
    "nanmedian of NaN": ("x.nanmedian()", {"x": [float("nan")] * 2}), "scatter amax without self": (
        "x.scatter_reduce(0, i, y, 'amax', include_self=False)", {"x": [1.0, 0.0, 5.0], "y": [1.0, 0.0, 1.0]}),
    "scatter amin without self": ("x.scatter_reduce(1, i[:2, None], y, 'amin', include_self=False)", {"x": [[1.0, 2.0], [3.0, 4.0]], "y": [[1.0], [4.0]]}),
    "median ties": ("x.median()", {"x": [2.0, 1.0, 2.0, 3.0, 2.0]}), "max dim": ("x.max(0)", {"x": X}), "clamp crossed": ("torch.clamp(x, y, y - 1)", TWO),
    "clamp low": ("torch.clamp(x, min=y)", TWO), "clamp high": ("torch.clamp(x, max=y)", TWO), "aminmax": ("torch.aminmax(x)", {"x": [1.0, 3.0, 3.0]}),
    "cholesky_inverse upper": ("torch.cholesky_inverse(x, upper=True)", {"x": M}), "cholesky_inverse complex": (
        "torch.cholesky_inverse(x)", {"x": [[2.0 + 0j, 0.5 - 1j], [0.5 + 1j, 3.0 + 0j]]}),
    "scatter_reduce": ("x.scatter_reduce(0, i[None], y, 'sum')", {"x": M, "y": P}), "scatter prod": ("x.scatter_reduce(0, i, y, 'prod')", {"x": [1.0, 2.0, 3.0], "y": [2.0, 3.0, 4.0]}),
    "index_add": ("x.index_add(0, i, y)", {"x": M, "y": P}), "prod dim": ("x.prod(0)", {"x": [[0.0, 2.0], [0.0, 3.0]]}), "var": ("x.var(0)", {"x": [1.0]}),
    "where": ("torch.where(x > 1, x, y)", TWO), "logsumexp": ("x.logsumexp(0)", {"x": [-float("inf"), -float("inf")]}), "std": ("x.std(0)", {"x": [1.0, 1.0]}), "xlogy": ("torch.xlogy(x, y)", {"x": [0.0, 1.0], "y": [0.0, 2.0]}),
    "hypot": ("torch.hypot(x, y)", {"x": [0.0, 1.0], "y": [0.0, 2.0]}), "atan2": ("torch.atan2(x, y)", {"x": [0.0, 1.0], "y": [0.0, 2.0]}), "lerp": ("torch.lerp(x, y, 0.3)", TWO),
    "cummax": ("x.cummax(0)", {"x": [1.0, 1.0, 0.5]}), "cdist free": ("F.pairwise_distance(x, y)", {"x": M, "y": M}), "dist": ("torch.dist(x, y)", {"x": M, "y": M}), "renorm": ("x.renorm(2, 0, 1.0)", {"x": M}),
}
each("tangents.of", tangent, CASES)
