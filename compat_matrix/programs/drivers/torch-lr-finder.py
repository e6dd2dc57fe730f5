"""A search for the learning rate."""

import logging

import torch
from torch.utils.data import DataLoader, TensorDataset
from torch_lr_finder import LRFinder, TrainDataLoaderIter


def program():
    logging.disable(logging.CRITICAL)
    x = torch.randn(24, 3, dtype=torch.float64)
    data = TensorDataset(x, x.sum(1, keepdim=True).sin())
    for mode, accumulated in (("exp", 1), ("linear", 2)):
        net = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1)).double()
        before = [p.detach().clone() for p in net.parameters()]
        finder = LRFinder(net, torch.optim.SGD(net.parameters(), lr=1e-3, momentum=0.9), torch.nn.MSELoss(), device="cpu")
        loader = DataLoader(data, batch_size=8, shuffle=True)
        finder.range_test(TrainDataLoaderIter(loader) if mode == "exp" else loader, val_loader=loader if accumulated == 2 else None, end_lr=1, num_iter=6,
                          step_mode=mode, accumulation_steps=accumulated)
        yield mode, finder.history["lr"], finder.history["loss"], finder.best_loss
        finder.reset()
        yield f"{mode} reset", all(torch.equal(a, b) for a, b in zip(before, net.parameters(), strict=True))
