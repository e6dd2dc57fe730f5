"""Rayleigh quotients and low-rank fits on manifolds: gradients and Hessians come from the torch backend of the library."""

import numpy as np
import pymanopt
import torch
from pymanopt import manifolds, optimizers


def program():
    draws = np.random.default_rng(3)
    matrix = draws.normal(size=(6, 6))
    matrix = matrix + matrix.T
    a = torch.tensor(matrix)

    def seen(manifold, cost, point, tangent):
        problem = pymanopt.Problem(manifold, cost)
        along = manifold.projection(point, tangent)
        return problem.cost(point), problem.euclidean_gradient(point), problem.riemannian_gradient(point), problem.riemannian_hessian(point, along)

    sphere = manifolds.Sphere(6)

    @pymanopt.function.pytorch(sphere)
    def quotient(x):
        return -x @ a @ x

    start = draws.normal(size=6)
    start /= np.linalg.norm(start)
    yield "sphere", *seen(sphere, quotient, start, draws.normal(size=6))
    found = optimizers.SteepestDescent(max_iterations=4, verbosity=0).run(pymanopt.Problem(sphere, quotient), initial_point=start)
    yield "descent", found.point, found.iterations

    stiefel = manifolds.Stiefel(6, 2)

    @pymanopt.function.pytorch(stiefel)
    def brockett(x):
        return torch.trace(x.T @ a @ x @ torch.diag(torch.tensor([1.0, 2.0], dtype=torch.float64)))

    frame = np.linalg.qr(draws.normal(size=(6, 2)))[0]
    yield "stiefel", *seen(stiefel, brockett, frame, draws.normal(size=(6, 2)))
    found = optimizers.TrustRegions(max_iterations=2, verbosity=0).run(pymanopt.Problem(stiefel, brockett), initial_point=frame)
    yield "trust regions", found.cost

    definite = manifolds.SymmetricPositiveDefinite(3)

    @pymanopt.function.pytorch(definite)
    def far(x):
        return torch.logdet(x) ** 2 + torch.linalg.inv(x).sum()

    root = draws.normal(size=(3, 3))
    side = draws.normal(size=(3, 3))
    yield "definite", *seen(definite, far, root @ root.T + np.eye(3), side + side.T)

    both = manifolds.Product([manifolds.Euclidean(4, 2), manifolds.Grassmann(5, 2)])
    target = torch.tensor(draws.normal(size=(4, 5)))

    @pymanopt.function.pytorch(both)
    def misfit(left, right):
        return ((left @ right.T - target) ** 2).sum()

    point = [draws.normal(size=(4, 2)), np.linalg.qr(draws.normal(size=(5, 2)))[0]]
    problem = pymanopt.Problem(both, misfit)
    yield "product", problem.cost(point), *problem.riemannian_gradient(point)
    found = optimizers.ConjugateGradient(max_iterations=3, verbosity=0).run(problem, initial_point=point)
    yield "conjugate", found.cost
