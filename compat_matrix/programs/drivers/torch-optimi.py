"""Optimizers on a small network: low precision with compensated sums, decoupled decay, steps taken as each gradient is ready."""

import optimi
import torch
from torch import nn

KINDS = {"Adam": {}, "AdamW": {"weight_decay": 0.1}, "Adan": {}, "Lion": {"weight_decay": 0.1}, "RAdam": {}, "Ranger": {}, "SGD": {"momentum": 0.9},
         "StableAdamW": {}}


def small(dtype):
    torch.manual_seed(2)
    return nn.Sequential(nn.Linear(5, 4), nn.Tanh(), nn.LayerNorm(4), nn.Linear(4, 1)).to(dtype)


def trained(net, optimizer, x, y, steps=3):
    for _ in range(steps):
        loss = ((net(x) - y) ** 2).mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    return loss, list(net.parameters())


def program():
    x, y = torch.rand(7, 5, dtype=torch.float64), torch.rand(7, 1, dtype=torch.float64)
    for name, more in KINDS.items():
        net = small(torch.float64)
        yield name, *trained(net, getattr(optimi, name)(net.parameters(), lr=1e-2, **more), x, y)
    for foreach in (True, False):
        net = small(torch.float64)
        optimizer = optimi.AdamW(optimi.param_groups_weight_decay(net, 0.2), lr=1e-2, decouple_lr=True, max_lr=2e-2, foreach=foreach)
        yield "groups", foreach, *trained(net, optimizer, x, y), [group["weight_decay"] for group in optimizer.param_groups]
        kept = optimizer.state_dict()
        yield "state", sorted(kept["state"][0]), kept["state"][0]["exp_avg"]
    net = small(torch.float32)
    weights = [parameter.detach().bfloat16().requires_grad_() for parameter in net.parameters()]
    optimizer = optimi.SGD(weights, lr=1e-3, momentum=0.5, kahan_sum=True)
    for turn in range(3):
        for weight in weights:
            weight.grad = torch.full_like(weight, 0.25 * (turn + 1))
        optimizer.step()
    yield "compensated", weights, [optimizer.state[weight]["kahan_comp"] for weight in weights]
    net = small(torch.float64)
    optimizer = optimi.AdamW(net.parameters(), lr=1e-2, gradient_release=True)
    optimi.prepare_for_gradient_release(net, optimizer)
    for _ in range(2):
        ((net(x) - y) ** 2).mean().backward()
        yield "released", [parameter.grad is None for parameter in net.parameters()], list(net.parameters())
        optimizer.step()
        optimizer.zero_grad()
    optimi.remove_gradient_release(net)
    ((net(x) - y) ** 2).mean().backward()
    yield "kept again", [parameter.grad for parameter in net.parameters()]
