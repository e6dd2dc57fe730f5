"""Layers whose weights are distributions, made from those of a network."""

import bayesian_torch.layers as layers
import torch
from bayesian_torch.models.dnn_to_bnn import dnn_to_bnn, get_kl_loss


def program():
    torch.set_default_dtype(torch.float64)
    for kind in ("Reparameterization", "Flipout"):
        torch.manual_seed(0)
        net = torch.nn.Sequential(torch.nn.Conv2d(1, 2, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(32, 3))
        dnn_to_bnn(net, {"prior_mu": 0.0, "prior_sigma": 1.0, "posterior_mu_init": 0.0, "posterior_rho_init": -3.0, "type": kind, "moped_enable": False})
        optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
        x, y = torch.randn(8, 1, 6, 6), torch.randint(0, 3, (8,))
        losses = []
        for _ in range(3):
            loss = torch.nn.functional.cross_entropy(net(x), y) + get_kl_loss(net) / 8
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        yield kind, losses, [p.detach().abs().sum() for p in net.parameters()]
    out, divergence = layers.LSTMReparameterization(3, 2)(torch.randn(2, 4, 3))[0], layers.LinearFlipout(4, 2)(torch.randn(3, 4))[1]
    yield "layers", out, divergence
