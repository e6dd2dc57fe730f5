"""Gradients that have a name of their own, upsampling by factors, and gradients that are asked of one operand alone."""

from compat_matrix.case import attempt, case
from compat_matrix.observe import raises


def _image(torch, *shape):
    n = 1
    for s in shape:
        n *= s
    return torch.arange(float(n), dtype=torch.float64).reshape(shape).div(7).sin()


@case("gradients_by_name.upsampling")
def _(torch):
    aten, x = torch.ops.aten, _image(torch, 1, 2, 4, 6).requires_grad_()
    for name, corners in (("upsample_nearest2d", ()), ("upsample_bilinear2d", (False,)), ("upsample_bicubic2d", (True,)), ("_upsample_bilinear2d_aa", (False,)),
                          ("_upsample_nearest_exact2d", ())):
        f, flag = getattr(aten, name), dict(zip(("align_corners",), corners))
        yield name, f(x, [2, 3], *corners), f.vec(x, None, *corners, [0.5, 2.0]), f.vec(x, [2, 3], *corners, None), "vec" in f.overloads()
        yield f"{name} by name", f(x, output_size=[2, 3], scale_factors=None, **flag), f(x, output_size=None, scale_factors=[1.5, 1.5], **flag)
        yield f"{name} by both", raises(lambda f=f, c=corners: f.vec(x, [2, 3], *c, [0.5, 2.0])), raises(lambda f=f, c=corners: f.vec(x, None, *c, None))
        yield f"{name} gradient", torch.autograd.grad(f(x, [2, 3], *corners, 0.6, 0.4).sum(), x)


@case("gradients_by_name.of softmax, dropout and pooling")
def _(torch):
    aten, x = torch.ops.aten, _image(torch, 2, 3).requires_grad_()
    out = _image(torch, 2, 3).requires_grad_()
    for name in ("_softmax_backward_data", "_log_softmax_backward_data"):
        y = getattr(torch, name)(x, out, 1, torch.float64)
        first = torch.autograd.grad(y, (x, out), torch.ones_like(y), create_graph=True)
        yield name, y, y.grad_fn.name(), first, torch.autograd.grad(first[1].sum(), (x, out))
    y = aten.native_dropout_backward(x, torch.tensor([[True, False, True], [True, True, False]]), 2.0)
    yield "dropout", y, y.grad_fn.name(), torch.autograd.grad(y.sum(), x)
    plane = _image(torch, 1, 2, 4, 6).requires_grad_()
    found, places = torch._C._nn.max_pool2d_with_indices(plane.detach(), 2)
    g = found.clone().requires_grad_()
    y = aten.max_pool2d_with_indices_backward(g, plane, [2, 2], [2, 2], [0, 0], [1, 1], False, places)
    yield "pooling", y, y.grad_fn.name(), torch.autograd.grad(y, (g, plane), torch.ones_like(y))
    mean, var = torch.zeros(3, dtype=torch.float64), torch.ones(3, dtype=torch.float64)
    y = aten._batch_norm_with_update(x, out[0], out[1], mean, var, 0.1, 1e-5)
    yield "batch norm", y, y[0].grad_fn.name(), mean, var, torch.autograd.grad(y[0].square().sum(), (x, out))


@case("gradients_by_name.indices that a mask makes safe")
def _(torch):
    x, v = _image(torch, 2, 3).requires_grad_(), _image(torch, 3).requires_grad_()
    rows, columns, mask = torch.tensor([0, 7, 1]), torch.tensor([2, 1, -9]), torch.tensor([True, False, False])
    y = torch._unsafe_masked_index(x, mask, [rows, columns], 0.5)
    yield "index", y, y.grad_fn.name(), torch.autograd.grad(y.sum(), x)
    y = torch._unsafe_masked_index_put_accumulate(x, mask, [rows, columns], v)
    yield "put", y, y.grad_fn.name(), torch.autograd.grad(y.square().sum(), (x, v))


@case("gradients_by_name.slices")
def _(torch):
    x = _image(torch, 2, 3).requires_grad_()
    for args in ((), (0,), (1, 1, 3, 2), (-1, -2), (1, None, 99)):
        y = torch.ops.aten.slice(x, *args)
        yield str(args), y, y.grad_fn.name(), y._is_view()


