"""torch.autograd.backward and torch.autograd.grad: the table of accepted and refused calls."""

import inspect
from collections import OrderedDict

from compat_matrix.case import attempt, case, raises, warned


def leaf(torch, values=(1.0, 2.0, 3.0), dtype=None):
    return torch.tensor(list(values), dtype=dtype, requires_grad=True)


def parameters(fn):
    return [(p.name, str(p.kind), repr(p.default) if p.default is not p.empty else "required")
            for p in inspect.signature(fn).parameters.values()]


@case("seed_py.signature.backward")
def _(torch):
    yield "parameters", parameters(torch.autograd.backward)


@case("seed_py.signature.grad")
def _(torch):
    yield "parameters", parameters(torch.autograd.grad)


@case("seed_py.signature.tensor_backward")
def _(torch):
    yield "parameters", parameters(torch.Tensor.backward)


@case("seed_py.nonscalar_root.backward")
def _(torch):
    x = leaf(torch)
    yield "error", raises(lambda: torch.autograd.backward(x * 2))
    yield "untouched", x.grad
    yield "method", raises(lambda: (x * 2).backward())


@case("seed_py.nonscalar_root.grad")
def _(torch):
    x = leaf(torch)
    yield "error", raises(lambda: torch.autograd.grad(x * 2, x))


@case("seed_py.root_of_one_element")
def _(torch):
    x = leaf(torch, [3.0])
    torch.autograd.backward((x * 2).reshape(1, 1))
    yield "grad", x.grad
    yield "functional", torch.autograd.grad((x * x).reshape(1, 1, 1), x)


@case("seed_py.root_without_elements")
def _(torch):
    x = torch.zeros(0, requires_grad=True)
    yield "error", raises(lambda: torch.autograd.backward(x * 2))
    torch.autograd.backward(x * 2, torch.zeros(0))
    yield "grad", x.grad


@case("seed_py.complex_root")
def _(torch):
    z = torch.tensor(1 + 2j, requires_grad=True)
    yield "error", raises(lambda: torch.autograd.backward(z * z))
    yield "grad", raises(lambda: torch.autograd.grad(z * z, z))
    yield "given", torch.autograd.grad(z * z, z, torch.tensor(1 + 0j))


@case("seed_py.complex_real_mismatch")
def _(torch):
    x, z = leaf(torch, [1.0, 2.0]), torch.tensor([1j, 2 + 1j], requires_grad=True)
    yield "complex for real", raises(lambda: torch.autograd.backward(x * 2, torch.tensor([1j, 1j])))
    yield "real for complex", raises(lambda: torch.autograd.backward(z * 2, torch.ones(2)))
    yield "grad", raises(lambda: torch.autograd.grad(x * 2, x, torch.tensor([1j, 1j])))


@case("seed_py.cotangent_of_other_dtype")
def _(torch):
    for dtype in (torch.float64, torch.int64, torch.float16, torch.bool):
        x = leaf(torch)
        torch.autograd.backward(x * 2, torch.ones(3, dtype=dtype))
        yield str(dtype), x.grad


@case("seed_py.integer_cotangent_on_leaf_root")
def _(torch):
    x = leaf(torch)
    torch.autograd.backward(x, torch.tensor([1, 2, 3]))
    yield "grad", x.grad
    yield "functional", torch.autograd.grad(x, x, torch.tensor([1, 2, 3]))


@case("seed_py.cotangent_shape.two_by_three")
def _(torch):
    x = leaf(torch)
    yield "backward", raises(lambda: torch.autograd.backward(x * 2, torch.ones(2, 3)))
    yield "grad", raises(lambda: torch.autograd.grad(x * 2, x, torch.ones(2, 3)))


@case("seed_py.cotangent_shape.one")
def _(torch):
    x = leaf(torch)
    yield "backward", raises(lambda: torch.autograd.backward(x * 2, torch.ones(1)))
    yield "zero dim", raises(lambda: torch.autograd.backward(x * 2, torch.tensor(1.0)))
    yield "grad", raises(lambda: torch.autograd.grad([x * 2], x, [torch.ones(1)]))


@case("seed_py.cotangent_shape.for_scalar")
def _(torch):
    x = leaf(torch)
    yield "backward", raises(lambda: torch.autograd.backward(x.sum(), torch.ones(1)))
    yield "method", raises(lambda: x.sum().backward(torch.ones(2)))


@case("seed_py.more_cotangents_than_roots")
def _(torch):
    x = leaf(torch)
    torch.autograd.backward([x * 2], [torch.ones(3), torch.ones(3)])
    yield "grad", x.grad
    yield "functional", attempt(lambda: torch.autograd.grad([x * 2], [x], [torch.ones(3), torch.ones(3)]))


@case("seed_py.fewer_cotangents_than_roots")
def _(torch):
    x = leaf(torch)
    yield "backward", raises(lambda: torch.autograd.backward([x.sum(), x.sum()], [torch.tensor(1.0)]))
    yield "grad", raises(lambda: torch.autograd.grad([x.sum(), x.sum()], [x], [torch.tensor(1.0)]))


