"""Gradients of operators by their ATen names, and functions that exist for tests of autograd."""

from compat_matrix.case import case


@case("backward_names.pointwise")
def _(torch):
    aten = torch.ops.aten
    x = torch.tensor([-1.5, -0.2, 0.0, 0.7, 2.0], dtype=torch.float64, requires_grad=True)
    g = torch.tensor([1.0, -2.0, 0.5, 3.0, -0.25], dtype=torch.float64, requires_grad=True)
    yield "silu", aten.silu_backward(g, x).detach()
    yield "threshold", aten.threshold_backward(g, x, 0.0).detach(), aten.threshold_backward(torch.arange(3), torch.tensor([0, 1, 2]), 0)
    yield "nan", aten.threshold_backward(torch.ones(2), torch.tensor([float("nan"), -1.0]), 0.0)
    for name, f in (("tanh", aten.tanh_backward), ("sigmoid", aten.sigmoid_backward), ("gelu", aten.gelu_backward)):
        out = f(g, x)
        yield name, out.detach(), torch.autograd.grad(out.sum(), (g, x))
    yield "approximate", aten.gelu_backward(g, x, approximate="tanh").detach()


@case("backward_names.convolution")
def _(torch):
    f = torch.ops.aten.convolution_backward
    x = torch.arange(36, dtype=torch.float64).reshape(1, 2, 3, 6).sin().requires_grad_()
    w = torch.arange(16, dtype=torch.float64).reshape(4, 1, 2, 2).cos().requires_grad_()
    g = torch.arange(40, dtype=torch.float64).reshape(1, 4, 2, 5).sin().requires_grad_()
    rest = ([4], [1, 1], [0, 0], [1, 1], False, [0, 0], 2)
    for mask in ((True, True, True), (False, True, False), (True, False, False), (False, False, True), (False, False, False)):
        yield str(mask), [None if t is None else t.detach() for t in f(g, x, w, *rest, mask)]
    made = f(g, x, w, *rest, (True, True, True))
    yield "second", torch.autograd.grad(made[0].sum() + (made[1] ** 2).sum(), (g, x, w))


@case("backward_names.checks")
def _(torch):
    yield "bools", torch._is_all_true(torch.tensor([True, False])), torch._is_all_true(torch.tensor([True])), torch._is_any_true(torch.tensor([False, True]))


@case("backward_names.zeros_like_features")
def _(torch):
    f = torch.ops.aten._new_zeros_with_same_feature_meta
    for k, (a, b) in enumerate(((torch.ones(2, 5), torch.ones(2, 3, 4, dtype=torch.float64).transpose(0, 2)), (torch.ones(3, 2), torch.ones(5)[1:3]), (torch.ones(2, 0), torch.tensor(1.0)))):
        for n in range(a.ndim + 1):
            out = f(a, b, self_num_batch_dims=n)
            yield f"{k} {n}", out.shape, out.stride(), out.storage_offset(), out.dtype, len(out.storage())


@case("backward_names.on_purpose")
def _(torch):
    x = torch.ones(2, 3, requires_grad=True)
    g = torch.arange(6.0).reshape(2, 3)
    out = torch._test_autograd_multiple_dispatch(x)
    out.backward(g)
    yield "one too large", x.grad
    x.grad = None
    torch._test_autograd_multiple_dispatch(x, True).backward(g)
    yield "plain", x.grad
    view, copy = torch._test_autograd_multiple_dispatch_view(x), torch._test_autograd_multiple_dispatch_view_copy(x)
    yield "views", view._is_view(), copy._is_view(), torch.autograd.grad(copy, x, g.view(-1)), torch.autograd.grad(view, x, g.view(-1))


@case("backward_names.saved_sizes_of_bias")
def _(torch):
    a = torch.ones(1, 1, 3, 3, requires_grad=True)
    for k, m in enumerate((torch.nn.Conv2d(1, 2, 3), torch.nn.Conv2d(1, 2, 3, bias=False), torch.nn.ConvTranspose2d(1, 1, 3))):
        yield str(k), m(a).grad_fn._saved_bias_sym_sizes_opt


@case("backward_names.what_the_build_has")
def _(torch):
    yield "build", torch._C.has_lapack, torch._C.has_spectral


@case("backward_names.edges_of_second_derivatives")
def _(torch):
    """Nodes of second derivatives lead where tensors came from; numbers among the arguments are no edges."""
    F = torch.nn.functional
    calls = {
        "threshold": lambda x: F.threshold(x, 0., 0.), "hardtanh": F.hardtanh, "leaky_relu": F.leaky_relu, "elu": F.elu, "celu": F.celu, "selu": F.selu,
        "softplus": F.softplus, "softshrink": F.softshrink, "hardshrink": F.hardshrink, "relu6": F.relu6, "glu": F.glu,
        "smooth_l1_loss": lambda x: F.smooth_l1_loss(x, torch.ones(3, 4)), "huber_loss": lambda x: F.huber_loss(x, torch.ones(3, 4)),
        "prelu": lambda x: F.prelu(x, torch.full((1,), .1, requires_grad=True))}
    for name, call in calls.items():
        x = torch.full((3, 4), .5, requires_grad=True)
        y = call(x * 1.5)
        node = torch.autograd.grad(y, x, torch.ones_like(y), create_graph=True)[0].grad_fn.next_functions[0][0]
        yield name, node.name(), [n and n.name() for n, _ in node.next_functions]
