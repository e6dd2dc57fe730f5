"""Corners of tensors and operators that suites of operators ask about: index tensors beside masks, results in tensors of another dtype, writes that narrow."""

import warnings

from compat_matrix.case import case

NAN = float("nan")


def _said(f):
    """The result of f, or the class and words of what it raised, and what was warned of."""
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        try:
            out = f()
        except Exception as e:
            out = type(e).__name__, str(e).split("\n")[0]
    return out, [f"{w.category.__name__}: {str(w.message).split(' (Triggered')[0]}" for w in heard if "is in beta" not in str(w.message)]


@case("asked_of_operators.masks of two dims before other indices")
def _(torch):
    x = torch.arange(24.0).view(2, 3, 4)
    mask, i, v = torch.tensor([[True, False, True], [False, True, False]]), torch.tensor([0, 1, 3]), torch.tensor([-1.0, -2.0, -3.0])
    yield "index_put", torch.index_put(x, (mask, i), v)
    yield "added", x.index_put((mask, i), v, accumulate=True)
    yield "in place", x.clone().index_put_((mask, i), v)
    square = torch.zeros(2, 2, 2, requires_grad=True)
    out = square.index_put((torch.eye(2).bool(), torch.tensor([0, 1])), torch.tensor([1.0, 2.0]))
    yield "square", out, torch.autograd.grad(out.sum(), square)[0]


@case("asked_of_operators.index tensors with whole dims between")
def _(torch):
    x, i, aten = torch.arange(24.0).view(2, 3, 4), torch.tensor([0, 1, 3]), torch.ops.aten
    yield "mask", aten.index_put(x, [None, torch.tensor([True, False, True]), torch.tensor([0, 3])], torch.tensor(7.0))
    yield "last", aten.index_put_(x.clone(), [None, None, i], torch.tensor([7.0, 8.0, 9.0]), True)
    y = x.clone().requires_grad_()
    z = aten.index_put.default(y, [None, None, i], torch.tensor([7.0, 8.0, 9.0]))
    yield "gradient", z, torch.autograd.grad(z.sum(), y)[0], z.grad_fn.name()
    yield "no index", _said(lambda: aten.index.Tensor(x, []))
    yield "no index to write", _said(lambda: torch.tensor(1.0).index_put([], torch.tensor([1.0]), True))


@case("asked_of_operators.wide unsigned integers beside others")
def _(torch):
    names = ("uint8", "int64", "float16", "complex64", "bool", "uint16", "uint32")
    for a in names:
        for b in names:
            if "uint16" in (a, b) or "uint32" in (a, b):
                x, y = (torch.ones(2, dtype=getattr(torch, n)) for n in (a, b))
                yield f"{a} {b}", _said(lambda: torch.promote_types(x.dtype, y.dtype)), _said(lambda: torch.result_type(x, y[0])), _said(lambda: torch.cat([x, y]))
                yield f"{a} {b} chosen", _said(lambda: torch.where(torch.tensor([True, False]), x, y)), _said(lambda: x == y)
    yield "numbers", [torch.result_type(torch.ones(2, dtype=torch.uint16), n) for n in (True, 1, 1.5, 1j)]


@case("asked_of_operators.writes into views that narrow")
def _(torch):
    x = torch.zeros(3, dtype=torch.uint8)
    yield "too large", x.select_scatter(torch.tensor(300.7), 0, 1), x.slice_scatter(torch.tensor([-1.5]), 0, 1, 2)
    yield "truth", torch.zeros(3, dtype=torch.bool).select_scatter(torch.tensor(0.5), 0, 1), torch.zeros(2, 2, dtype=torch.bool).diagonal_scatter(torch.tensor([1j, 0]))
    told = [str(w) for f in (lambda: torch.zeros(3).int().select_scatter(torch.tensor(1 + 2j), 0, 1), lambda: torch.zeros(3).slice_scatter(torch.tensor([1j]), 0, 1, 2),
                             lambda: torch.zeros(2, 2).diagonal_scatter(torch.tensor([1j, 2])), lambda: torch.zeros(3).as_strided_scatter(torch.tensor([1 + 1j]), (1,), (1,)))
            for w in _said(f)[1] if "imaginary" not in w or "jnp" in w]
    yield "nothing else said", told
    t, s = torch.zeros(3, requires_grad=True), torch.tensor([1 + 2j], requires_grad=True)
    out = t.slice_scatter(s, 0, 1, 2)
    yield "gradients", out, *torch.autograd.grad(out.sum(), (t, s))


