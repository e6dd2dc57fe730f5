"""uint16, uint32 and uint64 where torch has no kernel for them, and where it needs none; medians of nothing."""

from ..case import case

_KINDS = ("uint16", "uint32", "uint64")


def _told(call):
    try:
        return call()
    except (RuntimeError, TypeError) as e:
        return type(e).__name__, str(e)


@case("wide_unsigned_kernels.missing")
def _(torch):
    for kind in _KINDS:
        d = getattr(torch, kind)
        x, v, i, many = torch.arange(12).reshape(3, 4).to(d), torch.arange(3).to(d), torch.tensor([0, 2]), torch.arange(1000).to(d)
        none, places = i[:0], torch.zeros(1, 4, dtype=torch.int64)
        calls = {
            "flip": lambda: x.flip(1), "flip rows": lambda: x.flip(0), "flip both": lambda: x.flip(0, -1), "flip nothing": lambda: x[:0].flip(1), "fliplr": lambda: torch.fliplr(x),
            **{f"rot90 {k}": lambda k=k: torch.rot90(x, k) for k in range(5)}, "rot90 -1": lambda: torch.rot90(x[None], -1, (1, 2)),
            "index_add": lambda: x.index_add(0, i, x[:2]), "index_add 1d": lambda: v.index_add(0, i, v[:2]), "index_add none": lambda: x.index_add(0, none, x[:0]),
            "index_copy": lambda: x.index_copy(0, i, x[:2]), "index_fill": lambda: x.index_fill(0, i, 1), "index_fill none": lambda: x.index_fill(0, none, 1),
            "take": lambda: x.take(i), "take none": lambda: x.take(none), "put": lambda: x.put(i, v[:2]), "put none": lambda: x.put(none, v[:0]),
            "scatter": lambda: x.scatter(0, places, x), "scatter none": lambda: x.scatter(0, places[:0], x), "scatter number": lambda: x.scatter(0, places, 1),
            **{f"scatter_reduce {how} {own}": lambda how=how, own=own: x.scatter_reduce(0, places, x, how, include_self=own)
               for how in ("sum", "prod", "mean", "amax", "amin") for own in (True, False)},
            "index_put": lambda: x.clone().index_put_((i,), x[:2]), "index_put added": lambda: x.index_put((i,), x[:2], True),
            "nonzero": lambda: x.nonzero(), "argwhere": lambda: torch.argwhere(v), "where": lambda: torch.where(v), "count": lambda: x.count_nonzero(),
            "count dim": lambda: x.count_nonzero(0), "count dims": lambda: x.count_nonzero((0, 1)), "isin": lambda: torch.isin(x, v), "isin number": lambda: torch.isin(x, 3),
            "isin of number": lambda: torch.isin(3, v), "isin many": lambda: torch.isin(x, many), "distance": lambda: torch.pairwise_distance(x, x),
            "dist": lambda: torch.dist(x, x), "bincount": lambda: torch.bincount(v), "histc": lambda: torch.histc(v), "masked_select": lambda: x.masked_select(x == x),
            "tril": lambda: x.tril(), "tril nothing": lambda: x[:0].tril(), "pixel_shuffle": lambda: torch.pixel_shuffle(x.reshape(1, 4, 1, 3), 2),
            "channel_shuffle": lambda: torch.channel_shuffle(x.reshape(1, 4, 3), 2),
            "arange": lambda: torch.arange(3, dtype=d), "linspace": lambda: torch.linspace(0, 3, 4, dtype=d), "linspace one": lambda: torch.linspace(0, 3, 1, dtype=d),
            "logspace": lambda: torch.logspace(0, 1, 3, dtype=d), "range": lambda: torch.range(0, 3, dtype=d), "eye": lambda: torch.eye(2, dtype=d),
            "eye out": lambda: torch.eye(2, out=torch.zeros(2, 2, dtype=d)), "triplet": lambda: torch.nn.functional.triplet_margin_loss(x, x, x)}
        for name, f in calls.items():
            yield f"{kind} {name}", _told(f)


@case("wide_unsigned_kernels.medians_of_nothing")
def _(torch):
    for kind in (*_KINDS, "int8", "int16", "int32", "int64", "uint8", "bool", "float16", "float64", "complex64"):
        x = torch.zeros(0, dtype=getattr(torch, kind))
        yield kind, x.median(), x.nanmedian()
    x = torch.zeros(0, dtype=torch.complex64, requires_grad=True)
    yield "complex gradient", _told(x.median)
