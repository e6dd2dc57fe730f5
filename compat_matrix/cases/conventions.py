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
