"""torch.autograd.grad and what it shares with backward: cotangents, inputs."""

from collections import OrderedDict

from compat_matrix.case import attempt, case, raises, warned
from compat_matrix.cases.seed_py import leaf


@case("seed_py.empty_inputs.backward")
def _(torch):
    x = leaf(torch)
    yield "list", raises(lambda: torch.autograd.backward(x.sum(), inputs=[]))
    yield "tuple", raises(lambda: x.sum().backward(inputs=()))
    yield "dict", raises(lambda: x.sum().backward(inputs={}))
    yield "grad", x.grad


@case("seed_py.empty_inputs.grad")
def _(torch):
    x = leaf(torch)
    yield "list", raises(lambda: torch.autograd.grad(x.sum(), []))
    yield "tuple", raises(lambda: torch.autograd.grad(x.sum(), ()))


@case("seed_py.mapping_inputs")
def _(torch):
    x = leaf(torch)
    y = leaf(torch)
    yield "ordered, backward", raises(lambda: torch.autograd.backward(x.sum(), inputs=OrderedDict(a=x)))
    yield "ordered, grad", raises(lambda: torch.autograd.grad(x.sum(), OrderedDict(a=x)))
    yield "dict, grad", torch.autograd.grad((x * y).sum(), {"a": x, "b": y})
    torch.autograd.backward((x * y).sum(), inputs={"a": x})
    yield "dict, backward", x.grad, y.grad


@case("seed_py.iterables_as_inputs")
def _(torch):
    for name, wrap in [("generator", lambda x: (t for t in [x])), ("set", lambda x: {x}),
                       ("tensor", lambda x: x), ("tuple", lambda x: (x,))]:
        x = leaf(torch)
        y = leaf(torch)
        torch.autograd.backward((x * y).sum(), inputs=wrap(x))
        yield name, x.grad, y.grad


@case("seed_py.iterables_as_inputs_of_grad")
def _(torch):
    x = leaf(torch)
    for name, wrap in [("generator", lambda x: (t for t in [x])), ("set", lambda x: {x}),
                       ("tensor", lambda x: x), ("list", lambda x: [x])]:
        yield name, attempt(lambda wrap=wrap: torch.autograd.grad((x * x).sum(), wrap(x)))


@case("seed_py.input_without_grad")
def _(torch):
    x, c = leaf(torch), torch.ones(3)
    yield "grad", raises(lambda: torch.autograd.grad((x * c).sum(), [c]))
    yield "grad, allow_unused", raises(lambda: torch.autograd.grad((x * c).sum(), [c], allow_unused=True))
    yield "backward", raises(lambda: torch.autograd.backward((x * c).sum(), inputs=[c]))


@case("seed_py.inputs_not_tensors")
def _(torch):
    x = leaf(torch)
    yield "grad", raises(lambda: torch.autograd.grad(x.sum(), [1.0]))
    yield "grad none", raises(lambda: torch.autograd.grad(x.sum(), [None]))
    yield "outputs", raises(lambda: torch.autograd.grad([1.0], [x]))
    yield "backward", raises(lambda: torch.autograd.backward([1.0]))


@case("seed_py.unused_input.grad")
def _(torch):
    x, y = leaf(torch), leaf(torch)
    yield "error", raises(lambda: torch.autograd.grad(x.sum(), [y]))
    yield "second", raises(lambda: torch.autograd.grad(x.sum(), [x, y]))
    yield "allowed", torch.autograd.grad(x.sum(), [x, y], allow_unused=True)
    yield "forbidden", raises(lambda: torch.autograd.grad(x.sum(), [y], allow_unused=False))
    z = y * 2
    yield "non-leaf", raises(lambda: torch.autograd.grad(x.sum(), [z]))


@case("seed_py.unused_input.materialized")
def _(torch):
    x, y = leaf(torch), torch.ones(2, 2, dtype=torch.float64, requires_grad=True)
    yield "zeros", torch.autograd.grad(x.sum(), [x, y], materialize_grads=True)
    yield "create_graph", torch.autograd.grad((x * x).sum(), [x, y], materialize_grads=True, create_graph=True)
    yield "contradiction", raises(lambda: torch.autograd.grad(
        x.sum(), [y], allow_unused=False, materialize_grads=True))
    yield "both", torch.autograd.grad(x.sum(), [y], allow_unused=True, materialize_grads=True)


@case("seed_py.unused_input.gradient_edge")
def _(torch):
    x, y = leaf(torch), leaf(torch)
    edge = torch.autograd.graph.get_gradient_edge(y)
    yield "materialize", raises(lambda: torch.autograd.grad(x.sum(), [edge], materialize_grads=True))
    yield "error", raises(lambda: torch.autograd.grad(x.sum(), [edge]))
    yield "allowed", torch.autograd.grad(x.sum(), [edge], allow_unused=True)


@case("seed_py.unused_input.backward")
def _(torch):
    x, y = leaf(torch), leaf(torch)
    torch.autograd.backward(x.sum(), inputs=[x, y])
    yield "grads", x.grad, y.grad


@case("seed_py.duplicate_inputs")
def _(torch):
    x = leaf(torch)
    yield "grad", torch.autograd.grad((x * x).sum(), [x, x])
    torch.autograd.backward((x * x).sum(), inputs=[x, x])
    yield "backward", x.grad


