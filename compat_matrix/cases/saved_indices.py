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
