"""Lie groups: products, exponentials, logarithms, actions, interpolation; optimizers of the second order; a filter."""

import pypose as pp
import torch


class Residual(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.pose = pp.Parameter(pp.se3(torch.tensor([[0.1, 0.2, -0.1, 0.3, 0.1, 0.2], [0.3, -0.1, 0.1, 0.2, 0.0, 0.1]])).Exp())

    def forward(self, x):
        return (self.pose @ x).Log().tensor()


def program():
    torch.set_default_dtype(torch.float64)
    for name, size in [("so3", 3), ("se3", 6), ("sim3", 7), ("rxso3", 4)]:
        make = getattr(pp, name)
        a = make(torch.randn(3, size) * 0.4).requires_grad_()
        g = a.Exp()
        yield f"{name}: exp", g.tensor(), torch.autograd.grad(g.tensor().pow(2).sum(), a, retain_graph=True)[0].as_subclass(torch.Tensor), str(g.ltype)
        yield f"{name}: log", g.Log().tensor(), g.Inv().tensor(), (g @ g).tensor(), g.matrix()
        points = torch.randn(3, 3)
        moved = g.Act(points)
        yield f"{name}: act", moved, torch.autograd.grad(moved.pow(3).sum(), a)[0].as_subclass(torch.Tensor)
        yield f"{name}: adjoint", g.Adj(make(torch.randn(3, size))).tensor(), g[0].shape, g.lshape
    q = pp.randn_SO3(2)
    yield "quaternions", q.tensor(), q.euler(), q.rotation().tensor(), pp.mat2SO3(q.matrix()).tensor(), pp.euler2SO3(torch.tensor([0.1, 0.2, 0.3])).tensor()
    model = Residual()
    for make in (pp.optim.GaussNewton, pp.optim.LevenbergMarquardt):
        optimizer = make(model)
        target = pp.se3(torch.tensor([[0.1, 0.0, 0.0, 0.0, 0.1, 0.0]])).Exp()
        yield make.__name__, [optimizer.step(target) for _ in range(2)], model.pose.tensor().detach()
    yield "cumulative", pp.cumprod(pp.randn_SE3(4), 0).tensor(), pp.identity_SE3(1).tensor()
