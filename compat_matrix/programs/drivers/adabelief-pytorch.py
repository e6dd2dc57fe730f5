"""An optimizer that believes in steady gradients."""

import torch
from adabelief_pytorch import AdaBelief


def program():
    for name, more in (("decoupled", {"weight_decouple": True, "rectify": False}), ("rectified", {"rectify": True, "weight_decay": 0.1}),
                       ("amsgrad", {"amsgrad": True, "rectify": False, "fixed_decay": True, "weight_decay": 0.1})):
        w = torch.nn.Parameter(torch.linspace(-1, 1, 6, dtype=torch.float64).view(2, 3))
        optimizer = AdaBelief([w], lr=0.1, eps=1e-12, betas=(0.9, 0.999), print_change_log=False, **more)
        for _ in range(8):
            optimizer.zero_grad()
            ((w - 0.3) ** 4).sum().backward()
            optimizer.step()
        yield name, w, sorted(optimizer.state[w])
