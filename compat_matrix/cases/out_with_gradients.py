"""`out` that requires grad: who refuses it, by which name, and who does not ask."""

from compat_matrix.case import case, raises


@case("out_with_gradients.names")
def _(torch):
    m, x = torch.eye(2) * 2, torch.tensor([1.0, 2.0])
    L = torch.linalg

    def o(*sizes):
        return torch.zeros(sizes, requires_grad=True)

    calls = {
        "cross": lambda: torch.cross(torch.ones(3), torch.ones(3), dim=0, out=o(3)), "max other": lambda: torch.max(x, x, out=o(2)),
        "max dim": lambda: torch.max(m, 0, out=(o(2), torch.zeros(2, dtype=torch.int64))), "softmax": lambda: torch.softmax(x, 0, out=o(2)),
        "log_softmax": lambda: torch.log_softmax(x, 0, out=o(2)), "msort": lambda: torch.msort(x, out=o(2)), "norm": lambda: torch.norm(m, out=o()),
        "inv": lambda: L.inv(m, out=o(2, 2)), "eigh": lambda: L.eigh(m, out=(o(2), o(2, 2))), "eigvalsh": lambda: L.eigvalsh(m, out=o(2)),
        "svdvals": lambda: L.svdvals(m, out=o(2)), "det": lambda: L.det(m, out=o()), "solve": lambda: L.solve(m, m, out=o(2, 2)),
        "cholesky": lambda: L.cholesky(m, out=o(2, 2)), "nanmean": lambda: torch.nanmean(x, out=o()), "outer": lambda: torch.outer(x, x, out=o(2, 2)),
        "kron": lambda: torch.kron(m, m, out=o(4, 4)), "conj": lambda: torch.conj_physical(x, out=o(2)), "maximum": lambda: torch.maximum(x, x, out=o(2)),
        "transpose_copy": lambda: torch.transpose_copy(m, 0, 1, out=o(2, 2)), "floor_divide": lambda: torch.floor_divide(x, x, out=o(2)),
        "heaviside": lambda: torch.heaviside(x, x, out=o(2)), "geqrf": lambda: torch.geqrf(m, out=(o(2, 2), o(2))),
        "scatter": lambda: torch.scatter(x, 0, torch.tensor([0, 1]), x, reduce="add", out=o(2)), "view_copy": lambda: torch.view_copy(x, [2], out=o(2))}
    for name, f in calls.items():
        yield name, raises(f)


@case("out_with_gradients.unasked")
def _(torch):
    x, r = torch.tensor([1.0, 2.0]), torch.tensor([3.0, -1.0], requires_grad=True)
    yield "floor_divide", torch.floor_divide(r, x, out=torch.zeros(2)).requires_grad
    yield "heaviside", torch.heaviside(r, x, out=torch.zeros(2)).requires_grad
    yield "into a result", torch.floor_divide(x, x, out=r * 2).requires_grad
    yield "geqrf", raises(lambda: torch.geqrf(r.expand(2, 2).clone(), out=(torch.zeros(2, 2), torch.zeros(2))))
