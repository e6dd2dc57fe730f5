"""Roots, minima, solves, eigenvalues, integrals, initial value problems and splines, each with its gradients."""

import torch
import xitorch
from xitorch.integrate import quad, solve_ivp
from xitorch.interpolate import Interp1D
from xitorch.linalg import lsymeig, solve, svd
from xitorch.optimize import equilibrium, minimize, rootfinder


def program():
    torch.set_default_dtype(torch.float64)
    a = (torch.randn(3, 3) * 0.3).requires_grad_()
    y0 = torch.zeros(3)

    def f(y, a):
        return torch.tanh(a @ y + 0.3) + 0.1

    root = rootfinder(lambda y, a: f(y, a) - y, y0, params=(a,), method="broyden1", f_tol=1e-12)
    yield "root", root, torch.autograd.grad(root.pow(2).sum(), a)
    still = equilibrium(f, y0, params=(a,), f_tol=1e-12)
    yield "equilibrium", still, torch.autograd.grad(still.pow(2).sum(), a)
    least = minimize(lambda y, a: ((y - a.sum(0)) ** 2).sum() + (y**4).sum(), y0, params=(a,), method="gd", step=0.05, maxiter=200)
    yield "minimum", least.detach().round(decimals=3)
    m = torch.randn(4, 4)
    s = (m @ m.T + 4 * torch.eye(4)).requires_grad_()
    op = xitorch.LinearOperator.m(s, is_hermitian=True)
    b = torch.randn(4, 2, requires_grad=True)
    x = solve(op, b)
    yield "solve", x, torch.autograd.grad(x.pow(2).sum(), [s, b])
    for method in ("exacteig",):
        values, vectors = lsymeig(op, neig=2, method=method)
        yield "eigenvalues", values, torch.autograd.grad(values.sum() + vectors.pow(4).sum(), s)
    yield "svd", svd(op, k=2)[1]
    yield "products", op.mv(b[:, 0]), op.mm(b), op.rmm(b), op.fullmatrix()
    w = torch.tensor([1.5, 0.7], requires_grad=True)
    area = quad(lambda t, w: torch.exp(-w[0] * t) * torch.cos(w[1] * t), torch.tensor(0.0), torch.tensor(2.0), params=(w,))
    yield "quad", area, torch.autograd.grad(area, w)
    path = solve_ivp(lambda t, y, w: -w * y, torch.linspace(0, 1, 4), torch.ones(2), params=(w,), method="rk45", rtol=1e-9, atol=1e-9)
    yield "ivp", path, torch.autograd.grad(path[-1].sum(), w)
    t = torch.linspace(0, 1, 6)
    values = torch.sin(4 * t).requires_grad_()
    at = torch.tensor([0.15, 0.5, 0.77], requires_grad=True)
    out = Interp1D(t, values, method="cspline")(at)
    yield "spline", out, torch.autograd.grad(out.pow(2).sum(), [values, at])
