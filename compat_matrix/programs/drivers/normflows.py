"""Flows of several kinds, fitted by both divergences."""

import normflows as nf
import torch


def flows():
    yield nf.flows.MaskedAffineFlow(torch.tensor([0.0, 1.0]), nf.nets.MLP([2, 8, 2]), nf.nets.MLP([2, 8, 2]))
    yield nf.flows.AutoregressiveRationalQuadraticSpline(2, 1, 8)
    yield nf.flows.CoupledRationalQuadraticSpline(2, 1, 8)
    yield nf.flows.LULinearPermute(2)
    yield nf.flows.MaskedAffineAutoregressive(2, 8)


def program():
    torch.set_default_dtype(torch.float64)
    x = torch.randn(8, 2)
    for flow in flows():
        model = nf.NormalizingFlow(nf.distributions.base.DiagGaussian(2), [flow], nf.distributions.TwoMoons())
        forward = model.forward_kld(x)
        forward.backward()
        yield type(flow).__name__, forward, [p.grad for p in flow.parameters()]
        yield f"{type(flow).__name__} reverse", model.reverse_kld(6)
