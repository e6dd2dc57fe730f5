"""A state space model: its scan in parallel and step by step, trained."""

import torch
from mambapy.mamba import Mamba, MambaConfig


def program():
    torch.set_default_dtype(torch.float64)
    x = torch.randn(2, 8, 4)
    for parallel in (True, False):
        torch.manual_seed(1)
        net = Mamba(MambaConfig(d_model=4, n_layers=2, d_state=4, pscan=parallel))
        optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
        for step in range(2):
            optimizer.zero_grad()
            loss = (net(x) - x.cumsum(1)).square().mean()
            loss.backward()
            optimizer.step()
            yield f"loss {parallel} {step}", loss
        yield f"gradients {parallel}", [p.grad.norm() for p in net.parameters()]
