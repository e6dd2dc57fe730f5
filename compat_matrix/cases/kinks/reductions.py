"""Reductions, norms, statistics, sorting at ties and zeros."""

from compat_matrix.probes import probe, table

INF, NAN = float("inf"), float("nan")
TIES = [1.0, 2.0, 2.0]
GRID = [[1.0, 3.0, 3.0], [2.0, 2.0, 0.0]]
NANS = [1.0, NAN, 2.0, NAN]

rows = []
for name in ["max", "min"]:
    rows += [(f"{name}", f"x.{name}()", {"x": TIES + [1.0]}), (f"{name} squared", f"x.{name}() ** 2", {"x": TIES}),
             (f"{name} dim", f"x.{name}(1)", {"x": GRID}),
             (f"{name} dim keepdim", f"x.{name}(0, keepdim=True)", {"x": GRID}),
             (f"{name} dim squared", f"x.{name}(1).values ** 2", {"x": GRID}),
             (f"{name} nan", f"x.{name}()", {"x": NANS}),
             (f"{name} dim nan", f"x.{name}(0)", {"x": NANS}), (f"{name} zero dim", f"x.{name}()", {"x": 3.0}),
             (f"a{name}", f"x.a{name}()", {"x": TIES + [1.0]}), (f"a{name} dim", f"x.a{name}(1)", {"x": GRID}),
             (f"a{name} dims", f"x.a{name}((0, 1))", {"x": GRID}),
             (f"a{name} squared", f"x.a{name}(0, keepdim=True) ** 2", {"x": GRID}),
             (f"a{name} nan", f"x.a{name}()", {"x": NANS}), (f"arg{name}", f"x.arg{name}()", {"x": TIES}),
             (f"arg{name} dim", f"x.arg{name}(1, keepdim=True)", {"x": GRID}),
             (f"arg{name} nan", f"x.arg{name}()", {"x": NANS}),
             (f"cum{name}", f"x.cum{name}(0)", {"x": [1.0, 1.0, 0.0, 2.0, 2.0]}),
             (f"cum{name} nan", f"x.cum{name}(0)", {"x": [1.0, NAN, 2.0, NAN, 3.0]})]
table("kinks.extrema", probe, rows + [
    ("aminmax", "torch.aminmax(x)", {"x": TIES + [1.0]}), ("aminmax dim", "torch.aminmax(x, dim=1)", {"x": GRID}),
    ("infinities", "x.max()", {"x": [INF, INF, 1.0]}), ("abs max", "x.abs().max()", {"x": [-2.0, 2.0, 0.0]}),
])
table("kinks.median", probe, [
    ("even", "x.median()", {"x": [4.0, 1.0, 3.0, 2.0]}),
    ("ties", "x.median()", {"x": [2.0, 1.0, 2.0, 3.0, 2.0]}), ("two", "x.median()", {"x": [1.0, 2.0]}),
    ("dim", "x.median(1)", {"x": GRID}), ("dim even", "x.median(0)", {"x": GRID}),
    ("nan", "x.median()", {"x": [1.0, NAN, 2.0]}),
    ("dim nan", "x.median(0)", {"x": [1.0, NAN, 2.0]}), ("nanmedian", "x.nanmedian()", {"x": [1.0, NAN, 2.0, 3.0]}),
    ("nanmedian dim", "x.nanmedian(0)", {"x": [1.0, NAN, 2.0, 3.0]}), ("all nan", "x.nanmedian()", {"x": [NAN, NAN]}),
    ("squared", "x.median() ** 2", {"x": [3.0, 1.0, 3.0]}), ("mode", "x.mode()", {"x": [1.0, 2.0, 2.0, 1.0]}),
    ("mode dim", "x.mode(1)", {"x": GRID}),
    ("kthvalue", "x.kthvalue(2)", {"x": [3.0, 1.0, 2.0]}),
    ("quantile", "x.quantile(0.3)", {"x": [4.0, 1.0, 3.0, 2.0]}),
    ("quantile several", "x.quantile(torch.tensor([0.0, 0.5, 1.0]).double())", {"x": [4.0, 1.0, 3.0, 2.0]}),
    ("quantile dim", "x.quantile(0.5, 1)", {"x": GRID}),
    ("quantile lower", "x.quantile(0.3, interpolation='lower')", {"x": [4.0, 1.0, 3.0, 2.0]}),
    ("nanquantile", "x.nanquantile(0.5)", {"x": [1.0, NAN, 2.0, 3.0]}),
    ("quantile nearest", "x.quantile(0.3, interpolation='nearest')", {"x": [4.0, 1.0, 3.0, 2.0]}),
])
NORMS = {"half": 0.5, "one": 1, "three halves": 1.5, "two": 2, "three": 3, "inf": "inf", "minus inf": "-inf",
    "minus one": -1, "zero": 0}