@case("seed_py.cotangent_not_a_tensor")
def _(torch):
    import numpy
    x = leaf(torch)
    yield "float", raises(lambda: torch.autograd.backward(x.sum(), 1.0))
    yield "list of float", raises(lambda: torch.autograd.backward([x.sum()], [1.0]))
    yield "list of array", raises(lambda: torch.autograd.backward([x * 2], [numpy.ones(3)]))
    yield "grad float", raises(lambda: torch.autograd.grad(x.sum(), x, 1.0))
    yield "grad list", raises(lambda: torch.autograd.grad(x.sum(), x, [1.0]))


@case("seed_py.root_without_grad")
def _(torch):
    x, c = leaf(torch), torch.ones(3)
    yield "backward", raises(lambda: torch.autograd.backward(c.sum()))
    yield "method", raises(lambda: c.sum().backward())
    yield "grad", raises(lambda: torch.autograd.grad(c.sum(), x))
    yield "with cotangent", raises(lambda: torch.autograd.backward(c, torch.ones(3)))


@case("seed_py.second_root_without_grad")
def _(torch):
    x, c = leaf(torch), torch.ones(3)
    one = torch.tensor(1.0)
    yield "none", raises(lambda: torch.autograd.backward([x.sum(), c.sum()]))
    yield "given", raises(lambda: torch.autograd.backward([x.sum(), c.sum()], [one, one]))
    yield "None given", raises(lambda: torch.autograd.backward([x.sum(), c.sum()], [one, None]))
    yield "grad", raises(lambda: torch.autograd.grad([x.sum(), c.sum()], x))


@case("seed_py.empty_roots")
def _(torch):
    x = leaf(torch)
    yield "backward", torch.autograd.backward([])
    yield "grad", raises(lambda: torch.autograd.grad([], [x]))
    yield "allow_unused", torch.autograd.grad([], [x], allow_unused=True)


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


@case("seed_py.second_backward.saved")
def _(torch):
    x = leaf(torch)
    y = (x * x).sum()
    y.backward()
    yield "error", raises(lambda: y.backward())
    yield "grad", raises(lambda: torch.autograd.grad(y, x))
    yield "kept", x.grad


@case("seed_py.second_backward.nothing_saved")
def _(torch):
    x = leaf(torch)
    y = (x + x).sum()
    y.backward()
    y.backward()
    yield "grad", x.grad


@case("seed_py.retain_graph")
def _(torch):
    x = leaf(torch)
    y = (x * x).sum()
    y.backward(retain_graph=True)
    y.backward(retain_graph=True)
    yield "twice", x.grad
    y.backward(retain_graph=False)
    yield "thrice", x.grad
    yield "freed", raises(lambda: y.backward(retain_graph=True))


@case("seed_py.grad_frees_only_between")
def _(torch):
    x = leaf(torch)
    y = x.exp()
    z = (y * y).sum()
    torch.autograd.grad(z, y)
    yield "y to x", torch.autograd.grad(y.sum(), x)
    yield "z to y", raises(lambda: torch.autograd.grad(z, y))


@case("seed_py.create_graph_without_retain")
def _(torch):
    x = leaf(torch, [2.0])
    g, = torch.autograd.grad((x ** 3).sum(), x, create_graph=True, retain_graph=False)
    yield "pow", attempt(lambda: torch.autograd.grad(g, x))
    h, = torch.autograd.grad((x * x * x).sum(), x, create_graph=True, retain_graph=False)
    yield "mul", attempt(lambda: torch.autograd.grad(h, x))


@case("seed_py.create_graph_accumulates_anew")
def _(torch):
    x = leaf(torch)
    (x * x).sum().backward(create_graph=True)
    first = x.grad
    yield "first", first, first.grad_fn is not None
    (x * x).sum().backward(create_graph=True)
    yield "another object", x.grad is first
    yield "sum", x.grad, x.grad.grad_fn is not None
    yield "first unchanged", first


@case("seed_py.create_graph_warns")
def _(torch):
    x = leaf(torch)
    yield "backward", warned(lambda: (x * x).sum().backward(create_graph=True))
    yield "function", warned(lambda: torch.autograd.backward((x * x).sum(), create_graph=True))
    yield "grad", warned(lambda: torch.autograd.grad((x * x).sum(), x, create_graph=True))


@case("seed_py.grad_variables")
def _(torch):
    x = leaf(torch)
    said = []
    both = warned(lambda: said.append(raises(lambda: torch.autograd.backward(
        x * 2, grad_tensors=torch.ones(3), grad_variables=torch.ones(3)))))
    yield "both", said, both
    yield "old name", warned(lambda: torch.autograd.backward(x * 2, grad_variables=torch.ones(3)))
    yield "grad", x.grad


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


@case("seed_py.cotangent_aliasing")
def _(torch):
    x, g = leaf(torch), torch.ones(3)
    x.backward(g)
    yield "leaf root copies", x.grad is g, x.grad.data_ptr() == g.data_ptr()
    y, h = leaf(torch), torch.ones(3)
    y.view(3).backward(h)
    h.mul_(5)
    yield "through a view", y.grad, y.grad.data_ptr() == h.data_ptr()
    z, k = leaf(torch), torch.ones(3)
    (z * 2).backward(k)
    yield "cotangent unchanged", k


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


@case("seed_py.positional")
def _(torch):
    x = leaf(torch)
    torch.autograd.backward([x * x], [torch.ones(3)], True, False)
    yield "backward", x.grad
    yield "grad", torch.autograd.grad([x * x], [x], [torch.ones(3)], True, False)
    y = x * x
    y.backward(torch.ones(3), True)
    yield "method", x.grad


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
