"""What hooks and Functions leave changed in their thread, what a pass tells of itself, and how deep passes go."""

import contextlib

from compat_matrix.case import case


def packer(torch, seen, name):
    """Hooks on saved tensors that note what they see."""
    return torch.autograd.graph.saved_tensors_hooks(lambda t: seen.append(("pack", name)) or t, lambda t: seen.append(("unpack", name)) or t)


def save(torch):
    """An operator that saves."""
    with torch.enable_grad():
        torch.ones(2, requires_grad=True).exp()


@case("engine.left_changed.hooks on saved tensors entered while one is unpacked")
def _(torch):
    seen, x = [], torch.ones(2, requires_grad=True)
    inner = packer(torch, seen, "inner")

    def unpack(t):
        inner.__enter__()
        return t

    with torch.autograd.graph.saved_tensors_hooks(lambda t: t, unpack):
        y = x.exp().exp().sum()
    y.backward()
    save(torch)
    yield "after", seen


@case("engine.left_changed.hooks on saved tensors left in a hook")
def _(torch):
    seen, x = [], torch.ones(2, requires_grad=True)
    outer = packer(torch, seen, "outer")
    y = x * 1
    z = y * 1

    def leave(g):
        outer.__exit__()
        save(torch)

    z.register_hook(leave)
    y.register_hook(lambda g: save(torch))
    with outer:
        z.sum().backward(create_graph=True)
        seen.append("still inside")
        save(torch)
    x.grad = None
    yield "seen", seen


@case("engine.left_changed.hooks on saved tensors entered in a Function's backward")
def _(torch):
    seen = []
    inner = packer(torch, seen, "inner")

    class Enters(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            seen.append("backward")
            save(torch)
            inner.__enter__()
            save(torch)
            return g

    Enters.apply(Enters.apply(torch.ones(2, requires_grad=True))).sum().backward()
    save(torch)
    yield "seen", seen


@case("engine.left_changed.grad mode")
def _(torch):
    seen, x = [], torch.ones(2, requires_grad=True)

    class Sets(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, g):
            seen.append(torch.is_grad_enabled())
            torch._C._set_grad_enabled(not torch.is_grad_enabled())
            return g

    for create in (False, True):
        (g,) = torch.autograd.grad(Sets.apply(Sets.apply(x)).sum(), x, create_graph=create)
        seen.append(torch.is_grad_enabled())
    x.register_hook(lambda g: torch._C._set_grad_enabled(True))
    y = torch.ones(2, requires_grad=True)
    y.register_hook(lambda g: seen.append(torch.is_grad_enabled()))
    (x * y).sum().backward()
    yield "seen", seen


@case("engine.left_changed.inference mode")
def _(torch):
    x = torch.ones(2, requires_grad=True)
    y = x * 1

    def enter(g):
        torch.inference_mode().__enter__()

    y.register_hook(enter)
    y.sum().backward()
    yield "after", torch.is_inference_mode_enabled(), torch.is_grad_enabled()


@case("engine.left_changed.the current node")
def _(torch):
    seen = [torch._C._current_autograd_node()]

    class Tells(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, g):
            seen.append(torch._C._current_autograd_node() is ctx)
            return g

    def note(*args):
        seen.append(torch._C._current_autograd_node().name())

    x = torch.ones(2, requires_grad=True)
    y = Tells.apply(x).exp()
    y.grad_fn.register_prehook(note)
    y.grad_fn.register_hook(note)
    x.register_hook(note)
    x.register_post_accumulate_grad_hook(note)
    y.sum().backward()
    seen.append(torch._C._current_autograd_node())
    yield "seen", seen


@case("engine.left_changed.a hook of a node registered while it unpacks")
def _(torch):
    seen, x = [], torch.tensor([1.0, 2.0, 4.0], requires_grad=True)

    def unpack(t):
        def hook(gs, outs):
            seen.append([g is None for g in outs])
            return tuple(None if g is None else g / 2 for g in gs)

        torch._C._current_autograd_node().register_hook(hook)
        return t

    with torch.autograd.graph.saved_tensors_hooks(lambda t: t, unpack):
        x.exp().sum().backward()
    yield "grad", x.grad
    yield "shown", all(all(s) for s in seen), len(seen)


@case("engine.left_changed.the order of execution, with captured nodes")
def _(torch):
    found = []

    def ask(g):
        found.append([n.name() for n in torch._C._current_graph_task_execution_order()])

    a, b = (torch.tensor(1.0, requires_grad=True) for _ in "ab")
    for inputs in ((a,), (a, b)):
        c = a * b
        out = c.sin()
        out.register_hook(ask)
        with torch.autograd.set_multithreading_enabled(False):
            torch.autograd.grad(out, (*inputs, c))
    yield "found", found
    try:
        out = (a * b).sin()
        out.register_hook(ask)
        out.backward()
    except RuntimeError as e:
        yield "several threads", str(e).split(",")[0]


@case("engine.left_changed.passes inside passes, very deep")
def _(torch):
    class Deeper(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            with torch.enable_grad():
                ctx.x = x.detach().requires_grad_() - 1
            return ctx.x.detach()

        @staticmethod
        def backward(ctx, g):
            if ctx.x < 0:
                return g
            with torch.enable_grad():
                Deeper.apply(ctx.x).sum().backward()
            return g

    x = torch.tensor(400.0, requires_grad=True)
    Deeper.apply(x).sum().backward()
    yield "grad", x.grad


@case("engine.left_changed.batched gradients through a Function of the older style")
def _(torch):
    class Triple(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 3

        @staticmethod
        def backward(ctx, g):
            return g * 3

    class Twice(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return Triple.apply(g)

    class Random(Twice):
        @staticmethod
        def backward(ctx, g):
            return g * torch.rand_like(g)

    x = torch.ones(2, requires_grad=True)
    for create in (False, True):
        yield f"grad {create}", torch.autograd.grad(Twice.apply(x), x, torch.eye(2), is_grads_batched=True, create_graph=create)[0].detach()
    try:
        torch.autograd.grad(Random.apply(x), x, torch.eye(2), is_grads_batched=True)
    except RuntimeError as e:
        yield "random", str(e)


@case("engine.left_changed.cached tensors")
def _(torch):
    c, x = torch._C, torch.ones(2)
    yield "off", c._is_cached_tensor(x)
    c._set_cached_tensors_enabled(True)
    with contextlib.ExitStack() as stack:
        stack.callback(c._set_cached_tensors_enabled, False)
        c._add_cached_tensor(x)
        c._add_cached_tensor(x)
        yield "on", c._is_cached_tensor(x), c._is_cached_tensor(x.detach())
        c._remove_cached_tensor(x)
        yield "removed", c._is_cached_tensor(x)
        c._remove_cached_tensor(x)
