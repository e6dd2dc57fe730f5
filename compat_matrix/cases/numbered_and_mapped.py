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
            lambda a, b: None, lambda a, b: a._set_sequence_nr(10**15), lambda a, b: b._set_sequence_nr(10**15), lambda a, b: b._set_sequence_nr(0),
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
        made[which].grad_fn._set_sequence_nr(10**15)
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


@case("numbered_and_mapped.beyond_a_detached_view")
def _(torch):
    whole = torch.arange(5.0)
    for name, t in {"start": whole[:4], "end": whole[1:], "middle": whole[1:3], "steps": whole[::2]}.items():
        for how, make in {"detach": lambda t: t.detach(), "data": lambda t: t.data}.items():
            yield f"{name} {how}", make(t).as_strided((5,), (1,), 0), attempt(lambda t=t, make=make: make(t).as_strided((6,), (1,), 0))
    yield "own offset", whole[1:3].detach().as_strided((4,), (1,))
    a = torch.zeros(3, 4, requires_grad=True).clone()
    b = a.detach().t()[1:].detach()
    c = b.as_strided((3, 4), (4, 1), 0)
    with torch.no_grad():
        a.add_(1)
        first = c.clone()
        b.mul_(3)
    yield "written", first, c, a, c.is_contiguous(), c._is_view(), c._version, b._version
    w = torch.ones(3, 4, requires_grad=True)
    (c * w).sum().backward()
    c += 1
    yield "used", w.grad, c, b, a.detach()


@case("numbered_and_mapped.saved_number")
def _(torch):
    x = torch.ones(2, requires_grad=True)
    for n in (2.0, 1 + 0j, 1 + 2j):
        saved = (x * n).grad_fn._saved_other
        yield str(n), saved, saved.dtype
