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
