"""Filtering and smoothing of many series at once."""

import torch
import torch_kf


def program():
    torch.set_default_dtype(torch.float64)
    known = torch_kf.KalmanFilter(torch.tensor([[1.0, 1.0], [0.0, 1.0]]), torch.tensor([[1.0, 0.0]]), torch.eye(2) * 0.1, torch.eye(1))
    begun = torch_kf.GaussianState(torch.zeros(3, 2, 1), torch.eye(2).expand(3, 2, 2))
    states = known.filter(begun, torch.randn(6, 3, 1, 1), return_all=True)
    yield "filtered", states.mean, states.covariance
    yield "smoothed", known.rts_smooth(states).mean
