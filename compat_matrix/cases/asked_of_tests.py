"""What test suites written for torch ask now and then: averages with buffers, words of `Module.to`, maps over operators without a rule."""

from compat_matrix.case import attempt, case


@case("asked_of_tests.averages_with_buffers")
def _(torch):
    swa = torch.optim.swa_utils
    ways = {"plain": {}, "ema": {"avg_fn": swa.get_ema_avg_fn(0.9)}, "own": {"avg_fn": lambda a, p, n: 0.9 * a + 0.1 * p}}
    for name, way in ways.items():
        for buffers in (False, True):
            torch.manual_seed(0)
            model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.BatchNorm1d(2))
            mean = swa.AveragedModel(model, use_buffers=buffers, **way)
            for _ in range(3):
                with torch.no_grad():
                    for p in model.parameters():
                        p.add_(1)
                model(torch.randn(4, 2))
                mean.update_parameters(model)
            yield f"{name} {buffers}", mean.n_averaged, [p.detach() for p in mean.parameters()], list(mean.module.buffers())
    lists = swa.get_swa_multi_avg_fn()
    yield "of whole numbers", attempt(lambda: lists([torch.tensor([1, 2])], [torch.tensor([3, 5])], torch.tensor(1)))


@case("asked_of_tests.module_to")
def _(torch):
    m = torch.nn.Linear(1, 1)
    calls = [((), {"foo": 1}), (("cpu", torch.float32, True, False, 3), {}), (([1],), {}), (("cpu",), {"foo": torch.ones(1), "bar": None}),
             ((), {"device": "cpu", "dtype": "x"}), ((None,), {}), (("cpu", "cpu"), {}), ((torch.float32, torch.float64), {}), ((), {}), (("nope",), {}),
             ((2.5,), {}), ((), {"device": "cpu", "dtype": torch.float64}), ((torch.ones(1, dtype=torch.float64),), {}), ((torch.channels_last,), {}),
             ((), {"memory_format": torch.channels_last}), (("cpu", torch.float64, True, False), {}), ((torch.float64, False), {}), ((True,), {}),
             (("cpu",), {"copy": False}), ((torch.float32, False, True), {}), ((), {"tensor": torch.ones(1, dtype=torch.float64)})]
    for i, (args, kwargs) in enumerate(calls):
        yield f"{i}", attempt(lambda args=args, kwargs=kwargs: m.to(*args, **kwargs).weight.dtype)


@case("asked_of_tests.maps_without_a_rule")
def _(torch):
    v = torch.func.vmap
    yield "argwhere", v(torch.argwhere)(torch.ones(2, 3)), attempt(lambda: v(torch.argwhere)(torch.tensor([[1, 0], [1, 1]])) and None)
    yield "nonzero_static", v(lambda x: torch.nonzero_static(x, size=3))(torch.tensor([[1, 0, 1], [0, 1, 0]]))
    for dtype in (torch.int64, torch.int32, torch.uint8):
        i = torch.tensor([[1, 5], [0, 2]], dtype=dtype)
        yield f"unravel_index {dtype}", v(lambda x: torch.unravel_index(x, (2, 3)))(i), torch.unravel_index(i, (2, 3)), torch.unravel_index(i, (4,))
    i = torch.tensor([7, -1])
    yield "beyond", torch.unravel_index(i, (2, 3)), torch.unravel_index(i, ()), torch.unravel_index(torch.tensor(4), [2, 3])


