"""Models without data, filled from files; a training loop through `Accelerator`."""

import os
import tempfile

import accelerate
import torch
from accelerate.utils import compute_module_sizes, infer_auto_device_map, set_module_tensor_to_device


def net():
    """A small model."""
    return torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.BatchNorm1d(4), torch.nn.ReLU(), torch.nn.Linear(4, 2))


def devices(module):
    """Where each tensor is."""
    return {k: str(v.device) for k, v in module.state_dict().items()}


def program():
    with accelerate.init_empty_weights():
        bare = net()
    yield "empty", devices(bare)
    with accelerate.init_empty_weights(include_buffers=True):
        yield "buffers", devices(net())
    with accelerate.init_on_device(torch.device("meta")):
        yield "on device", devices(net())
    yield "sizes", dict(compute_module_sizes(bare)), dict(infer_auto_device_map(bare, {"cpu": "1GB"}))
    set_module_tensor_to_device(bare, "0.weight", "cpu", torch.ones(4, 3))
    yield "one", devices(bare), bare[0].weight
    with tempfile.TemporaryDirectory() as folder:
        full = net()
        torch.save(full.state_dict(), os.path.join(folder, "a.bin"))
        with accelerate.init_empty_weights():
            other = net()
        other = accelerate.load_checkpoint_and_dispatch(other, os.path.join(folder, "a.bin"), device_map={"": "cpu"})
        x = torch.linspace(0, 1, 6).reshape(2, 3)
        yield "filled", devices(other), torch.equal(other(x), full(x))
    there = accelerate.Accelerator(cpu=True)
    module = net().double()
    optimizer = torch.optim.AdamW(module.parameters(), lr=0.1)
    data = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.linspace(0, 1, 24, dtype=torch.float64).reshape(8, 3)), batch_size=4)
    module, optimizer, data = there.prepare(module, optimizer, data)
    losses = []
    for _ in range(2):
        for x, in data:
            loss = module(x).pow(2).mean()
            there.backward(loss)
            there.clip_grad_norm_(module.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()
            losses.append(loss.detach())
    yield "trained", losses, there.gather(losses[-1]), str(there.device)
