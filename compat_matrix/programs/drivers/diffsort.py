"""Sorting networks whose steps are soft."""

import torch
from diffsort import DiffSortNet


def program():
    x = torch.randn(2, 8, dtype=torch.float64, requires_grad=True)
    for network in ("odd_even", "bitonic"):
        for kind in ("logistic", "logistic_phi", "cauchy", "optimal", "gaussian"):
            values, permutation = DiffSortNet(network, 8, steepness=5, distribution=kind)(x)
            target = torch.eye(8, dtype=torch.float64).flip(0).expand(2, 8, 8)
            loss = torch.nn.functional.binary_cross_entropy(permutation.clamp(0, 1), target) + values[:, :3].sum()
            yield f"{network} {kind}", values, permutation.sum(1), torch.autograd.grad(loss, x)[0]
