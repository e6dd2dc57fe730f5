"""Sparse gradients of dense tensors: `Embedding(sparse=True)` and its like, how they are summed, seen by hooks, and stepped by optimizers."""

from compat_matrix.case import case, raises
from compat_matrix.probes import each

TABLE = [[0.5, -1.0, 2.0], [1.5, 0.25, -0.75], [3.0, -2.5, 1.0], [0.0, 1.25, -0.5], [2.25, 0.125, -1.5], [-0.25, 1.0, 0.75]]


def seen(g):
    """What a gradient is: its places and values as they came, or its numbers."""
    if g is None or not g.is_sparse:
        return g
    return str(g.layout), tuple(g.shape), g.is_coalesced(), g.sparse_dim(), g.dense_dim(), g._indices(), g._values(), g.requires_grad


def gradients(torch, expression):
    w = torch.nn.Parameter(torch.tensor(TABLE))
    i = torch.tensor([[0, 2], [2, 5]])
    F, scale = torch.nn.functional, torch.arange(12.0).reshape(2, 2, 3)
    names = {"torch": torch, "F": F, "w": w, "i": i, "scale": scale, "bag": lambda *args, **kw: F.embedding_bag(*args, sparse=True, **kw),
             "e": lambda i, **kw: F.embedding(i, w, sparse=True, **kw), "flat": torch.tensor([0, 2, 2, 5, 1]), "starts": torch.tensor([0, 2]),
             "ones": torch.tensor([1.0, 2.0, 3.0, 4.0, 5.0])}
    try:
        out = eval(expression, names)
        out.sum().backward()
    except Exception as error:
        yield "error", type(error).__name__, str(error)
        return
    yield "gradient", seen(w.grad), w.grad.to_dense()
    yield "text", repr(w.grad)
    yield "node", out.grad_fn.name()


each("sparse_gradients.one", gradients, {
    "embedding": "(e(i) * scale)", "one index": "e(i[0, 0])", "int32": "e(i.int()) * scale", "nothing": "e(i[:0])", "padding": "e(i, padding_idx=2) * scale",
    "padding negative": "e(i, padding_idx=-1) * scale", "frequencies": "e(i, scale_grad_by_freq=True)", "twice": "(e(i) * scale).sum() + e(i[0]).sum()",
    "with a dense one": "e(i).sum() + (w * w).sum()", "with dense rows": "e(i).sum() + F.embedding(i[0], w).sum()", "squares": "e(i) ** 2",
    "module": "torch.nn.Embedding.from_pretrained(w, freeze=False, sparse=True)(i).mul(scale).sum() + e(i[1]).sum()",
    "bag sum": "bag(flat, w, starts, mode='sum') ** 2", "bag mean": "bag(flat, w, starts) ** 2", "bag max": "bag(flat, w, starts, mode='max')",
    "bag weights": "bag(flat, w, starts, mode='sum', per_sample_weights=ones) ** 2", "bag padding": "bag(flat, w, starts, padding_idx=2) ** 2",
    "bag padding sum": "bag(flat, w, starts, mode='sum', padding_idx=2) ** 2", "bag of rows": "bag(i, w) ** 2",
    "bag last offset": "bag(flat, w, torch.tensor([0, 2, 5]), include_last_offset=True) ** 2", "bag empty": "bag(flat, w, torch.tensor([0, 0, 5])) ** 2",
    "bag frequencies": "bag(flat, w, starts, mode='sum', scale_grad_by_freq=True)", "bag of torch": "torch.embedding_bag(w, flat, starts, False, 1, True)[0] ** 2",
    "gather": "torch.gather(w, 0, torch.tensor([[0, 1, 2], [0, 0, 0]]), sparse_grad=True) ** 2", "gather 1": "w.gather(1, i, sparse_grad=True) ** 2",
    "checkpoint": "torch.utils.checkpoint.checkpoint(lambda i: e(i) ** 2, i, use_reentrant=False)",
})


