"""Sparse tensors: how they are made and shown, what is computed with them, and gradients through them (with respect to their values, and of leaves)."""

from compat_matrix.case import attempt, case, raises
from compat_matrix.probes import each

PLACES = [[0, 1, 1], [2, 0, 2]]
TWICE = [[1, 0, 1, 1], [2, 1, 0, 2]]


def matrix(torch, places=PLACES, **options):
    values = torch.arange(1.0, len(places[0]) + 1, dtype=torch.float64) / 2
    return torch.sparse_coo_tensor(torch.tensor(places), values, (2, 3), **options)


def seen(x):
    """What a sparse tensor is, and its numbers."""
    whole = x.detach().coalesce() if x.layout is not None and x.is_sparse else x.detach()
    return str(x.layout), tuple(x.shape), str(x.dtype), x.dim(), x.requires_grad, [whole.indices(), whole.values()] if x.is_sparse else whole


def made(torch, expression):
    names = {"torch": torch, "C": torch.sparse_coo_tensor, "i": torch.tensor(PLACES), "v": torch.tensor([3.0, 4.0, 5.0]), "s": matrix(torch),
             "twice": matrix(torch, TWICE)}
    try:
        out = eval(expression, names)
    except Exception as error:
        yield "error", type(error).__name__, str(error).partition(" This could be")[0].partition("'SparseCPU' backend")[0]
        return
    if isinstance(out, torch.Tensor) and out.is_sparse:
        yield "sparse", seen(out), (out.is_coalesced(), out.sparse_dim(), out.dense_dim(), out.numel())
        yield "dense", out.to_dense()
        yield "text", repr(out.detach())
    else:
        yield "plain", repr(out)


each("sparse.made", made, {
    "lists": "C([[0, 1], [1, 0]], [1, 2])", "lists with size": "C([[0, 1], [1, 0]], [1.0, 2.0], (3, 3))", "no size": "C(i, v)", "of a size": "C((2, 3))",
    "dtype": "C(i, v, (2, 3), dtype=torch.float64)", "requires grad": "C(i, v, (2, 3), requires_grad=True).requires_grad", "twice": "twice",
    "coalesce": "twice.coalesce()", "hybrid": "C(torch.tensor([[0, 2]]), torch.ones(2, 3), (3, 3))", "empty": "C(torch.zeros(2, 0).long(), torch.zeros(0), (2, 3))",
    "complex": "C(i, v * 1j, (2, 3))", "bool": "C(i, v > 3, (2, 3))", "counts differ": "C(i, v[:2], (2, 3))", "dims differ": "C(i, v, (2, 3, 4))",
    "outside, checked": "C(i, v, (2, 2), check_invariants=True)", "below, checked": "C(-i, v, (2, 3), check_invariants=True)",
    "to_sparse": "torch.tensor([[0.0, 1.0], [2.0, 0.0]]).to_sparse()", "to_sparse(1)": "torch.tensor([[0.0, 1.0], [0.0, 0.0]]).to_sparse(1)",
    "to_sparse(3)": "torch.eye(2).to_sparse(3)", "FloatTensor": "torch.sparse.FloatTensor(i, v, torch.Size([2, 3]))",
    "DoubleTensor of a size": "torch.sparse.DoubleTensor(2, 3)", "instances": "isinstance(s, torch.sparse.DoubleTensor), isinstance(s, torch.sparse.FloatTensor), "
    "isinstance(s, torch.DoubleTensor), isinstance(s, torch.Tensor), s.type()", "flags": "s.is_sparse, torch.eye(2).is_sparse, s.layout, s.is_leaf, len(s)",
    "indices before coalesce": "s.indices()", "values before coalesce": "s.values()", "dense has none": "torch.eye(2).coalesce()",
    "spdiags": "torch.sparse.spdiags(torch.arange(6.0).reshape(2, 3), torch.tensor([0, -1]), (3, 3))", "csr": "s.to_sparse_csr().to_dense()",
    "csr parts": "(lambda c: (c.crow_indices(), c.col_indices(), c.values(), c.layout, c.is_sparse))(twice.coalesce().to_sparse_csr())",
    "sparse_csr_tensor": "torch.sparse_csr_tensor(torch.tensor([0, 1, 3]), torch.tensor([2, 0, 2]), v, (2, 3))", "numpy": "s.numpy()", "bool of": "bool(s)",
    "reshape": "s.reshape(3, 2)", "item": "s.item()", "iterated": "[x.to_dense() for x in s]"})


