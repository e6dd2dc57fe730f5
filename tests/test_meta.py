"""The op table without data: every sample on device "meta" has the types of its recorded answer, forward and backward."""

import json
import warnings

import numpy as np
import pytest

import torchlike_autograd as torch
from compat_matrix import ops
from sampling import sample

CALLS, ANSWERS = (json.loads(f.read_text()) for f in (ops.CALLS, ops.ANSWERS))


def without_data(x):
    """An argument on "meta"."""
    if isinstance(x, torch.Tensor):
        return x.detach().to("meta").requires_grad_(x.requires_grad)
    return type(x)(map(without_data, x)) if isinstance(x, (list, tuple)) else x


def types(x):
    """(shape, dtype) of every tensor in a recorded answer."""
    if isinstance(x, dict) and "tensor" in x:
        return [(x["tensor"]["shape"], x["tensor"]["dtype"])]
    inner = x.values() if isinstance(x, dict) else x if isinstance(x, list) else ()
    return [t for y in inner for t in types(y)]


def tensors(x):
    """Every tensor in a result."""
    return [x] if isinstance(x, torch.Tensor) else [t for y in x for t in tensors(y)] if isinstance(x, (list, tuple)) else []


def seen(ts):
    """(shape, dtype) of tensors, all of them on "meta"."""
    assert all(t.is_meta for t in ts)
    return [(list(t.shape), t.dtype.name) for t in ts]


@pytest.mark.parametrize("key", sample(sorted(CALLS), 5))
def test_entry(key):
    entry, answer = CALLS[key], ANSWERS[key]["calls"]
    for call, expected in zip(entry["calls"][:2], answer):
        if not isinstance(expected, dict) or "out" not in expected:
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            args = [without_data(ops.build(torch, a, [])) for a in call["args"]]
            given = {k: {"dtype": v} if k == "dtype" and isinstance(v, str) else v for k, v in call["kwargs"].items()}
            out = ops.find(torch, entry["path"])(*args, **{k: without_data(ops.build(torch, v, [])) for k, v in given.items()})
        assert seen(tensors(out)) == types(expected["out"])
        roots, leaves = [t for t in tensors(out) if t.requires_grad], [t for t in tensors(args) if t.requires_grad]
        if roots and leaves and isinstance(expected.get("first"), list):
            found = torch.autograd.grad(roots, leaves, [torch.empty_like(t) for t in roots], allow_unused=True)
            assert seen([g for g in found if g is not None]) == types(expected["first"])[:len(found)]


def test_no_program_runs():
    """A model far larger than memory: nothing is computed, compiled or drawn."""
    before = dict(torch.stats())
    net = torch.nn.Sequential(*[torch.nn.Linear(1 << 20, 1 << 20, device="meta") for _ in range(4)])
    loss = net(torch.empty(1 << 20, 1 << 20, device="meta")).relu().sum()
    loss.backward()
    assert net[0].weight.grad.shape == (1 << 20, 1 << 20)
    with pytest.raises(RuntimeError, match="cannot be called on meta"):
        loss.item()
    assert torch.stats()["compiles"] == before["compiles"]


@pytest.mark.parametrize("execution", ["immediate", "deferred"])
def test_beside_data(execution):
    """Tensors with and without data in one record."""
    before = torch.set_execution(execution)
    try:
        w, m = torch.ones(3, requires_grad=True), torch.empty(3, device="meta", requires_grad=True)
        loss, other = (w * 2).sum(), (m * 3).exp().sum()
        assert w.to("meta").is_meta
        loss.backward()
        other.backward()
        np.testing.assert_array_equal(w.grad.numpy(), [2, 2, 2])
        assert m.grad.is_meta
        assert loss.item() == 6
    finally:
        torch.set_execution(before)
