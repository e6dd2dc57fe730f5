"""Nodes whose numbers were set, and draws and writes of dual tensors whose tangents alone are mapped over."""

import warnings

from compat_matrix.case import attempt, case


def _two(torch, log):
    x = torch.ones(3, requires_grad=True)
    made = []
    for name in ("exp", "sin"):
        y = getattr(x, name)()
        y.register_hook(lambda g, name=name: log.append(name))
        y.tolist()
        made.append(y)
    return made


@case("numbered_and_mapped.order")
def _(torch):
    for k, change in enumerate([
            lambda a, b: None, lambda a, b: a._set_sequence_nr(10**6), lambda a, b: b._set_sequence_nr(10**6), lambda a, b: b._set_sequence_nr(0),
            lambda a, b: a._set_sequence_nr(b._sequence_nr() + 1), lambda a, b: b._set_sequence_nr(a._sequence_nr() - 1)]):
        log = []
        a, b = _two(torch, log)
        change(a.grad_fn, b.grad_fn)
        (a + b).sum().backward()
        yield str(k), log


@case("numbered_and_mapped.order_in_one_run")
def _(torch):
    for which in (0, 1):
        x, log = torch.ones(3, requires_grad=True), []
        made = x.exp(), x.sin()
        for name, y in zip("ab", made):
            y.register_hook(lambda g, name=name: log.append(name))
        made[which].grad_fn._set_sequence_nr(10**6)
        (made[0] + made[1]).sum().backward()
        yield str(which), log


@case("numbered_and_mapped.draws")
def _(torch):
    fs = {"bernoulli": torch.bernoulli, "times": lambda x: x * torch.bernoulli(x), "cosine": lambda x: x * torch.bernoulli(x.cos()),
          "normal": lambda x: torch.normal(x, 1.0), "poisson": lambda x: x * torch.poisson(x * 3)}
    for randomness in ("same", "different", "error"):
        for name, f in fs.items():
            torch.manual_seed(3)
            yield f"{randomness} {name}", attempt(lambda f=f, r=randomness: torch.func.jacfwd(f, randomness=r)(torch.full((3,), 0.5)))
        yield f"{randomness} mapped", attempt(lambda r=randomness: torch.func.vmap(torch.func.jacfwd(fs["times"], randomness="same"), randomness=r)(
            torch.full((2, 3), 0.5))) if randomness != "different" else None


@case("numbered_and_mapped.duals_written")
def _(torch):
    ad = torch.autograd.forward_ad

    def whole(t):
        base = torch.zeros(3, 2)
        base.copy_(ad.make_dual(torch.ones(3, 2), t))
        return ad.unpack_dual(base)[1]

    def added(t):
        base = torch.zeros(3, 2)
        base.add_(ad.make_dual(torch.ones(3, 2), t))
        return ad.unpack_dual(base)[1]

    def column(t):
        base = torch.zeros(3, 2)
        view = base[:, 0]
        view.copy_(ad.make_dual(torch.ones(3), t[:, 0]))
        return ad.unpack_dual(base)[1], ad.unpack_dual(view)[1]

    def beside(t):
        base = torch.zeros(3, 2)
        view = base[:, 0]
        base[:, 1] = ad.make_dual(torch.ones(3), t[:, 1])
        return ad.unpack_dual(base)[1], ad.unpack_dual(view)[1]

    for f in (whole, added, column, beside):
        with ad.dual_level(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield f.__name__, attempt(lambda f=f: torch._vmap_internals._vmap(f)(torch.arange(12.0).reshape(2, 3, 2)))


@case("numbered_and_mapped.made_again")
def _(torch):
    views = {"turned": lambda c: c[1:].t(), "view": lambda c: c.view(4, 3), "select": lambda c: c[0], "diagonal": lambda c: c.diagonal(1),
             "split": lambda c: c.split(2, 1)[1], "expand": lambda c: c[0].expand(2, 4), "unfold": lambda c: c.unfold(1, 2, 1), "step": lambda c: c[::2, 1:3]}
    c = torch.arange(12.0).reshape(3, 4).requires_grad_().clone()
    for name, f in views.items():
        v = f(c)
        for base in (c.clone(), torch.arange(20.0).reshape(4, 5), torch.ones(5), torch.arange(24.0).requires_grad_().clone()[2:]):
            def again(v=v, base=base):
                out = v._view_func_unsafe(base, symint_visitor_fn=lambda n: n + 1, tensor_visitor_fn=lambda t: t)
                return out, out.stride(), out.storage_offset(), out.grad_fn is None or out.grad_fn.name()

            yield f"{name} {tuple(base.shape)}", attempt(again)
    yield "no view", c._view_func_unsafe(c), c._rev_view_func_unsafe(c), c[0]._view_func(torch.ones(2))
    yield "number", attempt(lambda: c[0]._view_func_unsafe(3))
    yield "way back", attempt(lambda: c[0]._rev_view_func_unsafe(c))