COMPUTED = {
    "times": "s * 2", "times from the left": "3 * s", "over": "s / 4", "negative": "-s", "root": "s.sqrt()", "sine": "torch.sin(s)", "relu": "F.relu(s)",
    "power": "s ** 2", "tanh of twice": "twice.tanh()", "exp": "s.exp()", "sum of two": "s + s", "sum with twice": "s + twice", "difference": "twice - s",
    "dense plus": "torch.ones(2, 3, dtype=torch.float64) + s", "plus dense": "s + torch.ones(2, 3, dtype=torch.float64)", "plus number": "s + 1",
    "times sparse": "(s * twice).to_dense()", "times coalesced": "s.coalesce() * twice.coalesce()", "times dense": "s * torch.arange(6.0, dtype=torch.float64).reshape(2, 3)", "dense times": "torch.full((3,), 2.0, dtype=torch.float64) * s",
    "over dense": "s / torch.ones(2, 3)", "other sizes": "s + torch.eye(2, dtype=torch.float64).to_sparse()", "t": "twice.t()", "T": "s.T", "transpose": "s.transpose(0, 1)",
    "unsqueeze": "s.unsqueeze(0)", "cat": "torch.cat([s, twice])", "cat 1": "torch.cat([s, twice], 1)", "stack": "torch.stack([s, twice])",
    "cat with dense": "torch.cat([s, torch.ones(2, 3)])", "index_select": "twice.index_select(1, torch.tensor([2, 2, 0]))", "select": "twice[1]", "element": "twice[1, 2]",
    "slice": "s[:1]", "narrow_copy": "s.narrow_copy(1, 1, 2)", "unbind": "s.unbind(0)[1]", "sum": "s.sum()", "sparse.sum": "torch.sparse.sum(twice)",
    "sparse.sum 0": "torch.sparse.sum(twice, 0)", "sparse.sum 1": "torch.sparse.sum(twice, dim=1)", "sum keepdim": "s.sum(0, keepdim=True)",
    "softmax": "torch.sparse.softmax(twice, 1)", "log_softmax": "torch.sparse.log_softmax(s, 0)", "norm": "twice.norm()", "mm": "torch.mm(s, d)",
    "matmul": "s @ d", "sparse.mm": "torch.sparse.mm(twice, d)", "mv": "torch.mv(s, d[:, 0])", "sparse mm sparse": "torch.sparse.mm(s, twice.t())",
    "dense mm sparse": "d.t() @ twice.t()", "addmm": "torch.sparse.addmm(torch.ones(2, 2, dtype=torch.float64), s, d, beta=2, alpha=3)", "spmm": "torch.spmm(s, d)",
    "bmm": "torch.bmm(torch.stack([s, twice]), torch.stack([d, d]))", "linear": "F.linear(s, d.t())", "mm of other sizes": "torch.mm(s, d[:2])",
    "mm of other dtype": "torch.sparse.mm(s, d.float())", "sparse_mask": "torch.arange(6.0, dtype=torch.float64).reshape(2, 3).sparse_mask(s.coalesce())",
    "to float": "s.float()", "clone": "twice.clone()", "zeros_like": "torch.zeros_like(s)", "add_": "s.clone().add_(twice)", "mul_": "s.clone().mul_(3)",
    "dense add_": "torch.ones(2, 3, dtype=torch.float64).add_(s, alpha=2)", "zero_": "s.clone().zero_()", "copy_": "torch.zeros_like(s).copy_(twice)",
    "values written": "(s._values().mul_(2), s)[1]", "csr mm": "s.coalesce().to_sparse_csr() @ d", "csr times": "(s.to_sparse_csr() * 2).to_dense()"}


