"""What random programs of views and writes have found: copies of slices run once, storages set, cotangents that require grad, lists written in place."""

import numpy as np

from compat_matrix.case import attempt, case
from compat_matrix.probes import each


def _x(torch):
    return torch.arange(6.0).reshape(2, 3).requires_grad_()


WRITES = {
    "copy_": "y = x + 1; y[0].copy_(torch.ones(3)); z = y[1]",
    "add_": "y = x + 1; y[0].add_(2); z = y + 1",
    "whole": "y = x + 1; y.add_(2); z = y + 1",
    "all through a view": "z = x + 1; y = z.view(-1); y.add_(2)",
    "item of zeros": "y = torch.zeros(2, 3); y[0] = x[0]; z = y[0]",
    "no_grad": "y = x + 1\nwith torch.no_grad(): y[0].add_(2)\nz = y[0]",
    "several": "y = x + 1; y[0][1].neg_(); y[1].add_(1); z = y[0]",
    "view of view": "z = x + 1; y = z.narrow(0, 0, 1); y.squeeze(0).add_(1)",
    "index list": "y = x + 1; y[[0]] = 2.; z = y[0]",
    "mask": "y = x + 1; y[y > 2] = 2.; z = y[0]",
}


def second_time(torch, expression):
    for kind in ("backward", "create_graph", "retain_graph", "other first"):
        names = {"torch": torch, "x": _x(torch)}
        exec(expression, names)
        x, y, z = names["x"], names["y"], names["z"]
        if kind == "backward":
            y.sum().backward()
        else:
            torch.autograd.grad((z if kind == "other first" else y).sum(), x, create_graph=kind == "create_graph", retain_graph=kind == "retain_graph" or None,
                                allow_unused=True)
        yield kind, attempt(lambda y=y: y.sum().backward()), attempt(lambda z=z: z.sum().backward()), x.grad


each("inplace.copies_of_slices_run_once", second_time, WRITES)

SEEN = ("y.conj()", "y.real", "y.imag", "torch.view_as_real(y)", "y.conj()[1:]", "y[1:].conj()", "y.real[1:]", "y._neg_view()", "y[1:]", "y.conj().conj()",
        "y.conj().real", "y.unsqueeze(0).conj().view(-1)", "y[0].conj()", "torch.view_as_real(y)[..., 0]", "torch.view_as_complex(torch.view_as_real(y))")


def beyond_strides(torch, expression):
    for write in ("y.mul_(2)", "v.mul_(2)", "y[0] = 1"):
        x = torch.arange(2.0).to(torch.complex64).mul(1 + 2j).requires_grad_()
        names = {"torch": torch, "y": x + 1}
        names["v"] = v = eval(expression, names)
        exec(write, names)
        yield write, names["y"].grad_fn.name(), v.grad_fn.name(), [f and f.name() for f, _ in v.grad_fn.next_functions]
        ((v * (1 + v)).sum().real if v.is_complex() else (v * (1 + v)).sum()).backward()
        yield write + " grad", x.grad


each("inplace.beyond_strides", beyond_strides, {e: e for e in SEEN})


@case("inplace.storage_set.versions")
def _(torch):
    y = torch.ones(3)
    y.set_(torch.zeros(2))
    yield "replaced", y, y._version
    y.set_()
    yield "emptied", y, y._version
    y = torch.ones(3)
    y.set_(y)
    yield "itself", y._version
    y.add_(1)
    v = torch.zeros(2)
    v.set_(y)
    v.mul_(2)
    yield "shared", y, v._version, y._version, v._is_view()
    y = torch.ones(3)
    v = y[1:]
    v.set_(torch.ones(4))
    yield "of a view", v._version, y._version, v._base is y, v._is_view()
    y = torch.ones(3)
    v = y[1:]
    y.set_(torch.zeros(4))
    yield "of a base", v._version, y._version, v._base is y, v


