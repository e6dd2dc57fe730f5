"""Grad modes and inference mode, in every form."""

import asyncio

from compat_matrix.case import case, raises, warned


def leaf(torch, *values):
    return torch.tensor(list(values) or [1.0, 2.0, 3.0], requires_grad=True)


@case("relied_on.modes.forms")
def _(torch):
    on = torch.is_grad_enabled

    def recursive(n):
        return [on()] if n == 0 else [on(), *again(n - 1)]
    again = torch.no_grad()(recursive)
    yield "recursive", again(2), on()
    for name, mode in (("no_grad", torch.no_grad), ("enable_grad", torch.enable_grad), ("off", lambda: torch.set_grad_enabled(False)), ("on", lambda: torch.set_grad_enabled(True))):
        for outer in (True, False):
            with torch.set_grad_enabled(outer):
                with mode():
                    inside = on()
                after = on()
                decorated = mode()(lambda: on())()
                yield f"{name} in {outer}", inside, after, decorated, on()
    yield "without parentheses", torch.no_grad(lambda: on())(), torch.enable_grad(lambda: on())()
    torch.set_grad_enabled(False)
    seen = on()
    torch.set_grad_enabled(True)
    yield "at once", seen, on()
    f = torch.set_grad_enabled(False)(lambda: on())
    yield "not as a decorator", on(), f(), on()

    @torch.no_grad()
    def gen():
        log.append(("start", on()))
        try:
            got = yield on()
            log.append(("sent", got, on()))
            with torch.enable_grad():
                yield on()
            log.append(("more", on()))
            yield on()
        except KeyError:
            log.append(("thrown", on()))
            yield "caught"
        finally:
            log.append(("end", on()))
        return 5
    log = []
    g = gen()
    yield "generator", [next(g), on(), g.send("x"), on(), next(g), on()], list(log)
    yield "thrown", g.throw(KeyError()), on(), list(log)
    g.close()
    yield "closed", on(), list(log)

    def outer():
        got = yield from gen()
        yield got
    log = []
    yield "result of it", list(outer()), on(), log

    @torch.no_grad()
    async def coro():
        before = on()
        await asyncio.sleep(0)
        return before, on()

    async def several():
        first = on()
        found = await asyncio.gather(coro(), coro())
        return first, found, on()
    yield "coroutines", asyncio.run(several())

    class Plain:
        def __init__(self):
            self.mode = on()
    made = []
    yield "a class", warned(lambda: made.append(torch.no_grad()(Plain))), made[0]().mode if made else None, on()
    yield "bad", raises(lambda: torch.set_grad_enabled("a"))


@case("relied_on.modes.inference")
def _(torch):
    on = torch.is_inference_mode_enabled
    with torch.inference_mode():
        a, b = torch.ones(2), torch.ones(2, requires_grad=True)
        yield "inside", on(), torch.is_grad_enabled(), a.is_inference(), torch.is_inference(b), b.requires_grad, (b * 2).requires_grad
        with torch.inference_mode(False):
            yield "off inside", on(), torch.is_grad_enabled(), torch.ones(1).is_inference()
        with torch.enable_grad():
            yield "grad inside", torch.is_grad_enabled(), (b * 2).requires_grad
    f = torch.inference_mode(lambda: on())
    yield "forms", f(), torch.inference_mode()(lambda: on())(), torch.inference_mode(mode=False)(lambda: on())(), torch.inference_mode(mode=lambda: on())(), on()
    x = leaf(torch)
    y = x * 2
    with torch.inference_mode():
        y.add_(1)
        v = y[0:2]
        n = torch.ones(3)
        d = y.detach()
        c = y.clone()
    yield "normal ones", y.is_inference(), y._version, v.is_inference(), v.is_leaf, v.requires_grad, v._is_view(), d.is_inference(), c.is_inference()
    yield "count", raises(lambda: n._version)
    yield "written outside", raises(lambda: n.add_(1)), raises(lambda: n[0:1].add_(1)), raises(lambda: torch.add(n, 1, out=n))
    yield "saved", raises(lambda: x * n), (x + n).requires_grad, raises(lambda: n.requires_grad_())
    yield "a view of it", raises(lambda: v.add_(1))

    def of_base():
        y.mul_(2)
        return v.grad_fn
    yield "its base written", raises(of_base)
    z = x * 1
    with torch.inference_mode():
        w = z.view(3, 1)
    t = z.view(3, 1)
    t.mul_(2)
    yield "another view written", raises(lambda: w.grad_fn), t.grad_fn.name()
    with torch.inference_mode():
        n.add_(1)
        m = n[0:2].mul_(2)
    yield "inside again", n, m.is_inference()
    yield "a clone outside", n.clone().is_inference(), (n + 1).is_inference(), n.view(3, 1).is_inference(), torch.ones(3).mul_(n)
    yield "with", raises(lambda: setattr(n, "requires_grad", True)), raises(lambda: torch.ones(3, requires_grad=True).mul(n).sum().backward())

    @torch.inference_mode()
    def gen():
        yield on()
        yield torch.ones(1).is_inference()
    g = gen()
    yield "generator", next(g), on(), next(g), on()

    class Plain:
        def __init__(self):
            self.mode = on()
    made = []
    yield "a class", warned(lambda: made.append(torch.inference_mode()(Plain))), made[0]().mode
