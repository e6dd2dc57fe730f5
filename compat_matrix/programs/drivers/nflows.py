"""Transforms of normalizing flows: densities, gradients, inverses."""

import nflows.transforms as nt
import torch
from nflows.distributions import StandardNormal
from nflows.flows import Flow
from nflows.nn.nets import ResidualNet


def small(inputs, outputs):
    return ResidualNet(inputs, outputs, 8)


TRANSFORMS = (
    lambda: nt.MaskedAffineAutoregressiveTransform(2, 8), lambda: nt.LULinear(2), lambda: nt.QRLinear(2, 2), lambda: nt.SVDLinear(2, 2),
    lambda: nt.MaskedPiecewiseRationalQuadraticAutoregressiveTransform(2, 8, num_bins=4, tails="linear", tail_bound=3.0), lambda: nt.ActNorm(2),
    lambda: nt.AffineCouplingTransform([1, 0], small), lambda: nt.PiecewiseCubicCouplingTransform([1, 0], small, tails="linear", num_bins=4),
    lambda: nt.HouseholderSequence(2, 2), lambda: nt.LeakyReLU(),
)


def program():
    torch.set_default_dtype(torch.float64)
    x = torch.randn(6, 2)
    for make in TRANSFORMS:
        torch.manual_seed(0)
        transform = make()
        flow = Flow(nt.CompositeTransform([transform, nt.RandomPermutation(2)]), StandardNormal([2]))
        loss = -flow.log_prob(x).mean()
        if loss.requires_grad:
            loss.backward()
        yield type(transform).__name__, loss, [p.grad for p in flow.parameters()], flow.eval().sample(2)
