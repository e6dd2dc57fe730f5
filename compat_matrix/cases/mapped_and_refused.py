"""What torch.vmap refuses: masks of examples in writes, copies by torch.tensor, histories dropped in place; and what it takes."""

import warnings

from ..case import case


def _told(call):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return call()
        except (RuntimeError, IndexError) as e:
            return type(e).__name__, str(e)


def _written(change):
    def f(a, *rest):
        b = a.clone()
        change(b, *rest)
        return b

    return f


@case("mapped_and_refused.masks")
def _(torch):
    x = torch.tensor([[-2.0, -1.0, 0.0], [1.0, 2.0, 3.0]])
    one, each = torch.tensor([True, False, True]), torch.tensor([[True, False, True], [False, False, True]])
    calls = {
        "own sign": (_written(lambda z: z.__setitem__(z > 0, 0.0)), 0, (x,)), "own sign, tensor": (_written(lambda z: z.__setitem__(z > 0, torch.tensor(0.0))), 0, (x,)),
        "each": (_written(lambda z, m: z.__setitem__(m, 0.0)), 0, (x, each)), "one": (_written(lambda z, m: z.__setitem__(m, 0.0)), (0, None), (x, one)),
        "index_put_": (_written(lambda z, m: z.index_put_((m,), torch.tensor(0.0))), 0, (x, each)), "index_put": (lambda z, m: z.index_put((m,), torch.tensor(0.0)), 0, (x, each)),
        "index_put, one": (lambda z, m: z.index_put((m,), torch.tensor(0.0)), (0, None), (x, one)), "read": (lambda z, m: z[m], 0, (x, each)),
        "masked_fill_": (_written(lambda z: z.masked_fill_(z > 0, 0.0)), 0, (x,)), "nonzero": (lambda z: z.nonzero(as_tuple=True), 0, (x,))}
    for name, (f, dims, given) in calls.items():
        yield name, _told(lambda: torch.vmap(f, in_dims=dims)(*given))
    f = _written(lambda b: b.__setitem__(b > 0, 0.0))
    yield "grad", _told(lambda: torch.func.grad(lambda q: (f(q) ** 2).sum())(x[0]))
    yield "jacrev", _told(lambda: torch.func.jacrev(f)(x[0]))
    yield "jacfwd", _told(lambda: torch.func.jacfwd(f)(x[0]))


@case("mapped_and_refused.copies")
def _(torch):
    x = torch.tensor([[-2.0, -1.0, 0.0], [1.0, 2.0, 3.0]])
    calls = {"tensor": lambda z: torch.tensor(z), "of a sum": lambda z: torch.tensor(z.sum()), "new_tensor": lambda z: z.new_tensor(z), "another": lambda z: torch.tensor(torch.zeros(3)) + z,
             "as_tensor": lambda z: torch.as_tensor(z), "detach_": lambda z: z.detach_(), "of a result": lambda z: (z * 2).detach_(), "detach": lambda z: z.detach(),
             "of another": lambda z: torch.zeros(3).detach_() + z, "out": lambda z: torch.where(z > 0, z, z, out=torch.zeros(3))}
    for name, f in calls.items():
        yield name, _told(lambda: torch.vmap(f)(x.clone()))
    yield "grad", _told(lambda: torch.func.grad(lambda q: torch.tensor(q).sum() + q.sum())(x[0]))
