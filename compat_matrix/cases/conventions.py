"""Where PyTorch and the obvious JAX differ, line by line: choices among equals, kinks, zeros, poles, empty sums.

Each call says its value, its first gradients, and the gradients of the sum of their squares.
"""

import warnings

from compat_matrix.case import attempt, case

INF, NAN = float("inf"), float("nan")


def _leaves(torch, data):
    return [torch.tensor(x, dtype=torch.complex128 if "j" in repr(x) else torch.float64, requires_grad=True) for x in data]


def _all(torch, f, data):
    """The value of a call, and its first and second gradients."""
    leaves = _leaves(torch, data)
    out = f(*leaves)
    out = next(x for x in out if x.requires_grad) if isinstance(out, (tuple, list)) else out
    yield "value", out.detach(), out.requires_grad
    if not out.requires_grad:
        return
    first = attempt(lambda: torch.autograd.grad(out, leaves, torch.ones_like(out), create_graph=True, allow_unused=True))
    yield "first", first
    if not isinstance(first, (tuple, list)) or not any(isinstance(g, torch.Tensor) and g.requires_grad for g in first):
        return
    total = sum((g * g.conj()).real.sum() for g in first if g is not None and g.requires_grad)
    yield "second", attempt(lambda: torch.autograd.grad(total, leaves, allow_unused=True))


