"""Versions, views and writes: what counts, what is shared, who hears of a write, what is refused."""

from compat_matrix.case import case, raises


def leaf(torch, *values):
    return torch.tensor(list(values) or [1.0, 2.0, 3.0], requires_grad=True)


@case("relied_on.views.versions")
def _(torch):
    graph = torch.autograd.graph
    x = torch.ones(4)
    v, d = x[0:2], x.detach()
    x.add_(1)
    v.mul_(2)
    with torch.no_grad():
        d.zero_()
    yield "shared", x._version, v._version, d._version
    x.data = torch.zeros(4)
    yield "after .data =", x._version
    x.resize_(4)
    yield "resize_ of nothing", x._version
    x.data.add_(1)
    yield "through .data", x._version, x
    graph.increment_version(x)
    graph.increment_version([x, v])
    yield "raised", x._version, v._version
    with torch.autograd._unsafe_preserve_version_counter(x):
        x.mul_(2)
        yield "inside", x._version
    yield "preserved", x._version
    torch._C._autograd._unsafe_set_version_counter((x,), (3,))
    yield "set", x._version
    yield "set wrongly", raises(lambda: torch._C._autograd._unsafe_set_version_counter((x,), (-1,))), raises(lambda: graph.increment_version(1))
    fw = torch.autograd.forward_ad
    with fw.dual_level():
        p = torch.ones(2)
        dual = fw.make_dual(p, torch.ones(2))
        dual.mul_(2)
        yield "of duals", p._version, dual._version, fw.unpack_dual(dual).primal._version
    with torch.inference_mode():
        q = torch.ones(2)
        yield "inference", raises(lambda: q._version)


@case("relied_on.views.saved values written to")
def _(torch):
    def run(op, write):
        x = leaf(torch)
        y = x * 1
        out = op(y)
        write(y)
        return raises(lambda: out.sum().backward())

    def quiet(y):
        with torch.no_grad():
            y.mul_(2)

    def inference(y):
        with torch.inference_mode():
            y.mul_(2)
    for name, write in (("plain", lambda y: y.mul_(2)), ("no_grad", quiet), ("detach", lambda y: y.detach().mul_(2)), ("inference", inference), ("part", lambda y: y[0:1].mul_(2)),
                        ("counted", lambda y: torch.autograd.graph.increment_version(y)), ("copied", lambda y: y.copy_(torch.ones(3))), ("data", lambda y: y.data.size())):
        yield name, run(lambda y: y ** 2, write)
        yield f"{name}, not saved", run(lambda y: y * 3 + y, write)
        yield f"{name}, the result", run(lambda y: y.exp(), write)


@case("relied_on.views.gradients of writes")
def _(torch):
    def both(make):
        x, w = leaf(torch, 1.0, 2.0, 3.0, 4.0), leaf(torch, 5.0, 6.0, 7.0, 8.0)
        base = x * 1
        out = make(base, w)
        weights = torch.arange(1.0, out.numel() + 1).view(out.shape)
        found = torch.autograd.grad(((out if not out.is_complex() else torch.view_as_real(out).sum(-1)) * weights).sum(), [x, w], allow_unused=True)
        return out.detach(), [None if f is None else f for f in found], base.grad_fn.name(), base._version, base._base is None

    class Twice(torch.autograd.Function):
        @staticmethod
        def forward(ctx, v):
            ctx.mark_dirty(v)
            return v.mul_(2)

        @staticmethod
        def backward(ctx, g):
            return g * 2

    def written(f):
        def make(b, w):
            f(b, w)
            return b * b
        return make
    for name, f in (("view of a view", lambda b, w: b.view(2, 2)[0].mul_(w[:2])), ("narrow", lambda b, w: (b.narrow(0, 0, 3).mul_(w[:3]), b.narrow(0, 1, 3).mul_(w[1:]))),
                    ("strided", lambda b, w: b[::2].mul_(w[::2])), ("transposed", lambda b, w: b.view(2, 2).t().mul_(w.view(2, 2))), ("setitem", lambda b, w: b.__setitem__(slice(1, 3), w[:2])),
                    ("setitem of a list", lambda b, w: b.__setitem__([0, 2], w[:2])), ("function", lambda b, w: Twice.apply(b[1:3])), ("as_strided", lambda b, w: b.as_strided((2,), (2,), 1).mul_(w[:2])),
                    ("overlapping", lambda b, w: (b[0:3].add_(w[0]), b[1:4].mul_(b[0:1] * 1))), ("diagonal", lambda b, w: b.view(2, 2).diagonal().mul_(w[:2])),
                    ("filled", lambda b, w: b[1:].fill_(w[0])), ("a leaf copied in", lambda b, w: b[:2].copy_(w[2:])), ("unfold", lambda b, w: b.unfold(0, 2, 2).mul_(w.view(2, 2)))):
        yield name, both(written(f))
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    c = torch.view_as_complex(x * 1)
    c.mul_(1j)
    yield "complex", torch.autograd.grad(torch.view_as_real(c)[:, 0].sum(), x)
    z = torch.tensor([1 + 2j, 3 + 4j], requires_grad=True)
    y = z * 1
    torch.view_as_real(y)[:, 1].mul_(3)
    y.real.add_(1)
    yield "real parts", y, torch.autograd.grad((y * y.conj()).sum().real, z)
    base = torch.zeros(4)
    early, w = base[0:2], leaf(torch, 1.0, 1.0)
    base[1:3].mul_(0).add_(w)
    yield "earlier ones", base.requires_grad, early.requires_grad, early.grad_fn.name(), early._is_view(), early._base is base, torch.autograd.grad((early * 3).sum(), w)
    with torch.autograd._force_original_view_tracking(True):
        b = leaf(torch) * 1
        v = b.view(3, 1)
        b.mul_(2)
        yield "replayed", v.grad_fn.name(), torch.autograd.is_view_replay_enabled()
    b = leaf(torch) * 1
    v = b.view(3, 1)
    b.mul_(2)
    yield "strided again", v.grad_fn.name(), torch.autograd.is_view_replay_enabled()
    torch.autograd._force_original_view_tracking(True)
    yield "set", torch.autograd.is_view_replay_enabled()
    torch.autograd._force_original_view_tracking(False)
    yield "set back", torch.autograd.is_view_replay_enabled()


