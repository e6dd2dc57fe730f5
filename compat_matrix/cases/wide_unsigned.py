"""Unsigned integers wider than 8 bits: what torch has no kernel for, and what it has one for."""

from itertools import count

from compat_matrix.case import case


@case("wide_unsigned.refused and not")
def _(torch):
    turn = count()
    for name in ("uint16", "uint32", "uint64"):
        x = torch.tensor([[1, 2, 3], [4, 5, 6]]).to(getattr(torch, name))
        y, i = torch.tensor([[3, 2, 1], [1, 2, 7]]).to(x.dtype), torch.tensor([[0, 1, 0]])
        for f in (lambda: x.amax(), lambda: x.amin(1), lambda: x.argmax(), lambda: x.argmin(0), lambda: torch.count_nonzero(x), lambda: x.gather(0, i),
                  lambda: torch.heaviside(x, y), lambda: torch.isin(x, y), lambda: x.max(), lambda: x.max(1), lambda: x.min(), lambda: x.min(0),
                  lambda: x.scatter(0, i, y), lambda: x.scatter_add(0, i, y), lambda: x.topk(1), lambda: x.trace(), lambda: x.tril(), lambda: x.triu(1),
                  lambda: x.sum(), lambda: x[0], lambda: x.t(), lambda: x == y, lambda: x + y, lambda: x.reshape(-1), lambda: x.flip(0), lambda: str(x),
                  lambda: torch.cat([x, y]), lambda: x.sort(), lambda: x.tolist(), lambda: x[i[0]], lambda: x.unique(), lambda: x.prod(), lambda: x.bool()):
            try:
                yield f"{next(turn)} {name}", f()
            except (RuntimeError, NotImplementedError) as e:
                yield f"{next(turn)} {name}", type(e).__name__, str(e).split("\n")[0]
