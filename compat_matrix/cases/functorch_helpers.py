"""What PyTorch keeps beside torch.func: ensembles of modules, contexts with other saved tensors, gradients under maps of their inputs alone."""

import importlib

from compat_matrix.case import case


def _module(torch, name):
    return importlib.import_module(f"{torch.__name__}._functorch.{name}")


def _net(torch):
    class Net(torch.nn.Module):
        def __init__(self, width, normed):
            super().__init__()
            self.inside = torch.nn.Linear(2, width)
            self.normed = torch.nn.BatchNorm1d(width) if normed else torch.nn.Identity()

        def forward(self, x):
            return self.normed(self.inside(x)).tanh()

    return Net


def _error(f):
    try:
        return f()
    except (RuntimeError, ValueError) as e:
        return type(e).__name__, str(e)


@case("functorch_helpers.ensembles")
def _(torch):
    made, net = _module(torch, "make_functional"), _net(torch)
    torch.manual_seed(0)
    weights, fn, names = made.functional_init(net, (3,))(4, False)
    yield "weights", weights, names, [w.requires_grad for w in weights]
    yield "mapped", torch.func.vmap(fn)(weights, (torch.ones(3, 5, 2),))
    weights, buffers, fn, names, more = made.functional_init_with_buffers(net, [2])(3, True)
    yield "buffers", [tuple(w.shape) for w in weights], buffers, names, more
    yield "mapped too", torch.func.vmap(fn)(weights, buffers, (torch.arange(20.0).reshape(2, 5, 2),))
    weights, fn, names = made.functional_init(net)(4, False)
    yield "one", fn(weights, (torch.ones(1, 2),)), names, [w.requires_grad for w in weights]
    for shape in ((2, 3), (0,)):
        yield f"shape {shape}", _error(lambda: made.functional_init(net, shape)(4, False))
    yield "with buffers", _error(lambda: made.functional_init(net)(4, True))


@case("functorch_helpers.contexts")
def _(torch):
    helpers = _module(torch, "autograd_function")
    seen = []

    class Wrapped(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            ctx.save_for_backward(x, y)
            return x * y

        @staticmethod
        def backward(ctx, g):
            one = helpers.CtxWithSavedTensors(ctx, (1, 2))
            two = helpers.CtxWithSavedTensors(one, (3,))
            two.own = "set"
            seen.append((one.saved_tensors, two.saved_tensors, two.needs_input_grad, ctx.own))
            return g, g

    x = torch.ones(2, requires_grad=True)
    Wrapped.apply(x, torch.ones(2)).sum().backward()
    yield "seen", seen

    class Taken:
        _pt_inner_ctx = 1

    yield "taken", _error(lambda: helpers.CtxWithSavedTensors(Taken(), ()))
    for result in (1, (1,), (1, 2, 3)):
        yield f"returned {result}", _error(lambda: helpers.validate_vmap_returns_tuple_of_two_elements(result))
    yield "rule", helpers.has_overridden_vmap_rule(Wrapped)


@case("functorch_helpers.gradients_under_maps")
def _(torch):
    leaf = _module(torch, "autograd_function").reductify_leaf
    g = torch.arange(24.0).reshape(2, 3, 4)
    yield "none", leaf(None, None, 0, 2), leaf(g[0], None, None, 2)
    yield "gradient alone", leaf(g, 0, None, 2), leaf(g, 1, None, 3, (4,))
    yield "input alone", leaf(g[0], None, 1, 2), leaf(g[0], None, 1, 2, (4,))
    yield "both", leaf(g, 0, 1, 2), leaf(g, 0, 0, 2), leaf(g, 2, 0, 4, (3,))


@case("functorch_helpers.keys_excluded")
def _(torch):
    c = torch._C
    with c._ExcludeDispatchKeyGuard(c.DispatchKeySet(c.DispatchKey.FuncTorchBatched)):
        yield "inside", c._dispatch_tls_local_exclude_set().has(c.DispatchKey.FuncTorchBatched)
        yield "mapped", torch.func.vmap(lambda x: x.sum(0))(torch.ones(3))
    yield "outside", c._dispatch_tls_local_exclude_set().has(c.DispatchKey.FuncTorchBatched)