def computed(torch, expression):
    names = {"torch": torch, "F": torch.nn.functional, "s": matrix(torch), "twice": matrix(torch, TWICE),
             "d": torch.arange(6.0, dtype=torch.float64).reshape(3, 2) + 1}
    try:
        out = eval(expression, names)
    except Exception as error:
        yield "error", type(error).__name__, str(error).partition("'aten::")[0]
        return
    yield "out", out.is_sparse, seen(out) if out.is_sparse else out


each("sparse.computed", computed, COMPUTED)


def backward(torch, expression):
    values = torch.tensor([0.5, 1.5, 2.5, 1.0], dtype=torch.float64, requires_grad=True)
    d = (torch.arange(6.0, dtype=torch.float64).reshape(3, 2) / 3).requires_grad_()
    s = torch.sparse_coo_tensor(torch.tensor(TWICE), values, (2, 3))
    out = eval(expression, {"torch": torch, "s": s, "d": d})
    yield "out", out.detach()
    yield "first", torch.autograd.grad((out * out).sum(), (values, d), allow_unused=True)


each("sparse.gradients", backward, {
    "mm": "torch.mm(s, d)", "sparse.mm": "torch.sparse.mm(s, d)", "mv": "torch.mv(s, d[:, 0])", "dense": "s.to_dense()", "scaled": "(s * 3).to_dense()",
    "negative of coalesced": "(-s.coalesce()).to_dense()", "sum": "torch.sparse.sum(s)", "sum 0": "torch.sparse.sum(s, 0).to_dense()", "values": "s.coalesce().values()",
    "t": "torch.sparse.mm(s.t(), d[:2])", "addmm": "torch.sparse.addmm(torch.ones(2, 2, dtype=torch.float64), s, d, beta=0.5, alpha=2)",
    "softmax": "torch.sparse.softmax(s, 1).to_dense()", "added": "torch.ones(2, 3, dtype=torch.float64) + s", "times dense": "(s * d.detach().t()).to_dense()",
    "two": "(s + s).to_dense()", "dense mm": "d.t() @ s.t()"})


@case("sparse.leaves")
def leaves(torch):
    s = matrix(torch).coalesce().requires_grad_()
    d = torch.arange(6.0, dtype=torch.float64).reshape(3, 2).requires_grad_()
    told = []
    s.register_hook(lambda g: told.append((g.is_sparse, tuple(g.shape))))
    torch.sparse.mm(s, d).sum().backward()
    yield "gradient", seen(s.grad), d.grad, told
    torch.sparse.sum(s * 3).backward()
    yield "accumulated", seen(s.grad)
    yield "asked", [seen(g) if g.is_sparse else g for g in torch.autograd.grad(torch.sparse.mm(s, d).sum(), (s, d))]
    yield "leaf", s.is_leaf, s.grad_fn is None, repr(s)
    s.grad = None
    yield "let go", s.grad is None


@case("sparse.leaf_with_one_place_twice")
def leaf_with_one_place_twice(torch):
    s = torch.sparse_coo_tensor(torch.tensor([[0, 0], [1, 1]]), torch.ones(2), (2, 3)).requires_grad_()
    torch.sparse.mm(s, torch.ones(3, 2)).sum().backward()
    yield "gradient", seen(s.grad), s.grad.to_dense()


