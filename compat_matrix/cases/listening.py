"""TorchDispatchMode: which operators a mode hears of, with which arguments; what it gives goes on; modes in modes; torch.overrides beside it."""

from compat_matrix.case import attempt, case


def shown(x, torch):
    """A tensor by its shape, anything else as it is."""
    if isinstance(x, torch.Tensor):
        return tuple(x.shape)
    return [shown(y, torch) for y in x] if isinstance(x, (list, tuple)) else x


def logging(torch):
    """A class of modes that log calls."""
    class Log(torch.utils._python_dispatch.TorchDispatchMode):
        def __init__(self):
            super().__init__()
            self.log = []

        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            self.log.append((str(func), types, shown(args, torch), {k: shown(v, torch) for k, v in (kwargs or {}).items()}))
            return func(*args, **(kwargs or {}))
    return Log


@case("listening.calls")
def _(torch):
    log, functional = logging(torch), torch.nn.functional
    x, w = torch.arange(6.0).reshape(2, 3), torch.ones(4, 3)
    for i, f in enumerate((
            lambda: x + 1, lambda: x * x, lambda: x.sum(), lambda: x.sum(0), lambda: x.sum((0, 1), True), lambda: torch.add(x, x, alpha=2), lambda: x @ w.t(),
            lambda: x.view(-1), lambda: x[0], lambda: x.relu(), lambda: x.mean(), lambda: x.clone().add_(1), lambda: torch.cat([x, x]), lambda: torch.cat([x, x], 1),
            lambda: x.max(), lambda: x.max(0), lambda: x.to(torch.double), lambda: x.reshape(3, 2), lambda: x.exp().log(), lambda: functional.mse_loss(x, x),
            lambda: x.unsqueeze(0), lambda: x.transpose(0, 1), lambda: x / 2, lambda: -x, lambda: x ** 2, lambda: x.clamp(0, 1), lambda: x.split(1),
            lambda: functional.layer_norm(x, (3,)), lambda: x.clone().copy_(x * 2), lambda: x.clone().zero_(), lambda: functional.gelu(x), lambda: x.contiguous(),
            lambda: x.expand(1, 2, 3), lambda: x.permute(1, 0), lambda: x.argmax(), lambda: (x == x).all(), lambda: torch.mm(x, w.t()), lambda: x.cumsum(0),
            lambda: torch.addmm(w[:, 0], x, w.t()), lambda: torch.nn.functional.linear(x, w).sum() if False else x.prod(), lambda: x.tanh().sigmoid())):
        with log() as mode:
            f()
        yield f"call {i}", mode.log


@case("listening.results")
def _(torch):
    TorchDispatchMode = torch.utils._python_dispatch.TorchDispatchMode

    class Twice(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            seen.append([a.requires_grad for a in args if isinstance(a, torch.Tensor)])
            out = func(*args, **(kwargs or {}))
            seen.append(out.requires_grad)
            return out * 2 if func is torch.ops.aten.mul.Tensor else out

    class Other(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            return torch.ops.aten.mul.Tensor(*args) if func is torch.ops.aten.add.Tensor else func(*args, **(kwargs or {}))

    x, seen = torch.tensor([1.0, 2.0], requires_grad=True), []
    with Twice():
        y = (x * 3).sum()
    y.backward()
    yield "doubled", y, x.grad, y.grad_fn.name(), y.grad_fn.next_functions[0][0].name(), seen
    with Other():
        yield "other", x.detach() + 3
    t = torch.zeros(2)
    with Twice():
        t.add_(1)
        t.mul_(t)
    yield "written", t, t._version


@case("listening.modes")
def _(torch):
    modes = torch.utils._python_dispatch

    log, x = logging(torch), torch.ones(2)
    a, b = log(), log()
    yield "none", modes.is_in_torch_dispatch_mode(), modes._get_current_dispatch_mode(), modes._get_current_dispatch_mode_stack()
    with a:
        with b:
            yield "inside", modes._get_current_dispatch_mode() is b, len(modes._get_current_dispatch_mode_stack()), modes.is_in_torch_dispatch_mode()
            _ = x + 1
        _ = x * 2
        with modes._disable_current_modes() as off:
            _ = x + 3
            yield "off", len(off), modes._get_current_dispatch_mode()
        _ = x - 1
        with b, modes._pop_mode_temporarily() as popped:
            yield "popped", popped is b
            _ = x / 2
    yield "logs", a.log, b.log
    with a, a:
        _ = x + 1
    yield "twice", len(a.log)

    class Answers(modes.TorchDispatchMode):
        def __init__(self, f):
            super().__init__()
            self.f = f

        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            return self.f()

    def fails():
        raise ValueError("no")

    def inside(f):
        with Answers(f):
            return torch.exp(x)

    yield "raises", *attempt(lambda: inside(fails)), modes.is_in_torch_dispatch_mode()
    yield "a number", *attempt(lambda: inside(lambda: 3))

    def bare():
        with modes.TorchDispatchMode():
            return x + 1

    yield "bare", *attempt(bare)


@case("listening.beside_functions")
def _(torch):
    log, x, seen = logging(torch), torch.ones(2), []

    class Functions(torch.overrides.TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            seen.append(func.__name__)
            return func(*args, **(kwargs or {}))

    with log() as mode, Functions():
        y = torch.exp(x) * 2
    yield "both", mode.log, seen, y
