"""Tensor networks: edges that are contracted and split, matrix product states that classify, traced and stacked."""

import tensorkrowch as tk
import torch
from torch import nn


def program():
    torch.set_default_dtype(torch.float64)
    a = tk.Node(tensor=torch.randn(3, 4), axes_names=("i", "j"))
    b = tk.Node(tensor=torch.randn(4, 5), axes_names=("j", "k"), network=a.network)
    a["j"] ^ b["j"]
    c = a @ b
    yield "contracted", c.tensor
    u, v = c.split(["i"], ["k"], rank=2)
    yield "split", u.shape, v.shape, (u @ v).tensor
    layer = tk.models.MPSLayer(n_features=6, in_dim=2, out_dim=3, bond_dim=4, init_method="randn_eye", std=1e-2)
    x, y = tk.embeddings.poly(torch.rand(5, 5), 1), torch.tensor([0, 1, 2, 1, 0])
    layer.trace(x[:1])
    opt = torch.optim.Adam(layer.parameters(), 1e-2)
    for i in range(4):
        loss = nn.functional.cross_entropy(layer(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        yield f"step {i}", loss, [p.grad.abs().sum() for p in layer.parameters()]
    uniform = tk.models.UMPS(n_features=4, phys_dim=2, bond_dim=3)
    out = uniform(torch.rand(2, 4, 2))
    yield "uniform", out, torch.autograd.grad(out.pow(2).sum(), [*uniform.parameters()])
