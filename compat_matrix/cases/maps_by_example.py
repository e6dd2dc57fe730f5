"""Maps over functions that look at their data: each example alone, the results stacked; what depends on data in its shape is refused."""

from compat_matrix.case import case


def _told(fn):
    try:
        return fn()
    except (RuntimeError, NotImplementedError) as error:
        return type(error).__name__, str(error).partition("Please file")[0].partition("Exception raised")[0]


@case("maps_by_example.counts")
def _(torch):
    v, x = torch.func.vmap, torch.tensor([[1.0, 2.0, 3.0], [1.0, 1.0, 1.0]])
    yield "histc", v(lambda a: torch.histc(a, 3))(x), v(lambda a: torch.histc(a, bins=4, min=0, max=4), in_dims=1)(x)
    found = v(lambda a: torch.histogram(a, 3))(x)
    yield "histogram", found.hist, found.bin_edges
    n = torch.tensor([[1, 1, 1], [0, 1, 1]])
    yield "bincount", v(torch.bincount)(n), v(torch.bincount)(n, x)
    yield "nested", v(v(lambda a: torch.histc(a, 2)))(x.expand(2, 2, 3))
    yield "histogramdd", _told(lambda: v(lambda a: torch.histogramdd(a, 3))(torch.ones(2, 5, 2)))


@case("maps_by_example.ranges")
def _(torch):
    v, a, b = torch.func.vmap, torch.tensor([0.0, 1.0]), torch.tensor([1.0, 2.0])
    yield "linspace", v(lambda x, y: torch.linspace(x, y, 3))(a, b), v(lambda x: torch.linspace(x, 4, 3))(a)
    yield "logspace", v(lambda x, y: torch.logspace(x, y, 3))(a, b)


@case("maps_by_example.repeats")
def _(torch):
    v, n = torch.func.vmap, torch.tensor([[1, 2, 0], [0, 2, 1]])
    yield "numbers", v(lambda r: torch.repeat_interleave(r))(n)
    yield "of one", v(lambda r: torch.repeat_interleave(torch.arange(3.0), r))(n)
    yield "of each", v(lambda x, r: torch.repeat_interleave(x, r))(torch.arange(6.0).view(2, 3), n)
    x = torch.arange(6.0).view(2, 3).requires_grad_()
    yield "gradient", torch.autograd.grad((v(lambda x, r: torch.repeat_interleave(x, r))(x, n) * torch.arange(6.0).view(2, 3)).sum(), x)


@case("maps_by_example.shapes_of_data")
def _(torch):
    v = torch.func.vmap
    yield "unique_consecutive", _told(lambda: v(torch.unique_consecutive)(torch.ones(2, 3)))
    yield "different sizes", type(_told(lambda: v(lambda r: torch.repeat_interleave(r))(torch.tensor([[1, 2], [3, 4]])))).__name__


@case("maps_by_example.strides")
def _(torch):
    v, x = torch.vmap, torch.arange(10.0).view(2, 5)
    yield "inside", v(lambda a: a.as_strided((3,), (1,)))(x[:, 1:]), v(lambda a: a.as_strided((3,), (1,), 2))(x[:, 1:])
    for name, f in (("longer", lambda a: a.as_strided((5,), (1,), 0)), ("later", lambda a: a.as_strided((5,), (1,), 1)), ("apart", lambda a: a.as_strided((2,), (7,)))):
        yield name, _told(lambda f=f: v(f)(x[:, :4]))
