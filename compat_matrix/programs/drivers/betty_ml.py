"""Bilevel optimization: a penalty's weights learned through the training of a regression, by four ways to a hypergradient."""

import logging

import torch
from betty.configs import Config, EngineConfig
from betty.engine import Engine
from betty.problems import ImplicitProblem


class Penalty(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.logs = torch.nn.Parameter(torch.full((4,), -1.0, dtype=torch.float64))

    def forward(self):
        return self.logs.exp()


class Outer(ImplicitProblem):
    def training_step(self, batch):
        return torch.nn.functional.mse_loss(self.inner(batch[0]), batch[1])


class Inner(ImplicitProblem):
    def training_step(self, batch):
        return torch.nn.functional.mse_loss(self.module(batch[0]), batch[1]) + (self.outer() * self.module.weight.square()).sum()


def learned(method, data):
    penalty, net = Penalty(), torch.nn.Linear(4, 1).double()
    outer = Outer(name="outer", config=Config(type=method, first_order=True, retain_graph=True), module=penalty,
                  optimizer=torch.optim.SGD(penalty.parameters(), 0.1), train_data_loader=[data[1]])
    inner = Inner(name="inner", config=Config(type=method, unroll_steps=2), module=net,
                  optimizer=torch.optim.SGD(net.parameters(), 0.05), train_data_loader=[data[0]])
    Engine(config=EngineConfig(train_iters=8, logger_type="none"), problems=[outer, inner],
           dependencies={"u2l": {outer: [inner]}, "l2u": {inner: [outer]}}).run()
    return penalty.logs.detach(), net.weight.detach(), net.bias.detach()


def program():
    logging.disable(logging.CRITICAL)
    for method in ("darts", "cg", "neumann"):
        torch.manual_seed(0)
        data = [(torch.randn(16, 4).double(), torch.randn(16, 1).double()) for _ in range(2)]
        yield method, *learned(method, data)
