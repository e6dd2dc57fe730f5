"""The rows of the conformance table, one body each in terms of a spelling, and the adapters that say what a spelling calls (see spellings.py)."""

import importlib
import warnings

from compat_matrix.observe import PACKAGE


class Python:
    """The rows in PyTorch's spelling."""

    spelling, undefined = "python", None

    def __init__(self, torch):
        self.torch = torch

    def leaf(self, *values, **options):
        return self.torch.tensor(list(values) or [1.0, 1.0, 1.0], requires_grad=True, **options)

    def backward(self, roots, grads=None, **options):
        self.torch.autograd.backward(roots, grads, **options)

    def grad_of(self, x):
        return shown(x.grad)

    def grad(self, outputs, inputs, grads=None, **options):
        return self.torch.autograd.grad(outputs, inputs, grads, **options)


class Oneflow(Python):
    """The rows in OneFlow's: what Python's adapter calls."""

    spelling = "oneflow"


class OneflowFirst(Python):
    """The rows in OneFlow's first."""

    spelling = "oneflow first"


class Libtorch(Python):
    """The rows in libtorch's spelling."""

    spelling = "libtorch"

    def __init__(self, torch):
        super().__init__(torch)
        self.undefined = torch.Tensor()

    def backward(self, roots, grads=(), **options):
        self.torch.autograd.backward(roots, grads, **options)

    def grad_of(self, x):
        return shown(x.grad())

    def grad(self, *args, **options):
        return self.torch.autograd.grad(*args, **options)


def spelling(name):
    """The adapter of a spelling over the package."""
    module, adapter = {"python": ("", Python), "libtorch": (".dialects.libtorch", Libtorch), "oneflow": (".dialects.oneflow", Oneflow),
                       "oneflow first": (".dialects.oneflow_first", OneflowFirst)}[name]
    return adapter(importlib.import_module(PACKAGE + module))


def shown(t):
    """Plain data of a gradient."""
    t = t.get() if callable(getattr(t, "get", None)) else t
    if t is None:
        return "nothing"
    out = t.detach()
    return (out.real if out.is_complex() else out).tolist()


BODIES = {}


def row(name):
    def register(body):
        BODIES[name] = body
        return body

    return register


def doubled(d, cotangents, *roots):
    x = d.leaf()
    d.backward([x * 2, *(r(x) for r in roots)], cotangents)
    return d.grad_of(x)


@row("non-scalar root, no cotangent")
def _(d):
    return doubled(d, None if d.undefined is None else ())


@row("root of one element, shape (1, 1)")
def _(d):
    x = d.leaf()
    d.backward([x.sum().view(1, 1)])
    return d.grad_of(x)


@row("root without elements")
def _(d):
    x = d.leaf()
    d.backward([x[:0] * 2])


@row("complex scalar root, no cotangent")
def _(d):
    x = d.leaf(1 + 2j)
    d.backward([x.sum()])
    return d.grad_of(x)


@row("complex cotangent, real root")
def _(d):
    return doubled(d, [d.torch.tensor([1 + 1j] * 3)])


@row("real cotangent, complex root")
def _(d):
    x = d.leaf(1 + 2j)
    d.backward([x * 1], [d.torch.ones([1])])
    return d.grad_of(x)


def of_dtype(name, factor):
    def body(d):
        x = d.leaf()
        d.backward([x * factor if factor else x], [d.torch.ones([3]).to(getattr(d.torch, name))])
        g = x.grad() if d.spelling == "libtorch" else x.grad
        return [*d.grad_of(x), str(g.dtype)]

    return body


row("float64 cotangent")(of_dtype("float64", 2))
row("int64 cotangent")(of_dtype("int64", 2))
row("int64 cotangent of a leaf")(of_dtype("int64", 0))


@row("cotangent (2, 3) for root (3)")
def _(d):
    return doubled(d, [d.torch.ones([2, 3])])


@row("cotangent (1) for root (3)")
def _(d):
    return doubled(d, [d.torch.ones([1])])


@row("more cotangents than roots")
def _(d):
    return doubled(d, [d.torch.ones([3]), d.torch.ones([3])])


@row("fewer cotangents than roots")
def _(d):
    return doubled(d, [d.torch.ones([3])], lambda x: x * 3)


@row("cotangent is a number")
def _(d):
    return doubled(d, 1.0)


@row("list with a number")
def _(d):
    return doubled(d, [1.0])


@row("root without grad")
def _(d):
    d.backward([d.torch.ones([1])], [d.torch.ones([1])])


