"""`__torch_function__` that is no classmethod, with its warnings, and the functions of torch.nn.init that ask it."""

from compat_matrix.case import attempt, case, warned


@case("overrides_as_methods.warnings")
def _(torch):
    class Plain:
        def __torch_function__(self, func, types, args=(), kwargs=None):
            return "plain"

    class Told:
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return "told"

    for name, made in (("method", Plain), ("classmethod", Told)):
        yield f"in Python, {name}", warned(lambda: torch.nn.functional.relu(made())), warned(lambda: torch.overrides.handle_torch_function(torch.add, (made(),), made(), 1))
        yield f"answers, {name}", torch.nn.functional.relu(made()), torch.add(made(), 1), torch.sum(made())


@case("overrides_as_methods.initialisers")
def _(torch):
    class Told:
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return func.__name__, len(args), {k: v for k, v in kwargs.items() if k != "tensor"}

    init = torch.nn.init
    for name, args, kwargs in (("uniform_", (), {}), ("uniform_", (1, 2), {}), ("normal_", (), {"std": 3.0}), ("constant_", (2.0,), {}), ("kaiming_uniform_", (), {"a": 0.5, "mode": "fan_out"})):
        yield f"{name} {args}", getattr(init, name)(Told(), *args, **kwargs)
    for name in ("ones_", "zeros_", "xavier_uniform_"):
        yield name, type(attempt(lambda: getattr(init, name)(Told()))).__name__


@case("overrides_as_methods.initialisers in a mode")
def _(torch):
    heard = []

    class Heard(torch.overrides.TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            heard.append(func.__name__)
            return func(*args, **(kwargs or {}))

    for name, args in (("uniform_", ()), ("normal_", ()), ("constant_", (1.0,)), ("xavier_normal_", ()), ("ones_", ())):
        torch.manual_seed(0)
        x = torch.ones(2, 2)
        heard.clear()
        with Heard():
            out = getattr(torch.nn.init, name)(x, *args)
        yield name, out, out is x, [h for h in heard if h.endswith("_") and not h.startswith("_")]
