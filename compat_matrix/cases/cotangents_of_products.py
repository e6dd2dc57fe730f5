"""Gradients for a cotangent that is given for the result itself, where the node of that result bears the name of a view."""

from compat_matrix.case import case


def matrix(torch, *shape):
    return torch.arange(1.0, 1 + torch.Size(shape).numel(), dtype=torch.float64).reshape(shape) * 0.25


PRODUCTS = {
    "inner": lambda t, a, b: t.inner(a, b), "tensordot": lambda t, a, b: t.tensordot(a, b, 1), "einsum": lambda t, a, b: t.einsum("ij,jk->ik", a, b),
    "einsum, turned": lambda t, a, b: t.einsum("ij,jk->ki", a, b), "einsum, one": lambda t, a, b: t.einsum("ij->ji", a),
    "einsum, elements": lambda t, a, b: t.einsum("ij,ij->ij", a, b), "kron": lambda t, a, b: t.kron(a, b[:1, :1]), "kron, larger": lambda t, a, b: t.kron(a, b[0]),
    "bilinear": lambda t, a, b: t.nn.functional.bilinear(a, b, t.stack([a.detach(), b, a.detach() + 1])),
    "cdist": lambda t, a, b: t.cdist(a, b + 1, compute_mode="use_mm_for_euclid_dist"), "matmul": lambda t, a, b: a @ b, "matmul, batch": lambda t, a, b: a[None] @ b,
    "linear": lambda t, a, b: t.nn.functional.linear(a, b), "multi_dot": lambda t, a, b: t.linalg.multi_dot([a, b, b]), "outer": lambda t, a, b: t.outer(a[0], b[0, :1]),
    "vecdot": lambda t, a, b: t.linalg.vecdot(a, b), "view": lambda t, a, b: a.view(9), "transpose": lambda t, a, b: a.t(), "reshape": lambda t, a, b: a.t().reshape(9)}

for _which in PRODUCTS:
    @case(f"cotangents_of_products.{_which}", which=_which)
    def _(torch, which):
        for graph in (False, True):
            a, b = matrix(torch, 3, 3).requires_grad_(), matrix(torch, 3, 3) - 1
            out = PRODUCTS[which](torch, a, b)
            w = torch.cos(torch.arange(out.numel(), dtype=torch.float64)).reshape(out.shape)
            yield f"first, graph {graph}", torch.autograd.grad(out, a, w, create_graph=graph)
        a = matrix(torch, 3, 3).requires_grad_()
        PRODUCTS[which](torch, a, b).backward(w)
        yield "accumulated", a.grad
        c = matrix(torch, 3, 3).requires_grad_()
        both = PRODUCTS[which](torch, a, c)
        yield "both", torch.autograd.grad(both, (a, c), w, allow_unused=True)
