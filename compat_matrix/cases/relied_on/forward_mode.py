"""Forward mode: levels, duals, how tangents travel, jvp of one's own functions."""

from compat_matrix.case import attempt, case, raises


@case("relied_on.forward_mode.levels")
def _(torch):
    fw = torch.autograd.forward_ad
    x, t = torch.tensor([1.0, 2.0]), torch.tensor([3.0, 4.0])
    yield "outside", fw._current_level, raises(lambda: fw.make_dual(x, t)), raises(lambda: fw.exit_dual_level()), tuple(fw.unpack_dual(x, level=0))
    with fw.dual_level() as level:
        yield "level", level, fw._current_level, raises(lambda: fw.enter_dual_level())
        d = fw.make_dual(x, t)
        p, found = u = fw.unpack_dual(d)
        yield "unpacked", type(u).__name__, u._fields, p is x, found is t, p.data_ptr() == x.data_ptr(), p._is_view(), tuple(fw.unpack_dual(x)), d is x
        c = torch.tensor([1 + 2j])
        k = fw.make_dual(c.conj(), torch.ones(1, dtype=torch.complex64))
        yield "other bits", fw.unpack_dual(k).tangent, fw.unpack_dual(k).primal.is_conj(), fw.unpack_dual(k).tangent.is_conj()
        m = torch.ones(2, 3)
        s = fw.make_dual(m, torch.ones(3, 2).t())
        yield "other layout", fw.unpack_dual(s).tangent
        yield "size", raises(lambda: fw.make_dual(x, torch.ones(3))), raises(lambda: fw.make_dual(x, torch.ones(2, 2)))
        yield "twice", raises(lambda: fw.make_dual(d, t)), raises(lambda: fw.make_dual(x, d))
        yield "kinds", raises(lambda: fw.make_dual(torch.ones(2, dtype=torch.int64), t)), raises(lambda: fw.make_dual(x, torch.ones(2, dtype=torch.int64)))
        yield "no tensors", raises(lambda: fw.make_dual(1, t)), raises(lambda: fw.make_dual(x, 1))
        yield "out=", raises(lambda: torch.add(d, 1, out=torch.zeros(2))), raises(lambda: torch.add(x, 1, out=fw.make_dual(x.clone(), t)))
        yield "printed", repr(d), str(d * 2), repr(x)
        yield "enabled", fw._is_fwd_grad_enabled()
        with fw._set_fwd_grad_enabled(False):
            yield "disabled", fw._is_fwd_grad_enabled(), fw.unpack_dual(d).tangent, fw.unpack_dual(d * 2).tangent
        e = d * 3
    yield "after", fw._current_level, tuple(fw.unpack_dual(e, level=0)), e
    a = fw.enter_dual_level()
    q = fw.make_dual(x, t)
    fw.exit_dual_level(level=a)
    yield "by hand", a, fw._current_level, tuple(fw.unpack_dual(q, level=0))
    with fw.dual_level():
        n = fw.make_dual(torch.tensor([[1.0, 2.0], [3.0, 4.0]]), torch.ones(2, 2))
        yield "no formula", raises(lambda: torch._foreach_add([n], 1) and torch.histc(n)), raises(lambda: torch.ormqr(n, n[0], n) and None)
    yield "batched", torch.autograd.functional.jacobian(torch.sin, x, vectorize=True, strategy="forward-mode")


