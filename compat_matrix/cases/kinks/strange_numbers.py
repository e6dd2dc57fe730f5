"""Numbers that are 0, NaN or infinite where few look: powers of complex numbers, products by place, norms of one element, what is refused."""

from compat_matrix.case import case

INF, NAN = float("inf"), float("nan")


def _orders(torch, f, *inputs):
    """The value, first and second derivatives, and the tangent of f."""
    leaves = [x.clone().requires_grad_() for x in inputs]
    out = f(*leaves)
    yield out
    ones = torch.ones_like(out)
    first = torch.autograd.grad(out, leaves, ones, create_graph=True)
    yield first
    rest = [g for g in first if g.requires_grad]
    if rest:
        yield torch.autograd.grad(rest, leaves, [torch.ones_like(g) for g in rest], allow_unused=True)


def _tangent(torch, f, *inputs):
    fw = torch.autograd.forward_ad
    with fw.dual_level():
        return fw.unpack_dual(f(*[fw.make_dual(x, torch.ones_like(x)) for x in inputs])).tangent


@case("kinks.strange_numbers.complex_powers")
def _(torch):
    z = torch.tensor([0j, 1 + 0j, -1 + 0j, 1j, 1 + 1j, complex(INF, 0), complex(NAN, 0)], dtype=torch.complex128)
    base, exponent = z.repeat_interleave(7), z.repeat(7)
    yield "values", torch.pow(base, exponent), torch.pow(z.to(torch.complex64), torch.zeros(7, dtype=torch.complex64))
    yield "0-dim", z ** torch.tensor(0j), z ** 0j, 0j ** z
    leaves = base[:35].clone().requires_grad_(), exponent[:35].clone().requires_grad_()
    yield "gradients", torch.autograd.grad(torch.pow(*leaves), leaves, torch.ones_like(leaves[0]))


@case("kinks.strange_numbers.direction_of_zero_in_forward_mode")
def _(torch):
    z = torch.tensor([0j, 3 + 4j, 2j], dtype=torch.complex128)
    yield "tangent", _tangent(torch, torch.sgn, z)
    for i, part in enumerate(_orders(torch, torch.sgn, z[1:])):
        yield f"order {i}", part


@case("kinks.strange_numbers.products_by_place")
def _(torch):
    place = torch.tensor([0, 1, 0, 1, 0])
    for name, src in (("nan", [1.0, NAN, 2.0, NAN, 0.5]), ("inf", [1.0, INF, 2.0, 3.0, 0.5])):
        src = torch.tensor(src, dtype=torch.float64)
        for i, part in enumerate(_orders(torch, lambda x: torch.ones(2, dtype=torch.float64).scatter_reduce(0, place, x, "prod"), src)):
            yield f"{name} scatter {i}", part[0][::2] if type(part) is tuple else part[:1]
        x = src.clone().requires_grad_()
        yield f"{name} index", torch.autograd.grad(torch.ones(2, dtype=torch.float64).index_reduce(0, place, x, "prod")[0], x)[0][::2]


@case("kinks.strange_numbers.norms_of_one_element")
def _(torch):
    for dtype, big in ((torch.float64, 1e200), (torch.float32, 1e30), (torch.float32, 1e-30)):
        x = torch.tensor([[big], [3.0]], dtype=dtype)
        for p in (0, 0.5, 1, 2, 3, INF, -INF):
            yield f"{dtype} {big} {p}", torch.linalg.vector_norm(x, p, 1), torch.norm(x[:1], p), torch.nn.functional.normalize(x, p, 1)


@case("kinks.strange_numbers.rows_without_a_norm")
def _(torch):
    rows = torch.tensor([[0.0, 3.0], [0.1, 0.2], [1.0, NAN]], dtype=torch.float64)
    for p in (0.5, 1, 2, INF):
        x = rows.clone().requires_grad_()
        out = torch.renorm(x, p, 0, 1.0)
        yield f"p={p}", out, torch.autograd.grad(out.sum(), x)


@case("kinks.strange_numbers.losses_at_nan")
def _(torch):
    x = torch.tensor([NAN, 0.5, 2.0, INF], dtype=torch.float64)
    for name in ("huber_loss", "smooth_l1_loss"):
        for i, part in enumerate(_orders(torch, lambda x, name=name: getattr(torch.nn.functional, name)(x, torch.zeros_like(x), reduction="none"), x)):
            yield f"{name} {i}", part
    leaf = x.clone().requires_grad_()
    out = torch.nn.functional.rrelu(leaf)
    yield "rrelu", out, torch.autograd.grad(out.sum(), leaf)


@case("kinks.strange_numbers.special_functions")
def _(torch):
    s = torch.tensor([0.0, 0.5, 1.0, 2.0, INF, NAN, -1.0, -0.0], dtype=torch.float64)
    for name in ("gammainc", "gammaincc", "zeta"):
        yield name, getattr(torch.special, name)(s.repeat(8), s.repeat_interleave(8))


@case("kinks.strange_numbers.integrals_of_nothing")
def _(torch):
    x = torch.zeros(2, 0, requires_grad=True)
    yield "trapezoid", torch.trapezoid(x), torch.trapezoid(x).requires_grad
    yield "cumulative", torch.cumulative_trapezoid(x), torch.cumulative_trapezoid(x).requires_grad
    yield "logsumexp", torch.logsumexp(torch.zeros(0), ())
    for name in ("trapezoid", "cumulative_trapezoid"):
        try:
            getattr(torch, name)(torch.tensor(1.0))
        except IndexError as e:
            yield f"{name} of a number", str(e)


@case("kinks.strange_numbers.comparisons_with_complex_numbers_in_place")
def _(torch):
    for dtype in (torch.float32, torch.int64, torch.complex64):
        for name in ("eq_", "ne_", "lt_", "le_", "gt_", "ge_"):
            for other in (1j, 1 + 0j, torch.tensor([0j, 1, 2j])):
                x = torch.arange(3).to(dtype)
                try:
                    yield f"{dtype} {name} {other}", getattr(x, name)(other)
                except NotImplementedError as e:
                    yield f"{dtype} {name} {other}", str(e)


@case("kinks.strange_numbers.refused")
def _(torch):
    x = torch.arange(6.0)
    for name, call in {"isin": lambda: torch.isin(0, 0), "isin of others": lambda: torch.isin(True, 1.5), "reshape": lambda: torch.reshape(x, 6),
                       "reshape of many": lambda: torch.reshape(x, 2, 3), "reshape by keyword": lambda: torch.reshape(x, shape=6)}.items():
        try:
            yield name, call()
        except TypeError as e:
            yield name, str(e).strip()
    yield "taken", torch.reshape(x, (2, 3)), torch.reshape(input=x, shape=[3, 2]), x.reshape(2, 3), x.reshape(6)


@case("kinks.strange_numbers.without_64_bits")
def _(torch):
    x, far = torch.arange(4.0), 1 << 70
    for name, call in {"chunk": lambda n: x.chunk(n), "select": lambda n: x.select(0, n), "start": lambda n: x.narrow(0, n, 1),
                       "length": lambda n: x.narrow(0, 1, n), "repeats": lambda n: x.repeat_interleave(n)}.items():
        call(1)                                                                     # a call that is known is no reason to take another kind
        for n in (far, -far, 1 << 63):
            try:
                yield f"{name} {n}", call(n)
            except ValueError as e:
                yield f"{name} {n}", str(e)
