"""Tensor parallel training: the two halves of each block of a small residual network are split over the devices, by columns and then by rows.

    python -m torchlike_autograd examples/tensor_parallel.py
    XLA_FLAGS=--xla_force_host_platform_device_count=8 python -m torchlike_autograd examples/tensor_parallel.py

No device ever has all of a split weight: `split` says how a weight lies, its gradient and the optimizer's states lie as it does.
"""

import jax
import torch
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import Replicate, Shard, distribute_module, distribute_tensor

STEPS, BATCH, WIDE, REPORT_EVERY = 40, 32, 64, 10


class Block(nn.Module):
    """x + down(relu(up(x)))."""

    def __init__(self, wide):
        super().__init__()
        self.up = nn.Linear(wide, 4 * wide)
        self.down = nn.Linear(4 * wide, wide)

    def forward(self, x):
        """The next representation."""
        return x + self.down(torch.relu(self.up(x)))


def split(name, module, mesh):
    """Spread the weights of one part of the network."""
    if not isinstance(module, nn.Linear) or not name.endswith(("up", "down")):
        return
    dim = 0 if name.endswith("up") else 1  # weights are (out, in): columns of `up` are its first dim
    module.weight = nn.Parameter(distribute_tensor(module.weight.data, mesh, [Shard(dim)]))
    if dim == 0:
        module.bias = nn.Parameter(distribute_tensor(module.bias.data, mesh, [Shard(0)]))


def main():
    """Train; print the loss."""
    torch.manual_seed(0)
    devices = jax.devices()
    mesh = init_device_mesh({"gpu": "cuda"}.get(devices[0].platform, devices[0].platform), (len(devices),), mesh_dim_names=("model",))
    net = nn.Sequential(nn.Linear(8, WIDE), Block(WIDE), Block(WIDE), nn.Linear(WIDE, 1))
    distribute_module(net, mesh, split)
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3)
    for step in range(1, STEPS + 1):
        x = distribute_tensor(torch.randn(BATCH, 8), mesh, [Replicate()])
        optimizer.zero_grad()
        loss = ((net(x) - x.square().mean(1, keepdim=True)) ** 2).mean()
        loss.backward()
        optimizer.step()
        if step % REPORT_EVERY == 0:
            print(f"step {step:3d}  loss {loss.item():.5f}")
    up = net[1].up.weight
    assert up.placements == up.grad.placements == optimizer.state[up]["exp_avg"].placements == (Shard(0),)


if __name__ == "__main__":
    main()
