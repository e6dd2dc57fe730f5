"""Operators with a kernel and no gradient: what a backward pass through their results warns of, and what it gives."""

import warnings

import numpy as np

from compat_matrix.case import case


def _library(torch, name, schema, impl, key="CPU"):
    lib = torch.library.Library("without_gradients", "FRAGMENT")
    lib.define(f"{name}{schema}")
    lib.impl(name, impl, key)
    return lib, getattr(torch.ops.without_gradients, name).default


def _passed(run):
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            out = run()
        except RuntimeError as e:
            out = str(e)
    return out, [str(w.message).partition(". This behavior")[0] for w in said]


def _in_modes(torch, run):
    before = torch._C._get_autograd_fallback_mode()
    for mode in ("nothing", "warn"):
        torch._C._set_autograd_fallback_mode(mode)
        try:
            yield mode, *_passed(run)
        finally:
            torch._C._set_autograd_fallback_mode(before)


@case("library_without_gradients.default_mode")
def _(torch):
    yield "mode", torch._C._get_autograd_fallback_mode()


@case("library_without_gradients.not_recorded")
def _(torch):
    lib, op = _library(torch, "foo", "(Tensor a, Tensor b, int c) -> Tensor", lambda a, b, c: torch.tensor(a.detach().numpy() + b.detach().numpy() + c))

    def run():
        a, b = torch.ones([]), torch.ones([], requires_grad=True)
        out = op(a, b, 1)
        wanted = out.requires_grad
        out.sum().backward()
        return wanted, b.grad

    yield from _in_modes(torch, run)
    with torch.no_grad():
        yield "no_grad", op(torch.ones([]), torch.ones([], requires_grad=True), 2)
    lib._destroy()


@case("library_without_gradients.recorded")
def _(torch):
    lib, op = _library(torch, "comp", "(Tensor self) -> Tensor", lambda x: x.sin().sum())

    def run():
        x = torch.ones(3, requires_grad=True)
        op(x).backward()
        return x.grad

    yield from _in_modes(torch, run)
    lib._destroy()


@case("library_without_gradients.composite_is_silent")
def _(torch):
    lib, op = _library(torch, "silent", "(Tensor self) -> Tensor", lambda x: x.sin().sum(), "CompositeImplicitAutograd")

    def run():
        x = torch.ones(3, requires_grad=True)
        op(x).backward()
        return x.grad

    yield from _in_modes(torch, run)
    lib._destroy()


@case("library_without_gradients.written_by_a_function")
def _(torch):
    class Sine(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x.clone())
            x_np = x.detach().numpy()
            np.sin(x_np, out=x_np)
            ctx.mark_dirty(x)
            return x

        @staticmethod
        def backward(ctx, g):
            return g * ctx.saved_tensors[0].cos()

    lib, op = _library(torch, "sine_", "(Tensor(a!) self) -> Tensor(a!)", Sine.apply)

    def run():
        x = torch.ones(3, requires_grad=True)
        z = x.clone()
        y = op(z[0])
        return torch.autograd.grad(y, x, torch.ones_like(y), retain_graph=True), torch.autograd.grad(z, x, torch.ones_like(z))

    yield from _in_modes(torch, run)
    lib._destroy()


@case("library_without_gradients.written_views")
def _(torch):
    def both(x, y):
        with torch.no_grad():
            x.sin_()
            y.cos_()
        return x, y

    lib, op = _library(torch, "both_", "(Tensor(a!) self, Tensor(b!) y) -> (Tensor(a!), Tensor(b!))", both)

    def run():
        x = torch.ones(3, requires_grad=True)
        w, v = x.clone(), x.clone()
        y0, y1 = w[0], v[1]
        z0, z1 = op(y0, y1)
        counts = []
        for t in (w, v, z0, z1, y0, y1):
            counts.append(len(_passed(lambda t=t: t.sum().backward(retain_graph=True))[1]))
        return counts, z0 is y0, x.grad

    yield from _in_modes(torch, run)
    lib._destroy()


@case("library_without_gradients.none_in_and_out")
def _(torch):
    lib, op = _library(torch, "none", "(Tensor a, Tensor b) -> (Tensor, Tensor)", lambda a, b: (None, b.clone()))

    def run():
        x = torch.ones(3, requires_grad=True)
        n, z = op(None, x)
        z.sum().backward()
        return n, x.grad

    yield from _in_modes(torch, run)
    lib._destroy()


@case("library_without_gradients.some_recorded")
def _(torch):
    def mixed(a, b):
        with torch.no_grad():
            x, z = a.clone(), b.clone()
        return x, a * b, z, torch.tensor([1, 2])

    lib, op = _library(torch, "mixed", "(Tensor a, Tensor b) -> (Tensor, Tensor, Tensor, Tensor)", mixed)
    for i in range(3):
        def run(i=i):
            a, b = torch.ones(3, requires_grad=True), torch.ones(3, requires_grad=True)
            out = op(a, b)
            return out[3].requires_grad, torch.autograd.grad(out[i], (a, b), torch.ones(3), allow_unused=True)

        for mode, *found in _in_modes(torch, run):
            yield f"{i} {mode}", *found
    lib._destroy()


@case("library_without_gradients.lists")
def _(torch):
    def together(given):
        x, y, z = given
        with torch.no_grad():
            return x + y + z, x * y * z

    lib, op = _library(torch, "together", "(Tensor[] a) -> Tensor[]", together)

    def run():
        x, y, z = (torch.ones(s, requires_grad=True) for s in (3, 1, (2, 1)))
        op([x, y, z])[1].sum().backward()
        return x.grad, y.grad, z.grad

    yield from _in_modes(torch, run)
    lib._destroy()
