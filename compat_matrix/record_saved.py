"""Writes tests/data/saved_by_torch.pt and .old with real torch: `python -m compat_matrix.record_saved`; the tests load them with this package."""

import collections
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[1] / "tests" / "data"


def content(torch):
    """Tensors of many kinds, shared storages, parameters, the state of an optimizer."""
    base = torch.arange(6.0)
    p = torch.nn.Parameter(torch.tensor([[1.0, 2.0], [3.0, 4.0]]))
    q = torch.nn.Parameter(torch.tensor([0.5]), requires_grad=False)
    optimizer = torch.optim.Adam([p], lr=0.5)
    for _ in range(2):
        p.grad = torch.full((2, 2), 0.25)
        optimizer.step()
    marked = torch.ones(2)
    marked.note = ["x", 3]
    return {
        "base": base, "part": base[2:4], "turned": base.view(2, 3).t(), "p": p, "q": q, "optimizer": optimizer.state_dict(), "marked": marked,
        "state": collections.OrderedDict([("w", p.detach()), ("n", torch.tensor(3))]), "leaf": torch.ones(2, requires_grad=True), "empty": torch.empty(0, 2),
        "bfloat16": torch.tensor([1.5, -2.0], dtype=torch.bfloat16), "float16": torch.tensor([0.5], dtype=torch.float16),
        "complex": torch.tensor([1 + 2j]), "bool": torch.tensor([True, False]), "int8": torch.tensor([1, -2], dtype=torch.int8),
        "uint8": torch.tensor([200], dtype=torch.uint8), "float64": torch.tensor([[1.0, 2.0]], dtype=torch.float64).t(), "repeated": torch.ones(1).expand(3),
        "plain": [1, 2.5, "text", None, True, (1, 2), 2**80, b"bytes", {1, 2}, 1j], "dtype": torch.float32, "size": torch.Size([2, 3]),
        "device": torch.device("cpu"), "layout": torch.strided}


def shown(torch, x):
    """Everything that can be seen of it, as plain data."""
    if isinstance(x, torch.Tensor):
        return [type(x).__name__, str(x.dtype).rpartition(".")[2], list(x.shape), list(x.stride()), x.storage_offset(), x.requires_grad, x.is_leaf,
                x.tolist(), getattr(x, "note", None)]
    if isinstance(x, dict):
        return [type(x).__name__, {k: shown(torch, v) for k, v in x.items()}]
    if isinstance(x, (list, tuple)):
        return [type(x).__name__, [shown(torch, v) for v in x]]
    return repr(x)


def main():
    import torch

    FOLDER.mkdir(exist_ok=True)
    torch.save(content(torch), FOLDER / "saved_by_torch.pt")
    torch.save(content(torch), FOLDER / "saved_by_torch.old", _use_new_zipfile_serialization=False)


if __name__ == "__main__":
    main()
