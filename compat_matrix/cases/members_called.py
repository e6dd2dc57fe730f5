"""Members of Tensor that programs seldom call, each called on a tensor."""

from compat_matrix.case import attempt, case, raises


@case("members_called.places")
def _(torch):
    x = torch.ones(2, 2)
    for name in ("ipu", "mtia", "xpu", "hpu"):
        yield name, raises(lambda name=name: getattr(x, name)())
    yield "flags", [x.is_ipu, x.is_maia, x.is_mtia, x.is_vulkan, x.is_xpu, x.is_distributed(), x.is_pinned(), x.is_shared()]
    yield "storage", str(x.storage_type()), x.const_data_ptr() == x.data_ptr()
    yield "stream", raises(lambda: x.record_stream(None))
    yield "quantized", raises(lambda: x.dequantize())


@case("members_called.gone")
def _(torch):
    x = torch.ones(2, 2)
    yield "eig", raises(lambda: x.eig())
    yield "lstsq", raises(lambda: x.lstsq(x))
    yield "solve", raises(lambda: x.solve(x))
    yield "symeig", raises(lambda: x.symeig())
    yield "reinforce", raises(lambda: x.reinforce(1.0))


@case("members_called.sizes")
def _(torch):
    x = torch.arange(6.0).reshape(2, 3)
    yield "counts", x.ndimension(), x.nelement(), torch.ones(()).ndimension(), torch.ones(0, 3).nelement()
    yield "resized", attempt(lambda: x.clone().resize(3, 2)), attempt(lambda: x.clone().resize_as(torch.ones(6)))
    grown = x.clone().requires_grad_()
    yield "resized with gradients", attempt(lambda: grown.resize(6).sum())
    yield "dense", x.to_dense(), x.to_dense() is x, attempt(lambda: x.to_dense(torch.float64)), attempt(lambda: x.to_dense(masked_grad=True))


@case("members_called.contents")
def _(torch):
    x = torch.arange(6.0).reshape(2, 3)
    shared = torch.zeros(2)
    shared.set_(x)
    shared[0, 0] = 7.0
    yield "set_", shared, x
    yield "part", torch.zeros(0).set_(x.untyped_storage(), 1, (2, 2), (3, 1))
    y = torch.ones(2, 3)
    yield "map2_", attempt(lambda: y.map2_(x, x, lambda a, b, c: a + b * c)), y
    yield "map2_ refused", raises(lambda: y.map2_(x[0], torch.ones(2), lambda a, b, c: a))
    with torch.no_grad():
        yield "module_load", torch.nn.Parameter(torch.zeros(2)).module_load(torch.ones(2)), type(y.module_load(x)).__name__
    yield "module_load assign", attempt(lambda: y.module_load(x, assign=True) is x)


@case("members_called.subclasses")
def _(torch):
    class Named(torch.Tensor):
        pass
    x = torch.ones(2, requires_grad=True)
    y = x.as_subclass(Named)
    yield "class", type(y).__name__, y.requires_grad, y.grad_fn is None
    (y * 2).sum().backward()
    yield "grad", x.grad
    yield "refused", raises(lambda: x.as_subclass(int))


@case("members_called.numbers")
def _(torch):
    a = torch.tensor([[2.0, 1.0], [1.0, 3.0]], dtype=torch.float64)
    reflectors, tau = torch.geqrf(a)
    q = reflectors.orgqr(tau)
    yield "orgqr", q @ q.mT
    x = torch.arange(16.0, dtype=torch.float64)
    window = torch.ones(4, dtype=torch.float64)
    parts = x.stft(4, 2, window=window, return_complex=True)
    yield "istft", parts.istft(4, 2, window=window, length=16)
    for n in (0, 1, 3):
        yield f"polygamma {n}", (x[1:4] / 2).polygamma(n)
