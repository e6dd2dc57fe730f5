"""Dual tensors as views of their primals: what in-place writes, hooks and views without grad mode make of their graphs."""

import importlib

from compat_matrix.case import attempt, case


class Doubled:
    """Writes to its argument."""

    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x.mul_(2)

    @staticmethod
    def backward(ctx, g):
        return g * 2

    @staticmethod
    def jvp(ctx, t):
        return t.mul_(2)


def _of(torch, dtype=None):
    fw = importlib.import_module(f"{torch.__name__}.autograd.forward_ad")
    return fw, lambda *shape: torch.arange(1.0, 5.0, dtype=torch.float64).reshape(shape or (4,))


def _pair(fw, t):
    return None if t is None else tuple(fw.unpack_dual(t))


@case("dual_tensors_written.graphs")
def _(torch):
    """Views of a dual tensor that was written lead around it, to what it is a view of; what was computed before leads through what it was."""
    fw, new = _of(torch)
    for made in ("leaf", "computed"):
        for write in ("under no_grad", "itself", "a view", "the primal"):
            with fw.dual_level():
                x = new().requires_grad_()
                y = x if made == "leaf" else x * 2
                d = fw.make_dual(y, torch.ones_like(x))
                view, before = d[1:], d * 2
                if write == "under no_grad":
                    with torch.no_grad():
                        d.mul_(2)
                else:
                    done = attempt({"itself": lambda: d.sin_(), "a view": lambda: d[0].mul_(3), "the primal": lambda: y.mul_(3)}[write])
                    yield f"{made}, {write}: done", done if isinstance(done, tuple) else True
                yield f"{made}, {write}: nodes", [t.requires_grad and t.grad_fn.name() for t in (d, view)]
                yield f"{made}, {write}: versions", [t._version for t in (x, d, view)]
                for name, t in (("dual", d), ("view", view), ("before", before)):
                    found = torch.autograd.grad(t.sum(), [x, d], allow_unused=True, retain_graph=True)
                    yield f"{made}, {write}: {name}", [_pair(fw, g) for g in found]
            yield f"{made}, {write}: outside", torch.autograd.grad(view.sum(), [x, d], allow_unused=True, retain_graph=True)


@case("dual_tensors_written.hooks_before")
def _(torch):
    """Hooks on the node of a dual tensor that is a view are left behind by a write; a retained gradient goes on."""
    fw, new = _of(torch)
    seen = []
    with fw.dual_level():
        x = new().requires_grad_()
        d = fw.make_dual(x * 2, torch.ones_like(x))
        d.register_hook(lambda g: seen.append(("before", g)))
        d.retain_grad()
        d[0] = 0.5
        d.register_hook(lambda g: seen.append(("after", g)))
        d.mul_(2)
        d.sum().backward()
        yield "retained", d.grad
        yield "gradient", x.grad
    yield "seen", [(name, g.tolist()) for name, g in seen]


@case("dual_tensors_written.tangents")
def _(torch):
    """A tangent that is a leaf cannot be written; without grad mode it gets no history."""
    fw, new = _of(torch)
    for name, write in {"itself": lambda d: d.mul_(2), "zeros": lambda d: d.zero_(), "copied": lambda d: d.copy_(d * 2)}.items():
        with fw.dual_level():
            t = torch.ones(4, dtype=torch.float64, requires_grad=True)
            d = fw.make_dual(new(), t)
            yield f"{name}: a leaf", attempt(lambda: write(d))
            with torch.no_grad():
                yield f"{name}: without grad mode", _pair(fw, write(fw.make_dual(new(), t)))
            yield f"{name}: what was given", (t, t.is_leaf, t.requires_grad)
    with fw.dual_level():
        x = new().requires_grad_()
        d = fw.make_dual(x, torch.ones_like(x))
        e = d * 2
        with torch.no_grad():
            x.mul_(d.detach() + d)
            e.mul_(2)
            d.mul_(3)
        y = d * 1
        with fw._set_fwd_grad_enabled(False):
            y.mul_(2)
        yield "tangents off", (_pair(fw, y), _pair(fw, y * 3))
        yield "requires grad", [(t.requires_grad, t.is_leaf, fw.unpack_dual(t).tangent.requires_grad) for t in (x, d)]
        yield "gradients", [_pair(fw, g) for t in (d, e) for g in torch.autograd.grad(t.sum(), x, retain_graph=True, allow_unused=True)]


@case("dual_tensors_written.functions")
def _(torch):
    """A Function that writes to a view of a leaf, dual or not."""
    fw, new = _of(torch)
    doubled = type("Doubled", (torch.autograd.Function,), {k: staticmethod(getattr(Doubled, k)) for k in ("forward", "backward", "jvp")})
    x = new(2, 2).requires_grad_()
    yield "a view of a view that is a leaf", attempt(lambda: doubled.apply(x.view_as(x)))
    for name, given in {"leaf": lambda x: x, "view that is a leaf": lambda x: x.view(2, 2).detach().requires_grad_(), "computed": lambda x: x * 2}.items():
        with fw.dual_level():
            p = given(new().requires_grad_())
            yield name, attempt(lambda: _pair(fw, doubled.apply(fw.make_dual(p, torch.ones_like(p)))))
            yield f"{name}: a view", attempt(lambda: _pair(fw, doubled.apply(fw.make_dual(p, torch.ones_like(p))[1:])))


