"""Gradients of gradients through saved tensors that somebody unpacked: checkpoints, hooks that detach, tensors kept on the host."""

import itertools

from compat_matrix.case import case


def _ways(torch, f, x):
    checkpoint = torch.utils.checkpoint.checkpoint
    yield f(x)
    yield checkpoint(f, x, use_reentrant=False)
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t.detach(), lambda t: t):
        yield f(x)
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t.detach().clone(), lambda t: t.clone()):
        yield f(x)
    with torch.autograd.graph.save_on_cpu():
        yield f(x)


def _orders(torch, f, x):
    for out in _ways(torch, f, x):
        (g,) = torch.autograd.grad(out.tanh().sum(), x, create_graph=True)
        yield g.detach(), torch.autograd.grad((g * g).sum(), x)[0]


def _numbers(torch, *shape):
    return ((torch.arange(torch.Size(shape).numel(), dtype=torch.float64) ** 2 * 0.37).sin() + 0.1).reshape(shape)


@case("second_order_of_unpacked.normalisations")
def _(torch):
    F = torch.nn.functional
    w = _numbers(torch, 6) + 0.5
    makers = [lambda x: F.layer_norm(x, (6,)), lambda x: F.layer_norm(x, (6,), w, w), lambda x: F.batch_norm(x, None, None, training=True),
              lambda x: F.batch_norm(x, w.clone(), w.clone(), w, w, training=True), lambda x: F.group_norm(x, 2, w, w), lambda x: F.instance_norm(x[:, None]),
              lambda x: F.rms_norm(x, (6,), w), lambda x: torch._weight_norm(x, w[:4, None], 0)]
    for name, f in zip(itertools.count(), makers):
        x = _numbers(torch, 4, 6).requires_grad_()
        yield str(name), list(_orders(torch, f, x))


@case("second_order_of_unpacked.other numbers than were packed")
def _(torch):
    F = torch.nn.functional
    for dtype in (torch.float32, torch.float64):
        w = _numbers(torch, 6).to(dtype) + 0.5
        makers = [lambda x, w=w: F.layer_norm(x, (6,), w, w), lambda x, w=w: F.batch_norm(x, w.clone(), w.abs(), w, w),
                  lambda x, w=w: F.group_norm(x, 2, w, w), lambda x, w=w: F.batch_norm(x, w.clone(), w.abs(), w, w, training=True)]
        for name, f in zip(itertools.count(), makers):
            x = _numbers(torch, 4, 6).to(dtype).requires_grad_()
            with torch.autograd.graph.saved_tensors_hooks(lambda t: t.detach().clone(), lambda t: t * 1.1):
                out = f(x)
            yield f"{dtype} {name}", torch.autograd.grad(out.tanh().sum(), x)[0]


@case("second_order_of_unpacked.a batch in single precision")
def _(torch):
    m = torch.nn.BatchNorm1d(6)
    x = _numbers(torch, 4, 6).float().requires_grad_()
    yield "orders", list(_orders(torch, m, x)), m.running_mean, m.running_var, m.num_batches_tracked


@case("second_order_of_unpacked.parameters of a network")
def _(torch):
    nn = torch.nn
    for norm in (nn.BatchNorm1d(6), nn.LayerNorm(6), nn.GroupNorm(3, 6)):
        net = nn.Sequential(nn.Linear(3, 6), nn.Tanh(), norm, nn.Linear(6, 3)).double()
        with torch.no_grad():
            for p in net.parameters():
                p.copy_(_numbers(torch, *p.shape))
        x = _numbers(torch, 4, 3)
        for way, out in enumerate(_ways(torch, net, x)):
            gs = torch.autograd.grad(((out - x.flip(0)) ** 2).mean(), list(net.parameters()), create_graph=True)
            net.zero_grad()
            sum((g ** 2).sum() for g in gs).backward()
            yield f"{type(norm).__name__} {way}", [p.grad.clone() for p in net.parameters()]


@case("second_order_of_unpacked.decompositions")
def _(torch):
    def positive(x):
        return x @ x.T + torch.eye(4, dtype=x.dtype)

    makers = [lambda x: torch.linalg.inv(positive(x)) @ x, lambda x: torch.linalg.cholesky(positive(x)) @ x, lambda x: torch.linalg.svdvals(x),
              lambda x: torch.linalg.solve(positive(x), x), lambda x: torch.linalg.eigvalsh(positive(x)), lambda x: torch.linalg.det(positive(x)),
              lambda x: torch.linalg.solve_triangular(positive(x).tril(), x, upper=False)]
    for name, f in zip(itertools.count(), makers):
        x = _numbers(torch, 4, 6).requires_grad_()
        try:
            yield str(name), list(_orders(torch, f, x))
        except RuntimeError as error:
            yield str(name), str(error)


@case("second_order_of_unpacked.what normalisations pack")
def _(torch):
    F = torch.nn.functional
    for own, other in itertools.product((torch.bfloat16, torch.float16, torch.float32), (torch.bfloat16, torch.float16, torch.float32)):
        if other not in (own, torch.float32):
            continue
        x, w = _numbers(torch, 4, 6).to(own).requires_grad_(), (_numbers(torch, 6).abs() + 0.5).to(other)
        makers = [lambda x, w=w: F.layer_norm(x, (6,), w, w), lambda x, w=w: F.group_norm(x, 2, w, w), lambda x, w=w: F.group_norm(x, 2),
                  lambda x, w=w: F.batch_norm(x, w.clone(), w.clone(), w, w, training=True), lambda x, w=w: F.batch_norm(x, w.clone(), w.clone(), w, w),
                  lambda x: F.batch_norm(x, None, None, training=True), lambda x: F.instance_norm(x[:, None]), lambda x: F.layer_norm(x, (6,))]
        for name, f in zip(itertools.count(), makers):
            seen = []
            with torch.autograd.graph.saved_tensors_hooks(lambda t, seen=seen: seen.append((t.dtype, t.shape)) or t, lambda t: t):
                f(x)
            yield f"{own} {other} {name}", seen
    x = _numbers(torch, 4, 6).requires_grad_()
    for name, f in (("layer", lambda: F.layer_norm(x, (6,))), ("batch", lambda: F.batch_norm(x, None, None, training=True)), ("group", lambda: F.group_norm(x, 3))):
        node = f().grad_fn
        yield name, node._saved_result1, node._saved_result2


@case("second_order_of_unpacked.beside_what_is_computed_again")
def _(torch):
    def packed(x, y):
        with torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t):
            return (x * y).sin() + x

    def recomputed(x, y):
        return torch.utils.checkpoint.checkpoint(lambda a, b: (a * b).sin() + a, x, y, use_reentrant=False)

    for name, f in (("packed", packed), ("recomputed", recomputed)):
        for looks in ((), ("result",), ("loss",), ("result", "loss")):
            leaf = torch.linspace(0.5, 0.9, 3, dtype=torch.double).requires_grad_()
            first = leaf * 1.0
            result = f(first.exp(), first)
            if "result" in looks:
                result.tolist()
            loss = (result**2).sum()
            if "loss" in looks:
                loss.item()
            g, = torch.autograd.grad(loss, leaf, create_graph=True)
            gg, = torch.autograd.grad(g.sin().sum(), leaf)
            yield f"{name} {looks}", g, gg