rows = []
for name, p in NORMS.items():
    rows += [(f"{name} at zeros", f"torch.linalg.vector_norm(x, {p})", {"x": [0.0, 0.0, 0.0]}),
             (f"{name} one zero", f"torch.linalg.vector_norm(x, {p})", {"x": [3.0, 0.0, -4.0]}),
             (f"{name} norm", f"x.norm({p})", {"x": [3.0, -4.0]}),
             (f"{name} dim", f"x.norm({p}, dim=1)", {"x": [[3.0, -4.0], [0.0, 0.0]]}),
             (f"{name} ties", f"x.norm({p})", {"x": [3.0, 0.5, -3.0]}),
             (f"{name} squared", f"x.norm({p}) ** 2", {"x": [1.0, 2.0]})]
table("kinks.norm", probe, rows + [
    ("default", "torch.norm(x)", {"x": GRID}), ("fro", "torch.norm(x, 'fro')", {"x": GRID}),
    ("linalg", "torch.linalg.norm(x)", {"x": GRID}),
    ("keepdim", "x.norm(dim=0, keepdim=True)", {"x": GRID}), ("dims", "torch.norm(x, dim=(0, 1))", {"x": GRID}),
    ("sum of squares", "x.norm() ** 2", {"x": [0.0, 0.0]}),
    ("matrix one", "torch.linalg.matrix_norm(x, 1)", {"x": [[1.0, -1.0], [0.0, 0.0]]}),
    ("matrix inf", "torch.linalg.matrix_norm(x, inf)", {"x": GRID}),
    ("matrix fro", "torch.linalg.matrix_norm(x)", {"x": [[0.0, 0.0], [0.0, 0.0]]}),
    ("normalize", "F.normalize(x, dim=1)", {"x": [[3.0, 4.0], [0.0, 0.0]]}),
    ("cosine", "F.cosine_similarity(x, y)", {"x": [[3.0, 4.0], [0.0, 0.0]], "y": [[1.0, 0.0], [0.0, 2.0]]}),
    ("pairwise", "F.pairwise_distance(x, y)", {"x": [[1.0, 2.0]], "y": [[1.0, 2.0]]}),
    ("renorm", "torch.renorm(x, 2, 0, 1.0)", {"x": [[3.0, 4.0], [0.3, 0.4]]}),
    ("cdist", "torch.cdist(x, y)", {"x": [[0.0, 0.0], [1.0, 1.0]], "y": [[0.0, 0.0], [3.0, 4.0]]}),
    ("pdist", "F.pdist(x)", {"x": [[0.0, 0.0], [0.0, 0.0], [3.0, 4.0]]}),
])
rows = []
for name in ["var", "std"]:
    rows += [(f"{name}", f"x.{name}()", {"x": [1.0, 2.0, 4.0]}),
        (f"{name} constant", f"x.{name}()", {"x": [2.0, 2.0, 2.0]}),
             (f"{name} population", f"x.{name}(correction=0)", {"x": [1.0, 2.0, 4.0]}),
             (f"{name} unbiased", f"x.{name}(unbiased=False)", {"x": [1.0, 3.0]}),
             (f"{name} dim", f"x.{name}(1)", {"x": GRID}),
             (f"{name} dim constant", f"x.{name}(dim=1, keepdim=True)", {"x": [[1.0, 1.0], [1.0, 2.0]]}),
             (f"{name} one", f"x.{name}()", {"x": [1.0]}),
             (f"{name} one population", f"x.{name}(correction=0)", {"x": [1.0]}),
             (f"{name}_mean", f"torch.{name}_mean(x)", {"x": [1.0, 2.0, 4.0]}),
             (f"{name} dims", f"x.{name}((0, 1))", {"x": GRID}),
             (f"{name} two", f"x.{name}(0, correction=2)", {"x": [1.0, 2.0, 4.0]}),
             (f"{name} squared", f"x.{name}() ** 2", {"x": [2.0, 2.0]})]
