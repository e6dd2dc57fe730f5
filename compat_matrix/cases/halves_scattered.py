"""Many elements of half precision scattered to one place: torch's scatter adds them up in float32 and rounds once, index_add and index_put round each time."""

from compat_matrix.probes import each


def many(torch, expression):
    for dtype in (torch.bfloat16, torch.float16):
        i = torch.zeros(3000, dtype=torch.long)
        s, z = torch.full((3000,), 0.5, dtype=dtype), torch.zeros(2, dtype=dtype)
        few = torch.full((9,), 1.01, dtype=dtype)
        yield str(dtype), expression(torch, z, i, s, few)


def gradient(torch, f, i, s):
    x = torch.ones(2, dtype=s.dtype, requires_grad=True)
    f(x, i).mul(s).sum().backward()
    return x.grad


each("halves_scattered.to", many, {
    "scatter_add": lambda torch, z, i, s, few: z.scatter_add(0, i, s),
    "sum": lambda torch, z, i, s, few: z.scatter_reduce(0, i, s, "sum"),
    "mean": lambda torch, z, i, s, few: (z.scatter_reduce(0, i, s, "mean"), z.scatter_reduce(0, i, s, "mean", include_self=False)),
    "prod": lambda torch, z, i, s, few: (z + 1).scatter_reduce(0, i[:9], few, "prod"),
    "rows": lambda torch, z, i, s, few: z[:, None].repeat(1, 2).scatter_add(0, i[:, None].expand(3000, 2), s[:, None].expand(3000, 2)),
    "index_add": lambda torch, z, i, s, few: z.index_add(0, i, s),
    "index_put": lambda torch, z, i, s, few: z.index_put((i,), s, accumulate=True),
    "mean of entries": lambda torch, z, i, s, few: z.index_reduce(0, i, s, "mean"),
    "gradient of gather": lambda torch, z, i, s, few: gradient(torch, lambda x, i: x.gather(0, i), i, s),
    "gradient of index_select": lambda torch, z, i, s, few: gradient(torch, lambda x, i: x.index_select(0, i), i, s),
    "gradient of an index": lambda torch, z, i, s, few: gradient(torch, lambda x, i: x[i], i, s),
})
