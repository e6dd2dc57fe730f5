"""Manifolds: projections, exponential maps, distances and their gradients; optimizers on them."""

import geoopt
import torch


def program():
    torch.set_default_dtype(torch.float64)
    for manifold, shape in [
        (geoopt.Sphere(), (3, 4)), (geoopt.PoincareBall(c=1.0), (3, 4)), (geoopt.Lorentz(), (3, 4)), (geoopt.Euclidean(1), (3, 4)),
        (geoopt.Stiefel(), (4, 2)), (geoopt.SymmetricPositiveDefinite(), (3, 3)), (geoopt.Stereographic(-0.5), (2, 3)),
    ]:
        name = type(manifold).__name__
        x = manifold.projx(torch.randn(shape) * 0.3 + (torch.eye(3) if shape == (3, 3) else 0)).detach().requires_grad_()
        u = manifold.proju(x, torch.randn(shape)) * 0.1
        yield f"{name}: point", x, u.detach(), manifold.inner(x, u).detach(), manifold.egrad2rgrad(x, u).detach()
        y = manifold.retr(x, u)
        yield f"{name}: retraction", y, torch.autograd.grad(y.pow(2).sum(), x, retain_graph=True)
        if "Stiefel" not in name:
            y = manifold.expmap(x, u)
            d = manifold.dist(x, y).sum()
            yield f"{name}: exponential", y, manifold.logmap(x, y).detach(), d, torch.autograd.grad(d, x)
    ball = geoopt.PoincareBall()
    x, y = torch.randn(2, 3, 2) * 0.2
    yield ("gyrovectors", ball.mobius_add(x, y), ball.mobius_scalar_mul(torch.tensor(0.5), x), ball.geodesic(torch.tensor(0.3), x, y), ball.expmap0(x),
           ball.logmap0(y))
    for make in (geoopt.optim.RiemannianSGD, geoopt.optim.RiemannianAdam):
        p = geoopt.ManifoldParameter(geoopt.Sphere().projx(torch.tensor([[1.0, 2.0, 3.0]])), manifold=geoopt.Sphere())
        q = geoopt.ManifoldParameter(torch.tensor([0.1, 0.2]), manifold=geoopt.PoincareBall())
        optimizer = make([p, q], lr=0.05)
        for _ in range(3):
            optimizer.zero_grad()
            ((p - torch.tensor([1.0, 0.0, 0.0])).pow(2).sum() + (q - 0.4).pow(2).sum()).backward()
            optimizer.step()
        yield make.__name__, p.detach().as_subclass(torch.Tensor), q.detach().as_subclass(torch.Tensor), type(p).__name__, p.requires_grad
