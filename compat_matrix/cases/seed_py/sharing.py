"""A cotangent that goes through views alone: whose memory the gradient is."""

import threading

from compat_matrix.case import case


def leaf(torch):
    return torch.arange(6.0).reshape(2, 3).clone().requires_grad_()


def through(torch, make, shape):
    """After backward, after a write into the cotangent, and what grad gives."""
    x, h = leaf(torch), torch.arange(6.0).reshape(shape).clone()
    make(x).backward(h)
    shares = x.grad.data_ptr() == h.data_ptr()
    h.mul_(5)
    y, k = leaf(torch), torch.ones(shape)
    g, = torch.autograd.grad(make(y), y, k)
    return shares, x.grad, x.grad._is_view(), x.grad.stride(), g.data_ptr() == k.data_ptr(), g.stride(), g._base is k, g is k


@case("seed_py.sharing.views")
def _(torch):
    yield "view", through(torch, lambda x: x.view(6), 6)
    yield "two views", through(torch, lambda x: x.view(6).view(3, 2), (3, 2))
    yield "reshape", through(torch, lambda x: x.reshape(3, 2), (3, 2))
    yield "unsqueeze", through(torch, lambda x: x.unsqueeze(1), (2, 1, 3))
    yield "squeeze", through(torch, lambda x: x.unsqueeze(1).squeeze(1), (2, 3))
    yield "t", through(torch, lambda x: x.t(), (3, 2))
    yield "t twice", through(torch, lambda x: x.t().t(), (2, 3))
    yield "permute", through(torch, lambda x: x.unsqueeze(0).permute(2, 0, 1), (3, 1, 2))
    yield "transpose of a view", through(torch, lambda x: x.view(6).view(3, 2).transpose(0, 1), (2, 3))


@case("seed_py.sharing.others")
def _(torch):
    yield "clone", through(torch, lambda x: x.clone(), (2, 3))
    yield "view of a copy", through(torch, lambda x: x.clone().view(6), 6)
    yield "copied by reshape", through(torch, lambda x: x.t().reshape(6), 6)
    yield "slice", through(torch, lambda x: x[:, 0:3], (2, 3))
    yield "mul", through(torch, lambda x: (x * 2).view(6), 6)
    yield "a number added", through(torch, lambda x: x.view(6) + 1, 6)


@case("seed_py.sharing.twice")
def _(torch):
    x, h = leaf(torch), torch.ones(6)
    y = x.view(6)
    y.backward(h, retain_graph=True)
    y.backward(h)
    yield "accumulated into the cotangent", h, x.grad, h._version
    x.grad.zero_()
    yield "zeroed", h
    z, k = leaf(torch), torch.ones(6)
    z.grad = torch.ones(2, 3)
    z.view(6).backward(k)
    yield "one that was there", z.grad, k, z.grad.data_ptr() == k.data_ptr()


@case("seed_py.sharing.kinds")
def _(torch):
    x, h = leaf(torch), torch.ones(12)[::2]
    x.view(6).backward(h)
    yield "strided", x.grad.data_ptr() == h.data_ptr(), x.grad
    x, h = leaf(torch), torch.ones(6, dtype=torch.float64)
    x.view(6).backward(h)
    yield "another dtype", x.grad
    x, h = leaf(torch), torch.ones(6, requires_grad=True)
    x.view(6).backward(h)
    yield "requires grad", x.grad, x.grad.requires_grad, x.grad.data_ptr() == h.data_ptr()
    g, = torch.autograd.grad(x.view(6), x, h, create_graph=True)
    yield "with a graph", g, g.grad_fn.name(), g._base is h
    g.sum().backward()
    yield "second", h.grad
    x, h = leaf(torch), torch.ones(6)
    x.register_hook(lambda g: g * 2)
    x.view(6).backward(h)
    yield "a hook that changes it", x.grad, h
    x, h = leaf(torch), torch.ones(6)
    x.view(6).backward(h, inputs=[x])
    yield "inputs", x.grad.data_ptr() == h.data_ptr()
    x, h = leaf(torch), torch.ones(6)
    x.register_post_accumulate_grad_hook(lambda t: setattr(t, "grad", t.grad * 3))
    x.view(6).backward(h)
    yield "replaced after it came", x.grad, h
    x, h = leaf(torch), torch.ones(6)
    torch.autograd.backward([x.view(6), x.sum()], [h, None])
    yield "two roots", x.grad, h


@case("seed_py.sharing.watched")
def _(torch):
    came = []
    x, h = leaf(torch), torch.ones(6)
    x.register_post_accumulate_grad_hook(lambda t: came.append(t.grad))
    x.view(6).backward(h)
    h.mul_(7)
    yield "after accumulation", came[0], came[0] is x.grad, x.grad
    y, k = leaf(torch), torch.ones(6)
    v = y.view(6)
    thread = threading.Thread(target=lambda: v.backward(k))
    thread.start()
    thread.join()
    k.mul_(2)
    yield "by another thread", y.grad
    z, m = leaf(torch), torch.ones(6)
    v = z.view(6)
    v.grad_fn.register_hook(lambda ins, outs: (ins[0] * 2,))
    v.backward(m)
    yield "node hook", z.grad, m
    w, n = leaf(torch), torch.ones(6)
    w.view(6).backward(n)
    optimizer = torch.optim.SGD([w], lr=0.1, momentum=0.9)
    optimizer.step()
    optimizer.zero_grad(set_to_none=False)
    yield "zeroed by an optimizer", n, w


@case("seed_py.sharing.mapped")
def _(torch):
    x, h = leaf(torch), torch.ones(2, 3)
    out = torch.func.vmap(lambda row: row.view(3))(x)
    out.backward(h)
    yield "mapped view", x.grad
    x, h = leaf(torch), torch.ones(2, 3)
    torch.func.vmap(lambda row: row.t(), in_dims=1, out_dims=1)(x).backward(h)
    yield "mapped columns", x.grad
    z = torch.arange(6.0).reshape(2, 3)
    o, pull = torch.func.vjp(lambda q: torch.func.vmap(lambda row: (row * row).sum().view(1))(q), z)
    yield "vjp of a map", pull(torch.ones_like(o))
    o, pull = torch.func.vjp(lambda q: torch.func.vmap(lambda row: row.view(3, 1))(q).view(3, 2), z)
    yield "vjp of mapped views", pull(torch.ones_like(o))
    o, pull = torch.func.vjp(lambda q: q.view(6), z)
    yield "vjp of a view", pull(torch.arange(6.0)), torch.func.vmap(pull)(torch.eye(6))
    yield "jacobian", torch.func.jacrev(lambda q: q.t())(z), torch.autograd.functional.jacobian(lambda q: q.view(6), z, vectorize=True)
