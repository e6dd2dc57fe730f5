"""Sparse tensors that a program itself gives as gradients: of roots, and out of a Function's backward."""

from compat_matrix.probes import each

PLACES, VALUES = [[1, 0, 1]], [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [0.5, 0.25, 0.125]]


def seen(g):
    return (str(g.layout), g._indices(), g._values(), g.requires_grad) if g.is_sparse else g


def handed(torch, expression):
    def sparse(dtype=torch.float32):
        return torch.sparse_coo_tensor(torch.tensor(PLACES), torch.tensor(VALUES, dtype=dtype), (3, 3))

    def some(n, *rest):
        return torch.sparse_coo_tensor([[0, n - 1]], torch.ones(2, *rest), (n, *rest))

    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, g):
            ctx.g = g
            return x * 1

        @staticmethod
        def backward(ctx, g):
            return ctx.g, None

    def rows(x):
        return F.apply(x, sparse())

    w = torch.arange(9.0).reshape(3, 3).requires_grad_()
    names = {"torch": torch, "w": w, "rows": rows, "f": F.apply, "sparse": sparse, "some": some, "ones": torch.ones(3, 3), "b": torch.autograd.backward}
    try:
        exec(expression, names)
    except Exception as error:
        yield "error", type(error).__name__, str(error)
        return
    g = names.get("g", w.grad)
    yield "dense", g.to_dense()
    if "layout" in names:
        yield "gradient", seen(g)


each("sparse_handed_in", handed, {
    "root": "w.backward(sparse()); layout = 1", "root of float64": "w.backward(sparse(torch.float64)); layout = 1",
    "root twice": "w.backward(sparse()); w.backward(sparse())", "root, then dense": "w.backward(sparse()); w.backward(ones); layout = 1",
    "dense, then root": "w.backward(ones); w.backward(sparse()); layout = 1", "root with a graph": "w.backward(sparse(), create_graph=True); layout = 1",
    "root to grad": "g, = torch.autograd.grad(w, w, sparse()); layout = 1", "roots": "b([w, w * 2], [sparse(), ones]); layout = 1",
    "no leaf": "(w * 2).backward(sparse())", "no leaf to grad": "g, = torch.autograd.grad(w * 2, w, sparse())",
    "no leaf that retains": "y = w * 1; y.retain_grad(); y.backward(sparse()); g = y.grad", "another size": "w[:2].backward(sparse())",
    "of rows": "w.backward(ones.to_sparse_csr())", "of rows, no leaf": "b([w.sum(), w * 2], [None, ones.to_sparse_csr()])",
    "function": "rows(w).sum().backward(); layout = 1", "function with dense": "(rows(w) + w * 2).sum().backward(); layout = 1",
    "function twice": "(rows(w) + rows(w)).sum().backward()", "function above": "rows(w * 3).sum().backward()",
    "function to grad": "g, = torch.autograd.grad(rows(w).sum(), w); layout = 1", "function, size": "rows(w[:, :2]).sum().backward()",
    "function, as many values": "v = torch.ones(2, requires_grad=True); f(v, some(5)).backward(torch.ones(2))",
    "function, as many values, no leaf": "v = torch.ones(2, requires_grad=True); f(v * 2, some(5)).backward(torch.ones(2))",
    "function, fewer places": "v = torch.ones(3, requires_grad=True); f(v, some(2)).sum().backward()",
    "function, more dims": "v = torch.ones(3, requires_grad=True); f(v, some(4, 3)).sum().backward(); g = v.grad; layout = 1",
    "function, more dims, no leaf": "v = torch.ones(3, requires_grad=True); f(v * 2, some(4, 3)).sum().backward(); g = v.grad; layout = 1",
    "root, an edge": "b(torch.autograd.graph.get_gradient_edge(w), sparse()); layout = 1",
    "root, an edge, no leaf": "b(torch.autograd.graph.get_gradient_edge(w * 2), sparse())",
    "root, an edge of float64": "b(torch.autograd.graph.get_gradient_edge(w), sparse(torch.float64)); layout = 1",
    "root, an edge of another size": "b(torch.autograd.graph.get_gradient_edge(w[:2] * 2), sparse())",
    "root, as many values": "w.view(9)[:2].backward(some(5))",
})


def without_dims(torch, expression):
    names = {"torch": torch, "x": torch.tensor(3.0, requires_grad=True),
             "s": torch.sparse_coo_tensor(torch.zeros(0, 2, dtype=torch.int64), torch.tensor([1.0, 2.0]), ())}
    try:
        out = eval(expression, names)
    except Exception as error:
        yield "error", type(error).__name__, str(error)
        return
    yield "result", seen(out), out.to_dense()
    if out.requires_grad:
        out.to_dense().sum().backward()
        yield "gradient", seen(names["x"].grad), names["x"].grad.to_dense()


