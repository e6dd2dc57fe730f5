"""The .grad attribute: accumulation, identity, assignment, reading."""

import threading

from compat_matrix.case import attempt, case, raises, warned


def leaf(torch, values=(1.0, 2.0, 3.0), dtype=None):
    return torch.tensor(list(values), dtype=dtype, requires_grad=True)


@case("engine.accumulate.same_object")
def _(torch):
    x = leaf(torch)
    (x * 2).sum().backward()
    first = x.grad
    (x * 3).sum().backward()
    yield "same", x.grad is first
    yield "sum seen through the old reference", first


@case("engine.accumulate.identity_of_reads")
def _(torch):
    x = leaf(torch)
    (x * 2).sum().backward()
    yield "same", x.grad is x.grad
    yield "pointer", x.grad.data_ptr() == x.grad.data_ptr()


@case("engine.accumulate.into_given_tensor")
def _(torch):
    x = leaf(torch)
    mine = torch.tensor([10.0, 10.0, 10.0])
    x.grad = mine
    (x * 2).sum().backward()
    yield "same", x.grad is mine
    yield "mine", mine
    yield "version", mine._version


@case("engine.accumulate.create_graph_makes_new")
def _(torch):
    x = leaf(torch)
    mine = torch.tensor([10.0, 10.0, 10.0])
    x.grad = mine
    (x * x).sum().backward(create_graph=True)
    yield "same", x.grad is mine
    yield "mine", mine
    yield "grad", x.grad


@case("engine.accumulate.two_leaves_no_sharing")
def _(torch):
    x, y = leaf(torch), leaf(torch)
    (x + y).backward(torch.ones(3))
    x.grad.mul_(5)
    yield "grads", x.grad, y.grad


@case("engine.accumulate.cotangent_not_modified")
def _(torch):
    x, v = leaf(torch), torch.tensor([1.0, 2.0, 3.0])
    x.clone().backward(v)
    x.clone().backward(v)
    yield "cotangent", v, v._version
    yield "grad", x.grad


@case("engine.accumulate.expanded_gradient_is_copied")
def _(torch):
    x = leaf(torch)
    x.sum().backward()
    yield "stride", x.grad.stride(), x.grad.is_contiguous()
    x.grad[0] = 5
    yield "one place only", x.grad


@case("engine.accumulate.grad_functional_expanded")
def _(torch):
    x = leaf(torch)
    g, = torch.autograd.grad(x.sum(), x)
    yield "stride", g.stride()


@case("engine.accumulate.zero_and_none")
def _(torch):
    x = leaf(torch)
    (x * 2).sum().backward()
    x.grad.zero_()
    (x * 2).sum().backward()
    yield "zeroed", x.grad
    x.grad = None
    yield "none", x.grad
    (x * 2).sum().backward()
    yield "anew", x.grad
    del x.grad
    yield "deleted", x.grad


@case("engine.accumulate.grad_has_no_graph")
def _(torch):
    x = leaf(torch)
    (x * x).sum().backward()
    yield "flags", x.grad.requires_grad, x.grad.grad_fn, x.grad.is_leaf


@case("engine.accumulate.assign.wrong")
def _(torch):
    x = leaf(torch)
    def put(value):
        x.grad = value
    yield "float", raises(lambda: put(1.0))
    yield "list", raises(lambda: put([1.0]))
    yield "shape", raises(lambda: put(torch.ones(2)))
    yield "scalar", raises(lambda: put(torch.tensor(1.0)))
    yield "dtype", raises(lambda: put(torch.ones(3, dtype=torch.float64)))
    yield "integers", raises(lambda: put(torch.ones(3, dtype=torch.int64)))
    yield "itself", raises(lambda: put(x))
    yield "still none", x.grad


@case("engine.accumulate.assign.right")
def _(torch):
    x = leaf(torch)
    x.grad = torch.ones(3)
    yield "grad", x.grad
    x.grad = torch.ones(3, requires_grad=True)
    yield "that requires grad", x.grad.requires_grad
    c = torch.zeros(2)
    c.grad = torch.ones(2)
    yield "no requires_grad", c.grad, c.requires_grad


@case("engine.accumulate.read_non_leaf")
def _(torch):
    x = leaf(torch)
    y = x * 2
    yield "warning", warned(lambda: y.grad)
    yield "leaf", warned(lambda: x.grad)
    c = torch.zeros(2)
    yield "plain", warned(lambda: c.grad)
    y.retain_grad()
    yield "retained", warned(lambda: y.grad)
    yield "backward then", attempt(lambda: (x * 2).grad)


@case("engine.accumulate.grad_of_leaf_set_in_no_grad")
def _(torch):
    x = leaf(torch)
    (x * 2).sum().backward()
    with torch.no_grad():
        x.grad += 1
        x.grad /= 2
    yield "grad", x.grad


@case("engine.accumulate.grad_dtype")
def _(torch):
    x = torch.ones(2, dtype=torch.float16, requires_grad=True)
    (x.float() * 3).sum().backward()
    yield "grad", x.grad
    (x.double() * 3).sum().backward()
    yield "twice", x.grad


@case("engine.accumulate.complex_leaf")
def _(torch):
    z = torch.tensor([1 + 1j, 2j], requires_grad=True)
    z.abs().sum().backward()
    z.real.sum().backward()
    yield "grad", z.grad


@case("engine.accumulate.zero_grad_style_detach")
def _(torch):
    x = leaf(torch)
    (x * x).sum().backward(create_graph=True)
    x.grad.detach_()
    x.grad.zero_()
    yield "grad", x.grad, x.grad.requires_grad
    (x * 2).sum().backward()
    yield "again", x.grad


@case("engine.accumulate.grad_is_tensor_with_ops")
def _(torch):
    x = leaf(torch)
    (x * x).sum().backward()
    yield "norm", x.grad.norm(), x.grad.abs().max(), x.grad + x.grad


@case("engine.accumulate.sparse_use_of_leaf")
def _(torch):
    x = torch.zeros(4, 2, requires_grad=True)
    x[1].sum().backward()
    x[torch.tensor([1, 3, 3])].sum().backward()
    yield "grad", x.grad


@case("engine.accumulate.clone_of_grad_independent")
def _(torch):
    x = leaf(torch)
    x.sum().backward()
    kept = x.grad.clone()
    x.sum().backward()
    yield "kept", kept, x.grad


@case("engine.accumulate.threads")
def _(torch):
    w = torch.ones(3, requires_grad=True)

    def work(k):
        for _ in range(5):
            ((w * k) ** 2).sum().backward()

    threads = [threading.Thread(target=work, args=(k,)) for k in range(1, 6)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    yield "sum", w.grad
