"""Truth values as factors: 0 times NaN or infinity is NaN, 0 times -1 has a sign; gradients that are NaN or infinite where a mask lets none through."""

from compat_matrix.case import case
from compat_matrix.probes import each

INF, NAN = float("inf"), float("nan")
ODD = [1.0, NAN, INF, -3.0, 2.0, -INF]
MASK = [True, False, False, False, True, False]

PRODUCTS = {
    "a mask after": "(w * m)", "a mask before": "m * w", "a comparison": "(x > 0) * (w - 5)", "float": "m.float() * w", "to": "m.to(w.dtype) * w", "type_as": "m.type_as(w) * w",
    "mul_": "w.clone().mul_(m)", "imul": "w.clone().__imul__(m)", "addcmul": "x.addcmul(m.to(w.dtype), w)", "the other part": "(1 - m.to(w.dtype)) * w",
    "sum": "(m.to(w.dtype) * w).sum()", "rows": "m.to(w.dtype)[None] * w[:, None]", "twice": "m * (~m) * w", "isnan": "x.isnan() * w",
    "double": "m.double() * w", "nonzero over count": "(w != 0) * (w - w.sum()) / 3",
}


def products(torch, expression):
    text, dtype = expression
    x = torch.tensor(ODD, dtype=getattr(torch, dtype))
    m = torch.tensor(MASK)
    w = x.clone().requires_grad_()
    for turn in range(3):  # the first turns may run operator by operator
        y = eval(text, {"x": x, "m": m, "w": w})
        g, = torch.autograd.grad(y.sum(), w, retain_graph=True)
        h, = torch.autograd.grad(y, w, torch.full_like(y, -INF))
        yield f"turn {turn}", y, g, h, torch.signbit(y.detach()) & ~y.isnan()


each("masks_multiplied.products", products, {f"{name} {dtype}": (text, dtype) for name, text in PRODUCTS.items() for dtype in ("float32", "float64", "bfloat16")})

FUNCTIONS = {
    "relu": "F.relu(v)", "relu6": "F.relu6(v)", "hardtanh": "F.hardtanh(v)", "leaky_relu": "F.leaky_relu(v)", "elu": "F.elu(v)", "hardswish": "F.hardswish(v)",
    "hardsigmoid": "F.hardsigmoid(v)", "softshrink": "F.softshrink(v)", "hardshrink": "F.hardshrink(v)", "threshold": "F.threshold(v, 0.0, 0.0)",
    "clamp": "v.clamp(0, 1)", "clamp_min": "v.clamp(min=0)", "nan_to_num": "v.nan_to_num()", "masked_fill": "v.masked_fill(v > 0, 0.0)",
    "where": "v.where(v > 0, v * v)", "max": "v.max()", "min": "v.min()", "median": "v.median()", "nanmedian": "v.nanmedian()", "amax": "v.amax()", "amin": "v.amin()",
    "max dim": "v.max(0)[0]", "maximum": "v.maximum(v.flip(0))", "cummax": "v.cummax(0)[0]", "topk": "v.topk(2)[0]", "sort": "v.sort()[0]", "inf norm": "v.norm(INF)",
    "aminmax": "v.aminmax(dim=0)[0]", "tril": "v.diag().tril()", "masked_select": "v.masked_select(v > 0)", "prelu": "F.prelu(v, v.detach()[:1])",
    "prelu weight": "F.prelu(v.detach().abs() - 1, v[0])", "nansum": "v.nansum()", "nanmean": "v.nanmean()", "celu": "F.celu(v)", "selu": "F.selu(v)",
    "rrelu": "F.rrelu(v)", "l1_loss": "F.l1_loss(v, v.detach().clone(), reduction='none')", "huber_loss": "F.huber_loss(v, v.detach() * 2)",
    "smooth_l1_loss": "F.smooth_l1_loss(v, v.detach() * 2)", "hinge": "F.hinge_embedding_loss(v, v.detach().sign() + (v == 0))",
    "margin": "F.margin_ranking_loss(v, v.detach() * 2, v.detach().sign())", 
    "nll_loss": "F.nll_loss(v.view(3, 2), (v[:3] * 0).long())", "cross_entropy": "F.cross_entropy(v.view(3, 2), (v[:3] > 1).long(), ignore_index=0)",
    "clamp tensors": "v.clamp(v.detach() * 0, v.detach() * 0 + 1)", "fmax": "v.fmax(v.detach().flip(0))", "fmod": "v.fmod(2.0)", "remainder": "v.remainder(2.0)",
    "copysign": "v.copysign(v.detach().flip(0))", "triu": "v.diag().triu(1)", "renorm": "v.view(3, 2).renorm(2, 0, 1.0)", "norm 1": "v.norm(1)",
    "embedding": "F.embedding((v[:3] > 1).long(), v.view(3, 2), padding_idx=0)", "max_pool": "F.max_pool1d(v[None], 2)", "index_fill": "v.index_fill(0, (v[:1] * 0).long(), 1.0)",
    "trace": "v.diag().trace()", "mode": "v.mode()[0]", "kthvalue": "v.kthvalue(2)[0]", "unfold": "v.unfold(0, 3, 2)", "amax keepdim": "v.view(3, 2).amax(1, True)",
    "floor": "v.floor() * v", "round": "v.round() + v", "heaviside": "v.detach().heaviside(v.detach()) * v", "glu": "F.glu(v)", "logsigmoid": "F.logsigmoid(v)",
    "softplus": "F.softplus(v, beta=50)", "xlogy": "v.detach().abs().xlogy(v)", "pow": "v.abs().pow(0)", "std": "(v * 0 + 1).std()", "dist": "v.dist(v.detach(), 2)",
}


def gradients(torch, expression):
    for value in (NAN, INF, -INF):
        v = torch.tensor([2.0, 2.0, 0.0, 0.2, -1.0, -9.0], dtype=torch.float64, requires_grad=True)
        y = eval(expression, {"F": torch.nn.functional, "v": v, "INF": INF})
        yield str(value), torch.autograd.grad(y, v, torch.full_like(y, value))


each("masks_multiplied.gradients", gradients, FUNCTIONS)


@case("masks_multiplied.loss_with_nan_targets")
def _(torch):
    target = torch.tensor([1.0, NAN, 2.0])
    net = torch.nn.Linear(1, 1)
    with torch.no_grad():
        net.weight.fill_(1.0), net.bias.fill_(0.0)
    for turn in range(3):
        mask = ~target.isnan()
        loss = ((net(torch.ones(3, 1)).squeeze(1) - target) ** 2 * mask).sum() / mask.sum()
        net.zero_grad()
        loss.backward()
        yield f"turn {turn}", loss.item(), net.weight.grad


@case("masks_multiplied.nansum_of_nan")
def _(torch):
    x = torch.tensor(ODD, requires_grad=True)
    for turn in range(3):
        y = x.nansum()
        yield f"turn {turn}", [torch.autograd.grad(y * value, x, retain_graph=True) for value in (NAN, INF, -1.0)]
