"""What hooks return and leave changed: gradients of nothing from a module's pre-hook, autocast; handles and lazy modules in files; copies in inference mode."""

import copy
import importlib
import io
import pickle
from collections import OrderedDict

from compat_matrix.case import case, raises


class Two:
    """Made with the module class of whoever runs the case."""

    @staticmethod
    def of(torch):
        class Both(torch.nn.Module):
            def forward(self, x):
                return x * 2, x.exp()

        return Both()


@case("left_by_hooks.module_prehook.none")
def _(torch):
    for bias in (True, False):
        m = torch.nn.Linear(2, 2, bias=bias)
        m.register_full_backward_pre_hook(lambda m, g: (None,))
        x = torch.ones(1, 2, requires_grad=True)
        y = m(x)
        seen, nodes = [], [y.grad_fn]
        for n in nodes:
            nodes += [f for f, _ in n.next_functions if f is not None]
            n.register_hook(lambda gi, go, n=n.name(): seen.append((n, gi, go)))
        y.sum().backward()
        yield f"nodes bias={bias}", seen
        yield f"grads bias={bias}", m.weight.grad is None, x.grad
    m = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Tanh())
    m.register_full_backward_pre_hook(lambda m, g: (None,))
    x = torch.ones(1, 2, requires_grad=True)
    m(x).sum().backward()
    yield "below", m[0].weight.grad, x.grad


@case("left_by_hooks.module_prehook.two_results")
def _(torch):
    for word, hook in (("none", lambda m, g: (None, None)), ("first", lambda m, g: (g[0], None)), ("second", lambda m, g: (None, g[1])),
                       ("twice", lambda m, g: tuple(None if t is None else t * 2 for t in g))):
        m = Two.of(torch)
        m.register_full_backward_pre_hook(hook)
        seen = []
        m.register_full_backward_hook(lambda m, gi, go, seen=seen: seen.append((gi, go)))
        x = torch.ones(2, requires_grad=True)
        a, b = m(x)
        (a + b).sum().backward()
        yield f"{word} both", x.grad, seen
        x = torch.ones(2, requires_grad=True)
        a, b = m(x)
        a.sum().backward()
        yield f"{word} one", x.grad, seen
        g, = torch.autograd.grad(m(x * 1)[0].sum(), x, create_graph=True)
        yield f"{word} create_graph", g, g.requires_grad, g.grad_fn is None


@case("left_by_hooks.autocast")
def _(torch):
    def now():
        return torch.is_autocast_enabled("cpu"), torch.get_autocast_dtype("cpu"), torch.is_autocast_cache_enabled(), torch.is_grad_enabled()

    def passes(act):
        x, w, seen = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True), []
        y = x * 2
        z = y * w
        y.register_hook(lambda g: (act(), seen.append(now()), None)[2])
        for t in (w, x):
            t.register_hook(lambda g: seen.append(now()))
        x.register_post_accumulate_grad_hook(lambda t: seen.append(now()))
        z.sum().backward()
        return seen, now(), (torch.ones(1, 2) @ torch.ones(2, 1)).dtype

    yield "entered", passes(lambda: torch.autocast("cpu", dtype=torch.bfloat16).__enter__())
    torch.autocast_decrement_nesting()
    yield "switched on", passes(lambda: torch.set_autocast_enabled("cpu", True))
    yield "dtype", passes(lambda: torch.set_autocast_dtype("cpu", torch.float16))
    torch.set_autocast_enabled("cpu", True)
    yield "switched off", passes(lambda: torch.set_autocast_enabled("cpu", False))
    torch.set_autocast_enabled("cpu", False)
    x = torch.ones(2, requires_grad=True)
    y = x * 2

    def fails(g):
        torch.set_autocast_enabled("cpu", True)
        raise ValueError("no")

    y.register_hook(fails)
    yield "error", raises(lambda: y.sum().backward()), now()