@case("sparse_gradients.weights_of_bags")
def weights_of_bags(torch):
    w = torch.tensor(TABLE, requires_grad=True)
    s = torch.tensor([1.0, 2.0, 3.0, 4.0, 5.0], requires_grad=True)
    out = torch.nn.functional.embedding_bag(torch.tensor([0, 2, 2, 5, 1]), w, torch.tensor([0, 2]), mode="sum", sparse=True, per_sample_weights=s)
    out.pow(2).sum().backward()
    yield "both", seen(w.grad), s.grad


@case("sparse_gradients.summed")
def summed(torch):
    e = torch.nn.functional.embedding
    w, i = torch.nn.Parameter(torch.tensor(TABLE)), torch.tensor([[0, 2], [2, 5]])
    e(i, w, sparse=True).sum().backward()
    first = w.grad
    (e(i[0], w, sparse=True) * 3).sum().backward()
    yield "sparse and sparse", w.grad is first, seen(w.grad.coalesce())
    (w * 2).sum().backward()
    yield "sparse and dense", w.grad is first, w.grad
    dense = w.grad
    e(i, w, sparse=True).sum().backward()
    yield "dense and sparse", w.grad is dense, w.grad
    w.grad = torch.zeros(6, 3).to_sparse(1)
    (e(i[0], w, sparse=True) * 3).sum().backward()
    yield "given", seen(w.grad)
    for to_none in (False, True):
        torch.nn.ParameterList([w]).zero_grad(set_to_none=to_none)
        yield f"zero_grad {to_none}", seen(w.grad)
    out = e(i, w, sparse=True)
    out.sum().backward(retain_graph=True)
    out.sum().backward(inputs=[w])
    yield "inputs", seen(w.grad)
    w.grad.mul_(2)
    with torch.no_grad():
        w.add_(w.grad, alpha=-0.5)
        w -= 0.25 * w.grad
    yield "used", w.detach(), w.grad.norm(), (w.grad * 2).to_dense(), w.grad.clone().is_sparse


@case("sparse_gradients.hooks")
def hooks(torch):
    e, said = torch.nn.functional.embedding, []
    w, i = torch.nn.Parameter(torch.tensor(TABLE)), torch.tensor([[0, 2], [2, 5]])
    handles = [w.register_hook(lambda g: said.append(("hook", g.is_sparse, g._nnz())) or g * 2),
               w.register_post_accumulate_grad_hook(lambda p: said.append(("post", p.grad.is_sparse)))]
    (e(i, w, sparse=True).sum() + e(i[0], w, sparse=True).sum()).backward()
    yield "leaf", said, w.grad.to_dense()
    for h in handles:
        h.remove()
    w.grad, said = None, []
    out = e(i, w, sparse=True)
    out.grad_fn.register_hook(lambda ins, outs: said.append(("node", ins[0].is_sparse, tuple(outs[0].shape))))
    out.register_hook(lambda g: g * 3)
    out.sum().backward()
    yield "node", said, seen(w.grad)
    w.grad = None
    h = w.register_hook(lambda g: g.to_dense())
    yield "made dense", raises(lambda: e(i, w, sparse=True).sum().backward()), seen(w.grad)
    h.remove()
    w.grad = None
    w.register_hook(lambda g: g.to_sparse(1))
    yield "made sparse", raises(lambda: (w * torch.tensor([[1.0], [0], [2], [0], [0], [0]])).sum().backward()), seen(w.grad)