@case("gradients_by_name.of one operand alone")
def _(torch):
    F = torch.nn.functional
    image, w = _image(torch, 1, 2, 4, 4), _image(torch, 4)
    for name, f, shapes in (("layer_norm", lambda x, a, b: F.layer_norm(x, (4,), a, b), ((1, 2, 4, 4), (4,), (4,))),
                            ("batch_norm", lambda x, a, b: F.batch_norm(x, None, None, a, b, True), ((2, 4), (4,), (4,))),
                            ("conv2d", F.conv2d, ((1, 2, 4, 4), (3, 2, 2, 2), (3,)))):
        for k in range(3):
            xs = [_image(torch, *s).requires_grad_(i == k) for i, s in enumerate(shapes)]
            y = f(*xs)
            (g,) = torch.autograd.grad(y.square().sum() if k else y.sum(), xs[k], create_graph=True)
            (h,) = torch.autograd.grad(f(*xs), xs[k], torch.ones_like(y), create_graph=True)
            yield f"{name} {k}", g.requires_grad, h.requires_grad, h.grad_fn and h.grad_fn.name()
            if h.requires_grad:
                yield f"{name} {k} second", torch.autograd.grad(h.sum(), xs[k], allow_unused=True)[0] is None
    q = image.clone().requires_grad_()
    (g,) = torch.autograd.grad(F.scaled_dot_product_attention(image, image, q), q, torch.ones_like(q), create_graph=True)
    yield "attention", g.requires_grad, raises(lambda: torch.autograd.grad(g.sum(), q))
    a, b = _image(torch, 3, 2), _image(torch, 3, 2).requires_grad_()
    found = torch.linalg.lstsq(a, b)
    yield "lstsq", torch.autograd.grad(found.solution, b, torch.ones(2, 2, dtype=torch.float64), create_graph=True)[0].requires_grad
    yield "residuals", torch.autograd.grad(found.residuals, b, torch.zeros(0, dtype=torch.float64), allow_unused=True)
    yield "vector", w


@case("gradients_by_name.attention of nothing")
def _(torch):
    F = torch.nn.functional
    for shapes in (((1, 0, 2),) * 3, ((1, 2, 2), (1, 0, 2), (1, 0, 2)), ((1, 1, 2, 2), (1, 1, 0, 2), (1, 1, 0, 3)), ((0, 2, 2),) * 3, ((1, 2, 2), (1, 2, 2), (1, 2, 0))):
        for causal in (False, True):
            xs = [torch.ones(s, dtype=torch.float64, requires_grad=True) for s in shapes]
            y = F.scaled_dot_product_attention(*xs, is_causal=causal)
            first = torch.autograd.grad(y, xs, torch.ones_like(y), create_graph=True)
            yield f"{shapes} {causal}", y, y.grad_fn.name(), [(g.detach(), g.requires_grad) for g in first]


@case("gradients_by_name.truth values with nothing to multiply")
def _(torch):
    def b(*shape):
        return torch.ones(shape, dtype=torch.bool)

    for name, args in (("addmm", (b(0, 2), b(0, 3), b(3, 2))), ("addmm", (b(2, 2), b(2, 0), b(0, 2))), ("addmv", (b(2), b(2, 0), b(0))),
                       ("addbmm", (b(2, 2), b(0, 2, 3), b(0, 3, 2))), ("baddbmm", (b(1, 2, 2), b(1, 2, 0), b(1, 0, 2)))):
        f = getattr(torch, name)
        yield f"{name} {tuple(args[1].shape)}", [attempt(lambda f=f, a=args, k=k: f(*a, beta=k)) for k in (0, 1, True)]


@case("gradients_by_name.into what is given")
def _(torch):
    whole = torch.int64
    yield "nansum", torch.nansum(torch.tensor([1, 2]), out=torch.zeros((), dtype=whole)), torch.nansum(torch.tensor([True, True]), out=torch.zeros((), dtype=whole))
    yield "nansum refused", raises(lambda: torch.nansum(torch.tensor([1.0]), out=torch.zeros((), dtype=whole)))
    for name, args in (("zeros", (3,)), ("ones", (3,)), ("full", ((3,), 2.0)), ("rand", (3,)), ("randn", (3,))):
        f = getattr(torch, name)
        yield name, attempt(lambda f=f, a=args: f(*a, out=torch.zeros(()).expand(3)))
        yield f"{name}, another dtype", raises(lambda f=f, a=args: f(*a, dtype=torch.float64, out=torch.zeros(3)))
    torch.manual_seed(0)
    weights = torch.arange(1.0, 13).reshape(4, 3).t()
    yield "multinomial", torch.multinomial(weights, 3), torch.multinomial(weights.contiguous(), 3), torch.multinomial(torch.ones(3), 2, out=torch.zeros(5, dtype=whole)).shape


@case("gradients_by_name.erfinv in single precision")
def _(torch):
    x = torch.linspace(-0.9999, 0.9999, 41, dtype=torch.float64)
    w = x.float().requires_grad_()
    for _ in range(3):
        y = (w * 1).erfinv()
        y.sum().backward()
    wide = w.detach().double().erfinv()
    yield "relative error", bool(((y.detach().double() - wide).abs() <= 4e-7 * wide.abs()).all())
