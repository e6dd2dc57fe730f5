"""Functions with outputs that are no tensors: numbers, hooks and edges; leaves that take gradients of another dtype; what goes with the last tensor."""

import gc
import warnings
import weakref

from compat_matrix.case import case


def mixed(torch):
    """A Function whose outputs are a text, a tensor, a number, None and a tensor."""
    class Mixed(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, a, y):
            ctx.a = a
            return "text", a * x * 2, a, None, a * y * 2

        @staticmethod
        def backward(ctx, *gs):
            return ctx.a * gs[1] * 2, None, ctx.a * gs[4] * 2

    return Mixed


@case("function.numbers_of_outputs.numbers and edges")
def _(torch):
    x, y = (torch.ones(2, requires_grad=True) for _ in "xy")
    out = mixed(torch).apply(x, 3, y)
    node = out[1].grad_fn
    yield "numbers", out[1].output_nr, out[4].output_nr, (out[4] * 2).grad_fn.next_functions[0][1]
    yield "metadata", [list(m.shape) for m in node._input_metadata]
    edges = [torch.autograd.graph.GradientEdge(node, n) for n in (1, 4)]
    yield "by edges", torch.autograd.grad((out[1] + out[4] * 3).sum(), edges, retain_graph=True)
    yield "edge", torch.autograd.graph.get_gradient_edge(out[4]).output_nr


@case("function.numbers_of_outputs.hooks of its node")
def _(torch):
    x, y = (torch.ones(2, requires_grad=True) for _ in "xy")
    out = mixed(torch).apply(x, 3, y)
    seen = []
    node = out[1].grad_fn

    def before(gs):
        seen.append(["before", *gs])
        return (None, gs[1] * 2, None, None, gs[4] * 2)

    def after(ins, outs):
        seen.append(["after", *ins, *outs])

    node.register_prehook(before)
    node.register_hook(after)
    (out[1] + out[4]).sum().backward(retain_graph=True)
    yield "seen", seen
    yield "grads", x.grad, y.grad
    node.register_prehook(lambda gs: (gs[1], gs[4]))
    try:
        (out[1] + out[4]).sum().backward()
    except RuntimeError as e:
        yield "too few", str(e)


@case("function.numbers_of_outputs.all gradients are shown after, also those that nobody wants")
def _(torch):
    x, y = (torch.ones(2, requires_grad=True) for _ in "xy")
    out = mixed(torch).apply(x, 3, y)
    seen = []
    out[1].grad_fn.register_hook(lambda ins, outs: seen.append([g is None for g in ins]))
    yield "grad", torch.autograd.grad(out[4].sum(), y)
    yield "seen", seen


@case("function.numbers_of_outputs.the gradient after accumulation is the one that is kept")
def _(torch):
    x = torch.ones(3, requires_grad=True)
    node = x.view_as(x).grad_fn.next_functions[0][0]
    x.register_hook(lambda g: g.sub(2.0))
    node.register_prehook(lambda gs: (gs[0].div(5.0),))

    def add(t):
        t.grad.add_(0.5)

    def replace(ins, outs):
        x.grad = outs[0].mul(10)

    x.register_post_accumulate_grad_hook(add)
    node.register_hook(replace)
    x.sum().backward()
    yield "grad", x.grad


@case("function.numbers_of_outputs.a leaf of another grad_dtype")
def _(torch):
    class Wide(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g.to(torch.float64)

    for kind in ("own", None, torch.float16):
        x = torch.tensor([1.0, 2.0], requires_grad=True)
        if kind != "own":
            x.grad_dtype = kind
        Wide.apply(x).sum().backward()
        yield str(kind), x.grad
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    x.grad_dtype = None
    (x * 2).sum().backward()
    x.grad = x.grad.to(torch.bfloat16)
    (x * 3).sum().backward()
    yield "kept dtype", x.grad


@case("function.numbers_of_outputs.a retained gradient with a graph")
def _(torch):
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 3
    y.retain_grad()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        (y * y).sum().backward(create_graph=True)
    yield "node", y.grad.grad_fn.name(), y.grad.detach()
    x.grad = y.grad = None


class Thing:
    """Something whose death is watched."""


@case("function.numbers_of_outputs.hooks of a leaf go with it")
def _(torch):
    def make():
        kept = Thing()

        def hook(t):
            t.sub_(t.grad)
            return kept and None

        x = torch.ones(3, requires_grad=True)
        x.register_post_accumulate_grad_hook(hook)
        x.sum().backward()
        return x, weakref.ref(kept)

    x, ref = make()
    gc.collect()
    yield "there", ref() is not None
    del x
    gc.collect()
    yield "gone", ref() is None


@case("function.numbers_of_outputs.hooks go after a write through a view")
def _(torch):
    def make():
        kept = Thing()
        x = torch.ones(3, 3, requires_grad=True).clone()
        x.grad_fn.register_hook(lambda *args: kept and None)
        torch.nn.functional.relu(x.view(9), inplace=True)
        return weakref.ref(kept)

    ref = make()
    yield "gone", ref() is None


@case("function.numbers_of_outputs.notes go with the last tensor, also of a closed graph")
def _(torch):
    class Same(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 1

        @staticmethod
        def backward(ctx, g):
            return g

    def make(look, anomaly):
        x = torch.ones(2, requires_grad=True)
        y = Same.apply(x)
        if look:
            y.sum().item()
        if anomaly:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                with torch.autograd.detect_anomaly():
                    torch.autograd.grad(y.exp().sum(), x, create_graph=True)
        kept = Thing()
        y.grad_fn.metadata[0] = kept
        return y, weakref.ref(kept)

    for look in (False, True):
        for anomaly in (False, True):
            y, ref = make(look, anomaly)
            there = ref() is not None
            del y
            yield f"{look} {anomaly}", there, ref() is None


@case("function.numbers_of_outputs.saved for a second run that ends early")
def _(torch):
    refs = []

    class Keeps(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            y = x.clone()
            ctx.save_for_backward(y)
            refs.append(weakref.ref(y))
            return y

        @staticmethod
        def backward(ctx, g):
            return ctx.saved_tensors and None

    def run():
        x = torch.ones(2, requires_grad=True)
        torch.utils.checkpoint.checkpoint(Keeps.apply, x, use_reentrant=False).sum().backward()

    was = gc.isenabled()
    gc.disable()
    try:
        run()
        yield "gone", [r() is None for r in refs]
    finally:
        if was:
            gc.enable()


@case("function.numbers_of_outputs.what a checkpoint gives back is the very tensor")
def _(torch):
    found = []

    class Looks(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            ctx.save_for_backward(y)
            return x * 1

        @staticmethod
        def backward(ctx, g):
            found.extend(ctx.saved_tensors)
            return g, None

    x, y = torch.tensor(1.0, requires_grad=True), torch.tensor(1.0)
    torch.utils.checkpoint.checkpoint(Looks.apply, x, y, use_reentrant=False).backward()
    yield "same", found[0] is y


@case("function.numbers_of_outputs.an instance's own members")
def _(torch):
    class Same(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        f = Same()
    yield "members", f._set_sequence_nr(2), f._input_metadata, f._raw_saved_tensors
