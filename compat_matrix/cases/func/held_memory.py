"""torch.func: the memory of what a transformation holds is nobody's to read, copy or replace; cotangents that are no tensors; graphs kept or not."""

import copy
import io
import pickle

from compat_matrix.case import attempt, case

WAYS = {
    "grad": lambda f, g, m: f.grad(lambda q: (g(q), q.sum())[1])(m[0]),
    "vmap": lambda f, g, m: f.vmap(lambda q: (g(q), q.sum())[1])(m),
    "jvp": lambda f, g, m: f.jvp(lambda q: (g(q), q.sum())[1], (m,), (m,)),
    "vmap of grad": lambda f, g, m: f.vmap(f.grad(lambda q: (g(q), q.sum())[1]))(m),
    "grad of vmap": lambda f, g, m: f.grad(lambda z: f.vmap(lambda q: (g(q), q.sum())[1])(z).sum())(m),
    "vjp": lambda f, g, m: f.vjp(lambda q: (g(q), q.sum())[1], m)[0],
}
LOOKS = {
    "data_ptr": lambda torch, q: q.data_ptr() and None,
    "untyped_storage": lambda torch, q: q.untyped_storage() and None,
    "of a product": lambda torch, q: (q * 2).untyped_storage() and None,
    "storage": lambda torch, q: q._typed_storage() and None,
    "is_shared": lambda torch, q: q.is_shared(),
    "share_memory_": lambda torch, q: q.share_memory_() and None,
    "deepcopy": lambda torch, q: copy.deepcopy(q) is None,
    "copy": lambda torch, q: copy.copy(q) is None,
    "pickle": lambda torch, q: pickle.dumps(q) and None,
    "save": lambda torch, q: torch.save(q, io.BytesIO()),
    "numpy": lambda torch, q: q.numpy().shape,
    "data set": lambda torch, q: setattr(q, "data", q * 2),
    "data of another set": lambda torch, q: setattr(torch.zeros(3), "data", torch.ones(3)),
    "data set to it": lambda torch, q: setattr(torch.zeros(3), "data", q),
}

for _name, _look in LOOKS.items():
    @case(f"func.held_memory.{_name}")
    def _(torch, look=_look):
        for way, run in WAYS.items():
            m = torch.tensor([[0.5, 1.0, -2.0], [1.5, -0.25, 3.0]])
            got = []
            yield way, attempt(lambda: run(torch.func, lambda q: got.append(look(torch, q)), m)), got, m


@case("func.held_memory.cotangents that are no tensors")
def _(torch):
    x = torch.tensor([0.5, -1.0])
    one, two = torch.func.vjp(torch.sin, x)[1], torch.func.vjp(lambda q: (q.sin(), q.sum()), x)[1]
    apart, whole = torch.func.vjp(lambda q: x * 2, x)[1], torch.func.vjp(lambda q: q.sin().sum(), x)[1]
    for g in (None, 1, 1.5, "a", x.numpy()):
        name = type(g).__name__
        yield name, attempt(lambda: one(g)), attempt(lambda: whole(g)), attempt(lambda: apart(g))
        yield f"{name} of several", attempt(lambda: two((x, g))), attempt(lambda: two((g, x.sum())))


@case("func.held_memory.graphs kept or not")
def _(torch):
    x = torch.tensor([0.5, -1.0])
    for needs in (False, True):
        for name, made in (("sine", torch.sin), ("sum", lambda q: q + 1)):
            pull = torch.func.vjp(made, x.clone().requires_grad_(needs))[1]
            yield f"{name} {needs}", pull(x), attempt(lambda: pull(x, retain_graph=False)), attempt(lambda: pull(x)), attempt(lambda: pull(x, True, False))
    pull = torch.func.vjp(torch.sin, x)[1]
    yield "mapped", torch.func.vmap(lambda c: pull(c, retain_graph=False))(torch.eye(2)), attempt(lambda: pull(x))


@case("func.held_memory.numbers of arguments")
def _(torch):
    f, x = torch.func, torch.tensor([0.5, -1.0])
    for name in ("grad", "grad_and_value", "jacrev", "hessian"):
        for n in (True, False, (True,), (False, 1)):
            yield f"{name} {n}", attempt(lambda: getattr(f, name)(lambda a, b: (a * a * b).sum(), argnums=n)(x, x + 2))
    for n in (True, False, None):
        yield f"jacfwd {n}", attempt(lambda: f.jacfwd(lambda a, b: a * b, argnums=n)(x, x + 2))


@case("func.held_memory.written views while operators are listened to")
def _(torch):
    from importlib import import_module

    mode = import_module(f"{torch.__name__}.utils._python_dispatch").TorchDispatchMode

    class Heard(mode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            return func(*args, **(kwargs or {}))

    def loss(x, w, b):
        return torch.nn.functional.linear(x, w, b).relu_().sum()

    def views(x, w, b):
        y = x.clone()
        y[0].mul_(2)
        y.view(-1)[3:].sin_()
        return (y @ w.t() + b).sum()

    given = torch.linspace(-1, 1, 24).reshape(2, 3, 4), torch.linspace(-1, 2, 20).reshape(5, 4), torch.ones(5)
    for name, f in (("activation", loss), ("views", views)):
        with Heard():
            out = torch.func.grad(f, argnums=(0, 1, 2))(*given)
            leaves = [t.clone().requires_grad_() for t in given]
            f(*leaves).backward()
        yield name, out, [t.grad for t in leaves]