table("kinks.variance", probe, rows)
table("kinks.product", probe, [
    ("no zero", "x.prod()", {"x": [2.0, 3.0, 4.0]}), ("one zero", "x.prod()", {"x": [2.0, 0.0, 3.0]}),
    ("two zeros", "x.prod()", {"x": [0.0, 0.0, 3.0]}),
    ("dim", "x.prod(1)", {"x": [[2.0, 0.0, 3.0], [1.0, 2.0, 3.0]]}),
    ("keepdim", "x.prod(0, keepdim=True)", {"x": [[2.0, 0.0], [0.0, 3.0]]}),
    ("three zeros", "x.prod()", {"x": [0.0, 0.0, 0.0]}), ("zero dim", "x.prod()", {"x": 0.0}),
    ("squared", "x.prod() ** 2", {"x": [2.0, 0.0, 3.0]}),
    ("cumprod", "x.cumprod(0)", {"x": [2.0, 3.0, 4.0]}),
    ("cumprod zero", "x.cumprod(0)", {"x": [2.0, 0.0, 3.0, 0.0, 5.0]}),
    ("cumprod one zero", "x.cumprod(0)", {"x": [2.0, 0.0, 3.0]}),
    ("cumprod dim", "x.cumprod(1)", {"x": [[0.0, 2.0], [3.0, 0.0]]}),
    ("cumprod zero first", "x.cumprod(0)", {"x": [0.0, 2.0, 3.0]}),
])
table("kinks.sums", probe, [
    ("sum", "x.sum()", {"x": GRID}), ("sum dim", "x.sum(1)", {"x": GRID}),
    ("sum dims", "x.sum((0, 1), keepdim=True)", {"x": GRID}), ("sum negative", "x.sum(-1) ** 2", {"x": GRID}),
    ("sum empty dims", "x.sum(())", {"x": GRID}), ("mean", "x.mean()", {"x": GRID}),
    ("mean dim", "x.mean(0) ** 2", {"x": GRID}), ("mean dims", "x.mean((0, 1))", {"x": GRID}),
    ("nansum", "x.nansum()", {"x": NANS}), ("nanmean", "x.nanmean()", {"x": NANS}),
    ("nansum dim", "x.nansum(0) ** 2", {"x": [[1.0, NAN], [2.0, 3.0]]}),
    ("cumsum", "x.cumsum(1)", {"x": GRID}), ("cumsum squared", "x.cumsum(0) ** 2", {"x": [1.0, 2.0, 3.0]}),
    ("logcumsumexp", "x.logcumsumexp(0)", {"x": [0.0, 1.0, -INF, 2.0]}),
    ("logsumexp", "x.logsumexp(0)", {"x": [1.0, 2.0]}), ("logsumexp dims", "x.logsumexp((0, 1))", {"x": GRID}),
    ("logsumexp keepdim", "x.logsumexp(1, keepdim=True)", {"x": GRID}),
    ("logsumexp minus inf", "x.logsumexp(0)", {"x": [-INF, -INF]}),
    ("logsumexp inf", "x.logsumexp(0)", {"x": [INF, 0.0]}),
    ("logsumexp large", "x.logsumexp(0)", {"x": [1000.0, 1000.0]}),
    ("softmax", "x.softmax(1)", {"x": GRID}), ("softmax minus inf", "x.softmax(0)", {"x": [-INF, -INF]}),
    ("softmax one inf", "x.softmax(0)", {"x": [-INF, 0.0, 1.0]}),
    ("log_softmax", "x.log_softmax(1)", {"x": GRID}),
    ("log_softmax large", "x.log_softmax(0)", {"x": [1000.0, 0.0]}),
    ("softmin", "F.softmin(x, 0)", {"x": [1.0, 2.0]}),
    ("softmax squared", "x.softmax(-1) ** 2", {"x": [0.0, 1.0, 2.0]}),
    ("count_nonzero", "x.count_nonzero()", {"x": GRID}), ("any", "(x > 2).any()", {"x": GRID}),
    ("all dim", "(x > 2).all(1)", {"x": GRID}), ("trace", "x.trace()", {"x": [[1.0, 2.0], [3.0, 4.0]]}),
    ("diff", "x.diff()", {"x": [1.0, 4.0, 9.0]}),
    ("trapezoid", "torch.trapezoid(x)", {"x": [1.0, 4.0, 9.0]}), ("cov", "torch.cov(x)", {"x": GRID}),
    ("dot", "torch.dot(x, x)", {"x": [1.0, 2.0]}),
    ("sum zero dim", "x.sum(0)", {"x": 3.0}), ("mean zero dim", "x.mean(-1)", {"x": 3.0}),
    ("softmax zero dim", "x.softmax(0)", {"x": 3.0}),
])
table("kinks.empty", probe, [
    ("sum", "x.sum()", {"x": []}), ("mean", "x.mean()", {"x": []}), ("prod", "x.prod()", {"x": []}),
    ("median", "x.median()", {"x": []}), ("std", "x.std()", {"x": []}),
    ("sum dim", "x.sum(0)", {"x": [[], []]}), ("sum dim 1", "x.sum(1)", {"x": [[], []]}),
    ("logsumexp", "x.logsumexp(0)", {"x": []}), ("cumsum", "x.cumsum(0)", {"x": []}),
    ("sort", "x.sort()", {"x": []}), ("softmax", "x.softmax(0)", {"x": []}),
    ("matmul", "x @ x.t()", {"x": [[], []]}), ("norm", "x.norm()", {"x": []}),
    ("any", "(x > 0).any()", {"x": []}),
    ("all", "(x > 0).all()", {"x": []}), ("index", "x[0:0]", {"x": [1.0, 2.0]}),
    ("mul", "x * y", {"x": [], "y": 2.0}),
])
table("kinks.sorting", probe, [
    ("sort", "x.sort()", {"x": [3.0, 1.0, 2.0]}),
    ("sort ties stable", "x.sort(stable=True)", {"x": [2.0, 1.0, 2.0, 1.0]}),
    ("descending stable", "torch.sort(x, stable=True, descending=True)", {"x": [2.0, 1.0, 2.0, 1.0]}),
    ("nan", "x.sort(stable=True)", {"x": NANS}),
    ("nan descending", "torch.sort(x, descending=True, stable=True)", {"x": NANS}),
    ("dim", "x.sort(0)", {"x": GRID}),
    ("squared", "x.sort().values ** 2 * torch.arange(3)", {"x": [3.0, 1.0, 2.0]}),
    ("argsort", "x.argsort()", {"x": [3.0, 1.0, 2.0]}),
    ("argsort descending", "x.argsort(descending=True, stable=True)", {"x": [3.0, 1.0, 3.0]}),
    ("topk", "x.topk(2)", {"x": [3.0, 1.0, 2.0]}),
    ("topk smallest", "x.topk(2, largest=False)", {"x": [3.0, 1.0, 2.0]}),
    ("topk dim", "x.topk(1, 0)", {"x": GRID}), ("msort", "x.msort()", {"x": GRID}),
    ("unique", "torch.unique(x)", {"x": [3.0, 1.0, 3.0]}),
    ("unique all", "torch.unique(x, return_inverse=True, return_counts=True)", {"x": [3, 1, 3, 2]}),
    ("unique_consecutive", "torch.unique_consecutive(x, return_counts=True)", {"x": [1, 1, 2, 1]}),
    ("searchsorted", "torch.searchsorted(x, y)", {"x": [1, 3, 5], "y": [3, 4, 0]}),
    ("searchsorted right", "torch.searchsorted(x, y, right=True)", {"x": [1, 3, 5], "y": [3, 4, 0]}),
    ("bucketize", "torch.bucketize(y, x)", {"x": [1, 3, 5], "y": [3, 4, 0]}),
    ("isin", "torch.isin(x, y)", {"x": [1, 2, 3], "y": [2, 5]}),
    ("histc", "torch.histc(x, 3, 0, 3)", {"x": [0.0, 1.0, 3.0, 2.5]}),
    ("bincount", "torch.bincount(x)", {"x": [0, 2, 2]}),
])