@case("dual_tensors_written.after_the_level")
def _(torch):
    """What was detached in place stays so; views made without grad mode, and those that as_strided makes, have the graphs that they had."""
    fw, new = _of(torch)
    with fw.dual_level():
        x = new().requires_grad_()
        d = fw.make_dual(x, torch.ones_like(x))
        detached, computed = d * 2, d * 3
        detached.detach_()
        part = fw.make_dual(x.view(2, 2), torch.ones(2, 2, dtype=torch.float64)).as_strided((2,), (1,), 1)
        with torch.no_grad():
            of_computed, of_dual, of_view = computed[1:], d[1:], fw.make_dual(new(2, 2).requires_grad_(), torch.ones(2, 2, dtype=torch.float64)).mT
            asked = fw.make_dual(new(), torch.ones_like(x)).chunk(2)[0]
        yield "inside", [_pair(fw, t) for t in (detached, of_computed, of_dual, of_view, asked, part)]
        asked.requires_grad_()
        yield "leaves inside", [(t.requires_grad, t.is_leaf, t._base is x) for t in (detached, of_computed, of_dual, of_view, asked, part)]
    yield "leaves", [(t.requires_grad, t.is_leaf) for t in (detached, of_computed, of_dual, of_view, asked, part)]
    for name, t in {"computed": of_computed, "dual": of_dual, "asked": asked, "part": part}.items():
        yield name, attempt(lambda: torch.autograd.grad(t.sum(), [t, x, d], allow_unused=True))


@case("dual_tensors_written.turned")
def _(torch):
    """In-place views turn the primal's view and the tangent; views of leaves are refused, dual or not."""
    fw, new = _of(torch)
    turns = {"t_": lambda v: v.t_(), "squeeze_": lambda v: v.squeeze_(), "unsqueeze_": lambda v: v.unsqueeze_(0), "transpose_": lambda v: v.transpose_(0, -1)}
    parts = {"itself": lambda d: d, "a view": lambda d: d.view(2, 2), "computed": lambda d: d * 2, "a view of computed": lambda d: (d * 2).view(2, 2)}
    with fw.dual_level():
        leaf = fw.make_dual(new(), torch.ones(4, dtype=torch.float64)).requires_grad_()
        for name, write in {"turned": lambda: leaf.view(2, 2).t_(), "a view": lambda: leaf[1:].mul_(2), "an element": lambda: leaf.__setitem__(0, 0.5)}.items():
            yield f"a dual leaf: {name}", attempt(write)
        yield "a dual leaf", _pair(fw, leaf)
    for turn, f in turns.items():
        for part, take in parts.items():
            for made in ("leaf", "computed"):
                with fw.dual_level():
                    x = new().requires_grad_()
                    d = fw.make_dual(x if made == "leaf" else x * 1, torch.ones_like(x))
                    v, before = take(d), d[1:]
                    done = attempt(lambda: _pair(fw, f(v)))
                    yield f"{turn}, {part}, {made}", done
                    yield f"{turn}, {part}, {made}: shapes", (v.shape, d.shape, before.shape, v._version)
                    v = v * 3
                    yield f"{turn}, {part}, {made}: after", _pair(fw, v)
                    yield f"{turn}, {part}, {made}: unpacked", attempt(lambda: _pair(fw, fw.unpack_dual(d).primal * fw.unpack_dual(d).tangent))
                    yield f"{turn}, {part}, {made}: gradient", _pair(fw, torch.autograd.grad((v * v).sum() + before.sum(), x)[0])
                yield f"{turn}, {part}, {made}: outside", (d, before)
    for turn, f in turns.items():
        with fw.dual_level():
            x, t = new(2, 2), new(2, 2) * 10
            d = fw.make_dual(x, t)
            before = d[1], d[:, 1]
            with torch.no_grad():
                f(d)
            yield f"{turn}: views made before", [_pair(fw, v) for v in before]
            before[0].mul_(2)
            fw.unpack_dual(before[1]).primal.mul_(3)
            yield f"{turn}: written through them", [_pair(fw, v) for v in (d, *before)]
            f(x)
        yield f"{turn}: after the level", (x, t, d, *before)
    with fw.dual_level():
        d = fw.make_dual(new(2, 2), new(2, 2).requires_grad_())
        yield "a tangent that is a leaf", attempt(lambda: d.t_())
    yield "a tangent that is a leaf: used on", d * 2 if d[0, 1] == 2 else d.mT * 2