@case("sparse_gradients.asked")
def asked(torch):
    e = torch.nn.functional.embedding
    w, i = torch.tensor(TABLE, requires_grad=True), torch.tensor([[0, 2], [2, 5]])
    (g,) = torch.autograd.grad(e(i, w, sparse=True).pow(2).sum(), w)
    yield "grad", seen(g), w.grad
    (g,) = torch.autograd.grad(e(i, w, sparse=True).pow(3).sum(), w, create_graph=True)
    yield "with a graph", seen(g.detach()), g.requires_grad, g.grad_fn.name()
    (h,) = torch.autograd.grad(g.to_dense().pow(2).sum(), w)
    yield "second", seen(h)
    out = e(i, w, sparse=True)
    yield "called", seen(out.grad_fn(torch.ones(2, 2, 3)))
    with torch.autograd.detect_anomaly():
        e(i, w, sparse=True).sum().backward()
    yield "anomaly", seen(w.grad)
    with torch.autograd.graph.saved_tensors_hooks(lambda x: x.numpy(), torch.from_numpy):
        out = e(i, w, sparse=True)
    w.grad = None
    out.sum().backward()
    yield "packed", seen(w.grad), raises(lambda: out.sum().backward())


STEPPED = {"SparseAdam": {"lr": 0.1}, "SparseAdam up": {"lr": 0.1, "maximize": True, "betas": (0.5, 0.75)}, "SparseAdam lr": {"lr": 0.05, "eps": 0.5}, "SGD": {"lr": 0.1},
           "SGD momentum": {"lr": 0.1, "momentum": 0.9}, "SGD nesterov": {"lr": 0.1, "momentum": 0.9, "nesterov": True}, "SGD decay": {"lr": 0.1, "weight_decay": 0.5},
           "Adagrad": {"lr": 0.1}, "Adagrad decay": {"lr": 0.1, "lr_decay": 0.5}, "Adagrad weight decay": {"lr": 0.1, "weight_decay": 0.5}, "LBFGS": {"lr": 0.1}}


@case("sparse_gradients.optimizers")
def optimizers(torch):
    for name, options in STEPPED.items():
        table = torch.nn.Embedding.from_pretrained(torch.tensor(TABLE), freeze=False, sparse=True)
        optimizer = getattr(torch.optim, name.split()[0])(table.parameters(), **options)

        def closure():
            optimizer.zero_grad()
            loss = (table(rows) ** 2).sum()
            loss.backward()
            return loss

        try:
            for rows in torch.tensor([[0, 2, 2], [1, 2, 0], [5, 5, 5], [0, 0, 1]]):
                optimizer.step(closure)
        except RuntimeError as error:
            yield name, str(error)
            continue
        yield name, table.weight.detach()
        if name.startswith(("SparseAdam", "Adagrad")):
            yield f"{name}: states", list(optimizer.state[table.weight].items())
    for name in ("Adam", "AdamW", "RMSprop", "Adamax", "ASGD", "Rprop", "NAdam", "RAdam", "Adadelta", "Adafactor"):
        table = torch.nn.Embedding(6, 3, sparse=True)
        table(torch.tensor([0, 2])).sum().backward()
        yield name, raises(getattr(torch.optim, name)(table.parameters(), lr=0.1).step)
    p = torch.nn.Parameter(torch.zeros(2))
    p.grad = torch.ones(2)
    yield "dense", raises(torch.optim.SparseAdam([p]).step)


@case("sparse_gradients.words")
def words(torch):
    torch.manual_seed(0)
    rows, wide, n = 50, 8, 16
    centre, around = torch.nn.Embedding(rows, wide, sparse=True), torch.nn.Embedding(rows, wide, sparse=True)
    optimizer = torch.optim.SparseAdam([*centre.parameters(), *around.parameters()], lr=0.05)
    losses = []
    for _ in range(6):
        c, p, others = torch.randint(0, rows, (n,)), torch.randint(0, rows, (n,)), torch.randint(0, rows, (n, 4))
        optimizer.zero_grad()
        e = centre(c)
        near, far = (e * around(p)).sum(1), torch.bmm(around(others), e.unsqueeze(2)).squeeze(2)
        loss = -(torch.nn.functional.logsigmoid(near) + torch.nn.functional.logsigmoid(-far).sum(1)).mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    yield "losses", losses
    yield "weights", centre.weight.detach().sum(1), around.weight.detach().sum(1)
