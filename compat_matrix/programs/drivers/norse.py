"""Spiking neurons with surrogate gradients."""

import norse.torch as snn
import torch


def program():
    net = snn.SequentialState(torch.nn.Linear(4, 6), snn.LIFCell(), torch.nn.Linear(6, 5, bias=False), snn.LIFAdExCell(), torch.nn.Linear(5, 2), snn.LICell())
    optimizer, x = torch.optim.Adam(net.parameters(), lr=0.01), torch.rand(10, 3, 4) * 20
    for step in range(3):
        state, out = None, []
        for t in x:
            seen, state = net(t, state)
            out.append(seen)
        loss = (torch.stack(out).sum(0) - 1).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        yield f"step {step}", loss, [p.grad.abs().sum() for p in net.parameters()]
    spikes, state = snn.LSNNRecurrent(4, 3)(x)
    yield "recurrent", spikes, state.v, state.b
    encoded = snn.ConstantCurrentLIFEncoder(seq_length=8)(torch.tensor([2.0, 4.0, 8.0]))
    yield "encoded", encoded, snn.PoissonEncoder(5)(torch.rand(4))
    for name in ("heaviside", "super", "triangle", "tanh", "circ"):
        v = torch.linspace(-1, 1, 5, requires_grad=True)
        out = snn.functional.threshold.threshold(v, name, 10.0)
        yield name, out, *(torch.autograd.grad(out.sum(), v) if out.requires_grad else ())
