"""A moving average of a model beside its training."""

import torch
from ema_pytorch import EMA


def program():
    torch.set_default_dtype(torch.float64)
    net = torch.nn.Linear(3, 2)
    average = EMA(net, beta=0.9, update_after_step=1, update_every=2)
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    for _ in range(6):
        loss = net(torch.randn(4, 3)).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        average.update()
    yield "weights", list(net.parameters()), list(average.ema_model.parameters()), average(torch.ones(1, 3))
    yield "state", {name: value for name, value in average.state_dict().items() if "model" not in name}