@case("sparse.stepped")
def stepped(torch):
    for options in ({}, {"momentum": 0.9}):
        p = torch.nn.Parameter(matrix(torch).coalesce())
        optimizer = torch.optim.SGD([p], lr=0.1, **options)
        for _ in range(3):
            optimizer.zero_grad()
            torch.sparse.mm(p, torch.ones(3, 2, dtype=torch.float64)).pow(2).sum().backward()
            optimizer.step()
        yield f"sgd {len(options)}", p.detach().to_dense()
    for name in ("Adam", "AdamW", "RMSprop", "NAdam", "Adamax", "Rprop", "ASGD", "Adadelta", "RAdam"):
        p = torch.nn.Parameter(matrix(torch).coalesce())
        torch.sparse.mm(p, torch.ones(3, 2, dtype=torch.float64)).sum().backward()
        yield name, raises(getattr(torch.optim, name)([p], lr=0.1).step)
    yield "SparseAdam", raises(lambda: torch.optim.SparseAdam([p]))


@case("sparse.used")
def used(torch):
    s, d = matrix(torch).coalesce(), torch.arange(6.0, dtype=torch.float64).reshape(3, 2)

    class Product(torch.autograd.Function):
        @staticmethod
        def forward(ctx, s, d):
            ctx.save_for_backward(s)
            return torch.sparse.mm(s, d)

        @staticmethod
        def backward(ctx, g):
            return None, torch.sparse.mm(ctx.saved_tensors[0].t(), g)

    x = d.clone().requires_grad_()
    Product.apply(s, x).pow(2).sum().backward()
    yield "Function", x.grad
    yield "func.grad", torch.func.grad(lambda d: torch.sparse.mm(s, d).pow(2).sum())(d)
    yield "jacobian", torch.autograd.functional.jacobian(lambda v: torch.mv(s, v), d[:, 0])
    x = d.clone().requires_grad_()
    torch.utils.checkpoint.checkpoint(lambda d: torch.sparse.mm(s, d).pow(2), x, use_reentrant=False).sum().backward()
    yield "checkpoint", x.grad
    yield "layouts", [seen(f(2, 3, layout=torch.sparse_coo)) for f in (torch.zeros, torch.empty)], raises(lambda: torch.ones(2, layout=torch.sparse_coo))
    yield "text", f"{s}" == str(s)


@case("sparse.kept")
def kept(torch):
    import copy
    import io

    s = matrix(torch, TWICE)
    file = io.BytesIO()
    torch.save({"s": s, "c": s.coalesce()}, file)
    file.seek(0)
    back = torch.load(file)
    yield "file", seen(back["s"]), back["s"].is_coalesced(), back["c"].is_coalesced()
    yield "copy", seen(copy.deepcopy(s)), seen(copy.copy(s))
    module = torch.nn.Module()
    module.register_buffer("a", s)
    yield "module", seen(module.float().a), list(module.state_dict())


