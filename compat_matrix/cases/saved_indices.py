"""Writes to the indices that a node saved of its own results, before and after the record of them ended."""

from compat_matrix.case import attempt, case

_CALLS = {"sort": lambda torch, x: x.sort(), "topk": lambda torch, x: x.topk(1), "max": lambda torch, x: x.max(0), "median": lambda torch, x: x.median(0),
          "mode": lambda torch, x: x.mode(0), "kthvalue": lambda torch, x: x.kthvalue(1), "cummax": lambda torch, x: x.cummax(0), "frexp": lambda torch, x: torch.frexp(x)}
_BETWEEN = {"nothing": lambda torch, x, r: None, "values looked at": lambda torch, x, r: r[0].tolist(), "indices looked at": lambda torch, x, r: r[1].tolist(),
            "another pass": lambda torch, x, r: (x * 2).sum().backward(), "differentiated": lambda torch, x, r: torch.autograd.grad(r[0].sum(), x, retain_graph=True)}


@case("saved_indices.written before the pass")
def _(torch):
    for name, call in _CALLS.items():
        for between, f in _BETWEEN.items():
            x = torch.tensor([3.0, 1.0, 2.0], requires_grad=True)
            r = call(torch, x)
            f(torch, x, r)
            with torch.no_grad():
                r[1].zero_()
            yield f"{name}, {between}", attempt(lambda x=x, r=r: torch.autograd.grad(r[0].sum(), x)[0])


@case("saved_indices.left as they were")
def _(torch):
    for name, call in _CALLS.items():
        x = torch.tensor([3.0, 1.0, 2.0], requires_grad=True)
        r = call(torch, x)
        shown = r[1].tolist(), r[0].tolist()
        other = r[1].clone().zero_()
        yield name, shown, other, torch.autograd.grad(r[0].sum(), x)[0], r[1]._version


def _put(c, index, value):
    c[index] = value
    return c


_INDEXED = {"read": lambda torch, x, m, r, i, v: x[m], "rows read": lambda torch, x, m, r, i, v: x[r], "with places": lambda torch, x, m, r, i, v: x[r, i[:1]],
            "columns read": lambda torch, x, m, r, i, v: x[:, m[0]], "written": lambda torch, x, m, r, i, v: _put(x.clone(), m, v),
            "written by several": lambda torch, x, m, r, i, v: _put(x.clone(), m, v.expand(3)), "rows written": lambda torch, x, m, r, i, v: _put(x.clone(), r, v.expand(1, 3)),
            "a number written": lambda torch, x, m, r, i, v: _put(x.clone(), r, 1.0), "index_put": lambda torch, x, m, r, i, v: x.index_put((r,), v),
            "places": lambda torch, x, m, r, i, v: x[i]}
_WRITES = {"the mask": lambda torch, m, r, i: m.fill_(False), "a part of it": lambda torch, m, r, i: _put(m, 0, False), "the rows": lambda torch, m, r, i: _put(r, r.clone(), torch.tensor([False])),
           "the places": lambda torch, m, r, i: i.zero_(), "another": lambda torch, m, r, i: m.clone().zero_()}


@case("saved_indices.masks written before the pass")
def _(torch):
    for name, call in _INDEXED.items():
        for what, write in _WRITES.items():
            x, v = torch.arange(6.0).reshape(2, 3).requires_grad_(), torch.ones((), requires_grad=True)
            m, r, i = torch.tensor([[True, False, True], [False, True, False]]), torch.tensor([True, False]), torch.tensor([1, 0])
            y = call(torch, x, m, r, i, v)
            write(torch, m, r, i)
            yield f"{name}, {what}", attempt(lambda: torch.autograd.grad(y.sum(), (x, v), allow_unused=True)), attempt(lambda: y.tolist())