@case("asked_of_operators.results in another dtype")
def _(torch):
    x = torch.arange(6.0).view(2, 3) / 7
    for have, want in (("float16", "float32"), ("bfloat16", "float64"), ("float32", "float64"), ("float64", "float16"), ("complex64", "complex128"), ("float32", "complex64")):
        own, wanted = x.to(getattr(torch, have)), getattr(torch, want)
        yield f"mean, {have} {want}", torch.mean(own, out=torch.empty((), dtype=wanted)), torch.mean(own, 0, out=torch.empty(3, dtype=wanted))
    given = (x > 0.3).byte()
    for f in (torch.all, torch.any):
        yield f"{f.__name__}", f(given, 0, out=torch.empty(3, dtype=torch.bool)), f(given, out=torch.empty((), dtype=torch.bool)), f(given, (0, 1), out=torch.empty((), dtype=torch.uint8))


@case("asked_of_operators.refused")
def _(torch):
    x, i = torch.arange(6.0).view(2, 3), torch.tensor([5, 7])
    for turn, f in enumerate((
            lambda: torch.unravel_index(i, torch.tensor([3, 4])), lambda: torch.unravel_index(i, (3, 4.0)), lambda: torch.unravel_index(i, (2, -3)), lambda: torch.unravel_index(i, -3),
            lambda: torch.unravel_index(i, [3, 4]), lambda: torch.unique(x, dim=(0, 1)), lambda: torch.unique_consecutive(x, dim=(0,)), lambda: torch.unique(torch.tensor(1), dim=2),
            lambda: x.as_strided((2,), (1,), -1), lambda: torch.ones(3).index_reduce(0, i[:1] - 5, torch.ones(1).bool(), "prod"),
            lambda: torch.ones(3).masked_scatter(torch.ones(3).byte(), torch.ones(3).long()), lambda: x.new_tensor(torch.ones(1)))):
        yield turn, _said(f)


@case("asked_of_operators.made and laid out")
def _(torch):
    for name in ("hann_window", "hamming_window", "blackman_window", "kaiser_window"):
        w = getattr(torch, name)(4, requires_grad=True)
        yield name, w, w._is_view(), w._base is None, w.is_leaf
    z = torch.arange(4.0).view(2, 2).t() + 1j
    yield "conjugates", torch.conj_physical(z), torch.conj_physical(z).stride()


@case("asked_of_operators.polynomials of great degree")
def _(torch):
    x = torch.tensor([0.0, 1.0, 2.0, 3.0, 0.5])
    yield "t", torch.special.chebyshev_polynomial_t(x, 100000), torch.special.chebyshev_polynomial_u(x, 3000)
    yield "legendre", torch.special.legendre_polynomial_p(x, 30)


@case("asked_of_operators.losses of several dtypes")
def _(torch):
    f = torch.nn.functional
    x, y = torch.tensor([0.3, 0.6]), torch.tensor([1.0, 0.0])
    for name in ("uint8", "int64", "bool", "float16", "float64", "complex64"):
        dtype = getattr(torch, name)
        leaf = x.clone().requires_grad_()
        weighted = _said(lambda: f.binary_cross_entropy(leaf, y, weight=torch.tensor([2, 3]).to(dtype), reduction="sum"))[0]
        yield f"weight, {name}", weighted, torch.autograd.grad(weighted, leaf)[0] if isinstance(weighted, torch.Tensor) else None
        yield f"target, {name}", _said(lambda: f.binary_cross_entropy(x, y.to(dtype))), _said(lambda: f.binary_cross_entropy(x.half(), y.to(dtype)))
        yield f"huber, {name}", _said(lambda: f.huber_loss(x, y.to(dtype))), _said(lambda: f.huber_loss(y.to(dtype), x)), _said(lambda: f.huber_loss(y.to(dtype), y.to(torch.int16)))
    yield "weight that would grow", _said(lambda: f.binary_cross_entropy(x[None], y[None], weight=torch.ones(2, 1)))


@case("asked_of_operators.complex parts dropped")
def _(torch):
    for turn, f in enumerate((lambda: torch.linalg.solve_triangular(torch.eye(2), torch.ones(2, 2) + 1j, upper=True),
                              lambda: torch.bincount(torch.tensor([1, 2]), weights=torch.ones(2) * 1j + 2))):
        out, told = _said(f)
        yield turn, out, [w for w in told if "imaginary" not in w or "jnp" in w]
