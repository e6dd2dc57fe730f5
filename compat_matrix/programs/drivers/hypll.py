"""A small network in the Poincare ball with a learned curvature, trained by Riemannian Adam."""

import hypll.nn as hnn
import torch
from hypll.manifolds.poincare_ball import Curvature, PoincareBall
from hypll.optim import RiemannianAdam
from hypll.tensors import TangentTensor


def program():
    ball = PoincareBall(c=Curvature(requires_grad=True))
    net = torch.nn.Sequential(hnn.HLinear(4, 8, manifold=ball), hnn.HReLU(manifold=ball), hnn.HLinear(8, 2, manifold=ball))
    optimizer, x = RiemannianAdam(net.parameters(), lr=1e-2), torch.randn(6, 4)
    for step in range(3):
        optimizer.zero_grad()
        points = net(ball.expmap(TangentTensor(data=x, man_dim=-1, manifold=ball)))
        loss = points.tensor.pow(2).sum() + 0.1 * ball.c()
        loss.backward()
        optimizer.step()
        yield f"step {step}", loss.detach(), [p.grad.abs().sum() for p in net.parameters()]
    yield "points", points.tensor.detach(), ball.dist(points[0], points[1]).detach()
