"""Every optimizer of torch_optimizer over a few steps of a small network."""

import warnings

import torch
import torch_optimizer

NAMES = ["A2GradExp", "A2GradInc", "A2GradUni", "AccSGD", "AdaBelief", "AdaBound", "AdaMod", "Adafactor", "AdamP", "AggMo", "Apollo", "DiffGrad", "LARS",
         "Lamb", "MADGRAD", "PID", "QHAdam", "QHM", "Ranger", "RangerQH", "RangerVA", "SGDP", "SGDW", "SWATS", "Yogi"]


def train(make):
    torch.manual_seed(0)
    net = torch.nn.Sequential(torch.nn.Linear(4, 6), torch.nn.Tanh(), torch.nn.Linear(6, 2)).double()
    x, y = torch.randn(8, 4).double(), torch.randn(8, 2).double()
    optimizer, losses = make(net.parameters()), []
    for _ in range(4):
        optimizer.zero_grad()
        loss = (net(x) - y).pow(2).mean()
        loss.backward()
        losses.append(loss.item())
        optimizer.step()
    return losses, [p.detach() for p in net.parameters()]


def rounded(seen):
    """The optimizers that keep a float32 copy agree to float32."""
    return [round(n, 5) for n in seen[0]], [p.float() for p in seen[1]]


def program():
    warnings.simplefilter("ignore")
    for name in NAMES:
        kind = getattr(torch_optimizer, name)
        yield name, *rounded(train(lambda p, kind=kind, name=name: kind(p) if name.startswith("A2") else kind(p, lr=0.01)))
    yield "Lookahead", *rounded(train(lambda p: torch_optimizer.Lookahead(torch.optim.SGD(p, 0.1))))