@case("inplace.storage_set.history")
def _(torch):
    x = torch.ones(3, requires_grad=True)
    y = x * 1
    y.set_(torch.zeros(2))
    yield "of one with a history", y.requires_grad, y.grad_fn.name(), attempt(lambda: y.sum().backward())
    y = torch.ones(3)
    y.set_(x)
    yield "to one", y.requires_grad, y.grad_fn.name(), y._version, attempt(lambda: (y * 2).sum().backward())
    y = x * 1
    y.set_(y)
    yield "itself", y.grad_fn.name(), attempt(lambda: torch.autograd.grad(y.sum(), x))
    yield "leaf", attempt(lambda: x.set_(torch.ones(2)))
    with torch.no_grad():
        x.set_(torch.ones(2))
    yield "leaf without grad mode", x, x._version


COTANGENTS = {"add": "y = x + 1", "itself": "y = x", "mul": "y = x * 2", "view": "y = x.view(-1)", "two": "y = x + x", "clone": "y = x.clone()"}


def cotangent_requires_grad(torch, expression):
    for before in (False, True):
        names = {"x": _x(torch)}
        exec(expression, names)
        x, y = names["x"], names["y"]
        if before:
            x.grad = torch.ones(2, 3)
        y.backward(gradient=y)
        yield f"backward {before}", x.grad, x.grad.grad_fn is None, x.grad is x
    names = {"x": _x(torch)}
    exec(expression, names)
    g, = torch.autograd.grad(names["y"], names["x"], names["y"])
    yield "grad", g


each("inplace.cotangent_requires_grad", cotangent_requires_grad, COTANGENTS)


@case("inplace.lists.one_may_not_be_written")
def _(torch):
    for n, call in enumerate((lambda a: torch._foreach_mul_(a, 2.0), lambda a: torch._foreach_add_(a, a), lambda a: torch._foreach_zero_(a), lambda a: torch._foreach_exp_(a))):
        x, y = torch.ones(3, requires_grad=True), torch.ones(3)
        yield f"refused {n}", attempt(lambda call=call, x=x, y=y: call([y, x])), y, y._version
        with torch.no_grad():
            call([y, x])
        yield f"no_grad {n}", x, y


@case("inplace.out_expanded")
def _(torch):
    calls = (lambda x, v: torch.add(x, 1, out=v), lambda x, v: torch.add(x.clone(), 1, out=v), lambda x, v: torch.mul(v, 2, out=v),
             lambda x, v: torch.exp(x, out=v))
    for n, call in enumerate(calls):
        x = torch.arange(6.0).reshape(2, 3)
        v = x.broadcast_to(2, 2, 3)
        yield f"refused {n}", attempt(lambda call=call, x=x, v=v: call(x, v)), x, list(v.shape)


NUMBERS = (np.float32(1.5), np.float64(1.5), np.float16(2), np.int64(2), np.int8(2), np.bool_(True))


@case("inplace.items_of_numpy_numbers")
def _(torch):
    for dtype in (torch.float64, torch.float32, torch.int64, torch.bool):
        for number in NUMBERS:
            for index in (0, ..., slice(0, 1), torch.tensor([0])):
                x = torch.zeros(3, dtype=dtype)
                yield f"{dtype} {type(number).__name__} {type(index).__name__}", attempt(lambda x=x, i=index, n=number: x.__setitem__(i, n)), x


@case("inplace.result_type_of_numpy_numbers")
def _(torch):
    for t in (torch.tensor(3, dtype=torch.int32), torch.ones(2, dtype=torch.int8), torch.tensor(1.0, dtype=torch.float16), torch.tensor(True)):
        for number in NUMBERS:
            yield f"{t.dtype} {type(number).__name__}", torch.result_type(t, number), torch.result_type(number, t), (t + number).dtype


@case("inplace.written_beyond_what_the_base_shows")
def _(torch):
    for n, made in enumerate(("w[1]", "w.view(-1)", "w.diagonal()", "w[:, 1:]")):
        for m, write in enumerate(("w.as_strided_((2,), (3,))", "w.as_strided_((2, 2), (2, 1))", "w.t_()", "w.as_strided_((3,), (1,), 3)")):
            w = torch.arange(6.0).reshape(2, 3).clone()
            names = {"torch": torch, "w": w}
            v = names["v"] = eval(made, names)
            exec(write, names)
            v.mul_(3)
            yield f"view written {n} {m}", v, w, w._version
            w.add_(100)
            yield f"base written {n} {m}", v, w
            v[..., -1] = 7
            yield f"item written {n} {m}", v, w, w._version


