"""Transposed convolutions whose padding leaves nothing: an empty result where oneDNN computes, words about sizes elsewhere."""

from compat_matrix.case import attempt, case

SIZES = {1: ((2, 4, 4), (4, 3, 3), 3), 2: ((2, 4, 5, 4), (4, 3, 3, 3), (2, 3)), 3: ((2, 4, 7, 5, 4), (4, 3, 3, 3, 3), (3, 2, 3))}


def nothing_left(torch, n, dtype, groups, **changed):
    x_size, w_size, padding = SIZES[n]
    dtype = getattr(torch, dtype)
    x = torch.ones(x_size, dtype=dtype, requires_grad=True)
    w = torch.ones(w_size, dtype=dtype, requires_grad=True)
    b = torch.ones(3 * groups, dtype=dtype, requires_grad=True)
    y = getattr(torch.nn.functional, f"conv_transpose{n}d")(x, w, b, **{"padding": padding, "groups": groups, **changed})
    y.sum().backward()
    return tuple(y.shape), y.dtype, x.grad, w.grad, b.grad


def ends(torch, n, dtype):
    for groups in (1, 2):
        yield f"{groups} groups", attempt(lambda groups=groups: nothing_left(torch, n, dtype, groups))
        yield f"{groups} groups, dilated", attempt(lambda groups=groups: nothing_left(torch, n, dtype, groups, dilation=2, padding=4))
        yield f"{groups} groups, less than nothing", attempt(lambda groups=groups: nothing_left(torch, n, dtype, groups, padding=5))


for n in SIZES:
    for dtype in ("float32", "float64", "bfloat16"):
        case(f"conv_ends.transposed.{n}d.{dtype}", n=n, dtype=dtype)(ends)


REFUSED = {
    "no dilation": ((2, 4, 5, 5), (4, 4, 3, 3), {"dilation": 0}), "no kernel": ((2, 4, 5, 5), (4, 4, 0, 3), {}), "one example, no kernel": ((1, 4, 5, 5), (4, 4, 3, 0), {}),
    "no batch, no kernel": ((0, 4, 5, 5), (4, 4, 0, 3), {}), "no batch, less than nothing": ((0, 4, 2, 2), (4, 4, 3, 3), {"padding": 4}),
    "no batch, nothing": ((0, 4, 2, 2), (4, 4, 3, 3), {"padding": 2}), "line": ((2, 4, 5), (4, 4, 0), {}), "line without dilation": ((2, 4, 5), (4, 4, 3), {"dilation": 0}),
    "volume": ((2, 4, 5, 5, 5), (4, 4, 0, 3, 3), {}), "other dims": ((2, 4, 5, 5, 5), (4, 4, 3, 3), {}),
}


def refused(torch, dtype):
    """Kernels and batches without elements, in the words of the kernel that would take them."""
    dtype = getattr(torch, dtype)
    for name, (x_size, w_size, options) in REFUSED.items():
        if dtype == torch.bfloat16 and x_size[0] == 1:  # torch asks oneDNN whatever the batch; here the sums are float32, which it takes from two examples on
            continue
        x, w, n = torch.ones(x_size, dtype=dtype), torch.ones(w_size, dtype=dtype), len(w_size) - 2
        for way in ("conv", "conv_transpose"):
            f = getattr(torch.nn.functional, f"{way}{n}d")
            yield f"{way}, {name}", attempt(lambda f=f, x=x, w=w, options=options: tuple(f(x, w, **options).shape))


for dtype in ("float32", "float64", "bfloat16"):
    case(f"conv_ends.refused.{dtype}", dtype=dtype)(refused)


@case("conv_ends.names of second nodes")
def _(torch):
    """Gradients of paddings and of unpooling have nodes of their own names."""
    F = torch.nn.functional
    for n in (1, 2, 3):
        x = torch.arange(4.0**n).reshape(1, 1, *[4] * n).sin().requires_grad_()
        for mode in ("reflect", "replicate"):
            (g,) = torch.autograd.grad((F.pad(x, (1, 1) * n, mode=mode) ** 2).sum(), x, create_graph=True)
            yield f"{mode} {n}", g.grad_fn.name(), torch.autograd.grad(g.sum(), x)
        out, at = getattr(F, f"max_pool{n}d")(x, 2, return_indices=True)
        out = out.detach().requires_grad_()
        (g,) = torch.autograd.grad((getattr(F, f"max_unpool{n}d")(out, at, 2) ** 2).sum(), out, create_graph=True)
        yield f"unpooled {n}", g.grad_fn.name(), torch.autograd.grad(g.sum(), out)
    x = torch.arange(6.0).reshape(2, 3).requires_grad_()
    (g,) = torch.autograd.grad((x.mean(0) ** 2).sum(), x, create_graph=True)
    yield "mean over a dim", g.grad_fn.name(), torch.autograd.grad(g.sum(), x)


@case("conv_ends.paddings and groups beyond all")
def _(torch):
    """More padding than twice of it can be counted; groups of none in the gradients of a convolution by its own name."""
    F, x, w = torch.nn.functional, torch.ones(1, 4, 10), torch.ones(2, 4, 3)
    for name, f in {
        "most": lambda: F.conv1d(x, w, padding=2**63 - 5), "first too much": lambda: F.conv1d(x, w, padding=2**62), "channels": lambda: F.conv1d(x[:, :3], w, padding=2**62),
        "second dim": lambda: F.conv2d(x[..., None], w[..., None], padding=(1, 2**62)), "no kernel": lambda: F.conv1d(x, w[:, :, :0], padding=2**62),
        "transposed": lambda: F.conv_transpose1d(torch.ones(1, 2, 10), w, padding=2**62, output_padding=5, stride=2),
        "no groups": lambda: torch.ops.aten.convolution_backward(torch.ones(1, 2, 8), x, w, [2], [1], [0], [1], False, [0], 0, [True, True, True]),
    }.items():
        yield name, attempt(lambda f=f: f())
    yield "layout", str(torch._mkldnn)
