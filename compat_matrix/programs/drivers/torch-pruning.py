"""Structural pruning: channels that depend on each other go together."""

import torch
import torch_pruning


def program():
    nn = torch.nn
    net = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.Conv2d(8, 4, 3), nn.Flatten(), nn.Linear(64, 2))
    x = torch.randn(1, 3, 8, 8)
    rule = torch_pruning.importance.MagnitudeImportance(p=2)
    torch_pruning.pruner.MagnitudePruner(net, x, importance=rule, pruning_ratio=0.5, ignored_layers=[net[5]]).step()
    yield "network", str(net), net(x)
    yield "counts", torch_pruning.utils.count_ops_and_params(net, x)
