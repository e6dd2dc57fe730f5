"""Writing to a factor before the backward pass of its product: which products keep it, and for whose gradient."""

from compat_matrix.case import attempt, case

PRODUCTS = {
    "inner": ("torch.inner(a, b)", (2, 3), (4, 3)), "inner of vectors": ("torch.inner(a, b)", (3,), (3,)), "tensordot": ("torch.tensordot(a, b, 1)", (2, 3), (3, 4)),
    "tensordot 2": ("torch.tensordot(a, b, 2)", (2, 3), (2, 3)), "kron": ("torch.kron(a, b)", (2, 2), (2, 2)),
    "vecdot": ("torch.linalg.vecdot(a, b)", (2, 3), (2, 3)), "pairwise_distance": ("F.pairwise_distance(a, b)", (2, 3), (2, 3)),
    "bilinear": ("F.bilinear(a, b, c)", (2, 3), (2, 4), (5, 3, 4)), "bilinear, bias": ("F.bilinear(a, b, c, d)", (2, 3), (2, 4), (5, 3, 4), (5,)),
    "cosine_embedding": ("F.cosine_embedding_loss(a, b, torch.tensor([1.0, -1.0]))", (2, 3), (2, 3)),
    "einsum": ("torch.einsum('ij,jk->ik', a, b)", (2, 3), (3, 2)), "einsum, three": ("torch.einsum('ij,jk,kl->il', a, b, c)", (2, 3), (3, 2), (2, 2)),
    "einsum, outer": ("torch.einsum('i,j->ij', a, b)", (2,), (3,)), "einsum, outer three": ("torch.einsum('i,j,k->ijk', a, b, c)", (2,), (3,), (2,)),
    "einsum, one": ("torch.einsum('ii->i', a)", (2, 2)), "einsum, elements": ("torch.einsum('ij,ij->ij', a, b)", (2, 2), (2, 2)),
    "chain": ("torch.linalg.multi_dot((a, b, c))", (2, 2), (2, 2), (2, 2)), "linear": ("F.linear(a, b, c)", (2, 3), (4, 3), (4,)),
    "linear, stack": ("F.linear(a, b, c)", (2, 2, 3), (4, 3), (4,)), "linear, vector": ("F.linear(a, b, c)", (3,), (4, 3), (4,)),
    "linear, no bias": ("F.linear(a, b)", (2, 2, 3), (4, 3)), "matmul": ("a @ b", (2, 2, 3), (2, 3, 4)), "matmul, stack": ("a @ b", (2, 2, 3), (3, 4)),
    "matmul, broadcast": ("a @ b", (2, 1, 2, 3), (2, 3, 4)), "matmul, vector": ("a @ b", (2, 2, 3), (3,)), "cosine": ("F.cosine_similarity(a, b)", (2, 3), (2, 3)),
}


def _outcome(torch, source, shapes, need, k):
    """None, or how far the backward pass got after a write to the k-th factor."""
    torch.manual_seed(0)
    xs = [torch.rand(s, requires_grad=bool(q)).clone() for s, q in zip(shapes, need)]
    r = eval(source, {"torch": torch, "F": torch.nn.functional, **dict(zip("abcd", xs))})
    with torch.no_grad():
        xs[k].mul_(2)
    try:
        r.sum().backward()
    except RuntimeError as e:
        return str(e)[:75]


for _name, (_source, *_shapes) in PRODUCTS.items():
    @case(f"kept_by_products.{_name}")
    def _(torch, source=_source, shapes=_shapes):
        n = len(shapes)
        for need in {(1,) * n, *(tuple(int(i == j) for j in range(n)) for i in range(n))}:
            for k in range(n):
                yield f"{need} {k}", _outcome(torch, source, shapes, need, k)


@case("kept_by_products.twice")
def _(torch):
    for name, (source, *shapes) in PRODUCTS.items():
        if name in ("kron", "einsum, one"):
            continue
        xs = [torch.rand(s, requires_grad=True) for s in shapes]
        r = eval(source, {"torch": torch, "F": torch.nn.functional, **dict(zip("abcd", xs))}).sum()
        r.backward()
        yield name, attempt(r.backward)


@case("kept_by_products.a step between two passes")
def _(torch):
    for name, make, shape in (("linear", lambda: torch.nn.Linear(3, 3), (2, 3)), ("linear, stack", lambda: torch.nn.Linear(3, 3), (2, 2, 3)),
                              ("two", lambda: torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 3)), (2, 3)),
                              ("encoder", lambda: torch.nn.TransformerEncoderLayer(4, 2, 8, dropout=0.0), (3, 1, 4))):
        torch.manual_seed(0)
        m = make()
        o = torch.optim.SGD(m.parameters(), 0.1)
        y = m(torch.randn(shape, requires_grad=True)).square().sum()
        y.backward(retain_graph=True)
        o.step()
        try:
            y.backward()
            yield name, "no error"
        except RuntimeError as e:
            yield name, str(e)[:75]


@case("kept_by_products.recurrent")
def _(torch):
    for cls in ("RNN", "LSTM", "GRU"):
        for what in ("weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0", "x"):
            torch.manual_seed(0)
            m = getattr(torch.nn, cls)(3, 2)
            x = torch.randn(4, 1, 3, requires_grad=True).clone()
            y = m(x)[0].sum()
            with torch.no_grad():
                (x if what == "x" else getattr(m, what)).mul_(2)
            try:
                y.backward()
                yield f"{cls} {what}", "no error"
            except RuntimeError as e:
                yield f"{cls} {what}", str(e)[:75]


@case("kept_by_products.words")
def _(torch):
    w = torch.ones(4, 3, requires_grad=True)
    x = torch.ones(2, 3, requires_grad=True)
    y = torch.nn.functional.linear(x, w, torch.ones(4))
    with torch.no_grad():
        w.mul_(2)
    yield "leaf", attempt(y.sum().backward)
    w2 = w * 1
    y = torch.nn.functional.linear(x, w2, torch.ones(4))
    w2.mul_(2)
    yield "computed", attempt(y.sum().backward)
    y = torch.nn.functional.linear(x, w.detach(), torch.ones(4))
    y.sum().backward()
    yield "fine", x.grad


@case("kept_by_products.allowed")
def _(torch):
    """What is written to, and is not what was kept."""
    F = torch.nn.functional
    w, x = torch.ones(4, 3, requires_grad=True), torch.ones(2, 2, 3, requires_grad=True)
    h = x * 1
    y = F.linear(h, w, torch.zeros(4, requires_grad=True))
    h.detach_()
    y.sum().backward()
    yield "detached", x.grad, w.grad
    t = x * 2
    t.transpose_(0, 1)
    t.t_() if t.ndim == 2 else t.squeeze_()
    F.linear(t, w).sum().backward()
    yield "rearranged before", x.grad
    v = (x * 3).view(4, 3)
    v.mul_(2)
    F.linear(v, w, None).sum().backward()
    yield "written before", x.grad
    b = torch.zeros(4, requires_grad=True)
    y = F.linear(x, w, b)
    with torch.no_grad():
        b.add_(1)
    w.data = w.data * 2
    y.sum().backward()
    yield "bias, and other data", b.grad, x.grad