REFUSED = ("x.__ilshift__(3)", "x.__iand__(x)", "x.bitwise_and_(2)", "x.bitwise_not_()", "x.abs_()", "x.gcd_(x)", "x.set_(torch.ones(2, dtype=torch.int32))",
           "x.__setitem__(torch.tensor([0, 1], dtype=torch.uint8), 5)", "x.__setitem__([5], 1)", "x.__setitem__(5, 1)", "x.__setitem__(torch.ones(7) > 0, 1)",
           "x.__setitem__(([0, 1], [0, 1, 0]), 1)", "x.__setitem__((0, 0, 0), 1)", "x.__setitem__(0, torch.ones(7))", "x.__setitem__([0], torch.ones(7))")


def leaf_first(torch, expression):
    for dtype in (torch.float32, torch.complex64):
        x = torch.ones(2, 3, dtype=dtype, requires_grad=True)
        y = x * 1
        for what, t in (("leaf", x), ("view", x.view(2, 3)), ("no leaf", y), ("plain", x.detach().clone())):
            yield f"{what} {dtype}", attempt(lambda t=t: (eval(expression, {"torch": torch, "x": t}), None)[1])


each("inplace.leaf_first", leaf_first, {e: e for e in REFUSED})


FROZEN = ("x.requires_grad_(False); x.mul_(2)", "x.detach_(); x.pow_(2)", "x.detach_(); x.detach().mul_(2)", "x.requires_grad = False; x[0] = 5.0",
          "x.requires_grad_(False); x.view(-1).add_(1)", "x.detach_(); x.requires_grad_()", "x.requires_grad_(False); x.data.mul_(2)")


def frozen(torch, expression):
    for save in ("x.sin()", "x * x", "x + 1", "x.view(-1).exp() * x.view(-1)", "x @ x.t()"):
        x = torch.arange(6.0).reshape(2, 3).clone().requires_grad_()
        y = eval(save, {"x": x})
        exec(expression, {"x": x})
        yield save, x._version, attempt(lambda y=y: y.sum().backward())


each("inplace.written_after_it_was_frozen", frozen, {e: e for e in FROZEN})


@case("inplace.leaf_first.t_ of three dims")
def _(torch):
    for what, x in (("leaf", torch.ones(2, 2, 2, requires_grad=True)), ("plain", torch.ones(2, 2, 2))):
        yield what, attempt(lambda x=x: x.t_())


CONSTANT = {
    "twice": lambda v, p: v.mul_(p).exp_(), "added": lambda v, p: v.add_(p).mul_(2), "filled": lambda v, p: v.fill_(p).exp_(), "element": lambda v, p: (
        v.__setitem__(0, p), v.exp_()), "copied": lambda v, p: v.copy_(p).exp_(), "other view": lambda v, p: (v._base[1:].mul_(p), v.exp_()),
    "base": lambda v, p: (v._base.mul_(p), v.exp_()), "looked at": lambda v, p: (v._base.mul_(p), v.grad_fn, v.exp_()),
}


def constant_view(torch, expression):
    for kind, view in (("reshape", lambda y: y.reshape(2, 3)), ("slice", lambda y: y[1:4])):
        p = torch.tensor(0.7, dtype=torch.double, requires_grad=True)
        v = view(torch.linspace(0.1, 0.4, 6, dtype=torch.double))
        yield kind, attempt(lambda v=v, p=p: (expression(v, p * 1), None)[1]), v.is_leaf, v.grad_fn.name() if v.requires_grad else None, v._version
        if v.requires_grad:
            (v * v).sum().backward()
            yield f"{kind} grad", v, p.grad


each("inplace.constant_view_written_twice", constant_view, CONSTANT)