@case("relied_on.views.refused writes")
def _(torch):
    x = leaf(torch)
    yield "leaf", raises(lambda: x.mul_(2)), raises(lambda: x.view(3, 1).mul_(2)), raises(lambda: x.__setitem__(0, 1.0)), raises(lambda: x[0:2].__setitem__(0, 1.0))
    for name in ("unbind", "split", "chunk", "tensor_split", "unsafe_split", "unsafe_chunk", "split_with_sizes"):
        arguments = {"unbind": (), "split": (1,), "unsafe_split": (1,), "split_with_sizes": ([1, 2],)}.get(name, (2,))
        parts = getattr(x * 1, name)(*arguments)
        yield name, raises(lambda p=parts: p[1].mul_(2)), raises(lambda p=parts: p[0].view(-1).mul_(2))
    methods = {"t_": (), "transpose_": (0, 1), "squeeze_": (), "unsqueeze_": (0,), "swapdims_": (0, 1), "swapaxes_": (0, 1), "as_strided_": ((2,), (1,))}
    modes = {"grad": torch.enable_grad, "no_grad": torch.no_grad, "inference": torch.inference_mode}
    for name, arguments in methods.items():
        found = []
        for make, first in modes.items():
            for use, second in modes.items():
                for needs in (True, False):
                    for several in (True, False):
                        base = torch.ones(2, 2, requires_grad=needs)
                        base = base * 1 if needs else base
                        with first():
                            v = base.unbind()[0] if several else base[0:1]
                            v = v.view(1, 2) if not several and name == "t_" else v

                        def act(v=v, second=second, name=name, arguments=arguments):
                            with second():
                                getattr(v, name)(*(a if v.dim() > 1 or not isinstance(a, int) else 0 for a in arguments))
                            return v.grad_fn
                        e = raises(act)
                        found.append((make, use, needs, several, e))
        yield name, found


@case("relied_on.views.out and flags")
def _(torch):
    x, o = leaf(torch), torch.zeros(3)
    yield "operand", raises(lambda: torch.add(x, 1, out=o)), raises(lambda: torch.add(torch.ones(3), 1, out=leaf(torch)))
    with torch.no_grad():
        yield "without", torch.add(x, 1, out=o), torch.mul(o, 2, out=x), x.requires_grad, x._version
    t = torch.ones(3)
    yield "requires_grad_", t.requires_grad_() is t, t.requires_grad, t.requires_grad_(False).requires_grad
    y = leaf(torch) * 2
    yield "inner", raises(lambda: y.requires_grad_(False)), raises(lambda: setattr(y, "requires_grad", False)), y.requires_grad_() is y
    yield "integers", raises(lambda: torch.ones(2, dtype=torch.int64).requires_grad_()), raises(lambda: torch.ones(2, dtype=torch.bool, requires_grad=True))
    yield "factories", torch.zeros(2, requires_grad=True).requires_grad, raises(lambda: torch.zeros(2, dtype=torch.int32, requires_grad=True)), torch.zeros(1, dtype=torch.complex64,
                                                                                                                                                     requires_grad=True).requires_grad
    b = leaf(torch) * 2
    v = b[0:2]
    yield "detach_ of a view", raises(lambda: v.detach_())
    b.detach_()
    yield "detach_ of a base", b.requires_grad, v.requires_grad, v.grad_fn.name(), b.grad_fn
    p = leaf(torch)
    q = p * 2
    r = q.exp() * q
    q.detach_()
    yield "saved, then detached", raises(lambda: r.sum().backward())
    w = leaf(torch)
    k = id(w)
    w.data = torch.zeros(2)
    yield ".data =", id(w) == k, w, w.requires_grad
    yield ".data wrong", raises(lambda: setattr(w, "data", torch.ones(2, dtype=torch.int64))), raises(lambda: setattr(w, "data", None)), raises(lambda: setattr(w, "data", 1))
    for name in ("data", "requires_grad", "_grad_fn", "_backward_hooks"):
        yield f"del {name}", raises(lambda name=name: delattr(w, name))
    z = leaf(torch)
    out = z ** 2
    z.data.mul_(1)
    yield "data is another", z.data.requires_grad, z.data._version, z.data._is_view(), out


@case("relied_on.views.behind the graph")
def _(torch):
    """Writes to `.data`, which no version counts."""
    x = leaf(torch)
    y = x ** 2
    x.data.mul_(10)
    y.sum().backward()
    yield "gradient", x.grad, x.detach(), x._version