@case("relied_on.forward_mode.travels")
def _(torch):
    fw = torch.autograd.forward_ad

    def tangent(d):
        return fw.unpack_dual(d).tangent
    x, t = torch.tensor([1.0, 2.0, 3.0]), torch.tensor([1.0, 10.0, 100.0])
    with fw.dual_level():
        d = fw.make_dual(x.clone(), t.clone())
        d.mul_(2)
        yield "written", tangent(d), d
        v = d[0:2]
        v.add_(v)
        yield "through a view", tangent(v), tangent(d)
        d.sin_()
        yield "view after it", tangent(v)
        base = torch.zeros(3)
        part = base[1:]
        part.copy_(fw.make_dual(x[:2].clone(), t[:2].clone()))
        yield "base of it", tangent(base), tangent(part)
        wide = torch.zeros(2, 3)
        wide.copy_(fw.make_dual(x.clone(), t.clone()))
        yield "broadcast", tangent(wide)
        wide[0] = 0
        yield "overwritten", tangent(wide)
        wide[1, 1:] = fw.make_dual(torch.ones(2), torch.tensor([7.0, 8.0]))
        yield "setitem", tangent(wide)
        z = fw.make_dual(x.clone(), t.clone())
        yield "detached", tangent(z.detach()), tangent(z.clone()), tangent(z.view(3, 1))
        with torch.no_grad():
            yield "no_grad", tangent(z * 2)
        w = x.clone().requires_grad_()
        y = fw.make_dual(w, t) ** 3
        yield "with reverse mode", tangent(y), torch.autograd.grad(tangent(y).sum(), w, retain_graph=True), torch.autograd.grad(y.sum(), w)
        yield "versions", z._version, fw.unpack_dual(z).primal._version
        g = fw.make_dual(w, t)
        yield "over reverse", tangent(torch.autograd.grad((g ** 3).sum(), g, create_graph=True)[0])


@case("relied_on.forward_mode.functions")
def _(torch):
    fw = torch.autograd.forward_ad
    x, t = torch.tensor([1.0, 2.0, 3.0]), torch.tensor([1.0, 10.0, 100.0])

    def made(forward, jvp):
        return type("Made", (torch.autograd.Function,), {"forward": staticmethod(forward), "backward": staticmethod(lambda ctx, *g: g[0]), "jvp": staticmethod(jvp)})

    def run(forward, jvp, *others, make=lambda x: x):
        def go():
            with fw.dual_level():
                d = make(fw.make_dual(x.clone(), t.clone()))
                out = made(forward, jvp).apply(d, *others)
                out = out if isinstance(out, tuple) else (out,)
                return [None if o is None else fw.unpack_dual(o).tangent for o in out if o is None or isinstance(o, torch.Tensor)], fw.unpack_dual(d).tangent
        return attempt(go)
    seen = []
    yield "not tensors", run(lambda ctx, x, k: (x * k, None), lambda ctx, t, k: (seen.append(k) or t * 2, None), 2), seen

    def dirty(ctx, x):
        ctx.mark_dirty(x)
        return x.mul_(2)
    yield "in place", run(dirty, lambda ctx, t: t.mul_(2))
    yield "not in place", run(dirty, lambda ctx, t: t * 2)
    yield "changed beside", run(lambda ctx, x: x * 2, lambda ctx, t: t.mul_(2))
    yield "view", run(lambda ctx, x: x.view(3, 1), lambda ctx, t: t.view(3, 1)), run(lambda ctx, x: x.view(3, 1), lambda ctx, t: (t * 1).view(3, 1))
    yield "view of another", run(lambda ctx, x, y: x.view(3, 1), lambda ctx, t, u: torch.ones(3).view(3, 1), x)
    yield "as it is", run(lambda ctx, x: x, lambda ctx, t: t), run(lambda ctx, x: x, lambda ctx, t: t * 1), run(lambda ctx, x: x, lambda ctx, t: t.view_as(t))
    yield "not a view", run(lambda ctx, x: x * 1, lambda ctx, t: t.view(3)), run(lambda ctx, x: x * 1, lambda ctx, t: t)
    yield "none", run(lambda ctx, x: (x * 2, None), lambda ctx, t: (t, None))

    def integers(ctx, x):
        k = x.long()
        ctx.mark_non_differentiable(k)
        return x * 2, k
    yield "not differentiable", run(integers, lambda ctx, t: (t * 2, None)), run(integers, lambda ctx, t: (t * 2, t))
    yield "counts", run(lambda ctx, x: x * 2, lambda ctx, t: (t, t)), run(lambda ctx, x: (x * 2, x), lambda ctx, t: t), run(lambda ctx, x: x * 2, lambda ctx, t: t[:2]), run(
        lambda ctx, x: x * 2, lambda ctx, t: 3)


@case("relied_on.forward_mode.tangent of another dtype")
def _(torch):
    fw = torch.autograd.forward_ad
    with fw.dual_level():
        yield "made", attempt(lambda: fw.unpack_dual(fw.make_dual(torch.ones(2), torch.ones(2, dtype=torch.double))).tangent)