def _each(torch, lines):
    """What each of some calls says, {words: (call, inputs)}."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for words, (f, *data) in lines.items():
            for what, *seen in _all(torch, f, data):
                yield f"{words}: {what}", *seen


TIE, NANS = [1.0, 2.0, 2.0], [1.0, NAN, 2.0, NAN]


@case("conventions.choices")
def _(torch):
    """Choice among equal values."""
    F = torch.nn.functional
    yield from _each(torch, {
        **{n: (getattr(torch, n), TIE) for n in ("max", "min", "amax", "amin")},
        "aminmax": (lambda x: torch.aminmax(x).max, TIE), "max of a dim": (lambda x: x.max(0), TIE), "min of a dim": (lambda x: x.min(0), [2.0, 1.0, 1.0]),
        "max with NaN": (torch.max, NANS), "amax with NaN": (torch.amax, NANS), "max of a dim with NaN": (lambda x: x.max(0), NANS),
        "median": (torch.median, [2.0, 1.0, 2.0, 3.0, 2.0]), "median of four": (torch.median, [4.0, 1.0, 3.0, 2.0]),
        "nanmedian": (torch.nanmedian, [2.0, NAN, 2.0, 3.0, 2.0]), "median of a dim": (lambda x: x.median(0), [2.0, NAN, 2.0]),
        "nanmedian of NaN": (torch.nanmedian, [NAN, NAN]), "maximum": (torch.maximum, TIE, [1.0, 3.0, NAN]), "minimum": (torch.minimum, TIE, [1.0, 3.0, NAN]),
        "fmax": (torch.fmax, [1.0, NAN, 2.0, NAN], [1.0, 3.0, NAN, NAN]), "fmin": (torch.fmin, [1.0, NAN, 2.0, NAN], [1.0, 3.0, NAN, NAN]),
        "clamp": (lambda x: x.clamp(0.0, 1.0), [0.0, 1.0, 0.5, 2.0, NAN]), "clamp between tensors": (torch.clamp, [0.0, 1.0, 0.5], [0.0] * 3, [1.0] * 3),
        "clamp with crossed bounds": (torch.clamp, [0.0, 1.0, 0.5], [2.0] * 3, [1.0] * 3),
        "clamp_min": (torch.clamp_min, TIE, [1.0, 3.0, 2.0]), "clamp_max": (torch.clamp_max, TIE, [1.0, 3.0, 2.0]),
        "cummax": (lambda x: x.cummax(0), [1.0, 1.0, 0.0, 2.0, 2.0]), "cummin": (lambda x: x.cummin(0), [1.0, 1.0, 2.0, 0.0, NAN]),
        "sort": (lambda x: x.sort(stable=True), [2.0, NAN, 1.0, 2.0]), "sort down": (lambda x: x.sort(stable=True, descending=True), [2.0, NAN, 1.0, 2.0]),
        "mode": (lambda x: x.mode(0), [2.0, 1.0, 2.0, 1.0]), "max_pool": (lambda x: F.max_pool1d(x[None], 3, 1, 1), [1.0, 1.0, 1.0]),
        "max_pool with NaN": (lambda x: F.max_pool1d(x[None], 2, 1), [1.0, NAN, 1.0]),
        "adaptive_max_pool": (lambda x: F.adaptive_max_pool1d(x[None], 1), TIE),
        "embedding_bag": (lambda w: F.embedding_bag(torch.tensor([[0, 1]]), w, mode="max"), [[1.0, 2.0], [1.0, 2.0]]),
        **{f"{n} {k} {s}": (lambda x, y, f=n, k=k, s=s: getattr(x, f)(0, torch.tensor([0, 0, 1]), y, k, include_self=s), [2.0, 1.0, 0.0], [2.0, 2.0, 1.0])
           for n in ("scatter_reduce", "index_reduce") for k in ("amax", "amin") for s in (True, False)},
        **{f"vector_norm {p}": (lambda x, p=p: torch.linalg.vector_norm(x, p), [3.0, 0.0, -3.0]) for p in (INF, -INF)},
        **{f"matrix_norm {p}": (lambda x, p=p: torch.linalg.matrix_norm(x, p), [[1.0, -1.0], [0.0, 0.0]]) for p in (INF, -INF, 1, -1)},
        "matrix_norm of zeros": (lambda x: torch.linalg.matrix_norm(x, 2), [[0.0, 0.0], [0.0, 0.0]])})


@case("conventions.kinks")
def _(torch):
    """Kinks, zeros and poles of elementwise functions."""
    F, s, lines = torch.nn.functional, torch.special, {}
    for n in ("abs", "sgn", "angle", "sign", "round", "floor", "ceil", "trunc", "frac", "sqrt", "rsqrt", "reciprocal", "sinc", "lgamma", "digamma",
    "nan_to_num"):
        lines[n] = getattr(torch, n), [-1.0, -0.0, 0.0, 1.0, 2.5, NAN, INF]
    for n in ("relu", "leaky_relu", "elu", "celu", "selu", "hardtanh", "relu6", "hardsigmoid", "hardswish", "hardshrink", "softshrink", "softplus",
    "logsigmoid", "silu",
              "mish", "gelu"):
        lines[n] = getattr(F, n), [-800.0, -3.0, -1.0, -0.5, 0.0, 0.5, 1.0, 3.0, 6.0, 20.0, 21.0, 800.0]
    for n in ("i0", "i0e", "i1", "i1e", "entr", "erfinv", "ndtri"):
        lines[n] = getattr(s, n), [-1.0, 0.0, 0.5, 1.0]
    for n in ("abs", "sgn", "angle"):
        lines[f"{n} of complex"] = getattr(torch, n), [0j, 3 + 4j]
    base, power = [0.0, 0.0, 0.0, 0.0, -2.0, -2.0], [0.0, 2.0, 0.5, -1.0, 2.0, 0.5]
    yield from _each(torch, lines | {
        "prelu": (lambda x, w: F.prelu(x, w), [-1.0, 0.0, 1.0], [0.25]), "threshold": (lambda x: F.threshold(x, 0.0, 7.0), [-1.0, 0.0, 1.0]),
        "round to decimals": (lambda x: x.round(decimals=-1), [5.0, 15.0, 24.0]),
        "div, rounded": (lambda a, b: torch.div(a, b, rounding_mode="floor"), [5.0], [2.0]),
        "to the power of 0": (lambda x: x ** 0.0, [0.0, NAN]), "pow": (torch.pow, base, power), "pow of 0": (lambda x: 0.0 ** x, [0.0, 1.0, -1.0]),
        "xlogy": (torch.xlogy, [0.0, 0.0, 1.0], [0.0, 1.0, 0.0]), "xlog1py": (s.xlog1py, [0.0, 1.0], [-1.0, -1.0]),
        "logaddexp": (torch.logaddexp, [INF, -INF, -INF], [INF, -INF, 0.0]), "atan2": (torch.atan2, [0.0, 1.0], [0.0, 0.0]),
        "hypot": (torch.hypot, [0.0, 3.0], [0.0, 4.0]), "logit": (torch.logit, [-1.0, 0.0, 0.5, 1.0, 2.0]),
        "logit within": (lambda x: torch.logit(x, 0.25), [-1.0, 0.0, 0.25, 0.5, 0.75]), "copysign": (torch.copysign, [0.0, -0.0, 2.0], [1.0, -1.0, -1.0]),
        "nextafter": (torch.nextafter, [1.0], [2.0]), "frexp": (lambda x: torch.frexp(x), [0.0, 3.0]), "ldexp": (torch.ldexp, [3.0], [2.0]),
        "fmod": (torch.fmod, [5.0, -5.0, 1.0], [3.0, 3.0, 0.0]), "remainder": (torch.remainder, [5.0, -5.0, 1.0], [3.0, 3.0, 0.0]),
        "addcdiv": (torch.addcdiv, [1.0], [0.0], [0.0]), "where": (lambda x: torch.where(x > 0, x.log(), 0.0), [0.0, 1.0]),
        "masked_fill": (lambda x: x.masked_fill(x.isnan(), 0.0), [1.0, NAN]), "tril": (torch.tril, [[1.0, NAN], [2.0, 3.0]]),
        "masked_select": (lambda x: x.masked_select(~x.isnan()), [1.0, NAN]),
        **{n: (getattr(torch, n), [1.0, 2.0], [2.0, 3.0]) for n in ("floor_divide", "heaviside")}, "zeta": (s.zeta, [2.0], [2.0]),
        "igamma": (torch.igamma, [2.0], [2.0]), "histc": (lambda x: torch.histc(x, 2), [1.0, 2.0])})


@case("conventions.reductions")
def _(torch):
    """Reductions, norms, statistics."""
    F, norm, lines = torch.nn.functional, torch.linalg.vector_norm, {}
    for p in (0, 0.5, 1, 1.5, 2, 3, INF, -INF, -1):
        lines[f"norm {p} of zeros"] = (lambda x, p=p: norm(x, p)), [0.0, 0.0]
        lines[f"norm {p} with a zero"] = (lambda x, p=p: norm(x, p)), [0.0, 2.0]
        if p in (1, 2, INF):
            lines[f"dist {p}"] = (lambda x, y, p=p: torch.dist(x, y, p)), [1.0, 2.0], [1.0, 2.0]
            lines[f"cdist {p}"] = (lambda x, y, p=p: torch.cdist(x, y, p)), [[1.0, 2.0]], [[1.0, 2.0], [3.0, 4.0]]
            lines[f"pdist {p}"] = (lambda x, p=p: F.pdist(x, p)), [[1.0, 2.0], [1.0, 2.0], [3.0, 4.0]]
    for name, f in {"prod": torch.prod, "cumprod": lambda x: x.cumprod(0)}.items():
        for zeros, x in ((1, [2.0, 0.0, 3.0]), (2, [2.0, 0.0, 3.0, 0.0, 5.0]), ("complex", [2 + 1j, 0j, 3j])):
            lines[f"{name}, {zeros}"] = f, x
    for name, empty in (("mean", []), ("sum", []), ("prod", []), ("median", []), ("std", []), ("logsumexp", [])):
        lines[f"{name} of nothing"] = (lambda x, n=name: getattr(x, n)(0) if n == "logsumexp" else getattr(x, n)()), empty
    yield from _each(torch, lines | {
        **{f"{n} prod": (lambda x, y, f=n: getattr(x, f)(0, torch.tensor([0, 0, 1]), y, "prod"), [2.0, 0.0], [0.0, 3.0, 5.0]) for n in ("scatter_reduce",
        "index_reduce")},
        "pairwise_distance": (F.pairwise_distance, [[1.0, 2.0]], [[1.0, 2.0]]), "cosine_similarity": (F.cosine_similarity, [[0.0, 0.0]], [[3.0, 4.0]]),
        "normalize": (F.normalize, [[0.0, 0.0]]), "renorm": (lambda x: x.renorm(2, 0, 1.0), [[3.0, 4.0], [0.1, 0.2]]),
        "std of a constant": (torch.std, [1.0, 1.0, 1.0]),
        "std of one": (torch.std, [1.0]), "var of one": (torch.var, [1.0]), "std of one, uncorrected": (lambda x: x.std(correction=0), [1.0]),
        "var of complex": (torch.var, [1 + 2j, 3 - 1j]), "logsumexp of -inf": (lambda x: x.logsumexp(0), [-INF, -INF]),
        "logsumexp with inf": (lambda x: x.logsumexp(0), [INF, 0.0]), "softmax of -inf": (lambda x: x.softmax(0), [-INF, -INF]),
        **{f"quantile {k}": (lambda x, k=k: x.quantile(0.4, interpolation=k), [1.0, 2.0, 4.0, 8.0]) for k in ("linear", "lower", "higher", "nearest",
        "midpoint")},
        "nanquantile": (lambda x: x.nanquantile(0.4), [1.0, NAN, 4.0, 8.0]), "nanmean": (torch.nanmean, [1.0, NAN]), "nansum": (torch.nansum, [1.0, NAN]),
        "trapezoid": (torch.trapezoid, [1.0, 2.0, 4.0], [0.0, 1.0, 3.0]),
        "cumulative_trapezoid": (torch.cumulative_trapezoid, [1.0, 2.0, 4.0], [0.0, 1.0, 3.0]),
        "diff": (lambda x, a, b: torch.diff(x, prepend=a, append=b), [1.0, 2.0], [0.0], [5.0]),
        "gradient": (lambda x, t: torch.gradient(x, spacing=(t,)), [1.0, 2.0, 4.0], [0.0, 1.0, 3.0]),
        "corrcoef": (torch.corrcoef, [[1.0, 1.0, 1.0], [1.0, 2.0, 4.0]]), "cov": (lambda x, w: torch.cov(x, aweights=w), [1.0, 2.0, 4.0], [0.5, 1.0, 2.0])})


@case("conventions.losses")
def _(torch):
    """Losses and layers."""
    F, long = torch.nn.functional, torch.tensor
    yield from _each(torch, {
        "huber": (F.huber_loss, [0.0, 1.0, 2.0], [0.0, 0.0, 0.0]), "smooth_l1": (F.smooth_l1_loss, [0.0, 1.0, 2.0], [0.0, 0.0, 0.0]),
        "smooth_l1, beta 0": (lambda x, y: F.smooth_l1_loss(x, y, beta=0.0), [0.0, 1.0], [0.0, 0.0]), "l1": (F.l1_loss, [0.0, 1.0], [0.0, 0.0]),
        "hinge_embedding": (F.hinge_embedding_loss, [1.0, 0.5, 2.0, 1.0], [-1.0, 1.0, -1.0, 0.5]),
        "margin_ranking": (F.margin_ranking_loss, [1.0, 2.0], [1.0, 0.0], [1.0, -1.0]),
        "cosine_embedding": (lambda a, b: F.cosine_embedding_loss(a, b, long([-1.0]), 1.0), [[1.0, 0.0]], [[2.0, 0.0]]),
        "multi_margin": (lambda x: F.multi_margin_loss(x, long([0])), [[1.0, 0.0, 0.5]]),
        "multilabel_margin": (lambda x: F.multilabel_margin_loss(x, long([[0, -1, 1]])), [[1.0, 0.0, 0.5]]),
        "binary_cross_entropy": (F.binary_cross_entropy, [0.0, 1.0, 0.5], [1.0, 0.0, 0.25]), "kl_div": (F.kl_div, [-1.0, -INF], [0.0, 0.0]),
        "kl_div of logs": (lambda x, y: F.kl_div(x, y, log_target=True), [-1.0, -2.0], [-1.5, -0.5]),
        "gaussian_nll": (F.gaussian_nll_loss, [1.0, 2.0], [0.0, 0.0], [0.0, 2.0]),
        "poisson_nll": (lambda x, y: F.poisson_nll_loss(x, y, full=True), [1.0, 2.0, 0.0], [0.5, 1.0, 3.0]),
        "soft_margin": (lambda x: F.soft_margin_loss(x, long([-1.0, 1.0]).double()), [800.0, 1.0]),
        "nll, all ignored": (lambda x: F.nll_loss(x, long([1, 1]), ignore_index=1), [[0.0, 1.0], [2.0, 3.0]]),
        "nll, weighted": (lambda x: F.nll_loss(x, long([1, 0]), long([0.5, 2.0]).double()), [[0.0, 1.0], [2.0, 3.0]]),
        "cross_entropy, smoothed": (lambda x: F.cross_entropy(x, long([1, 0]), long([0.5, 2.0]).double(), label_smoothing=0.1), [[0.0, 1.0], [2.0, 3.0]]),
        "cross_entropy of probabilities": (F.cross_entropy, [[0.0, 1.0]], [[0.25, 0.75]]), "mse of nothing": (F.mse_loss, [], []),
        "l1 of nothing": (F.l1_loss, [], []),
        "dropout of all": (lambda x: F.dropout(x, 1.0), [1.0, 2.0]), "dropout of none": (lambda x: F.dropout(x, 0.0), [1.0, 2.0]),
        "embedding": (lambda w: F.embedding(long([0, 1, 1]), w, padding_idx=0, scale_grad_by_freq=True), [[1.0, 2.0], [3.0, 4.0]]),
        "embedding_bag, empty": (lambda w: F.embedding_bag(long([0, 1]), w, long([0, 0, 2])), [[1.0, 2.0], [3.0, 4.0]]),
        "avg_pool": (lambda x: F.avg_pool1d(x[None], 2, 2, 1, True, False), [1.0, 2.0, 3.0, 4.0]),
        "avg_pool, padding counts": (lambda x: F.avg_pool1d(x[None], 2, 2, 1, True), [1.0, 2.0, 3.0, 4.0]),
        **{f"interpolate {m}": (lambda x, m=m: F.interpolate(x[None, None], scale_factor=1.7, mode=m), [[1.0, 2.0], [3.0, 5.0]])
           for m in ("nearest", "nearest-exact", "bilinear", "bicubic", "area")},
        **{f"grid_sample {m} {p}": (lambda x, g, m=m, p=p: F.grid_sample(x[None, None], g[None, None], m, p, align_corners=True), [[1.0, 2.0, 3.0]],
                                    [[1.0, 0.0], [-1.0, 0.0], [0.5, 0.0], [1.5, 0.0]]) for m in ("bilinear", "nearest") for p in ("zeros", "border",
                                    "reflection")},
        **{f"pad {m}": (lambda x, m=m: F.pad(x[None, None], (2, 1), m), [1.0, 2.0, 3.0]) for m in ("reflect", "replicate", "circular")},
        "pad, cropped": (lambda x: F.pad(x, (-1, 1)), [1.0, 2.0, 3.0]),
        "attention, all masked": (lambda q: F.scaled_dot_product_attention(q[None], q[None], q[None], long([[False, False], [True, False]])), [[1.0, 2.0],
        [3.0, 4.0]]),
        "unfold": (lambda x: F.unfold(x[None, None], 2), [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])})


@case("conventions.complex")
def _(torch):
    """Complex numbers."""
    yield from _each(torch, {
        "a square": (lambda z: z * z, [1 + 2j]), "real times complex": (lambda a, z: a * z, [3.0], [1 + 2j]),
        "real to complex": (lambda a: a.to(torch.complex128), [3.0]),
        "complex": (torch.complex, [3.0], [4.0]), "polar": (torch.polar, [3.0], [4.0]), "a power": (lambda a, z: a ** z, [3.0], [1 + 2j]),
        "a quotient": (lambda a, z: a / z, [3.0], [1 + 2j]),
        "matmul": (lambda a, z: a.to(torch.complex128) @ z, [3.0, 1.0], [1 + 2j, 1j]),
        **{n: (getattr(torch, n), [1 + 2j]) for n in ("conj", "real", "imag", "abs", "angle", "view_as_real", "sgn")},
        "vdot": (torch.vdot, [1 + 2j, 1j], [3 - 1j, 2 + 0j]), "sgn of 0": (torch.sgn, [0j, 3 + 4j]),
        "logaddexp": (torch.logaddexp, [1 + 3j, 1 + 10j, 2 - 4j, 0j], [1 + 2.5j, 0.5 + 12j, 2 + 9j, -3j]),
        "irfft": (torch.fft.irfft, [1 + 2j, 3 - 1j, 2 + 2j]), "rfft": (torch.fft.rfft, [1.0, 2.0, 4.0, 3.0]),
        "hfft": (torch.fft.hfft, [1 + 2j, 3 - 1j, 2 + 2j]),
        "to the power of 0": (torch.pow, [0j], [0j]), "alpha": (lambda a, b: torch.add(a, b, alpha=1j), [1 + 2j], [2 - 1j])})


@case("conventions.writes")
def _(torch):
    """Indexing and scattering."""
    i = torch.tensor
    yield from _each(torch, {
        "index_put": (lambda x, v: x.index_put((i([0, 0]),), v), [1.0, 2.0], [3.0, 4.0]),
        "index_add": (lambda x, v: x.index_add(0, i([0, 0]), v), [1.0, 2.0], [3.0, 4.0]),
        "index_copy": (lambda x, v: x.index_copy(0, i([0, 0]), v), [1.0, 2.0], [3.0, 4.0]),
        "scatter": (lambda x, v: x.scatter(0, i([0, 0]), v), [1.0, 2.0], [3.0, 4.0]),
        "scatter_add": (lambda x, v: x.scatter_add(0, i([0, 0]), v), [1.0, 2.0], [3.0, 4.0]),
        "put": (lambda x, v: x.put(i([0, 0]), v, accumulate=True), [1.0, 2.0], [3.0, 4.0]),
        **{f"scatter_reduce {k} {s}": (lambda x, v, k=k, s=s: x.scatter_reduce(0, i([0, 0]), v, k, include_self=s), [1.0, 2.0], [3.0, 4.0])
           for k in ("mean", "prod") for s in (True, False)},
        "gather": (lambda x: x.gather(0, i([1, 1])), [1.0, 2.0, 3.0]), "take": (lambda x: x.take(i([3, -1])), [[1.0, 2.0], [3.0, 4.0]]),
        "cat with nothing": (lambda x, y: torch.cat([x, y]), [], [[1.0, 2.0, 3.0]])})


@case("conventions.matrices")
def _(torch):
    """Linear algebra: what is read, what is free, what is singular."""
    L, half = torch.linalg, [[4.0, 100.0], [1.0, 3.0]]
    twice, singular, tall = [[2.0, 0.0], [0.0, 2.0]], [[1.0, 2.0], [2.0, 4.0]], [[1.0, 2.0], [3.0, 1.0], [0.5, 1.0]]
    yield from _each(torch, {
        **{f"eigvalsh of {u}": (lambda x, u=u: L.eigvalsh(x, UPLO=u), half) for u in "LU"}, "cholesky": (L.cholesky, half),
        "cholesky, upper": (lambda x: L.cholesky(x, upper=True), [[4.0, 1.0], [100.0, 3.0]]),
        "eigh": (lambda x: L.eigh(x).eigenvectors.abs(), [[2.0, 1.0], [1.0, 3.0]]), "eigenvalues, repeated": (L.eigvalsh, twice),
        "eigenvectors, repeated": (lambda x: L.eigh(x).eigenvectors, twice), "singular values, repeated": (L.svdvals, twice),
        "singular vectors, repeated": (lambda x: L.svd(x).U.abs(), twice), "qr": (lambda x: L.qr(x).R.abs(), tall),
        "qr, r": (lambda x: L.qr(x, mode="r").R, tall), "qr, complete": (lambda x: L.qr(x, mode="complete").R, tall),
        "svd, all vectors": (lambda x: L.svd(x, full_matrices=True).U[:, :2].abs(), tall), "pinv": (L.pinv, tall), "pinv, singular": (L.pinv, singular),
        "matrix_exp": (L.matrix_exp, twice), "householder_product": (L.householder_product, tall, [0.5, 0.25]),
        "no reflectors": (L.householder_product, tall, []), "lstsq": (lambda a, b: L.lstsq(a, b).solution, tall, [[1.0], [2.0], [0.5]]),
        "slogdet": (lambda x: L.slogdet(x).logabsdet, half), "det": (L.det, half),
        "solve": (L.solve, half, [1.0, 1.0]), "lu": (lambda x: L.lu(x).U, half),
        "lu_unpack": (lambda x: torch.lu_unpack(*L.lu_factor(x))[1], half), "ormqr": (torch.ormqr, tall, [0.5, 0.25], [[1.0], [2.0], [0.5]]),
        "ormqr of nothing": (torch.ormqr, [[], []], [], [[1.0], [2.0]])})
    for name, f in {"cholesky": L.cholesky, "inv": L.inv, "solve": lambda a: L.solve(a, a)}.items():
        yield f"{name}, singular", attempt(lambda: f(torch.tensor(singular, requires_grad=True)))
    x = torch.tensor(half, dtype=torch.float64, requires_grad=True)
    z = torch.tensor([[1 + 2j, 0.5j], [2.0, 3 - 1j]], requires_grad=True)
    free = {"svd": lambda: L.svd(z).U.real.sum(), "eig": lambda: L.eig(z).eigenvectors.real.sum()}
    for name, loss in free.items():
        yield f"free phase of {name}", attempt(lambda: torch.autograd.grad(loss(), z))
    p, _, _ = L.lu(x)
    yield "P of lu", p, p.requires_grad, [t.dtype for t in (*L.lu_factor(x), L.ldl_factor(x.detach()).pivots, L.matrix_rank(x), L.lstsq(x, x).rank)]
    yield "pivots", L.lu_factor(x).pivots
    for name, info in {"inv_ex": lambda a: L.inv_ex(a), "cholesky_ex": lambda a: L.cholesky_ex(a), "solve_ex": lambda a: L.solve_ex(a, a)}.items():
        yield name, info(torch.tensor(singular))[1]
    yield "residuals", [tuple(L.lstsq(torch.tensor(a), torch.ones(len(a), 1)).residuals.shape) for a in (tall, singular)]
    single, double = torch.ones(2, 2), torch.ones(2, 2, dtype=torch.float64)
    for name, call in {"mm": torch.mm, "matmul": torch.matmul, "lerp": lambda a, b: torch.lerp(a, b, 0.5), "dot": lambda a, b: a[0].dot(b[0])}.items():
        yield f"{name} of two dtypes", attempt(lambda: call(single, double))


@case("conventions.flags")
def _(torch):
    """None, zeros, dtypes, names and flags."""
    yield from _each(torch, {
        "to": (lambda x, y: x.to(y), [1.0], [2.0]), "floor": (torch.floor, [1.5]), "copysign": (torch.copysign, [1.0], [2.0]),
        "masked out": (lambda x, y: (x * y).masked_fill(torch.tensor([True]), 0.0), [1.0], [2.0]), "nothing": (torch.mul, [], []),
        "add": (torch.add, [1.0], [2.0]), "sum": (torch.sum, [1.0]), "cat": (lambda x, y: torch.cat([x, y]), [1.0], [2.0]),
        "p=0": (lambda x: torch.linalg.vector_norm(x, 0), [1.0]), "masked norm, p=0": (lambda x: torch.masked.norm(x, 0, dim=0), [1.0])})
    single, double = torch.ones(2, requires_grad=True), torch.ones(3, 2, dtype=torch.float64, requires_grad=True)
    yield "dtypes of gradients", torch.autograd.grad((single + double).sum(), (single, double)), torch.autograd.grad(single.double().sum(), single)
    x = torch.tensor([[3.0, 1.0], [2.0, 4.0]], requires_grad=True)
    named = {n: getattr(torch, n)(x, dim=1) for n in ("max", "min", "median", "nanmedian", "mode", "sort", "cummax", "cummin")}
    named |= {"topk": x.topk(1), "kthvalue": x.kthvalue(1), "aminmax": torch.aminmax(x), "svd": torch.svd(x), "linalg.svd": torch.linalg.svd(x),
              "slogdet": torch.linalg.slogdet(x), "qr": torch.linalg.qr(x), "frexp": torch.frexp(x), "eigh": torch.linalg.eigh(x), "lu": torch.linalg.lu(x),
              "lu_factor": torch.linalg.lu_factor(x), "lstsq": torch.linalg.lstsq(x, x), "inv_ex": torch.linalg.inv_ex(x)}
    for name, found in named.items():
        yield name, type(found).__name__, [f for f in dir(found) if isinstance(getattr(found, f), torch.Tensor)], [(t.dtype, t.requires_grad) for t in found]
    several = {"split": x.split(1), "chunk": x.chunk(2), "unbind": x.unbind(), "tensor_split": x.tensor_split(2), "meshgrid": torch.meshgrid(x[0], x[1]),
               "broadcast_tensors": torch.broadcast_tensors(x, x), "nonzero": x.nonzero(as_tuple=True), "where": torch.where(x > 2)}
    for name, found in several.items():
        yield name, type(found).__name__, list(found)


@case("conventions.promotion")
def _(torch):
    """Promotion of types, and integers."""
    t, kinds = torch.tensor, (torch.bool, torch.uint8, torch.int8, torch.int32, torch.int64, torch.bfloat16, torch.float32, torch.float64, torch.complex64,
                              torch.complex128)  # float16 meets complex in complex32, of which there are no tensors here: see promotion
    of = {k: (t([2, 1]).to(k), t(2).to(k)) for k in kinds}
    for a in kinds:
        yield f"{a} with vectors", [(of[a][0] + of[b][0]).dtype for b in kinds]
        yield f"{a} with 0-dim", [(of[a][0] * of[b][1]).dtype for b in kinds], [(of[a][1] * of[b][0]).dtype for b in kinds]
        yield f"{a} with numbers", [attempt(lambda: of[a][0] + v) for v in (True, 2, 1.5, 1j)], [attempt(lambda: v - of[a][0]) for v in (True, 2, 1.5, 1j)]
        calls = {"exp": torch.exp, "sqrt": torch.sqrt, "sin": torch.sin, "angle": torch.angle, "sum": torch.sum, "prod": torch.prod, "any": torch.any,
                 "all": torch.all, "neg": torch.neg, "mean": torch.mean, "var": torch.var, "cumsum": lambda x: x.cumsum(0), "cumprod": lambda x: x.cumprod(0),
                 "mean in float": lambda x: x.mean(dtype=torch.float64), "halved": lambda x: x / 2, "floored": lambda x: x // 2, "squared": lambda x: x ** 2,
                 "to 2.0": lambda x: x ** 2.0, "clamped": lambda x: x.clamp(max=1.5), "chosen": lambda x: torch.where(x == 2, x, 2.5)}
        for name, f in calls.items():
            yield f"{name} of {a}", attempt(lambda: f(of[a][0]))
        yield f"{a} in place", [attempt(lambda: of[a][0].clone().add_(v)) for v in (True, 2, 1.5, 1j, of[torch.float64][0], of[torch.complex64][1])]
    for b in kinds[:-2]:
        yield f"float16 with {b}", [t([1.0], dtype=torch.float16) + x for x in of[b]], [t(1.0, dtype=torch.float16) + x for x in of[b]]
    i, f = t([7, -7, 0, 5]), t([7.0, -7.0, 0.0, -1.0])
    calls = {"wrapped": lambda: t([1], dtype=torch.uint8) + 300, "bool less bool": lambda: t([True]) - t([True]), "less a bool": lambda: -t([True]),
             "twice a bool": lambda: t([True]) * 2, "floor": lambda: i // 3, "trunc": lambda: i.div(3, rounding_mode="trunc"), "rest": lambda: i % -3,
             "fmod": lambda: i.fmod(-3), "by 0": lambda: i // 0, "rest by 0": lambda: i % 0, "true by 0": lambda: i / 0, "float by 0": lambda: f // 0,
             "rest by inf": lambda: f % INF, "to -1": lambda: i ** -1, "to tensors": lambda: i ** t([-1, 2, -1, 1]), "2 to tensors": lambda: 2 ** i,
             "shifted out": lambda: t([1]) << 65, "shifted down": lambda: t([-5]) >> 1, "mul_": lambda: i.clone().mul_(1.5), "add_": lambda: t([True]).add_(1),
             "never broadcast": lambda: t([1.0]).add_(f), "alpha": lambda: torch.add(i, i, alpha=1.5), "addcdiv": lambda: torch.addcdiv(i, i, i),
             "where": lambda: torch.where(t([True, False]), 1, 2.5), "where of 0-dim": lambda: torch.where(t([True]), t([1.0]), t(2.0, dtype=torch.float64)),
             "cat": lambda: torch.cat([t([1]), t([1.5])]), "stack": lambda: torch.stack([t(1), t(1.5)]), "equal": lambda: torch.equal(t([1]), t([1.0])),
             "isclose": lambda: torch.isclose(t([1]), t([1.0])), "allclose": lambda: torch.allclose(t([1.0]), t([1.0], dtype=torch.float64)),
             "empty": lambda: t([]), "scalar_tensor": lambda: torch.scalar_tensor(1), "arange": lambda: torch.arange(3.0), "full": lambda: torch.full((2,), 1),
             "full of bool": lambda: torch.full((1,), True), "full of complex": lambda: torch.full((1,), 1j),
             "linspace": lambda: torch.linspace(0, 10, 5, dtype=torch.int64), "atan2": lambda: torch.atan2(i, i), "logaddexp": lambda: torch.logaddexp(i, i),
             "fft": lambda: torch.fft.fft(i)}
    for name, call in calls.items():
        yield name, attempt(call)


@case("conventions.nothing")
def _(torch):
    """Empty and 0-dim inputs."""
    L, F, of = torch.linalg, torch.nn.functional, lambda *shape: torch.zeros(*shape, requires_grad=True)
    calls = {"cat": lambda a, b: torch.cat([a, b]), "mm": torch.mm, "addmm": lambda a, b, c: torch.addmm(a, b, c, beta=3.0), "det": L.det, "inv": L.inv,
             "slogdet": lambda a: L.slogdet(a)[1], "vh": lambda a: L.svd(a)[2], "q": lambda a: L.qr(a, mode="complete")[0], "conv": F.conv1d,
             "pool": lambda a: F.max_pool1d(a, 2), "average": lambda a: F.avg_pool1d(a, 2), "linear": F.linear, "matrix_exp": L.matrix_exp, "bmm": torch.bmm}
    shapes = {"cat": [(0,), (2, 3)], "mm": [(2, 0), (0, 3)], "addmm": [(2, 3), (2, 0), (0, 3)], "det": [(0, 0)], "inv": [(0, 0)], "slogdet": [(0, 0)],
              "vh": [(0, 3)], "q": [(3, 0)], "conv": [(0, 2, 4), (3, 2, 2)], "pool": [(0, 2, 4)], "average": [(0, 2, 4)], "linear": [(0, 3), (2, 3)],
              "matrix_exp": [(2, 0, 0)], "bmm": [(0, 2, 3), (0, 3, 2)]}
    for name, f in calls.items():
        inputs = [of(*s) for s in shapes[name]]
        yield name, attempt(lambda: f(*inputs)), attempt(lambda: torch.autograd.grad(f(*inputs).sum(), inputs, allow_unused=True))
    point, j = torch.tensor(2.0, requires_grad=True), torch.tensor(0)
    for d in (0, -1, 1):
        at = {"sum": lambda: point.sum(d), "max": lambda: point.max(d), "sort": lambda: point.sort(d), "cumsum": lambda: point.cumsum(d),
              "softmax": lambda: point.softmax(d), "squeeze": lambda: point.squeeze(d), "flip": lambda: point.flip(d), "gather": lambda: point.gather(d, j),
              "index_select": lambda: point.index_select(d, j), "topk": lambda: point.topk(1, d), "movedim": lambda: point.movedim(d, 0),
              "cat": lambda: torch.cat([point, point], d), "unbind": lambda: point.unbind(d), "tensor_split": lambda: point.tensor_split(1, d),
              "unsqueeze": lambda: point.unsqueeze(d), "prod": lambda: point.prod(d), "var": lambda: point.var(d), "argmax": lambda: point.argmax(d),
              "logsumexp": lambda: point.logsumexp(d), "roll": lambda: point.roll(1, d), "transpose": lambda: point.transpose(d, 0)}
        for name, call in at.items():
            yield f"{name} at {d}", attempt(call)
    refused = {"matmul": lambda: point @ point, "diag": lambda: torch.diag(point), "len": lambda: len(point), "t[0]": lambda: point[0],
               "nonzero": lambda: torch.tensor(True).nonzero(), "iter": lambda: list(point), "t()": lambda: point.t()}
    for name, call in refused.items():
        yield name, attempt(call)


@case("conventions.second_derivatives")
def _(torch):
    """Second derivatives at special points (the rest stands beside its first ones)."""
    F = torch.nn.functional
    yield from _each(torch, {
        **{n: (getattr(F, n), [-3.0, -1.0, 0.0, 1.0, 3.0, 25.0]) for n in ("relu", "leaky_relu", "elu", "silu", "gelu", "hardswish", "softplus", "mish")},
        **{n: (getattr(F, n), [1.0, -1.0, 0.0], [0.0, 0.0, 0.0]) for n in ("l1_loss", "smooth_l1_loss", "huber_loss", "mse_loss")},
        "abs": (torch.abs, [0.0, 1.0]), "amax": (torch.amax, TIE), "max": (torch.max, TIE), "clamp": (lambda x: x.clamp(0, 1), [0.0, 1.0, 2.0]),
        "prod": (torch.prod, [0.0, 2.0, 3.0]), "cumprod": (lambda x: x.cumprod(0), [2.0, 0.0, 3.0]), "x**1": (lambda x: x ** 1, [0.0, 2.0]),
        "pow": (torch.pow, [0.0], [2.0]), "sqrt": (torch.sqrt, [0.0]), "hypot": (torch.hypot, [0.0], [0.0]), "atan2": (torch.atan2, [0.0], [0.0]),
        "sinc": (torch.sinc, [0.0]), "dist": (torch.dist, [1.0, 2.0], [1.0, 2.0]), "vector_norm": (torch.linalg.vector_norm, [0.0, 0.0]),
        "std": (torch.std, [1.0, 1.0]), "where": (lambda x: torch.where(x > 0, x * x, x ** 3), [0.0, 2.0])})


@case("conventions.refusals")
def _(torch):
    """Errors of autograd itself; what was refused once is refused again."""
    def leaf():
        return torch.tensor([1.0, 2.0], requires_grad=True)

    def twice():
        loss = leaf().exp().sum()
        loss.backward()
        loss.backward()

    def written(changed):
        x = leaf()
        out = changed(x)
        out.sum().backward()

    def after(x):
        y = x.exp()
        out = y * 2
        y.add_(1)
        return out

    calls = {
        "integers": lambda: torch.tensor([1], requires_grad=True), "integers, later": lambda: torch.tensor([1]).requires_grad_(),
        "a leaf in place": lambda: leaf().add_(1), "a view of a leaf in place": lambda: leaf()[0].add_(1), "a leaf's place": lambda: leaf().__setitem__(0, 1.0),
        "numpy": lambda: leaf().numpy(), "numpy of conj": lambda: torch.tensor([1j]).conj().numpy(), "no scalar": lambda: leaf().backward(),
        "a complex scalar": lambda: (leaf() * 1j).sum().backward(), "twice": twice, "written": lambda: written(after),
        "unused": lambda: torch.autograd.grad(leaf().sum(), leaf()), "no graph": lambda: torch.tensor([1.0]).sum().backward(),
        "no tensors": lambda: torch.autograd.backward([]), "another shape": lambda: leaf().exp().backward(torch.ones(3)),
        "another length": lambda: torch.autograd.backward([leaf().sum()], [None, None]), "a frozen result": lambda: leaf().exp().requires_grad_(False),
        "a gradient of another shape": lambda: setattr(leaf(), "grad", torch.ones(3)), "a gradient of another dtype": lambda: setattr(leaf(), "grad",
        torch.ones(2, dtype=torch.float64)), "no tensor": lambda: setattr(leaf(), "grad", 1.0), "retain_grad": lambda: torch.ones(1).retain_grad(),
        "deepcopy": lambda: __import__("copy").deepcopy(leaf().exp()), "hook": lambda: torch.ones(1).register_hook(print), "truth": lambda: bool(leaf()),
        "item": lambda: leaf().item(), "inputs": lambda: leaf().sum().backward(inputs=[]), "no such input": lambda: leaf().sum().backward(inputs=[leaf().exp()])}
    for name, call in calls.items():
        yield name, attempt(call), attempt(call)


@case("conventions.rest")
def _(torch):
    """Lines that are no call of one gradient: edges of bins, what is refused, what is written in place, masks, indices."""
    F, t = torch.nn.functional, torch.tensor
    x = t([1.0, 2.0, 2.0, 3.0])
    yield "right edges", torch.histc(x, 2, 1, 3), torch.histogram(x, 2).hist, torch.bucketize(x, t([1.0, 2.0])), torch.searchsorted(t([1.0, 2.0]), x, right=True)
    yield "argmax", t([1.0, 2.0, 2.0]).argmax(), t([1.0, float("nan"), 2.0, float("nan")]).argmin(), t([2.0, 1.0, 2.0, 1.0]).mode(), t([NAN, 1.0, NAN]).unique()
    empty = torch.ones(0, 2)
    for name, call in {"max": lambda: empty.max(), "amax": lambda: empty.amax(0), "argmax": lambda: empty.argmax(), "quantile": lambda: empty.quantile(0.5),
                       "vector_norm": lambda: torch.linalg.vector_norm(empty, INF)}.items():
        yield f"{name} of nothing", attempt(call)
    norm, weight = torch.nn.BatchNorm1d(2), torch.tensor([[3.0, 4.0], [0.3, 0.4]])
    norm(t([[1.0, 2.0], [3.0, 6.0]]))
    F.embedding(t([0]), weight, max_norm=1.0)
    yield "written", norm.running_mean, norm.running_var, weight, attempt(lambda: norm(t([[1.0, 2.0]])))
    needs = torch.ones(2, 2, requires_grad=True)
    yield "further results", [o.requires_grad for o in torch.native_layer_norm(needs, (2,), None, None, 1e-5)]
    mask, attention = t([[True, False], [True, True]]), torch.nn.MultiheadAttention(2, 1)
    for p in attention.parameters():
        torch.nn.init.constant_(p, 0.5)
    q = t([[1.0, 0.0], [0.5, 2.0]])
    yield "masks", F.scaled_dot_product_attention(q[None], q[None], q[None], mask), attention(q, q, q, attn_mask=mask)[0].isnan()
    lp = torch.randn(4, 1, 3, generator=torch.Generator().manual_seed(0)).log_softmax(2).requires_grad_()
    loss = F.ctc_loss(lp, t([[1, 2]]), t([4]), t([2]), reduction="sum")
    g, = torch.autograd.grad(loss, lp, create_graph=True)
    yield "ctc_loss", loss.detach(), g.detach(), attempt(lambda: torch.autograd.grad(g.sum(), lp))
    once = {"hardsigmoid": lambda a: F.hardsigmoid(a), "multi_margin_loss": lambda a: F.multi_margin_loss(a, t([0, 1])),
            "multilabel_margin_loss": lambda a: F.multilabel_margin_loss(a, t([[0, -1], [1, -1]])), "cdist": lambda a: torch.cdist(a, a * 2),
            "embedding_bag": lambda a: F.embedding_bag(t([[0, 1]]), a, per_sample_weights=t([[1.0, 2.0]]), mode="sum")}
    for name, f in once.items():
        a = torch.tensor([[0.5, 1.0], [2.0, -1.0]], requires_grad=True)
        g, = torch.autograd.grad(f(a).sum(), a, create_graph=True)
        yield f"{name}, twice", attempt(lambda: torch.autograd.grad((g * g).sum(), a))
    places = {"negative step": lambda: x[::-1], "list": lambda: x[[0, -1]], "of tensors": lambda: weight[t([0, 1]), t([1, 0])], "bools": lambda: weight[t([True, False])],
              "a mask": lambda: weight[t([[True, False], [False, True]])], "None": lambda: x[None].shape, "...": lambda: weight[..., 0], "True": lambda: x[True].shape,
              "0-dim": lambda: x[t(1)], "gather far": lambda: x.gather(0, t([9])), "index_select far": lambda: x.index_select(0, t([9])),
              "scatter a part": lambda: x.scatter(0, t([1]), t([7.0, 8.0])), "put": lambda: weight.put(t([3]), t([7.0]))}
    for name, call in places.items():
        yield f"index: {name}", attempt(call)
