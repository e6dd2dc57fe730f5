"""Spiking neurons with surrogate gradients, unrolled over time: trained neurons, losses over spikes and membranes, encodings."""

import snntorch as snn
import snntorch.functional as SF
import snntorch.spikegen as spikes
import snntorch.surrogate as surrogate
import torch
from torch import nn


def unrolled(first, hidden, second, out, x):
    m1, (s2, m2) = hidden.reset_mem(), out.reset_mem()
    seen, membranes = [], []
    for step in x:
        spike, m1 = hidden(first(step), m1)
        spike, s2, m2 = out(second(spike), s2, m2)
        seen.append(spike)
        membranes.append(m2)
    return torch.stack(seen), torch.stack(membranes)


def program():
    x, y = spikes.rate(torch.rand(4, 6), 6), torch.tensor([0, 1, 2, 1])
    yield "rate", x
    yield "latency", spikes.latency(torch.rand(2, 3), 5, tau=5, threshold=0.01)
    yield "delta", spikes.delta(torch.rand(5, 3), 0.2)
    for name in ("fast_sigmoid", "atan", "triangular", "straight_through_estimator", "spike_rate_escape"):
        grad = getattr(surrogate, name)()
        first, second = nn.Linear(6, 8), nn.Linear(8, 3)
        hidden = snn.Leaky(beta=0.9, spike_grad=grad, learn_beta=True, learn_threshold=True)
        out = snn.Synaptic(alpha=0.8, beta=0.7, spike_grad=grad)
        seen, membranes = unrolled(first, hidden, second, out, x)
        loss = SF.ce_rate_loss()(seen, y) + membranes.pow(2).mean()
        params = [*first.parameters(), *second.parameters(), hidden.beta, hidden.threshold]
        yield name, seen, membranes, loss, torch.autograd.grad(loss, params)
    for name in ("ce_count_loss", "ce_max_membrane_loss", "mse_count_loss", "mse_membrane_loss"):
        trace = torch.rand(5, 4, 3, requires_grad=True)
        loss = getattr(SF, name)()(trace, y)
        yield name, loss, torch.autograd.grad(loss, trace)
    cell = snn.SLSTM(4, 5)
    s, m = cell.reset_mem()
    for _ in range(3):
        spike, s, m = cell(torch.randn(2, 4), s, m)
    yield "lstm", spike, m, torch.autograd.grad(m.pow(2).sum(), [*cell.parameters()], allow_unused=True)
