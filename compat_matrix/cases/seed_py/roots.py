"""Roots, cotangents, freeing and the arguments of torch.autograd.backward."""

from compat_matrix.case import attempt, case, raises, warned
from compat_matrix.cases.seed_py import leaf, parameters


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


@case("seed_py.positional")
def _(torch):
    x = leaf(torch)
    torch.autograd.backward([x * x], [torch.ones(3)], True, False)
    yield "backward", x.grad
    yield "grad", torch.autograd.grad([x * x], [x], [torch.ones(3)], True, False)
    y = x * x
    y.backward(torch.ones(3), True)
    yield "method", x.grad


@case("seed_py.edges_as_roots")
def _(torch):
    edge = torch.autograd.graph.get_gradient_edge
    x = leaf(torch)
    y = x * x
    torch.autograd.backward(edge(y), torch.ones(3))
    yield "backward", x.grad
    z = x.exp()
    yield "grad", torch.autograd.grad([edge(z.sum())], x, retain_graph=True)
    yield "mixed", torch.autograd.grad([edge(z), z.sum()], [x], [torch.ones(3), None])
    yield "not scalar", raises(lambda: torch.autograd.backward(edge(x * 2)))
    yield "shape", raises(lambda: torch.autograd.backward(edge(x * 2), torch.ones(2)))
    yield "leaf", torch.autograd.grad(edge(x), x, torch.ones(3))


@case("seed_py.root_depends_on_root.backward")
def _(torch):
    x = leaf(torch, [2.0])
    y = x * 2
    y.retain_grad()
    torch.autograd.backward([y, y * 3], [torch.ones(1), torch.ones(1)])
    yield "grads", x.grad, y.grad
    a = leaf(torch, [2.0])
    torch.autograd.backward([a, a * 5, a])
    yield "leaf root and its result", a.grad


@case("seed_py.inputs_leave_the_rest")
def _(torch):
    x, y = leaf(torch), leaf(torch)
    x.grad, y.grad = torch.ones(3), torch.ones(3)
    before = y.grad
    seen = []
    y.register_hook(lambda g: seen.append("y"))
    (x * y).sum().backward(inputs=[x])
    yield "added", x.grad
    yield "kept", y.grad, y.grad is before, seen
    (x * y).sum().backward(inputs=y)
    yield "then the other", x.grad, y.grad, y.grad is before, seen
