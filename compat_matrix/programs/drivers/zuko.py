"""Flows that are made by name: densities, gradients, samples."""

import torch
import zuko

FLOWS = {
    "NSF": {"hidden_features": [8], "transforms": 2}, "MAF": {"hidden_features": [8], "transforms": 2}, "NICE": {"hidden_features": [8], "transforms": 2},
    "CNF": {"hidden_features": [8]}, "SOSPF": {"hidden_features": [8], "transforms": 2}, "UNAF": {"hidden_features": [8], "transforms": 2},
    "GF": {"hidden_features": [8], "transforms": 2}, "BPF": {"hidden_features": [8], "transforms": 1}, "GMM": {"components": 2},
}


def program():
    torch.set_default_dtype(torch.float64)
    x = torch.randn(6, 2)
    for name, options in FLOWS.items():
        torch.manual_seed(0)
        flow = getattr(zuko.flows, name)(2, **options)
        loss = -flow().log_prob(x).mean()
        loss.backward()
        yield name, loss, [p.grad.abs().sum() for p in flow.parameters() if p.grad is not None], flow().sample((2,))
