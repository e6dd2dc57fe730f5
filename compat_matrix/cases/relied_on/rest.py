"""Lifetimes, threads' switches, printing, pickling, conversions, and the operators that such programs lean on."""

import copy
import gc
import io
import pickle
import weakref

from compat_matrix.case import attempt, case, raises, warned


def leaf(torch, *values):
    return torch.tensor(list(values) or [1.0, 2.0, 3.0], requires_grad=True)


@case("relied_on.rest.lifetimes")
def _(torch):
    def gone(make, collect=False):
        ref = torch._C._WeakTensorRef(make())
        if collect:
            gc.collect()
        return ref.expired()

    def retained():
        y = leaf(torch) * 2
        y.retain_grad()
        y.sum().backward()
        return y

    def relu_on_view():
        x = leaf(torch) * 2
        v = x.view(3, 1)
        torch.nn.functional.relu_(v)
        return x

    def note():
        y = leaf(torch) * 2
        y.grad_fn.metadata["me"] = y.grad_fn
        return y

    def closes():
        y = leaf(torch) * 2
        node = y.grad_fn
        node.register_hook(lambda *a: node)
        return y

    class Keeps(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            out = x * 2
            ctx.save_for_backward(x, out)
            return out

        @staticmethod
        def backward(ctx, g):
            return g

    def dual():
        fw = torch.autograd.forward_ad
        with fw.dual_level():
            return fw.make_dual(torch.ones(2), torch.ones(2))
    for name, make in (("plain", lambda: torch.ones(2)), ("retained", retained), ("relu on a view", relu_on_view), ("a context", lambda: Keeps.apply(leaf(torch) * 1)),
                       ("a dual", dual)):
        yield name, gone(make)
    for name, make in (("notes", note), ("a hook that closes over its node", closes)):
        yield f"{name}, collected", gone(make, True)

    class Mark:
        def __call__(self, g):
            return None
    x = leaf(torch)
    y = x * 2
    mark = Mark()
    ref = weakref.ref(mark)
    y.register_hook(mark)
    z = y * 3
    del mark, y
    gc.collect()
    kept = ref() is not None
    z.sum().backward()
    del z
    gc.collect()
    yield "a graph keeps hooks", kept, ref() is None
    a = leaf(torch)
    b = a.exp()
    (b * b).sum().backward(create_graph=True)
    r = torch._C._WeakTensorRef(a.grad)
    a.grad = None
    del b
    gc.collect()
    yield "gradient with a graph", r.expired()


@case("relied_on.rest.threads' switches")
def _(torch):
    get, use = torch.autograd.is_multithreading_enabled, torch.autograd.set_multithreading_enabled
    seen = [get()]
    with use(False):
        seen.append(get())
        with use(True):
            seen.append(get())
        seen.append(get())
    seen.append(get())
    use(False)
    seen.append(get())
    use(True)
    yield "switch", seen, get()
    m = torch.nn.DataParallel(torch.nn.Linear(2, 2))
    yield "data parallel", m(torch.ones(1, 2)).shape, type(m.module).__name__


@case("relied_on.rest.odds and ends")
def _(torch):
    x = leaf(torch)
    yield "printed", repr(x), repr(x.clone()), repr(torch.ones(2)), repr((x * 2).view(3, 1)), repr(torch.tensor(1.5, requires_grad=True) * 2)
    b = x * 1
    with torch.no_grad():
        v = b[0:2]
    b.mul_(2)
    yield "invalid", repr(v)
    with torch.inference_mode():
        w = b[0:2]
    b.mul_(2)
    yield "invalid either", attempt(lambda: repr(w))
    yield "imag", raises(lambda: hasattr(x, "imag")), raises(lambda: x.imag), hasattr(torch.ones(1, dtype=torch.complex64), "imag"), "imag" in dir(x)
    yield "numpy", raises(lambda: x.numpy()), raises(lambda: (x * 2).numpy()), x.detach().numpy(), x.numpy(force=True)
    yield "array", raises(lambda: __import__("numpy").array(x))
    for protocol in (0, 1, 2):
        y = pickle.loads(pickle.dumps(x, protocol=protocol))
        yield f"pickled {protocol}", y, y.requires_grad, y.is_leaf
    yield "pickled inner", pickle.loads(pickle.dumps(x * 2)).requires_grad, raises(lambda: copy.deepcopy(x * 2))
    x.grad = torch.ones(3)
    c = copy.deepcopy(x)
    yield "copied", c, c.grad, c.grad is x.grad, copy.copy(x).requires_grad
    f = io.BytesIO()
    torch.save({"a": x}, f)
    f.seek(0)
    yield "saved", torch.load(f)["a"].requires_grad
    yield "volatile", warned(lambda: x.volatile), attempt(lambda: x.volatile), warned(lambda: torch.autograd.Variable(torch.ones(1), volatile=True))
    yield "legacy types", x.type(), isinstance(x, torch.FloatTensor), x.type(torch.DoubleTensor).dtype, x.type("torch.IntTensor").dtype, x.type_as(torch.ones(1).double()).dtype
    yield "legacy made", torch.FloatTensor(2).shape, torch.DoubleTensor([1, 2]), isinstance(torch.ones(1).double(), torch.FloatTensor)
    t = torch.tensor
    yield "numbers", float(t(2.5)), int(t(2.5)), bool(t(0.0)), int(t(True)), complex(t(1 + 2j)), t(3).__index__(), float(t([2.0]))
    yield "strange numbers", [attempt(lambda f=f, v=v: f(t(v))) for f in (int, float, bool) for v in (float("nan"), float("inf"), -float("inf"))]
    yield "refused numbers", raises(lambda: int(t([1, 2]))), raises(lambda: float(t(1 + 2j))), raises(lambda: t(1.5).__index__()), raises(lambda: bool(t([])))
    yield "storage", x.untyped_storage().nbytes(), x.storage().size(), x.data_ptr() == x.detach().data_ptr(), x.data_ptr() == x[1:].data_ptr() - 4, x.clone().data_ptr() == x.data_ptr()

    def usual():
        y = (leaf(torch) * 2).exp().sum()
        y.backward()
        torch.nn.Linear(2, 2)(torch.ones(1, 2)).sum().backward()
        leaf(torch).detach().requires_grad_().clone()
    yield "quiet", warned(usual)


@case("relied_on.rest.operators")
def _(torch):
    m, i = torch.arange(12.0).view(3, 4).sin().requires_grad_(), torch.tensor([0, 2, 2])
    v = torch.tensor([2.0, 5.0, 5.0, 1.0], requires_grad=True)
    c = torch.tensor([1 + 2j, 0j], requires_grad=True)

    def run(f, *xs):
        def go():
            out = f(*xs)
            out = out if isinstance(out, (tuple, list)) else [out]
            outs = [o for o in out if isinstance(o, torch.Tensor) and o.requires_grad]
            first = torch.autograd.grad([(o.abs() if o.is_complex() else o * torch.arange(1.0, o.numel() + 1).view(o.shape)).sum() for o in outs], xs, create_graph=True, allow_unused=True)
            second = [torch.autograd.grad(g.abs().sum(), xs, allow_unused=True, retain_graph=True) if g is not None and g.requires_grad else None for g in first]
            return [o.detach() if isinstance(o, torch.Tensor) else o for o in out], [g if g is None else g.detach() for g in first], second
        return attempt(go)

    def assigned(index, value):
        def f(x, *more):
            y = x * 1
            y[index] = value(x)
            return y
        return f
    mask = m.detach() > 0
    for name, f in (("row", lambda x: x[1]), ("slice", lambda x: x[:, 1::2]), ("list", lambda x: x[[0, 0, 2]]), ("pairs", lambda x: x[i, i]), ("mask", lambda x: x[mask]),
                    ("ellipsis", lambda x: x[..., None, 0]), ("mixed", lambda x: x[i, 1:3]), ("none", lambda x: x[None, 1]), ("tensor", lambda x: x[torch.tensor(1)]),
                    ("set row", assigned(1, lambda x: x[0] * 2)), ("set list", assigned([0, 0], lambda x: x[1:] * 2)), ("set mask", assigned(mask, lambda x: 3.0)),
                    ("set ellipsis", assigned((..., 0), lambda x: x[:, 1] * 2)), ("set pairs", assigned((i, i), lambda x: x[0, :3])),
                    ("gather", lambda x: x.gather(1, torch.tensor([[0, 0], [1, 3], [2, 2]]))), ("take", lambda x: x.take(i)), ("cat", lambda x: torch.cat([x, x * 1j])),
                    ("stack", lambda x: torch.stack([x.to(torch.complex64), x * 2j])), ("where", lambda x: torch.where(mask, x, x * x)), ("unfold", lambda x: x.unfold(1, 2, 1)),
                    ("max", lambda x: x.max()), ("var_mean", lambda x: torch.var_mean(x, 1)), ("std", lambda x: x.std()), ("prod of zeros", lambda x: (x[:2, :2] * 0).prod()),
                    ("searchsorted", lambda x: x * torch.searchsorted(torch.arange(4.0), x.detach())), ("bucketize", lambda x: x * torch.bucketize(x.detach(), torch.arange(4.0))),
                    ("isin", lambda x: x * torch.isin(x.detach(), x.detach()[0])), ("argsort", lambda x: x * x.argsort(1, stable=True)), ("conj", lambda x: (x * 1j).conj().imag)):
        yield name, run(f, m)
    for name, f in (("ties max", lambda x: x.max()), ("ties min", lambda x: (-x).min()), ("ties median", lambda x: x.median()), ("ties amax", lambda x: x.amax(0)), ("ties max dim", lambda x: x.max(0)),
                    ("pow 0", lambda x: (x - 5) ** 0), ("pow 2", lambda x: (x - 5) ** 2), ("pow tensor", lambda x: (x - 5).abs() ** x.abs()), ("0 to", lambda x: 0 ** x), ("prod", lambda x: (x - 5).prod()),
                    ("prod dim", lambda x: (x - 1).prod(0)), ("cumprod", lambda x: (x - 1).cumprod(0)), ("unique", lambda x: x * x.detach().unique().numel()), ("norm 0", lambda x: (x * 0).norm())):
        yield name, run(f, v)
    for reduce in ("amin", "amax", "prod", "sum", "mean"):
        for own in (True, False):
            yield f"scatter_reduce {reduce} {own}", run(lambda x, reduce=reduce, own=own: torch.ones(3).scatter_reduce(0, torch.tensor([0, 1, 1, 0]), x, reduce, include_self=own), v)
            if reduce != "sum":
                yield f"index_reduce {reduce} {own}", run(lambda x, reduce=reduce, own=own: torch.ones(3).index_reduce(0, torch.tensor([0, 1, 1, 0]), x, reduce, include_self=own), v)
    for name, f in (("complex pow", lambda z: z ** 2), ("complex pow 0", lambda z: z ** 0), ("complex to complex", lambda z: (z + 1) ** (1 + 1j)), ("as real", lambda z: torch.view_as_real(z)),
                    ("as complex", lambda z: torch.view_as_complex(torch.view_as_real(z) * 2)), ("conj view", lambda z: z.conj() * z), ("neg view", lambda z: z.conj().imag * 2), ("abs", lambda z: z.abs())):
        yield name, run(f, c)


@case("relied_on.rest.layers")
def _(torch):
    nn = torch.nn
    torch.manual_seed(0)
    for name, make, shape in (("LSTM", lambda: nn.LSTM(3, 2), (4, 2, 3)), ("BatchNorm1d", lambda: nn.BatchNorm1d(3), (4, 3)), ("InstanceNorm1d", lambda: nn.InstanceNorm1d(3), (2, 3, 4)),
                              ("Linear", lambda: nn.Linear(3, 2), (4, 3))):
        layer = make()
        x = torch.randn(shape, requires_grad=True)
        out = layer(x)
        out = out[0] if isinstance(out, tuple) else out
        loss = nn.MSELoss()(out, torch.ones(out.shape))
        first = torch.autograd.grad(loss, [x, *layer.parameters()], create_graph=True)
        yield name, out.detach(), [g.detach() for g in first], [None if g is None else g.detach() for g in torch.autograd.grad(first[0].pow(2).sum(), [x, *layer.parameters()], allow_unused=True)]
