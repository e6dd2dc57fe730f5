"""NaN among many elements, and the order of every dtype: what compilers vectorise otherwise than they run a few elements."""

from compat_matrix.case import attempt, case
from compat_matrix.probes import each

NAN, INF = float("nan"), float("inf")
MANY = 5000
EXTREMES = {
    "max": "x.max()", "min": "x.min()", "amax": "x.amax()", "amin": "x.amin()", "aminmax": "torch.stack(torch.aminmax(x))",
    "amax rows": "x.reshape(2, -1).amax(1)", "amin columns": "x.reshape(-1, 2).amin(0)", "amax keepdim": "x.reshape(2, -1).amax(1, True)",
    "max dim": "x.max(0).values", "min dim": "x.min(0).values", "max rows": "x.reshape(2, -1).max(1).values", "cummax": "x.cummax(0).values[::500]",
    "norm": "torch.linalg.vector_norm(x, float('inf'))", "least norm": "torch.linalg.vector_norm(x, -float('inf'))",
    "max_pool1d": "torch.nn.functional.max_pool1d(x[None], 500)", "max_pool2d": "torch.nn.functional.max_pool2d(x.reshape(1, 50, 100), 10)",
    "softmax": "x.softmax(0)[::500]", "logsumexp": "x.logsumexp(0)", "median": "x.median()", "nanmedian": "x.nanmedian()", "sort": "x.sort().values[-3:]",
    "topk": "x.topk(3).values", "clamp": "x.clamp(-1, 1)[::500]", "nanmean": "x.nanmean()"}


def many(torch, dtype, nans):
    x = torch.ones(MANY, dtype=dtype)
    x[4000], x[4001] = 3, -3
    for place in nans:
        x[place] = NAN
    return x.requires_grad_()


def extremes(torch, expression):
    for dtype in (torch.float32, torch.float64, torch.bfloat16):
        for nans in ((), (1, 7), (4999,)):
            x = many(torch, dtype, nans)
            y = eval(expression, {"torch": torch, "x": x})
            (g,) = torch.autograd.grad(y.sum(), x)
            yield f"{dtype} {nans}", [y.isnan().sum(), y.nan_to_num().sum(), g.isnan().sum(), (g != 0).sum(), y.dtype]


each("kinks.large", extremes, EXTREMES)


@case("kinks.large places")
def _(torch):
    for dtype in (torch.float32, torch.float64, torch.int64):
        for nans in ((), (1, 7), (4999,)) if dtype.is_floating_point else ((),):
            x = many(torch, torch.float64, nans).detach().to(dtype)
            for name in ("argmax", "argmin"):
                yield f"{dtype} {nans} {name}", [getattr(x, name)(), getattr(x.reshape(50, 100), name)(1), getattr(x.reshape(50, 100), name)(0, keepdim=True)]
            yield f"{dtype} {nans} max", [x.max(0).indices, x.reshape(2, -1).min(1).indices]


def line(torch, dtype):
    if dtype.is_floating_point:
        return torch.tensor([[1.0, NAN, 3.0, INF], [-INF, 0.5, -1.0, NAN], [1e-8, 3.0, 1.0, -1e-8]]).to(dtype)
    if dtype == torch.bool:
        return torch.tensor([[True, False, True, False]] * 3)
    i = torch.iinfo(dtype)
    return torch.tensor([[i.min, 3, i.max, 3], [3, i.max // 2, 0, i.max - 1], [7, 7, 1, i.max // 2 + 1]], dtype=dtype)


ORDERS = {
    "sort": "x.sort(d, stable=True)", "sort descending": "torch.sort(x, dim=d, descending=True, stable=True)",
    "argsort": "torch.argsort(x, dim=d, stable=True)", "kthvalue": "x.kthvalue(2, d).values", "median": "x.median(d).values", "topk": "x.topk(2, d).values",
    "topk smallest": "x.topk(1, d, largest=False).values + 0", "msort": "x.msort()", "max": "x.max(d).values", "min": "x.min(d)", "argmax": "x.argmax(d)"}
DTYPES = ("float32", "float64", "bfloat16", "int8", "uint8", "int16", "int32", "int64", "bool")


def orders(torch, expression):
    for dtype in DTYPES:
        for d in (0, 1):
            x = line(torch, getattr(torch, dtype))
            yield f"{dtype} {d}", attempt(lambda x=x, d=d: eval(expression, {"torch": torch, "x": x, "d": d}))


each("kinks.order", orders, ORDERS)


@case("kinks.order of many")
def _(torch):
    torch.manual_seed(0)
    wide = torch.randint(-2**62, 2**62, (3, 1000))
    few = torch.randint(0, 9, (3, 1000))
    real = torch.randn(3, 1000, dtype=torch.float64)
    for name, x in (("wide", wide), ("few", few), ("small", few.to(torch.uint8)), ("real", real), ("single", real.float()), ("half", real.half().unique()[None])):
        for descending in (False, True):
            yield f"{name} {descending}", x.sort(dim=1, descending=descending, stable=True)[1][:, ::50]
    for k in (1, 5, 900):
        yield f"{k} of real", [real.topk(k)[1][:, ::9], real.topk(k, largest=False)[1][:, ::9], real.kthvalue(k)[1]]
        yield f"{k} of single", [real.float().topk(k)[1][:, ::9], real.float().topk(k, largest=False)[1][:, ::9], real.float().kthvalue(k)[1]]
    x = real[0, :50].clone().requires_grad_()
    (x.sort()[0] * torch.arange(50.0)).sum().backward()
    yield "gradient", x.grad
