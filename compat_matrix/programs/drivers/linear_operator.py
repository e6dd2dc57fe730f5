"""Operators of several structures: products, solves, log determinants, decompositions and their gradients."""

import torch
from linear_operator import to_dense, to_linear_operator
from linear_operator.operators import (
    AddedDiagLinearOperator,
    BlockDiagLinearOperator,
    CatLinearOperator,
    CholLinearOperator,
    DenseLinearOperator,
    DiagLinearOperator,
    IdentityLinearOperator,
    KroneckerProductLinearOperator,
    LowRankRootLinearOperator,
    RootLinearOperator,
    ToeplitzLinearOperator,
    TriangularLinearOperator,
)


def positive(n):
    a = torch.randn(n, n)
    return a @ a.mT + n * torch.eye(n)


def structures():
    diagonal = torch.rand(4) + 1
    yield "dense", DenseLinearOperator, [positive(4)]
    yield "diagonal", DiagLinearOperator, [diagonal]
    yield "added diagonal", lambda a, d: AddedDiagLinearOperator(DenseLinearOperator(a), DiagLinearOperator(d)), [positive(4), diagonal]
    yield "low rank", lambda r, d: LowRankRootLinearOperator(r) + DiagLinearOperator(d), [torch.randn(4, 2), diagonal]
    yield "kronecker", lambda a, b: KroneckerProductLinearOperator(DenseLinearOperator(a), DenseLinearOperator(b)), [positive(2), positive(2)]
    yield "toeplitz", lambda c: ToeplitzLinearOperator(c), [torch.tensor([4.0, 1.0, 0.5, 0.1])]
    yield "root", lambda r: RootLinearOperator(r), [torch.randn(4, 4) + 4 * torch.eye(4)]
    yield "cholesky", lambda a: CholLinearOperator(TriangularLinearOperator(a.tril())), [positive(4)]
    yield "sum", lambda a, b: DenseLinearOperator(a) + DenseLinearOperator(b), [positive(4), positive(4)]
    yield "product", lambda a, b: DenseLinearOperator(a) * DenseLinearOperator(b), [positive(4), positive(4)]
    yield "scaled", lambda a: DenseLinearOperator(a) * 2.5, [positive(4)]
    yield "blocks", lambda a: BlockDiagLinearOperator(DenseLinearOperator(a)), [torch.stack([positive(2), positive(2)])]
    yield "identity", lambda a: DenseLinearOperator(a) + IdentityLinearOperator(4), [positive(4)]


def program():
    torch.set_default_dtype(torch.float64)
    for name, build, tensors in structures():
        tensors = [t.clone().requires_grad_() for t in tensors]
        right = torch.randn(4, 2, requires_grad=True)
        op = build(*tensors)
        yield f"{name}: dense", to_dense(op), op.shape, op.diagonal()
        out = op @ right
        yield f"{name}: product", out, torch.autograd.grad(out.pow(2).sum(), [*tensors, right])
        op = build(*tensors)
        out = op.solve(right)
        yield f"{name}: solve", out, torch.autograd.grad(out.pow(2).sum(), [*tensors, right])
        quad, logdet = build(*tensors).inv_quad_logdet(right, logdet=True)
        yield f"{name}: determinant", quad, logdet, torch.autograd.grad(quad + logdet, [*tensors, right])
        yield f"{name}: root", to_dense(build(*tensors).root_decomposition()), build(*tensors).mT.sum(-1)
    a = positive(3)
    yield "more", to_linear_operator(a).shape, to_dense(CatLinearOperator(DenseLinearOperator(a), DenseLinearOperator(a), dim=-2))