each("sparse_handed_in.without_dims", without_dims, {
    "itself": "s", "coalesced": "s.coalesce()", "twice": "s * 2", "of a number": "x.to_sparse()", "of zero": "(x * 0).to_sparse()",
    "rows": "torch.sparse_coo_tensor(torch.zeros(0, 2, dtype=torch.int64), torch.ones(2, 3), (3,))",
    "gathered": "torch.gather(x, 0, torch.zeros(2, dtype=torch.int64), sparse_grad=True)",
    "gathered once": "torch.gather(x, 0, torch.tensor(0), sparse_grad=True)", "no dim asked for": "torch.ones(3).to_sparse(0)",
})


def compared(torch, expression):
    names = {"torch": torch, "close": torch.testing.assert_close, "s": torch.sparse_coo_tensor([[0, 1]], [1.0, 2.0], (3,)),
             "c": torch.tensor([[1.0, 0.0], [0.0, 2.0]]).to_sparse_csr()}
    try:
        eval(expression, names)
    except Exception as error:
        yield "error", type(error).__name__, str(error)
        return
    yield "equal",


each("sparse_handed_in.compared", compared, {
    "dense": "close(s, s.to_dense())", "dense, layouts apart": "close(s, s.to_dense(), check_layout=False)", "twice": "close(s, s * 2)",
    "other places": "close(s.coalesce(), torch.sparse_coo_tensor([[0, 2]], [1.0, 2.0], (3,)).coalesce())",
    "another number of places": "close(s.coalesce(), torch.sparse_coo_tensor([[0, 1, 2]], [1.0, 2.0, 3.0], (3,)).coalesce())",
    "dims that are not sparse": "close(c.to_dense().to_sparse(), c.to_dense().to_sparse(1))",
    "in another order": "close(s, torch.sparse_coo_tensor([[1, 0]], [2.0, 1.0], (3,)).coalesce())", "size": "close(s, torch.zeros(4).to_sparse())",
    "rows": "close(c, c)", "rows twice": "close(c, c * 2)", "rows at other places": "close(c, torch.tensor([[0.0, 1.0], [2.0, 0.0]]).to_sparse_csr())",
    "rows and dense": "close(c, c.to_dense(), check_layout=False)", "rows and places": "close(c, c.to_sparse())",
})


def sparse_roots(torch, expression):
    """Gradients given for a sparse tensor itself, made of values v, at other places than its own."""
    def over(at=((0, 1, 2), (2, 0, 1)), values=(1.0, 2.0, 3.0), size=(3, 3)):
        v = torch.tensor(values, requires_grad=True)
        return v, torch.sparse_coo_tensor(torch.tensor(at), v, size)

    given = torch.sparse_coo_tensor([[0, 1, 2], [0, 0, 2]], [10.0, 20.0, 30.0], (3, 3))
    names = {"torch": torch, "over": over, "g": given, "ones": torch.ones(3, 3), "x": torch.eye(3).requires_grad_(), "grad": torch.autograd.grad}
    names["v"], names["s"] = over()
    try:
        exec(expression, names)
    except Exception as error:
        yield "error", type(error).__name__, str(error)
        return
    yield "gradient", names["out"] if "out" in names else names["v"].grad


each("sparse_handed_in.for_sparse", sparse_roots, {
    "itself": "s.backward(g)", "twice": "(s * 2).backward(g)", "dense": "(s * 2).backward(ones)", "everywhere": "(s * 2).backward(ones.to_sparse())",
    "at its places": "(s * s).backward(s.detach())", "rows": "s.to_sparse_csr().backward(ones.to_sparse_csr())",
    "to grad": "out, = grad(s * 2, v, g)", "roots": "torch.autograd.backward([s * 2, v.sum()], [g, None])",
    "a place twice": "v, s = over(((0, 0, 1), (0, 0, 2))); s.backward(g)", "a place twice, merged": "v, s = over(((0, 0, 1), (0, 0, 2))); s.coalesce().backward(g)",
    "dense dims": "v, s = over(((0, 2),), ((1.0, 2.0), (3.0, 4.0)), (3, 2)); s.backward(torch.arange(6.0).reshape(3, 2))",
    "float64": "s.backward(g.double())", "inputs": "(s * 2).backward(g, inputs=[v])", "of a dense tensor": "x.to_sparse().backward(torch.eye(3) * 5); out = x.grad",
    "as dense": "s.to_dense(masked_grad=False).backward(ones * 2)", "as dense, all there": "(x + 1).to_sparse().to_dense(masked_grad=False).sum().backward(); out = x.grad",
    "another size": "s.backward(torch.ones(2, 2))", "another size, sparse": "s.backward(torch.ones(2, 2).to_sparse())", "none": "s.backward()",
    "complex": "s.backward(g.to(torch.complex64))", "graph of what was given": "w = ones.clone().requires_grad_(); h, = grad(s * 2, v, w, create_graph=True); out = h.detach()",
})
