"""Invertible networks: coupling blocks, fixed and soft permutations, a graph of nodes, conditions."""

import FrEIA.framework as Ff
import FrEIA.modules as Fm
import numpy as np
import torch


def subnet(ins, outs):
    return torch.nn.Sequential(torch.nn.Linear(ins, 8), torch.nn.Tanh(), torch.nn.Linear(8, outs))


def program():
    torch.set_default_dtype(torch.float64)
    np.random.seed(0)
    x = torch.randn(6, 4)
    for name in ("AllInOneBlock", "GLOWCouplingBlock", "RNVPCouplingBlock", "NICECouplingBlock", "GINCouplingBlock"):
        inn = Ff.SequenceINN(4)
        for _ in range(2):
            inn.append(getattr(Fm, name), subnet_constructor=subnet)
        inn.double()                              # the library makes its permutations in float32
        z, det = inn(x)
        loss = (0.5 * z.square().sum(1) - det).mean()
        found = torch.autograd.grad(loss, [p for p in inn.parameters() if p.requires_grad])
        back, _ = inn(z, rev=True)
        yield name, z, det, sum(g.abs().sum() for g in found), (back - x).abs().max() < 1e-10
    start, condition = Ff.InputNode(4, name="in"), Ff.ConditionNode(2, name="given")
    one = Ff.Node(start, Fm.PermuteRandom, {"seed": 3}, name="mixed")
    two = Ff.Node(one, Fm.GLOWCouplingBlock, {"subnet_constructor": subnet}, conditions=condition, name="coupled")
    graph = Ff.GraphINN([start, condition, one, two, Ff.OutputNode(two, name="out")])
    optimizer = torch.optim.Adam(graph.parameters(), lr=1e-2)
    for step in range(3):
        optimizer.zero_grad()
        z, det = graph(x, c=torch.ones(6, 2))
        loss = (0.5 * z.square().sum(1) - det).mean()
        loss.backward()
        optimizer.step()
        yield f"step {step}", loss
