"""Layers under every constraint, a few steps of descent on each."""

import geotorch
import torch


def program():
    torch.set_default_dtype(torch.float64)
    for name, shape, given in [
        ("symmetric", (4, 4), {}), ("skew", (4, 4), {}), ("sphere", (5, 3), {}), ("orthogonal", (4, 4), {}),
        ("low_rank", (5, 3), {"rank": 2}), ("fixed_rank", (5, 3), {"rank": 2}), ("invertible", (4, 4), {}), ("positive_definite", (4, 4), {}),
        ("positive_semidefinite", (4, 4), {}), ("sln", (4, 4), {}), ("grassmannian", (5, 2), {}),
    ]:
        layer = torch.nn.Linear(shape[1], shape[0])
        getattr(geotorch, name)(layer, "weight", **given)
        yield name, [(n, list(p.shape)) for n, p in layer.named_parameters()], str(layer)
        if name in ("sphere", "orthogonal"):
            layer.weight = torch.nn.init.orthogonal_(torch.empty(shape)) if name == "orthogonal" else torch.nn.functional.normalize(torch.randn(shape), dim=-1)
        yield f"{name}: start", layer.weight
        optimizer = torch.optim.SGD(layer.parameters(), lr=0.05)
        target = torch.arange(float(shape[0] * shape[1])).reshape(shape).cos()
        for _ in range(3):
            optimizer.zero_grad()
            (layer.weight - target).pow(2).sum().backward()
            optimizer.step()
        yield f"{name}: descended", layer.weight
