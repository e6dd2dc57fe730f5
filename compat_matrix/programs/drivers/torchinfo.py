"""Summaries of networks: forward hooks, shapes and counts."""

import torch
import torchinfo


def program():
    net = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.BatchNorm2d(4), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(144, 5))
    columns = ("input_size", "output_size", "num_params", "kernel_size", "mult_adds")
    yield "network", str(torchinfo.summary(net, (2, 3, 8, 8), verbose=0, col_names=columns))
    lstm = torch.nn.LSTM(4, 6, 2, batch_first=True)
    yield "recurrent", str(torchinfo.summary(lstm, input_data=torch.ones(2, 5, 4), verbose=0))