@case("asked_of_tests.notes on ctx")
def _(torch):
    notes = {}

    class Inside(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            for name, value in notes.items():
                setattr(ctx, name, value)
            return x.clone()

        @staticmethod
        def backward(ctx, g):
            return g

    class Apart(torch.autograd.Function):
        @staticmethod
        def forward(x):
            return x.clone()

        @staticmethod
        def setup_context(ctx, inputs, output):
            for name, value in notes.items():
                setattr(ctx, name, value)

        @staticmethod
        def backward(ctx, g):
            return g

    for made in (Inside, Apart):
        for needs in (True, False):
            for name in ("dirty_tensors", "to_save", "non_differentiable", "saved_for_forward"):
                for value in ("no tuple", ("no tensor",), [1], 3, None, (None,), ()):
                    notes.clear()
                    notes[name] = value
                    yield f"{made.__name__}, {needs}, {name}, {value}", attempt(lambda made=made, needs=needs: made.apply(torch.ones(2, requires_grad=needs)))


@case("asked_of_tests.held for a thread")
def _(torch):
    torch._C._stash_obj_in_tls("held", 3)
    yield "held", torch._C._is_key_in_tls("held")
    torch._C._remove_obj_from_tls("held")
    yield "gone", torch._C._is_key_in_tls("held"), attempt(lambda: torch._C._get_obj_in_tls("held"))


@case("asked_of_tests.batched checks of what maps made")
def _(torch):
    functional = torch.autograd.functional
    x = torch.tensor([[0.3, -0.6], [1.2, 0.5]], dtype=torch.float64, requires_grad=True)
    made = {"jacobian": lambda x: functional.jacobian(lambda x: x.exp().sum(1), x, create_graph=True, vectorize=True),
            "hessian": lambda x: functional.hessian(lambda x: x.pow(3).sum(), x, create_graph=True, vectorize=True),
            "vmap": lambda x: torch.vmap(lambda row: row.sin() * row.sum())(x), "jacrev": lambda x: torch.func.jacrev(lambda x: x.exp().sum(1))(x)}
    for name, f in made.items():
        yield name, attempt(lambda f=f: torch.autograd.gradcheck(f, (x,), check_batched_grad=True))
        yield f"{name}, second order", attempt(lambda f=f: torch.autograd.gradgradcheck(f, (x,), check_batched_grad=True))


@case("asked_of_tests.global hooks of modules put in place")
def _(torch):
    module, heard = torch.nn.modules.module, []
    layer, x = torch.nn.Linear(2, 2), torch.ones(1, 2, requires_grad=True)
    module.register_module_forward_pre_hook(lambda m, args: heard.append("before"))
    module.register_module_forward_hook(lambda m, args, out: heard.append("after"))
    module.register_module_full_backward_hook(lambda m, gi, go: heard.append("backward"))
    try:
        layer(x).sum().backward()
        yield "heard", list(heard), module._global_is_full_backward_hook, len(module._global_forward_hooks)
    finally:
        for name in ("_global_backward_hooks", "_global_forward_hooks", "_global_forward_pre_hooks"):
            setattr(module, name, type(module._global_forward_hooks)())
        module._global_is_full_backward_hook = None
    layer(x).sum().backward()
    yield "not any more", len(heard), len(module._global_forward_hooks)


@case("asked_of_tests.spectral norm of complex weights")
def _(torch):
    for values in ([[1 + 2j, 0], [0, 3 - 1j]], [[1j, 0.5], [2 - 1j, 3]]):
        torch.manual_seed(0)
        m = torch.nn.Linear(2, 2, dtype=torch.complex64)
        m.weight = torch.nn.Parameter(torch.tensor(values, dtype=torch.complex64))
        torch.nn.utils.parametrizations.spectral_norm(m, n_power_iterations=20)
        yield f"weight {values}", m.weight
        m.weight.abs().pow(2).sum().backward()
        yield f"gradient {values}", m.parametrizations.weight.original.grad


@case("asked_of_tests.swapped for itself")
def _(torch):
    before = torch.__future__.get_swap_module_params_on_conversion()
    torch.__future__.set_swap_module_params_on_conversion(True)
    try:
        m = torch.nn.Linear(2, 2).to("cpu").float()
        m(torch.ones(1, 2)).sum().backward()
        m.to("cpu")
        m(torch.ones(1, 2)).sum().backward()
        yield "gradients", m.weight.grad, m.bias.grad
    finally:
        torch.__future__.set_swap_module_params_on_conversion(before)


@case("asked_of_tests.what swapping exchanges")
def _(torch):
    before = torch.__future__.get_swap_module_params_on_conversion()
    for swaps in (False, True):
        torch.__future__.set_swap_module_params_on_conversion(swaps)
        try:
            m = torch.nn.Linear(2, 2)
            m(torch.ones(1, 2)).sum().backward()
            for name, change in (("same", lambda m: m.to("cpu")), ("double", lambda m: m.double())):
                p, g = m.weight._cdata, m.weight.grad._cdata
                change(m)
                yield f"{name}, {swaps}", m.weight._cdata == p, m.weight.grad._cdata == g
            out = m(torch.ones(1, 2, dtype=torch.float64)).sum()
            m.to("cpu")
            yield f"between, {swaps}", attempt(lambda out=out, m=m: (out.backward(), m.bias.grad))
        finally:
            torch.__future__.set_swap_module_params_on_conversion(before)
    a, b = torch.ones(2), torch.zeros(3)
    was = a._cdata, b._cdata
    torch.utils.swap_tensors(a, b)
    yield "two", (b._cdata, a._cdata) == was, torch._nnpack_available(), torch.nn.functional.grad is torch.nn.grad, str(torch._C._ConvBackend.Slow2d)


@case("asked_of_tests.texts of calls")
def _(torch):
    """What logs of torch show of a call, a traceback, a device."""
    calls = {
        "sum": (torch.sum, [torch.randn(100)], {"dim": 0}), "function": (torch.nn.functional.relu, [torch.randn(3, dtype=torch.float64)], {"inplace": [1, None]}),
        "method": (torch.Tensor.add, [torch.arange(3), 2], {"alpha": torch.tensor(2)}), "python": (len, [[1] * 30], {}),
        "overload": (torch.ops.aten.add.Tensor, [torch.nn.Parameter(torch.ones(2)), torch.ones(2, requires_grad=True) * 2], {"alpha": "x"}),
    }
    for name, (f, args, kwargs) in calls.items():
        yield name, torch._utils.render_call(f, args, kwargs)
    yield "names", [torch.overrides.resolve_name(f) for f in (torch.ops.aten.add.Tensor, torch.ops.aten.add, torch.linalg.norm, len)]
    captured = torch.utils._traceback.CapturedTraceback
    found = captured.extract()
    yield "tracebacks", [type(x).__name__ for x in captured.format_all([found, found])], found.format() == captured.format_all([found])[0]
    meta, inferred = torch.rand(2, device="meta"), torch.utils.checkpoint._infer_device_type
    yield "devices", inferred({"a": meta}), inferred(1), inferred(torch.rand(2), [meta])
