"""Functions with an underscore that torch's own Python and libraries call, operators of indexing under their other names."""

from ..case import attempt, case


def _told(call):
    try:
        return call()
    except (RuntimeError, TypeError, NotImplementedError) as e:
        return type(e).__name__, str(e).partition(" INTERNAL ASSERT")[0]


@case("below_public_names.functions")
def _(torch):
    x = torch.tensor([[0.5, -1.0, 2.0], [0.1, 0.2, -0.3]], dtype=torch.float64, requires_grad=True)
    c = torch.complex(x, x * 2).detach().requires_grad_()
    image, kernel = torch.arange(9.0).reshape(1, 1, 3, 3), torch.ones(1, 1, 2, 2)
    for n, where in enumerate((torch, torch._VF, torch._C._VariableFunctions)):
        calls = {"softmax": lambda: where._softmax(x, 1, False), "log_softmax": lambda: where._log_softmax(x, -1, False), "to float": lambda: where._softmax(x, 1, True),
                 "conj": lambda: where._conj(c), "conj of reals": lambda: where._conj(x), "conj_physical": lambda: where._conj_physical(c),
                 "convolution": lambda: where._convolution(image, kernel, None, [1, 1], [0, 0], [1, 1], False, [0, 0], 1, False, False, True, True),
                 "same": lambda: where._convolution_mode(image, kernel, None, [1, 1], "same", [1, 1], 1),
                 "no mode": lambda: where._convolution_mode(image, kernel, None, [1, 1], "foo", [1, 1], 1), "safe": lambda: where._safe_softmax(x, 1),
                 "prelu": lambda: where._prelu_kernel(x, torch.full((2, 3), 0.5, dtype=torch.float64)), "logcumsumexp": lambda: where._logcumsumexp(x.detach(), 1),
                 "zeros": lambda: where._is_zerotensor(x), "reshape": lambda: where._reshape_from_tensor(x, torch.tensor([3, 2])), "add": lambda: where.add(x, 1)}
        for name, f in calls.items():
            out = _told(f)
            yield f"{name} {n}", out, out.grad_fn.name() if isinstance(out, torch.Tensor) and out.requires_grad else None
    yield "methods", c._conj(), c._conj_physical(), c._is_zerotensor(), "matmul" in dir(torch._C._VariableFunctions)


@case("below_public_names.indexing")
def _(torch):
    aten = torch.ops.aten
    x = torch.tensor([[0.5, -1.0, 2.0], [0.1, 0.2, -0.3]], dtype=torch.float64, requires_grad=True)
    i, v = torch.tensor([0]), torch.ones(1, 3, dtype=torch.float64, requires_grad=True)
    calls = {"impl": lambda: aten._index_put_impl_(x * 1, [i], v), "impl added": lambda: aten._index_put_impl_(x * 1, [i], v, True),
             "unsafe": lambda: aten._unsafe_index(x, [i]), "unsafe dim": lambda: aten._unsafe_index.Tensor(x, [None, i]), "unsafe put": lambda: aten._unsafe_index_put(x, [i], v)}
    for name, f in calls.items():
        out = f()
        given = [t for t in (x, v) if name.startswith(("impl", "unsafe put")) or t is x]
        first = torch.autograd.grad((out * out).sum(), given, create_graph=True)
        yield name, out, out.grad_fn.name(), first, torch.autograd.grad((first[0] ** 2).sum(), x)
    y = x.detach().clone()
    yield "in place", aten._index_put_impl_(y, [i], v.detach()) is y, y, y._version


@case("below_public_names.refused by their schemas")
def _(torch):
    aten, x, theta = torch.ops.aten, torch.ones(2, 3), torch.arange(6).reshape(1, 2, 3)
    calls = {"too many": lambda: aten.alias(x, x), "by keyword": lambda: aten.alias(x, out=x), "too few": lambda: aten.t(), "no tensor": lambda: aten.alias(3),
             "one overload": lambda: aten.alias.default(x, foo=1), "of several": lambda: aten.relu.default(x, x), "dims": lambda: aten.transpose.int(x, 0)}
    for name, f in calls.items():
        yield name, attempt(f)
    for dtype in (torch.int64, torch.uint8):
        yield f"grid of {dtype}", [aten.affine_grid_generator(theta.to(dtype), [1, 1, 3, 4], corners) for corners in (True, False)]
