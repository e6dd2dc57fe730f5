"""Who is told of which call: methods as methods, reflected operators once the other operand declined, what nobody is told of, and bases of subclasses."""

from compat_matrix.case import attempt, case


def _mode(torch, log):
    class Mode(torch.overrides.TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            log.append(getattr(func, "__name__", str(func)))
            return func(*args, **(kwargs or {}))

    return Mode()


@case("told_as_themselves.methods")
def _(torch):
    told = []

    class Asked(torch.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            told.append(func)
            return -1

    for name, more in {"int_repr": 0, "is_pinned": 0, "pin_memory": 0, "q_scale": 0, "q_zero_point": 0, "smm": 1, "resize_as_sparse_": 1, "istft": 1}.items():
        told.clear()
        yield name, getattr(Asked([5.0]), name)(*[Asked([5.0])] * more), [f is getattr(torch.Tensor, name) for f in told]
    yield "names", [f != eval(torch.overrides.resolve_name(f), {"torch": torch}) for fs in torch.overrides.get_overridable_functions().values() for f in fs].count(True)


@case("told_as_themselves.modes")
def _(torch):
    x = torch.ones(2, requires_grad=True)
    state = torch.get_rng_state()
    calls = {"default dtype": torch.get_default_dtype, "shapes": lambda: torch.broadcast_shapes((1,), (2,)), "seed": lambda: torch.manual_seed(0),
             "state": torch.get_rng_state, "set": lambda: torch.set_rng_state(state), "device": lambda: torch.device("cpu"),
             "detach_": lambda: (x * 2).detach_(), "is a view": lambda: x._is_view(), "node": lambda: x._grad_fn,
             "to": lambda: torch._C._nn._parse_to("cpu"), "all": lambda: torch._is_all_true(x > 0), "class": lambda: torch.Tensor._make_subclass(torch.Tensor, x),
             "checkpoint": lambda: torch.utils.checkpoint.checkpoint(lambda x: x * 2, x.detach(), use_reentrant=False)}
    for name, call in calls.items():
        log = []
        with _mode(torch, log):
            call()
        yield name, [n for n in log if n != "__get__" or name == "node"]

    class OfTheClass(torch.overrides.TorchFunctionMode):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return func(*args, **(kwargs or {}))

    def inside():
        with OfTheClass():
            return x + x

    yield "of the class", attempt(inside)


@case("told_as_themselves.subclasses and modes")
def _(torch):
    has, hand_over = torch.overrides.has_torch_function, torch.overrides.handle_torch_function
    yield "no sequence", attempt(lambda: has(object()))

    def own(a):
        return hand_over(own, (a,), a) if has((a,)) else a

    class Plain(torch.Tensor):
        pass

    heard = []

    class Declining(torch.overrides.TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            heard.append([t.__name__ for t in types])
            return NotImplemented if any(t is not torch.Tensor for t in types) else func(*args, **(kwargs or {}))

    for name, call in {"neg": torch.neg, "own": own}.items():
        heard.clear()
        with Declining():
            out = call(Plain([1.0]))
        yield name, type(out).__name__, list(heard)

    class Nothing(torch.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return NotImplemented

    class Reflected(torch.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return -1 if func is torch.Tensor.__rpow__ else NotImplemented

    yield "reflected", Nothing([1.0]) ** Reflected([1.0])

    class Like:
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return [type(a).__name__ for a in args]

    yield "grad", torch.autograd.grad(Like(), Like())

    with torch._C.DisableTorchFunctionSubclass():
        on = torch._C._EnableTorchFunction()
        yield "on again", type(torch.sum(Plain([1.0]))).__name__
        del on
        yield "off again", type(torch.sum(Plain([1.0]))).__name__
    with torch._C.DisableTorchFunction():
        yield "all off", torch._C._is_torch_function_all_disabled()
        with torch.overrides._enable_torch_function():
            yield "on", type(torch.sum(Plain([1.0]))).__name__


@case("told_as_themselves.bases")
def _(torch):
    class Own(torch.Tensor):
        pass

    a = torch.ones(2, requires_grad=True)
    for name, x in {"plain": torch.ones(2), "leaf": a, "result": a * 2, "view": torch.ones(2)[:1], "own": Own(torch.ones(2))}.items():
        for way, make in {"called": Own, "as": lambda x: x.as_subclass(Own), "made": lambda x: torch.Tensor._make_subclass(Own, x)}.items():
            c = make(x)
            yield f"{name}, {way}", c._is_view(), c._base is x, type(c._base).__name__, c.requires_grad, c.is_leaf
    yield "of data", [Own(x)._is_view() for x in ([1.0], 3, torch.Size([2]))], Own()._base
    for name, call in {"named": lambda: torch.device(device="cpu"), "with an index": lambda: torch.device(device="cpu", index=1),
                       "twice": lambda: torch.device("cpu", device="cpu")}.items():
        yield name, attempt(call)