@case("seed_py.duplicate_roots")
def _(torch):
    x = leaf(torch)
    y = (x * x).sum()
    torch.autograd.backward([y, y])
    yield "backward", x.grad
    z = (x * x).sum()
    yield "grad", torch.autograd.grad([z, z], x)


@case("seed_py.root_depends_on_root")
def _(torch):
    x = leaf(torch, [2.0])
    y = x * 2
    z = y * 3
    ones = torch.ones(1)
    yield "wrt y", torch.autograd.grad([y, z], y, [ones, ones], retain_graph=True)
    yield "wrt x", torch.autograd.grad([y, z], x, [ones, ones])


@case("seed_py.non_leaf_in_inputs")
def _(torch):
    x = leaf(torch)
    y = x * 2
    seen = []
    y.grad_fn.register_hook(lambda gi, go: seen.append("node"))
    y.register_hook(lambda g: seen.append("tensor"))
    torch.autograd.backward((y * y).sum(), inputs=[y])
    yield "grads", x.grad, y.grad
    yield "retains_grad", y.retains_grad
    yield "hooks", seen


@case("seed_py.leaf_as_root")
def _(torch):
    x = leaf(torch)
    torch.autograd.backward(x, torch.ones(3))
    yield "backward", x.grad
    s = torch.tensor(2.0, requires_grad=True)
    s.backward()
    yield "scalar", s.grad
    yield "grad", torch.autograd.grad(s, s)


@case("seed_py.only_inputs")
def _(torch):
    x, y = leaf(torch), leaf(torch)
    box = []
    yield "warning", warned(lambda: box.append(torch.autograd.grad((x * y).sum(), x, only_inputs=False)))
    yield "grad", box, y.grad


@case("seed_py.batched.none_for_scalar")
def _(torch):
    x = leaf(torch)
    yield "error", raises(lambda: torch.autograd.grad(x.sum(), x, is_grads_batched=True))


@case("seed_py.batched.rows")
def _(torch):
    x = leaf(torch)
    yield "jacobian", torch.autograd.grad(x * x, x, torch.eye(3), is_grads_batched=True)
    yield "scalar", torch.autograd.grad((x * x).sum(), x, torch.tensor([1.0, 2.0]), is_grads_batched=True)
    yield "integers", torch.autograd.grad(x * x, x, torch.eye(3, dtype=torch.int64), is_grads_batched=True)


@case("seed_py.batched.wrong_shape")
def _(torch):
    x = leaf(torch)
    yield "error", raises(lambda: torch.autograd.grad(x * x, x, torch.ones(3), is_grads_batched=True))
    yield "two by two", raises(lambda: torch.autograd.grad(x * x, x, torch.ones(2, 2), is_grads_batched=True))


@case("seed_py.multi_grad_hook_under_grad")
def _(torch):
    x = leaf(torch)
    handle = torch.autograd.graph.register_multi_grad_hook([x], lambda gs: None)
    yield "error", raises(lambda: torch.autograd.grad((x * x).sum(), x))
    handle.remove()


@case("seed_py.inside_func_transform")
def _(torch):
    x = torch.tensor([1.0, 2.0])

    def f(t):
        t.sum().backward()
        return t.sum()
    yield "error", raises(lambda: torch.func.grad(f)(x))


@case("seed_py.reentrant_checkpoint")
def _(torch):
    from importlib import import_module
    checkpoint = import_module(torch.__name__ + ".utils.checkpoint").checkpoint
    x = leaf(torch)
    yield "grad", raises(lambda: torch.autograd.grad(checkpoint(torch.sin, x, use_reentrant=True).sum(), x))
    yield "inputs", raises(lambda: checkpoint(torch.sin, x, use_reentrant=True).sum().backward(inputs=[x]))
    checkpoint(torch.sin, x, use_reentrant=True).sum().backward()
    yield "backward", x.grad


@case("seed_py.result_kinds")
def _(torch):
    x = leaf(torch)
    yield "tuple", type(torch.autograd.grad(x.sum(), x)).__name__, type(torch.autograd.grad(x.sum(), [x])).__name__
    yield "backward", torch.autograd.backward(x.sum()), x.sum().backward()


@case("seed_py.none_among_cotangents")
def _(torch):
    x = leaf(torch)
    yield "grad", torch.autograd.grad([x.sum(), x * 2], x, [None, torch.ones(3)])
    yield "nonscalar", raises(lambda: torch.autograd.grad([x.sum(), x * 2], x, [torch.tensor(1.0), None]))
    torch.autograd.backward([x.sum(), x * 2], (None, torch.ones(3)))
    yield "backward", x.grad


@case("seed_py.cotangent_that_requires_grad")
def _(torch):
    x = leaf(torch)
    v = torch.ones(3, requires_grad=True)
    g, = torch.autograd.grad(x * x, x, v, create_graph=True)
    yield "g", g
    yield "wrt v", torch.autograd.grad(g.sum(), v)
    (x * x).backward(v)
    yield "without create_graph", x.grad, v.grad


@case("seed_py.allow_unused_all_none")
def _(torch):
    x, y = leaf(torch), leaf(torch)
    yield "one", torch.autograd.grad(x.sum(), y, allow_unused=True)
    yield "two", torch.autograd.grad(x.sum(), (y, y), allow_unused=True)
