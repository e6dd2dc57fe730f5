"""A layer that turns with its points."""

import torch
from egnn_pytorch import EGNN


def program():
    torch.set_default_dtype(torch.float64)
    layer = EGNN(dim=8, edge_dim=2, num_nearest_neighbors=3)
    features, places = layer(torch.randn(1, 6, 8), torch.randn(1, 6, 3), torch.randn(1, 6, 6, 2))
    (features.sum() + places.pow(2).sum()).backward()
    yield "out", features, places
    yield "weights", [p.grad for p in layer.parameters()]