@case("sparse.graph_network")
def graph_network(torch):
    torch.manual_seed(0)
    n, F = 12, torch.nn.functional
    places = torch.cat([torch.randint(0, n, (2, 30)), torch.arange(n).repeat(2, 1)], 1)
    a = torch.sparse_coo_tensor(places, torch.ones(places.shape[1]), (n, n)).coalesce()
    degree = torch.sparse.sum(a, 1).to_dense()
    i, j = a.indices()
    a = torch.sparse.FloatTensor(a.indices(), a.values() / (degree[i] * degree[j]).sqrt(), torch.Size([n, n]))
    first, second = torch.nn.Linear(5, 8), torch.nn.Linear(8, 3)
    x, y = torch.randn(n, 5), torch.randint(0, 3, (n,))
    optimizer = torch.optim.Adam([*first.parameters(), *second.parameters()], lr=0.05)
    losses = []
    for _ in range(5):
        optimizer.zero_grad()
        loss = F.cross_entropy(torch.spmm(a, second(F.relu(torch.spmm(a, first(x))))), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    yield "losses", losses
    yield "weights", second.weight.detach()


@case("sparse.turned matrices")
def _(torch):
    places = [[0, 1], [1, 0]]
    given = {"matrix": torch.sparse_coo_tensor(places, [1.0, 2.0], (2, 3)), "vector": torch.sparse_coo_tensor([[0, 1]], [1.0, 2.0], (3,)),
             "complex": torch.sparse_coo_tensor(places, [1j, 2 + 1j], (2, 3)),
             "batch": torch.sparse_coo_tensor([*places, [0, 1]], [1.0, 2.0], (2, 3, 4)).requires_grad_()}
    for kind, s in given.items():
        for name in ("T", "mT", "H", "mH", "adjoint"):
            def turn(s=s, name=name):
                out = getattr(s, name)
                out = out() if callable(out) else out
                return out.to_dense(), str(out.layout), out.is_coalesced(), out.grad_fn and out.grad_fn.name()
            yield f"{kind} {name}", attempt(turn)
    (g,) = torch.autograd.grad((given["batch"].mT.to_dense() * torch.arange(24.0).reshape(2, 4, 3)).sum(), given["batch"])
    yield "gradient", g.to_dense()


@case("sparse.dtypes of rows and columns")
def _(torch):
    for kind in (torch.int32, torch.int64):
        starts, columns = torch.tensor([0, 2, 3], dtype=kind), torch.tensor([0, 1, 1], dtype=kind)
        s = torch.sparse_csr_tensor(starts, columns, torch.tensor([1.0, 2.0, 3.0], requires_grad=True), (2, 2))
        d = s.detach()
        yield f"{kind} own", s.crow_indices(), s.col_indices(), s.requires_grad
        made = {"neg": -s, "scaled": s * 2, "sin": s.sin(), "clone": s.clone(), "detached": d, "double": s.to(torch.float64), "sum": d + d, "again": s.to_sparse_csr(),
                "zeros": torch.zeros_like(d), "product": d * d, "matrices": d @ d, "there and back": s.to_sparse_coo().to_sparse_csr(),
                "dense": d.to_dense().to_sparse_csr(), "masked": torch.eye(2).sparse_mask(d)}
        for name, x in made.items():
            yield f"{kind} {name}", str(x.layout), x.crow_indices(), x.col_indices(), x.values().detach()
        yield f"{kind} COO", s.to_sparse_coo().indices()
    yield "lists", torch.sparse_csr_tensor([0, 1], [0], [1.0], (1, 1)).crow_indices()
    yield "rows alone", torch.sparse_csr_tensor(torch.tensor([0, 1], dtype=torch.int32), [0], [1.0], (1, 1)).crow_indices()


@case("sparse.picked")
def _(torch):
    rows = torch.sparse_csr_tensor([0, 2, 3], [0, 1, 1], torch.tensor([1.0, 2.0, 3.0]), (2, 2))
    one = torch.tensor(1)
    index = {"ints": (0, 1), "int": -1, "0-dim tensors": (one, one), "0-dim tensor": one, "all, int": (slice(None), 0), "dots": (..., 0), "dots of none": (0, ..., 1),
             "new": (None, 0), "new last": (0, None), "whole": (slice(0, 2), 1), "step": (slice(None, None, 1), one), "too many": (0, 0, 0), "beyond": 2, "beyond it": (0, 5),
             "beyond, new": (None, 0, 5), "beyond, tensor": torch.tensor(5)}
    for kind, s in {"COO": rows.to_sparse_coo(), "CSR": rows}.items():
        for name, i in index.items():
            def pick(s=s, i=i):
                x = s[i]
                return str(x.layout), x.to_dense()
            yield f"{kind} {name}", attempt(pick)
        for name, i in {"part": slice(0, 1), "negative": (slice(-2, None), 0), "everything": slice(None)}.items():
            yield f"{kind} {name}", attempt(lambda s=s, i=i: s[i])["error"]["class"]
    yield "CSR new alone", attempt(lambda: rows[None])


@case("sparse.to_sparse_coo")
def _(torch):
    d = torch.tensor([[0.0, 1.5], [2.0, 0.0]])
    s = d.to_sparse_coo()
    yield "indices", s.indices(), s.values(), s.layout == torch.sparse_coo, torch.Tensor.to_sparse_coo(d).to_dense()
    out = torch.empty(2, 2)
    yield "products", torch.spmm(s, d), torch.dsmm(s, d), torch.spmm(s, d, out=out) is out, out
