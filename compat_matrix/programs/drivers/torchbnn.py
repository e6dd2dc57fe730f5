"""Layers whose weights are drawn, and their divergence from the prior."""

import torch
import torchbnn


def program():
    torch.set_default_dtype(torch.float64)
    layers = [torchbnn.BayesLinear(prior_mu=0, prior_sigma=0.1, in_features=i, out_features=o) for i, o in ((4, 3), (3, 2))]
    net = torch.nn.Sequential(layers[0], torch.nn.ReLU(), layers[1])
    loss = torch.nn.functional.cross_entropy(net(torch.randn(4, 4)), torch.tensor([0, 1, 0, 1])) + 0.01 * torchbnn.BKLLoss()(net)
    loss.backward()
    yield "loss", loss
    yield "weights", [p.grad for p in net.parameters()]
