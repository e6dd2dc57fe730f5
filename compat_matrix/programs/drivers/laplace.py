"""Laplace approximations of networks: structures, evidence, answers."""

import torch
from laplace import Laplace
from torch.utils.data import DataLoader, TensorDataset


def program():
    torch.set_default_dtype(torch.float64)
    x = torch.randn(12, 3)
    loader = DataLoader(TensorDataset(x, (x.sum(1) > 0).long()), 6)
    net = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 2))
    for weights in ("last_layer", "all"):
        for structure in ("kron", "diag", "full"):
            model = Laplace(net, "classification", subset_of_weights=weights, hessian_structure=structure)
            model.fit(loader)
            model.optimize_prior_precision(method="marglik", n_steps=2)
            yield f"{weights} {structure}", model(x[:3], link_approx="probit"), model.log_marginal_likelihood()
