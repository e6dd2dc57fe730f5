"""Model-agnostic meta-learning of sine waves: gradients through a step of gradient descent, by `torch.func.functional_call`."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.func import functional_call

STEPS, REPORT_EVERY, TASKS, SHOTS, INNER_RATE = 120, 30, 4, 10, 0.02


def task():
    """Draw a wave and two sets of its points."""
    height, phase = torch.rand(1) * 4 + 1, torch.rand(1) * 3.14
    sets = []
    for _ in range(2):
        x = torch.rand(SHOTS, 1) * 10 - 5
        sets.append((x, height * torch.sin(x + phase)))
    return sets


def main():
    """Train; print the loss before and after the inner step."""
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(1, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh(), nn.Linear(32, 1))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.02, momentum=0.9, nesterov=True)
    for step in range(1, STEPS + 1):
        optimizer.zero_grad()
        before = after = 0.0
        for _ in range(TASKS):
            (x, y), (x2, y2) = task()
            parameters = dict(net.named_parameters())
            loss = F.mse_loss(functional_call(net, parameters, (x,)), y)
            gradients = torch.autograd.grad(loss, parameters.values(), create_graph=True)
            adapted = {name: p - INNER_RATE * g for (name, p), g in zip(parameters.items(), gradients, strict=True)}
            before = before + F.mse_loss(functional_call(net, parameters, (x2,)), y2).detach() / TASKS
            after = after + F.mse_loss(functional_call(net, adapted, (x2,)), y2) / TASKS
        after.backward()
        nn.utils.clip_grad_value_(net.parameters(), 1.0)
        optimizer.step()
        if step % REPORT_EVERY == 0:
            print(f"step {step:3}  before {before.item():.2f}  after {after.item():.2f}")


if __name__ == "__main__":
    main()