@row("second root without grad, given")
def _(d):
    return doubled(d, [d.torch.ones([3]), d.torch.ones([3])], lambda x: d.torch.ones([3]))


@row("second root without grad, not given")
def _(d):
    return doubled(d, [d.torch.ones([3]), d.undefined], lambda x: d.torch.ones([3]))


@row("undefined root")
def _(d):
    d.backward([d.undefined])


@row("no roots: backward")
def _(d):
    d.backward([])
    return "nothing"


@row("no roots, a cotangent: backward")
def _(d):
    d.backward([], [d.torch.ones([3])])
    return "nothing"


@row("no roots: grad")
def _(d):
    return [shown(g) for g in d.grad([], [d.leaf()])]


@row("no roots: grad, allowed")
def _(d):
    return [shown(g) for g in d.grad([], [d.leaf()], allow_unused=True)]


@row("no inputs: backward")
def _(d):
    x = d.leaf()
    d.backward([x * 2], [d.torch.ones([3])], inputs=[])
    return d.grad_of(x)


@row("no inputs: the method")
def _(d):
    x = d.leaf()
    (x * 2).backward(d.torch.ones([3]), inputs=[])


@row("no inputs: grad")
def _(d):
    x = d.leaf()
    return [list(d.grad([x * 2], [], [d.torch.ones([3])])), *d.grad_of(x)]


@row("input: a single tensor")
def _(d):
    x = d.leaf()
    return shown(d.grad(x * 2, x, d.torch.ones([3]))[0])


@row("input without grad: grad")
def _(d):
    d.grad([d.leaf() * 2], [d.torch.ones([3])], [d.torch.ones([3])])


@row("input without grad: backward")
def _(d):
    d.backward([d.leaf() * 2], [d.torch.ones([3])], inputs=[d.torch.ones([3])])


@row("unused input that is in no graph")
def _(d):
    return shown(d.grad([d.leaf() * 2], [d.leaf()], [d.torch.ones([3])])[0])


@row("unused input of another graph")
def _(d):
    z = d.leaf()
    held = z * 3
    return shown(d.grad([d.leaf() * 2], [z], [d.torch.ones([3])])[0]) if held is not None else None


@row("unused input, allowed")
def _(d):
    return shown(d.grad([d.leaf() * 2], [d.leaf()], [d.torch.ones([3])], allow_unused=True)[0])


@row("unused input: backward")
def _(d):
    z = d.leaf()
    d.backward([d.leaf() * 2], [d.torch.ones([3])], inputs=[z])
    return d.grad_of(z)


@row("an input twice")
def _(d):
    x = d.leaf()
    return [shown(g) for g in d.grad([x * 2], [x, x], [d.torch.ones([3])])]


@row("an input twice: backward")
def _(d):
    x = d.leaf()
    d.backward([x * 2], [d.torch.ones([3])], inputs=[x, x])
    return d.grad_of(x)


@row("a root twice")
def _(d):
    x = d.leaf()
    y = x * 2
    d.backward([y, y], [d.torch.ones([3]), d.torch.ones([3])])
    return d.grad_of(x)


@row("roots y and 3 y, with respect to y")
def _(d):
    y = d.leaf() * 2
    return shown(d.grad([y, y * 3], [y], [d.torch.ones([3]), d.torch.ones([3])])[0])


@row("non-leaf among the inputs")
def _(d):
    x = d.leaf()
    y = x * 2
    d.backward([y * 3], [d.torch.ones([3])], inputs=[y])
    return [d.grad_of(y), d.grad_of(x)]


@row("a leaf as its own root")
def _(d):
    x = d.leaf()
    d.backward([x], [d.torch.ones([3])])
    return d.grad_of(x)


@row("a leaf as its own root: grad")
def _(d):
    x = d.leaf()
    return shown(d.grad([x], [x], [d.torch.ones([3])])[0])


def again(d, f):
    x = d.leaf()
    y = f(x)
    d.backward([y], [d.torch.ones([3])])
    d.backward([y], [d.torch.ones([3])])
    return d.grad_of(x)


@row("again, where something was saved")
def _(d):
    return again(d, lambda x: x * x)


@row("again, where nothing was saved")
def _(d):
    return again(d, lambda x: x + x)


@row("again below new roots, where nothing was saved")
def _(d):
    x = d.leaf()
    y = x + x
    for _ in range(3):
        d.backward([y.sum()], [d.torch.ones([])])
    return d.grad_of(x)


