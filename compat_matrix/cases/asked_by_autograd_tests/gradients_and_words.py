"""Kinds of gradients, what nodes show of what they saved, gradcheck's and assertions' words, hooks without a name."""

import functools
import importlib
import warnings

from compat_matrix.case import attempt, case


@case("asked_by_autograd_tests.complex gradients of real inputs")
def _(torch):
    def gives(dtype):
        class Gives(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                return x * 2

            @staticmethod
            def backward(ctx, g):
                return torch.full((2,), 2 + 1j).to(dtype) if dtype.is_complex else torch.ones(2, dtype=dtype)

        return Gives.apply

    for own in (torch.float32, torch.complex64):
        for dtype in (torch.int64, torch.bool, torch.float16, torch.float64, torch.complex64, torch.complex128):
            for name, root in (("leaf", lambda x: x), ("inner", lambda x: x * 1)):
                x = torch.ones(2, dtype=own, requires_grad=True)
                one = torch.ones((), dtype=own)
                yield f"{own} {dtype} {name}", attempt(lambda: gives(dtype)(root(x)).sum().backward(one)), x.grad
            x = torch.ones(2, dtype=own, requires_grad=True)
            yield f"{own} {dtype} with a graph", attempt(lambda: torch.autograd.grad(gives(dtype)(x).sum(), x, one, create_graph=True)[0].detach())


def saved(node):
    return node.name(), {name: attempt(lambda name=name: getattr(node, name)) for name in dir(node) if name.startswith("_saved")}


@case("asked_by_autograd_tests.geometry that nodes of views show")
def _(torch):
    a = torch.arange(12.0).reshape(3, 4).requires_grad_()
    yield "asked", saved(a.as_strided((3,), (1,)).grad_fn), saved(a.as_strided((3,), (1,), 0).grad_fn), saved(a.as_strided((3,), (1,), 2).grad_fn)
    b = (a * 1)[1:]
    yield "of a part", saved(b.as_strided((3,), (1,)).grad_fn), saved(b.as_strided((3,), (1,), 5).grad_fn), saved(b.as_strided((2, 2), (4, 1), 4).grad_fn)
    yield "copied", saved(torch.as_strided_copy(a, (3,), (1,)).grad_fn), saved(torch.as_strided_copy(a, (3,), (1,), 1).grad_fn)
    for name, view in (("flat", lambda c: c.view(-1)), ("row", lambda c: c[1]), ("turned", lambda c: c.t()[1:]), ("diagonal", lambda c: c.diagonal()),
                       ("strided", lambda c: c[1:].as_strided((3,), (1,), 5))):
        v = view(a * 1)
        v.mul_(2)
        yield f"after a write: {name}", saved(v.grad_fn)
    for name, turn in (("as_strided_", lambda c: c.as_strided_((3,), (1,))), ("as_strided_ from", lambda c: c.as_strided_((3,), (1,), 1)), ("t_", lambda c: c.t_()),
                       ("squeeze_", lambda c: c.unsqueeze(0).squeeze_()), ("squeeze_ of a dim", lambda c: c.unsqueeze(0).squeeze_(0))):
        yield name, saved(turn(a * 1).grad_fn)


@case("asked_by_autograd_tests.what in-place operators saved of their input")
def _(torch):
    one = torch.tensor([2.0, 3.0], requires_grad=True)
    for name, write in (("sin_", lambda x: x.sin_()), ("pow_", lambda x: x.pow_(3)), ("clamp_", lambda x: x.clamp_(0, 2.5)), ("log_", lambda x: x.log_()),
                        ("mul_ by itself", lambda x: x.mul_(x)), ("exp_", lambda x: x.exp_()), ("hardtanh", lambda x: torch.nn.functional.hardtanh(x, inplace=True))):
        x = one * 1
        write(x)
        yield name, saved(x.grad_fn), attempt(lambda x=x: torch.autograd.grad(x.sum(), one)[0]), saved(x.grad_fn)
    x = one * 1
    x.sin_()
    node = x.grad_fn
    yield "leads back", node._saved_self.grad_fn.name(), torch.autograd.grad(node._saved_self.sum(), one)[0]
    x.mul_(2)
    yield "written again", attempt(lambda: node._saved_self)
    seen = []
    x = one * 1
    x.sin_()
    x.grad_fn._raw_saved_self.register_hooks(lambda t: seen.append((t, t.requires_grad)) or t, lambda t: t * 2)
    yield "packed", seen, x.grad_fn._saved_self.grad_fn.name(), x.grad_fn._saved_self, torch.autograd.grad(x.sum(), one)[0]


@case("asked_by_autograd_tests.hooks without a name")
def _(torch):
    class Longer:
        def __call__(self, *gs):
            return torch.ones(7)

    class Wider:
        def __call__(self, *gs):
            return gs[0].double()

    class Lists:
        def __call__(self, *gs):
            return (torch.ones(7),) * 3

    for name, f in (("larger", Longer()), ("wider", Wider()), ("partial", functools.partial(Longer())), ("method", Longer().__call__)):
        x = torch.ones(2, requires_grad=True)
        x.register_hook(f)
        y = torch.ones(2, requires_grad=True) * 1
        y.register_hook(f)
        yield name, attempt(lambda x=x: x.sum().backward()), attempt(lambda y=y: y.sum().backward())
    x, y = torch.ones(2, requires_grad=True) * 1, torch.ones(2, requires_grad=True) * 1
    x.grad_fn.register_hook(Lists())
    y.grad_fn.register_prehook(Lists())
    yield "of nodes", attempt(lambda: x.sum().backward()), attempt(lambda: y.sum().backward())


@case("asked_by_autograd_tests.one error for several tensors")
def _(torch):
    x, y, plain = torch.ones(2, requires_grad=True), torch.ones(3, dtype=torch.float64, requires_grad=True), torch.ones(1)
    for name, given in (("one", (x,)), ("two", (x, y)), ("with another", (x, plain)), ("after another", (plain, x)), ("none", (plain, plain))):
        out = torch._C._functions.DelayedError("no", len(given))(*given)
        out = out if isinstance(out, tuple) else (out,)
        yield name, [(t, t.requires_grad, t.output_nr) for t in out], [t.grad_fn and [f and f.name() for f, _ in t.grad_fn.next_functions] for t in out]
        yield f"{name}: gradients", [attempt(lambda t=t: torch.autograd.grad(t.sum(), x)) for t in out]


@case("asked_by_autograd_tests.gradcheck names the first pair by input")
def _(torch):
    def wide(*values):
        return [torch.tensor(v, dtype=torch.float64, requires_grad=True) for v in values]

    class Crossed(torch.autograd.Function):
        @staticmethod
        def forward(ctx, a, b):
            ctx.save_for_backward(a, b)
            return a * b, b * a * 2

        @staticmethod
        def backward(ctx, g, h):
            a, b = ctx.saved_tensors
            return g * b + h * b * 3, g * a * 3 + h * a * 2

    for fast in (True, False):
        answer = attempt(lambda fast=fast: torch.autograd.gradcheck(Crossed.apply, wide([0.5, 0.25], [0.75, 2.0]), fast_mode=fast))
        yield f"fast {fast}", str(answer).partition(",")[0]
    calls = []

    class Seen(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            calls.append("run")
            return x.clone(), y.clone()

        @staticmethod
        def jvp(ctx, t, u):
            calls.append("jvp")
            return t, u

    for undefined in (True, False):
        calls.clear()
        x, y = wide([0.5], [0.25])
        passed = torch.autograd.gradcheck(Seen.apply, (x, y.detach()), check_forward_ad=True, check_backward_ad=False, check_batched_grad=False,
                                          check_undefined_grad=undefined)
        yield f"undefined {undefined}", passed, calls.count("run"), calls.count("jvp")


@case("asked_by_autograd_tests.refused for what they are")
def _(torch):
    x = torch.ones(2, requires_grad=True)
    edge = torch.autograd.graph.get_gradient_edge
    with torch.no_grad():
        shown = x[:]
    yield "edges", [attempt(lambda t=t: edge(t)) for t in (1, None, x.detach(), shown)], edge(x[:]).node.name(), edge(x).node.name()
    keeping = torch.autograd._unsafe_preserve_version_counter
    yield "counters", [attempt(lambda t=t: keeping(t)) for t in (3, [x], None, (x, 3))], attempt(lambda: keeping((x,)).tensors), attempt(lambda: keeping(x).tensors)
    yield "by keyword", attempt(lambda: (x * 2).grad_fn(x=1))


@case("asked_by_autograd_tests.instances take notes")
def _(torch):
    class Same(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x

        @staticmethod
        def backward(ctx, g):
            return g

    f, x = Same(), torch.ones(2)
    for name, note in (("to_save", f.save_for_backward), ("dirty_tensors", f.mark_dirty), ("non_differentiable", f.mark_non_differentiable),
                       ("saved_for_forward", f.save_for_forward)):
        before = getattr(f, name)
        note(x)
        yield name, before, getattr(f, name), attempt(lambda note=note: note()), getattr(f, name)
    f.needs_input_grad = (True,)
    yield "assigned", f.needs_input_grad, f.saved_tensors, f.next_functions


def asserting(torch):
    return importlib.import_module(f"{torch.__name__}.testing._internal.common_utils").TestCase()


def kinds(torch):
    return [None, True, False, 1, 2.0, float("nan"), 1j, "a", b"a", torch.ones(2), torch.ones(()), torch.ones(1, dtype=torch.int32), [1], (1, 2), {"a": 1}, {1}, set(),
            torch.float32, torch.device("cpu"), torch.Size([2]), range(1)]


@case("asked_by_autograd_tests.unlike things are told apart")
def _(torch):
    test, things = asserting(torch), kinds(torch)
    for x in things:
        yield f"{x!r}", [attempt(lambda x=x, y=y: test.assertEqual(x, y)) for y in things if {type(x), type(y)} != {torch.Tensor, str}]
    yield "near", [attempt(lambda x=x, y=y: test.assertEqual(x, y)) for x, y in
                   ((1.0, 1 + 5e-6), (1.0, 1 + 5e-5), (1, 1.000005), (1 + 0j, 1.000005), (torch.ones(()).double(), 1.000005), (2.0, torch.tensor(3.0).half()))]
    yield "words", [attempt(lambda msg=msg: test.assertEqual(1, 2, msg)) for msg in ("more", lambda text: text[:7], None, "")]


@case("asked_by_autograd_tests.warnings that a test waits for")
def _(torch):
    test = asserting(torch)

    class Special(UserWarning):
        pass

    def waits(said, category, words=""):
        with test.assertWarnsOnceRegex(category, words):
            for text, kind in said:
                warnings.warn(text, kind)

    for said in ([], [("abc", UserWarning)], [("abc", UserWarning)] * 2, [("xyz", UserWarning), ("abc", UserWarning)], [("abc", FutureWarning), ("xyz", UserWarning)],
                 [("abc", Special)], [("xabc", UserWarning)]):
        yield str([(text, kind.__name__) for text, kind in said]), [
            attempt(lambda said=said, category=category, words=words: waits(said, category, words)) for category in (UserWarning, FutureWarning) for words in ("", "abc")]
    yield "none", attempt(lambda: test.assertNotWarn(lambda: warnings.warn("x"))), attempt(lambda: test.assertNotWarn(lambda: 1))


@case("asked_by_autograd_tests.hooks stay with what is detached in place")
def _(torch):
    def seen(log, name, factor=1):
        return lambda g: log.append((name, g.clone())) or g * factor

    x = torch.ones(2, requires_grad=True)
    for name, change in (("as it was", lambda y, log: None), ("written before", lambda y, log: y.mul_(2)), ("hooked again", lambda y, log: y.mul_(2).register_hook(seen(log, "b")))):
        log = []
        y = x + 1
        y.register_hook(seen(log, "a", 2))
        change(y, log)
        y.detach_().requires_grad_()
        y.register_hook(seen(log, "later"))
        (y * 7).sum().backward()
        yield name, log, y.grad
        torch.autograd.grad((y * 3).sum(), y)
        yield f"{name}: asked for", log
    log = []
    y = x + 1
    handle = y.register_hook(seen(log, "a"))
    z = y + 3
    y.detach_().requires_grad_()
    (y * 7).sum().backward()
    z.sum().backward()
    handle.remove()
    (y * 7).sum().backward()
    yield "the graph from before, and removed", log, x.grad, y.grad
    y = x + 1
    y.register_hook(seen(log, "no"))
    y = y.detach().requires_grad_()
    y.sum().backward()
    yield "another tensor", log


@case("asked_by_autograd_tests.threshold in place keeps its input")
def _(torch):
    functional = torch.nn.functional
    one = torch.tensor([-0.25, 0.5, 0.75], requires_grad=True)
    for name, write in (("threshold", lambda x: functional.threshold(x, 0.3, 7.0, inplace=True)), ("threshold_", lambda x: torch.threshold_(x, 0.3, 7.0)),
                        ("elu", lambda x: functional.elu(x, inplace=True)), ("leaky_relu", lambda x: functional.leaky_relu(x, inplace=True)),
                        ("hardtanh", lambda x: functional.hardtanh(x, inplace=True))):
        x = one * 1
        write(x)
        yield name, saved(x.grad_fn), torch.autograd.grad(x.sum(), one, retain_graph=True)[0]
        total = x.sum()
        x.add_(1)
        yield f"{name}: written after", attempt(lambda total=total: torch.autograd.grad(total, one)[0])
        packed = []
        with torch.autograd.graph.saved_tensors_hooks(lambda t, packed=packed: packed.append(t.clone()) or t, lambda t: t):
            x = one * 1
            write(x)
        yield f"{name}: packed", packed, torch.autograd.grad(x.sum(), one)[0]
