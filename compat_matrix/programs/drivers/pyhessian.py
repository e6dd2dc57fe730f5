"""Eigenvalues, trace and density of the Hessian of a small network."""

import torch
from pyhessian import hessian


def program():
    torch.set_default_dtype(torch.float64)
    net = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 2))
    data = torch.randn(8, 3), torch.randint(2, (8,))
    computer = hessian(net, torch.nn.CrossEntropyLoss(), data=data, cuda=False)
    values, vectors = computer.eigenvalues(maxIter=30, tol=1e-10, top_n=2)
    yield "eigenvalues", [round(v, 5) for v in values], len(vectors)
    yield "trace", computer.trace(maxIter=5)
