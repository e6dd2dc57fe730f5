"""Data parallel training: every device has all of the model and a part of each batch; XLA adds up the gradients.

    python -m torchlike_autograd examples/data_parallel.py
    XLA_FLAGS=--xla_force_host_platform_device_count=8 python -m torchlike_autograd examples/data_parallel.py

Both print the same numbers but for rounding, whatever the number of devices (which divides the batch).
"""

import jax
import torch
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import Replicate, Shard, distribute_module, distribute_tensor

STEPS, BATCH, REPORT_EVERY = 60, 64, 20


def batch():
    """Draw points and what the network has to say of them."""
    x = torch.rand(BATCH, 8) * 2 - 1
    return x, torch.sin(3 * x[:, :1]) * x[:, 1:2] + x[:, 2:].sum(1, keepdim=True) / 3


def main():
    """Train; print the loss and where things are."""
    torch.manual_seed(0)
    devices = jax.devices()
    mesh = init_device_mesh({"gpu": "cuda"}.get(devices[0].platform, devices[0].platform), (len(devices),), mesh_dim_names=("data",))
    net = nn.Sequential(nn.Linear(8, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 1))
    distribute_module(net, mesh)
    optimizer = torch.optim.Adam(net.parameters(), lr=3e-3)
    for step in range(1, STEPS + 1):
        x, y = (distribute_tensor(t, mesh, [Shard(0)]) for t in batch())
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(net(x), y)
        loss.backward()
        optimizer.step()
        if step % REPORT_EVERY == 0:
            print(f"step {step:3d}  loss {loss.item():.5f}")
    assert all(p.placements == (Replicate(),) and p.grad.placements == (Replicate(),) for p in net.parameters())


if __name__ == "__main__":
    main()
