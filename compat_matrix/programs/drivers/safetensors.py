"""Saving and loading tensors and modules; slices of files; shared memory is found."""

import os
import tempfile

import safetensors.torch
import torch
from safetensors import safe_open


def program():
    file = os.path.join(tempfile.mkdtemp(), "a.safetensors")
    kept = {"a": torch.arange(6.0).reshape(2, 3), "b": torch.ones(2, dtype=torch.bfloat16), "i": torch.arange(3), "e": torch.zeros(0, 2),
            "h": torch.ones(2).half(), "t": torch.tensor([True, False])}
    safetensors.torch.save_file(kept, file, metadata={"k": "v"})
    yield "file", sorted(safetensors.torch.load_file(file).items()), os.path.getsize(file)
    net, other = torch.nn.Linear(3, 2), torch.nn.Linear(3, 2)
    safetensors.torch.save_model(net, file)
    yield "model", safetensors.torch.load_model(other, file), [torch.equal(a, b) for a, b in zip(net.parameters(), other.parameters(), strict=True)]
    with safe_open(file, framework="pt", device="cpu") as opened:
        yield "parts", sorted(opened.keys()), opened.get_tensor("bias"), opened.get_slice("weight")[:, 1:]
    yield "bytes", safetensors.torch.load(safetensors.torch.save({"x": torch.ones(2)}))
    try:
        safetensors.torch.save_file({"a": net.weight, "b": net.weight}, file)
    except RuntimeError as e:
        yield "shared", str(e)[:60]
