"""What dies when, without a collection of cycles; nodes that do not run because they lead to nothing that is asked for."""

import gc
import weakref

from compat_matrix.case import case
from compat_matrix.probes import each


class Note:
    pass


def function_of(torch, log):
    class Own(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, note):
            ctx.note = note
            ctx.save_for_backward(x)
            return x**2

        @staticmethod
        def backward(ctx, g):
            log.append("ran")
            x, = ctx.saved_tensors
            return g * 2 * x, None
    return Own


@case("saved.lifetimes.context_of_function")
def _(torch):
    def run(create):
        note, x = Note(), torch.tensor(3.0, requires_grad=True)
        y = function_of(torch, []).apply(x, note)
        if create:
            y.backward()
        return weakref.ref(note)
    gc.disable()
    try:
        yield "after a pass", run(True)() is None
        yield "without one", run(False)() is None
    finally:
        gc.enable()


@case("saved.lifetimes.metadata")
def _(torch):
    def run():
        x = torch.rand(2, 2, requires_grad=True)
        y = x.exp()
        note = y.grad_fn.metadata["note"] = Note()
        torch.autograd.grad(y.sum(), x, create_graph=True)
        return y, weakref.ref(note)
    gc.disable()
    try:
        y, alive = run()
        yield "kept", alive() is not None
        z = y * 2
        del y
        yield "kept by what was made of it", alive() is not None, z.requires_grad
    finally:
        gc.enable()
    y, alive = run()
    del y
    yield "gone", alive() is None


@case("saved.lifetimes.mutation_handles")
def _(torch):
    def run(x):
        y = x.clone()
        out = (y**2).sum()
        y.sin_()
        out.sum().backward()
        return x.grad
    x = torch.arange(6.0).reshape(2, 3).requires_grad_()
    with torch.autograd.graph.allow_mutation_on_saved_tensors() as ctx:
        yield "gradient", run(x)
        yield "left", len(ctx.cloned), len(ctx.tid_to_weakhandle)


def not_run(torch, expression):
    custom, how, log = expression.startswith("function"), expression, []
    x, z = (torch.ones(1, requires_grad=True) for _ in range(2))
    w = function_of(torch, log).apply(x * 2, None) if custom else (x * 2).exp()
    w.register_hook(lambda g: log.append("tensor"))
    w.grad_fn.register_prehook(lambda g: log.append("before"))
    w.grad_fn.register_hook(lambda a, b: log.append("after"))
    wanted = (w, z) if "target" in how else (z,)
    if "grad" in how:
        yield "gradients", torch.autograd.grad(w + z, wanted)
    else:
        torch.autograd.backward(w + z, inputs=wanted)
        yield "gradients", z.grad
    yield "who ran", log


each("saved.not_run", not_run, {k: k for k in (f"{c} {how}" for c in ("function", "operator") for how in ("grad", "inputs", "grad target", "inputs target"))})


@case("saved.result_shares")
def _(torch):
    x = torch.tensor([0.5, 1.0], requires_grad=True)
    y = x.exp()
    saved = y.grad_fn._saved_result
    yield "same", saved is y, torch.equal(saved, y), saved._version == y._version
    with torch.no_grad():
        y += 1
    yield "after a write", torch.equal(saved, y), saved._version == y._version, y._version