@row("again below new roots, where something was saved")
def _(d):
    x = d.leaf()
    y = x * x
    d.backward([y.sum()], [d.torch.ones([])])
    d.backward([y.sum()], [d.torch.ones([])])
    return d.grad_of(x)


@row("a sum, nothing given: grad")
def _(d):
    x = d.leaf()
    return shown(d.grad([(x * x).sum()], [x])[0])


@row("grad frees what lies between")
def _(d):
    x = d.leaf()
    y = x * x
    z = y * y
    d.grad([z], [y], [d.torch.ones([3])])
    d.backward([y], [d.torch.ones([3])])
    try:
        d.backward([z], [d.torch.ones([3])])
    except RuntimeError:
        return "works"


@row("create_graph without retain_graph")
def _(d):
    x = d.leaf(2.0, 2.0, 2.0)
    (g,) = d.grad([x * x * x], [x], [d.torch.ones([3])], retain_graph=False, create_graph=True)
    return shown(d.grad([g], [x], [d.torch.ones([3])])[0])


@row("create_graph without retain_graph, a power")
def _(d):
    x = d.leaf(2.0, 2.0, 2.0)
    (g,) = d.grad([x ** 3], [x], [d.torch.ones([3])], retain_graph=False, create_graph=True)
    return shown(d.grad([g], [x], [d.torch.ones([3])])[0])


@row("second accumulation with a graph")
def _(d):
    x = d.leaf()
    own = (lambda: x.get().grad) if d.spelling == "libtorch" else (lambda: x.grad)
    d.backward([x * x], [d.torch.ones([3])], create_graph=True)
    first = own()
    d.backward([x * x], [d.torch.ones([3])], create_graph=True)
    assert own().tolist() == [4.0] * 3
    assert own().requires_grad
    return "the same object" if own() is first else "another object"


@row("create_graph says")
def _(d):
    x = d.leaf()
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        d.backward([x * x], [d.torch.ones([3])], create_graph=True)
    return "a warning" if any("create_graph" in str(w.message) for w in said) else "no warning"


@row("grad_variables")
def _(d):
    d.backward([d.leaf() * 2], [d.torch.ones([3])], grad_variables=[d.torch.ones([3])])


@row("only_inputs")
def _(d):
    x = d.leaf()
    d.grad([x * 2], [x], [d.torch.ones([3])], only_inputs=False)


@row("a cotangent that becomes a gradient")
def _(d):
    x, g = d.leaf(), d.torch.ones([3])
    d.backward([x], [g])
    g.add_(1)
    return "a copy" if d.grad_of(x) == [1.0] * 3 else "the same memory"


@row("grad_tensors is required")
def _(d):
    d.torch.autograd.backward(d.leaf().sum())


@row("older names")
def _(d):
    x = d.leaf()
    d.torch.autograd.backward(outputs=[x * 2], out_grads=[d.torch.ones([3])], retain_graph=False)
    y = d.leaf()
    assert shown(d.torch.autograd.grad([y * 2], [y], out_grads=[d.torch.ones([3])])[0]) == [2.0] * 3
    return d.grad_of(x)


@row("undefined in and out")
def _(d):
    x, z = d.leaf(), d.leaf()
    out = d.grad([(x * 2).sum()], [x, z], [d.undefined], allow_unused=True)
    assert out[1] is None or not out[1].defined()
    return [shown(g) for g in out]


@row("options")
def _(d):
    t = d.torch
    x, y = t.ones([2], t.requires_grad()), t.zeros([2], t.dtype(t.kDouble).requires_grad(True))
    return [str(x.requires_grad()), str(y.get().dtype == t.float64), str(t.ones([2]).requires_grad())]


@row("allow_unused")
def _(d):
    d.grad([(d.leaf() * 2).sum()], [d.leaf()], [d.undefined], allow_unused=True)


@row("today's names")
def _(d):
    x = d.leaf()
    d.torch.autograd.backward(tensors=[x * 2], grad_tensors=[d.torch.ones([3])])
    return d.grad_of(x)


@row("grad without cotangents")
def _(d):
    x = d.leaf()
    return [shown(g) for g in d.torch.autograd.grad([(x * 2).sum()], [x])]


@row("a pass and its gradients")
def _(d):
    x = d.leaf()
    d.torch.autograd.backward([x * 2], [d.torch.ones([3])], False, False)
    (g,) = d.torch.autograd.grad([x * 3], [x], [d.torch.ones([3])], False, False)
    return [d.grad_of(x), shown(g)]