@case("left_by_hooks.handles.saved")
def _(torch):
    Handle = torch.utils.hooks.RemovableHandle
    one, more = OrderedDict(), OrderedDict()
    h = Handle(one, extra_dict=more)
    one[h.id], more[h.id] = "hook", True
    state = h.__getstate__()
    yield "state", len(state), state[0] is one, state[1] == h.id, state[2][0] is more
    one2, more2, h2 = pickle.loads(pickle.dumps((one, more, h)))
    yield "same id", h2.id == h.id
    h2.remove()
    yield "removed", len(one2), len(more2), len(one), len(more)
    one3, h3 = copy.deepcopy((one, h))
    h3.remove()
    yield "copied", len(one3), len(one)
    h4 = Handle.__new__(Handle)
    h4.__setstate__((None, 10 ** 6))
    h4.remove()
    yield "of nothing", h4.id, Handle.next_id > 10 ** 6, Handle(one).id > 10 ** 6


@case("left_by_hooks.lazy.saved")
def _(torch):
    for m, shape in ((torch.nn.LazyLinear(3), (2, 4)), (torch.nn.LazyBatchNorm1d(), (3, 4)), (torch.nn.LazyConv1d(3, 2), (2, 4, 5))):
        out = io.BytesIO()
        torch.save(m, out)
        out.seek(0)
        loaded = torch.load(out, weights_only=False)
        for word, other in [("loaded", loaded)] if shape == (3, 4) else [("loaded", loaded), ("copied", copy.deepcopy(m))]:
            yield f"{word} {type(m).__name__}", repr(other), type(other).__name__
            yield f"{word} {type(m).__name__} called", tuple(other(torch.ones(shape)).shape), repr(other), len(other._forward_pre_hooks), len(other._load_state_dict_pre_hooks)
        yield f"{type(m).__name__} itself", repr(m), len(m._forward_pre_hooks)


@case("left_by_hooks.inference.deepcopy")
def _(torch):
    w, p = torch.ones(2), torch.nn.Linear(2, 2)
    needs = torch.ones(2, requires_grad=True)
    with torch.inference_mode():
        x = torch.ones(3)
        view = torch.ones(4)[1:3]
        both = copy.deepcopy([view, view, view[:1]])
        copies = [copy.deepcopy(t) for t in (x, w, needs, w[:1], p.weight)] + both
        yield "inside", [(t.is_inference(), t.requires_grad, tuple(t.shape), t.storage_offset()) for t in copies]
        copies[0].add_(1)
        both[0].mul_(3)
        yield "written", copies[0], x, both, view
        q = copy.deepcopy(p)
        yield "module", q.weight.is_inference(), q.weight.requires_grad
    yield "later", raises(lambda: copies[1].add_(1)), raises(lambda: copies[1] * needs)
    yield "version", raises(lambda: copies[0]._version)
    yield "outside", copy.deepcopy(x).is_inference(), copy.deepcopy(x)._version


@case("left_by_hooks.compile.unknown")
def _(torch):
    def f(x):
        return x + 1

    for options in ({"mode": "x"}, {"backend": "foo"}, {"mode": "x", "backend": "foo"}, {"mode": 3}, {"mode": "x", "disable": True}, {"backend": "onnxrt"}):
        yield str(options), raises(lambda: torch.compile(f, **options)), raises(lambda: torch.nn.Linear(2, 2).compile(**options))
        yield f"module {options}", raises(lambda: torch.compile(torch.nn.Linear(2, 2), **options))
        yield f"decorator {options}", callable(torch.compile(**options)), raises(lambda: torch.compile(**options)(f))
    yield "no function", raises(lambda: torch.compile(3))
    for backend in ("eager", "aot_eager", "inductor", "eager_debug", print):
        yield f"known {backend if isinstance(backend, str) else 'function'}", callable(torch.compile(f, backend=backend))
    for mode in ("default", "reduce-overhead", "max-autotune", "lite", "max-autotune-no-cudagraphs"):
        yield mode, callable(torch.compile(f, mode=mode))
    yield "own mode", callable(torch.compile(f, mode="own", backend="eager"))
    yield "listed", torch._dynamo.list_backends(None), torch._dynamo.list_backends()
    try:
        torch.compile(f, backend="foo")
    except torch._dynamo.exc.InvalidBackend as e:
        yield "class", isinstance(e, torch._dynamo.exc.TorchDynamoException), isinstance(e, RuntimeError)


