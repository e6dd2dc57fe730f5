"""Writes at places out of range that a program catches where it wrote: the target keeps what it held, and no later line fails for them."""

from compat_matrix.case import case

WRITES = {
    "index_copy_": lambda torch, a, i: a.index_copy_(1, i, torch.zeros(2, 3)), "index_add_": lambda torch, a, i: a.index_add_(1, i, torch.zeros(2, 3)),
    "index_fill_": lambda torch, a, i: a.index_fill_(1, i, 7.0), "index_reduce_": lambda torch, a, i: a.index_reduce_(1, i, torch.zeros(2, 3), "amax"),
    "scatter_": lambda torch, a, i: a.scatter_(1, i.expand(2, 3), 7.0), "scatter_add_": lambda torch, a, i: a.scatter_add_(1, i.expand(2, 3), torch.ones(2, 3)),
    "scatter_reduce_": lambda torch, a, i: a.scatter_reduce_(1, i.expand(2, 3), torch.ones(2, 3), "sum"), "put_": lambda torch, a, i: a.put_(i * 9, torch.ones(3)),
    "index_put_": lambda torch, a, i: a.index_put_((i[:2], i[:2]), torch.ones(2)), "setitem": lambda torch, a, i: a.__setitem__((slice(None), i), 7.0),
}


@case("indexing.caught_in_place")
def _(torch):
    for name, write in WRITES.items():
        for place in (5, 1):
            a, places = torch.ones(2, 5) * 2, torch.full((3,), place)
            try:
                write(torch, a, places)
                said = "written"
            except (IndexError, RuntimeError) as e:
                said = type(e).__name__
            try:
                later = torch.ones(2, 5).index_select(1, torch.full((2,), 1)).sum().item()
            except IndexError:
                later = "late"
            yield f"{name} {place}", said, later, a if place == 1 or name not in ("scatter_add_", "scatter_", "scatter_reduce_", "put_") else None
