"""What libraries take from below the public names, or in PyTorch's ways of old."""

from compat_matrix.case import case, raises

OLD = {
    "add_": "a.clone().add_(k, b)", "add": "torch.add(a, k, b)", "sub": "a.sub(k, b)", "add of a number": "torch.add(a, k, 3)", "addcmul_": "a.clone().addcmul_(k, b, b)",
    "addcdiv": "torch.addcdiv(a, k, b, b + 1)", "addmm": "torch.addmm(k, m, m, m)", "addmm, both": "torch.addmm(k, m, k, m, m)", "addmv": "torch.addmv(k, a, k, m, b)",
    "addr_": "m.clone().addr_(k, b, b)", "baddbmm": "torch.baddbmm(k, m[None], k, m[None], m[None])", "addbmm": "torch.addbmm(m, k, m[None], m[None])",
}


@case("asked_by_libraries.numbers_of_old")
def numbers_of_old(torch):
    """A tensor of no dims that needs no gradient stands for a number where the order of arguments is that of old."""
    names = {"torch": torch, "a": torch.ones(3), "b": torch.arange(3.0), "m": torch.eye(3)}
    for kind, k in {"float": torch.tensor(2.5), "long": torch.tensor(3), "one element": torch.tensor([2.0]), "leaf": torch.tensor(1.0, requires_grad=True)}.items():
        for name, text in OLD.items():
            yield f"{name}: {kind}", raises(lambda: eval(text, {**names, "k": k})) or eval(text, {**names, "k": k})


@case("asked_by_libraries.strides_kept")
def strides_kept(torch):
    """The strides that products keep: none of what gets no gradient, those of a view also where nobody holds it."""
    linear = torch.nn.functional.linear
    x, w, b = torch.ones(5, 3), torch.ones(4, 3, requires_grad=True), torch.ones(4, requires_grad=True)
    z, y = torch.ones(3, 5).t().requires_grad_(), torch.ones(6, 3)[::2].requires_grad_()
    for name, out in {"linear": linear(x, w, b), "linear of t": linear(z, w, b), "mm": x @ w.t(), "mm of t": z @ w.t(), "constant": torch.mm(z, x.t()),
                      "addmm": torch.addmm(b, x, w.t()), "both constant": torch.addmm(b, x, w.t().detach()), "steps": z @ y.t(), "t first": y.t() @ y}.items():
        node = out.grad_fn
        yield name, [(key, getattr(node, key)) for key in sorted(dir(node)) if key.endswith(("sym_strides", "sym_sizes"))]


@case("asked_by_libraries.parsed")
def parsed(torch):
    parse = torch._C._nn._parse_to
    for name, args, kwargs in (("device", ("cpu",), {}), ("dtype", (torch.float64,), {}), ("named", (), {"dtype": torch.float32, "device": "cpu"}),
                               ("tensor", (torch.ones(2, dtype=torch.float64),), {}), ("flags", ("cpu", torch.float64, True), {}), ("blocking", (), {"non_blocking": True}),
                               ("format", (), {"memory_format": torch.channels_last}), ("nothing", (), {}), ("none", (None,), {}), ("device none", ("cpu", None), {})):
        yield name, [str(x) for x in parse(*args, **kwargs)]
    yield "copy", raises(lambda: parse("cpu", copy=True))


@case("asked_by_libraries.formatted")
def formatted(torch):
    for data in ([1.0, 2.5, 100.0], [1, 25], [1e10, 25.0], 2.5, [0.0, float("inf")], [1.0, 2.0]):
        one = torch._tensor_str._Formatter(torch.tensor(data))
        numbers = (1, 2) if one.floating_dtype is False else (1.0, 2.5, -3.0)
        yield str(data), one.width(), [one.format(x) for x in numbers]


@case("asked_by_libraries.reached")
def reached(torch):
    """Modules that are there as soon as PyTorch is imported, and names of old."""
    for path in ("_utils", "_jit_internal", "__future__", "_C._nn", "multiprocessing.reductions", "nn.parallel.comm", "utils.collect_env", "distributed.rpc"):
        out = torch
        for name in path.split("."):
            out = getattr(out, name)
        yield path, type(out).__name__
    yield "mixin", torch.autograd.function._ContextMethodMixin is torch.autograd.function.FunctionCtx
    yield "dispatched", type(torch._jit_internal.boolean_dispatched).__name__
    yield "switches", [torch._C._jit_set_profiling_mode(x) for x in (False, True)], torch._C._jit_override_can_fuse_on_cpu(False)
    yield "device", torch._C._get_default_device()
    yield "layout", str(torch.jagged), isinstance(torch.jagged, torch.layout)
    x, w = torch.arange(12.0).reshape(1, 2, 6), torch.ones(2, 2, 3)
    yield "_convolution", torch.ops.aten._convolution(x, w, None, [1], [0], [1], False, [0], 1, False, False, False, False)