@case("left_by_hooks.packed.states")
def _(torch):
    packed = torch.nn.utils.rnn.pack_sequence([torch.ones(3, 4), torch.ones(2, 4)])
    state = torch.zeros(1, 2, 5)
    for n in (1, 3):
        yield str(n), raises(lambda: torch.nn.LSTM(4, 5)(packed, (state,) * n))
    for kind in (torch.nn.RNN, torch.nn.GRU):
        for shape in ((5,), (1, 5), (1, 3, 5), (1, 2, 3)):
            yield f"{kind.__name__} {shape}", raises(lambda: kind(4, 5)(packed, torch.zeros(shape)))


@case("left_by_hooks.retained_gradient_of_a_written_view")
def _(torch):
    writes = {"sin": lambda y, v: v.sin_(), "element": lambda y, v: v.__setitem__(0, y[3]), "zero": lambda y, v: v.zero_(), "base": lambda y, v: y.sin_()}
    for name, write in writes.items():
        for looked in (False, True):
            x = torch.tensor([0.3, 0.5, 0.7, 0.9], dtype=torch.double, requires_grad=True)
            y = x * x
            v = y.view(2, 2)[0]
            y.retain_grad()
            v.retain_grad()
            write(y, v)
            seen = v.retains_grad if looked else None
            (y**2).sum().backward()
            yield f"{name} {looked}", seen, x.grad, y.grad, v.grad


@case("left_by_hooks.order_over_several_outputs")
def _(torch):
    class Twice(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2, x * 3

        @staticmethod
        def backward(ctx, g, h):
            return 2 * g + 3 * h

    makers = {"function": Twice.apply, "unbind": lambda x: x.unbind(0), "split": lambda x: x.split(1), "var_mean": lambda x: torch.var_mean(x, 0)}
    for name, make in makers.items():
        for order in ((0, 1), (1, 0), (1, 0, 1)):
            for again in (False, True):
                x = torch.linspace(0.1, 0.9, 3).requires_grad_()
                out, seen = make(x * 1), []
                for k, i in enumerate(order):
                    out[i].register_hook(lambda g, k=k, i=i: seen.append((k, i)))
                out[0].retain_grad()
                (out[0].sum() + out[1].sum()).backward()
                yield f"{name} {order} {again}", seen, x.grad, out[0].grad


@case("left_by_hooks.node_of_a_step_behind_an_ellipsis")
def _(torch):
    x = torch.ones(2, 1, requires_grad=True) * 1
    for name, y in (("step", x[..., ::2]), ("all", x[..., ::1]), ("first", x[:, ::3]), ("front", x[::2, ...])):
        yield name, y.grad_fn.name(), y.shape


@case("left_by_hooks.between tensor hooks")
def _(torch):
    """What one tensor hook leaves changed the next one does not see, where no leaf has hooks."""
    changes = {
        "grad mode": lambda: torch.set_grad_enabled(True),
        "autocast": lambda: torch.set_autocast_enabled("cpu", True),
        "inference": lambda: torch.inference_mode().__enter__(),
        "saved": lambda: torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t).__enter__(),
    }

    def now():
        return torch.is_grad_enabled(), torch.is_autocast_enabled("cpu"), torch.is_inference_mode_enabled()

    for name, change in changes.items():
        for turn in range(3):
            x, seen = torch.ones(2, requires_grad=True), []
            y = x * 2
            for n in range(3):
                y = y.exp() if n else y * 3
                y.register_hook(lambda g: (seen.append(now()), change(), None)[2])
            y.sum().backward()
            yield f"{name} {turn}", seen, now(), x.grad


@case("left_by_hooks.packed_as_it_is")
def _(torch):
    """What a pack hook gives back itself, or a view of it, and what is written to that later."""
    hooks = importlib.import_module(f"{torch.__name__}.autograd.graph").saved_tensors_hooks
    packs = {"itself": lambda t: t, "detached": lambda t: t.detach(), "a view": lambda t: t.view(-1), "a copy": lambda t: t.clone()}
    for name, pack in packs.items():
        for kind, make in {"leaf": lambda w: w.requires_grad_(), "plain": lambda w: w, "computed": lambda w: w.requires_grad_() * 1}.items():
            x, w = torch.tensor([1.0, 2.0], requires_grad=True), make(torch.tensor([3.0, 4.0]))
            with hooks(pack, lambda t: t):
                y = (x * w).sum()
            with torch.no_grad():
                w.mul_(10)
            yield f"{name}, {kind}", torch.autograd.grad(y, x)[0]
