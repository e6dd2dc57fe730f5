"""Names beside the documented ones that libraries use."""

import typing

from compat_matrix.case import attempt, case, raises


@case("everyday.assert")
def _(torch):
    for value in (True, 3, 0, [], torch.tensor(False), torch.tensor([1.0])):
        yield str(value), attempt(lambda value=value: torch._assert(value, "words"))


@case("everyday.types")
def _(torch):
    from_types = torch.types if hasattr(torch, "types") else None
    for name in ("Number", "_int", "_float", "_bool", "_dtype", "_device", "_layout", "_TensorOrTensors", "_TensorOrOptionalTensors", "_Number"):
        yield name, repr(getattr(from_types, name)).replace("torchlike_autograd._core.devices", "torch").replace("torchlike_autograd", "torch").replace("_tensor.", "")
    yield "device", isinstance("cpu", typing.get_args(torch.types.Device)), isinstance(3, torch.types.Number), isinstance(2j, torch.types.Number)


@case("everyday.return_types")
def _(torch):
    x = torch.tensor([[3.0, 1.0], [2.0, 5.0]])
    for name, made in [("max", x.max(0)), ("sort", x.sort()), ("topk", x.topk(1)), ("linalg_eigh", torch.linalg.eigh(x)), ("linalg_svd", torch.linalg.svd(x)),
                       ("mode", x.mode()), ("slogdet", torch.slogdet(x)), ("linalg_slogdet", torch.linalg.slogdet(x)), ("aminmax", x.aminmax())]:
        kind = getattr(torch.return_types, name)
        yield name, isinstance(made, kind), type(made) is kind, kind.__name__
    yield "made", torch.return_types.sort((x, x)).indices, raises(lambda: torch.return_types.nothing)


@case("everyday.compiler_marks")
def _(torch):
    def f(x):
        return x * 2
    x = torch.ones(2)
    yield "disable", torch._dynamo.disable(f)(x), torch._dynamo.disable(f).__name__, torch._dynamo.disable()(f)(x), torch._dynamo.disable(f, recursive=False)(x)
    yield "allow", torch._dynamo.allow_in_graph(f) is f, torch._dynamo.is_compiling(), torch._dynamo.reset()
    config = torch._dynamo.config
    with torch._dynamo.utils.disable_cache_limit():  # reached by attribute alone, as libraries do
        yield "limits off", config.recompile_limit, config.accumulated_recompile_limit
    yield "limits back", config.recompile_limit, config.accumulated_recompile_limit
    yield "graph module", isinstance(torch.nn.ReLU(), torch.fx.GraphModule), issubclass(torch.fx.GraphModule, torch.nn.Module)


@case("everyday.old_vmap")
def _(torch):
    from importlib import import_module
    vmap = import_module(torch.__name__ + "._vmap_internals")._vmap
    x = torch.arange(6.0).reshape(3, 2).requires_grad_()
    y = (x[0] ** 3 * x[1].sum()).sum()
    (g,) = torch.autograd.grad(y, x, create_graph=True)
    yield "mapped", vmap(lambda v: v * 2)(x), vmap(lambda v: v.sum(), 1)(x), vmap(lambda v: v * 2, 0, 1)(x)
    yield "rows", vmap(lambda v: torch.autograd.grad(g, x, v, retain_graph=True)[0])(torch.eye(6).reshape(6, 3, 2))


@case("everyday.make_subclass")
def _(torch):
    T = torch.Tensor

    class S(T):
        pass
    x = torch.ones(2)
    s = T._make_subclass(S, x)
    yield "plain", type(s).__name__, s.requires_grad, s.is_leaf, s._is_view(), s._version, s.data_ptr() == x.data_ptr()
    p = T._make_subclass(torch.nn.Parameter, x, True)
    x.add_(1)
    yield "shared", p, s.as_subclass(T), x._version, p._version, s._version
    (p * 3).sum().backward()
    yield "leaf", p.grad, p.requires_grad, T._make_subclass(S, x, require_grad=True).requires_grad, T._make_subclass(S, p * 2).requires_grad
    yield "refused", [raises(f) for f in (
        lambda: T._make_subclass(S, torch.arange(3), True), lambda: T._make_subclass(S, x, 1), lambda: T._make_subclass(3, x), lambda: T._make_subclass(int, x),
        lambda: T._make_subclass(S, 3))]


@case("everyday.functional_parts")
def _(torch):
    f = torch.autograd.functional
    x = torch.ones(2, requires_grad=True) * 1
    yield "detached", f._grad_postprocess((x,), False), f._grad_postprocess(((x,), (x, x)), False), f._grad_postprocess([(x,)], True)[0][0].requires_grad
    yield "tuple", f._as_tuple(3), f._as_tuple((x, x), "inputs", "jacobian"), f._as_tuple(x, "inputs", "jacobian")
    yield "refused", [raises(lambda v=v: f._as_tuple(v, "outputs", "jacobian")) for v in (3, (x, 3))]
    for flags in [(True, True), (False, True), (True, False), (False, False), True, False]:
        yield str(flags), f._tuple_postprocess(((1, 2), (3, 4)), flags)


@case("everyday.line_search_parts")
def _(torch):
    from importlib import import_module
    lbfgs = import_module(torch.__name__ + ".optim.lbfgs")
    n = [torch.tensor(v, dtype=torch.float64) for v in (0.0, 2.0, -3.0, 1.0, 1.0, 2.5)]
    yield "cubic", lbfgs._cubic_interpolate(*n), lbfgs._cubic_interpolate(*n[3:], *n[:3]), lbfgs._cubic_interpolate(*n, bounds=(0.7, 0.8))
    p = torch.tensor([-0.5, 0.8], dtype=torch.float64)

    def f(x, t, d):
        y = (x + t * d).requires_grad_()
        out = 100 * (y[1] - y[0] ** 2) ** 2 + (1 - y[0]) ** 2
        return float(out), torch.autograd.grad(out, y)[0]
    value, g = f(p, 0.0, torch.zeros(2, dtype=torch.float64))
    for t in (1.0, 0.01, 1e-4):
        found = lbfgs._strong_wolfe(f, p, t, -g, value, g, g.dot(-g))
        yield str(t), found[0], found[1], float(found[2]), found[3]


@case("everyday.limits_of_python_types")
def _(torch):
    for kind in (float, complex):
        yield kind.__name__, repr(torch.finfo(kind)), torch.finfo(kind).eps, torch.finfo(kind).bits
    yield "int", torch.iinfo(int).min, torch.iinfo(int).max, torch.iinfo(int).bits
    yield "refused", [raises(lambda k=k: torch.finfo(k)) for k in (str, 3)], [raises(lambda k=k: torch.iinfo(k)) for k in (str, 3, bool)]
