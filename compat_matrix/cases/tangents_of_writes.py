"""Forward over reverse and reverse over forward through operators that write where an index says."""

from compat_matrix.case import case


def _writes(torch):
    i, rows = torch.tensor([[0, 1, 0], [2, 2, 1]]), torch.tensor([0, 2])
    z, s = torch.zeros(3, 3, dtype=torch.float64), (torch.arange(6, dtype=torch.float64) * 0.7).sin().reshape(2, 3)
    return {"scatter of src": (lambda s: z.scatter(0, i, s), s), "scatter of self": (lambda z: z.scatter(0, i, s), z + 0.3),
            "scatter of a larger src": (lambda z: z.scatter(1, i[:, :2], s), z + 0.3), "scatter of a number": (lambda z: z.scatter(0, i, 2.0), z + 0.3),
            "scatter_add": (lambda s: z.scatter_add(0, i, s), s), "index_put": (lambda s: (z + 1).index_put((i[0], i[1]), s[0]), s),
            "index_put, twice one place": (lambda s: (z + 1).index_put((i[0], i[0]), s[0]), s), "index_copy": (lambda s: z.index_copy(0, rows, s), s),
            "put": (lambda s: z.put(i, s), s), "slice_scatter": (lambda s: torch.slice_scatter(z, s, 0, 0, 2), s), "index_fill": (lambda z: z.index_fill(0, rows, 1.5), z + 0.3),
            "index_add": (lambda s: z.index_add(0, rows, s, alpha=2), s), "scatter_reduce": (lambda s: z.scatter_reduce(0, i, s, "sum"), s),
            "diagonal_scatter": (lambda z: z.diagonal_scatter(z[0] * 2), z + 0.3), "select_scatter": (lambda z: z.select_scatter(z[1] * 2, 0, 0), z + 0.3)}


@case("tangents_of_writes.second order")
def _(torch):
    grad, jvp = torch.func.grad, torch.func.jvp
    for name, (f, x) in _writes(torch).items():
        def total(x, f=f):
            return f(x).tanh().sum()

        v = torch.linspace(-1, 1, x.numel(), dtype=x.dtype).reshape(x.shape)
        y = x.clone().requires_grad_()
        yield f"{name}: forward over reverse", jvp(grad(total), (x,), (v,))
        yield f"{name}: reverse over forward", torch.autograd.grad(jvp(total, (y,), (v,))[1], y)[0]
        yield f"{name}: forward over forward", jvp(lambda x, v=v: jvp(total, (x,), (v,))[1], (x,), (v * v,))
        yield f"{name}: hessian", torch.func.hessian(total)(x), torch.func.jacrev(torch.func.jacfwd(total))(x)
