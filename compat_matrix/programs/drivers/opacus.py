"""Gradients of each sample, and a private training loop."""

import warnings

import torch
import torch.nn.functional as F
from opacus import GradSampleModule, PrivacyEngine
from torch.utils.data import DataLoader, TensorDataset

warnings.simplefilter("ignore")


def program():
    torch.set_default_dtype(torch.float64)
    nn = torch.nn
    net = GradSampleModule(nn.Sequential(nn.Conv2d(1, 2, 3), nn.GroupNorm(2, 2), nn.ReLU(), nn.Flatten(), nn.Linear(32, 2)))
    F.cross_entropy(net(torch.randn(3, 1, 6, 6)), torch.tensor([0, 1, 1])).backward()
    yield "samples", [p.grad_sample for p in net.parameters()]
    net = nn.Sequential(nn.Linear(4, 8), nn.LayerNorm(8), nn.ReLU(), nn.Linear(8, 2))
    loader = DataLoader(TensorDataset(torch.randn(12, 4), torch.randint(0, 2, (12,))), 4)
    torch.manual_seed(2)
    engine = PrivacyEngine(accountant="rdp")
    net, optimizer, loader = engine.make_private(module=net, optimizer=torch.optim.SGD(net.parameters(), 0.1), data_loader=loader, noise_multiplier=1.0,
                                                 max_grad_norm=1.0, poisson_sampling=True)
    for x, y in loader:
        optimizer.zero_grad()
        F.cross_entropy(net(x), y).backward()
        optimizer.step()
    yield "weights", list(net.parameters())
    yield "epsilon", engine.get_epsilon(1e-5)
