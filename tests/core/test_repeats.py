"""Writes to views that show one element several times, compiled and on the host."""

import pytest

import torchlike_autograd as torch
from torchlike_autograd._core import execute, worth

WRITES = {
    "a whole number": (lambda v: v.add_(1), [1.0, 3.0, 4.0, 4.0]),
    "a fraction, taken away twice": (lambda v: v.sub_(0.5, alpha=2), [-1.0, -1.0, 0.0, 2.0]),
    "a tensor": (lambda v: v.add_(torch.tensor([1.0, 10.0])), [1.0, 12.0, 13.0, 13.0]),
}


@pytest.mark.parametrize("waits", [True, False], ids=["on the host", "compiled"])
@pytest.mark.parametrize("name", WRITES)
def test_elements_at_one_place_add_up(monkeypatch, name, waits):
    write, expected = WRITES[name]
    execute.clear_caches()
    monkeypatch.setattr(worth, "waits", lambda program: waits)
    x = torch.arange(4.0)
    write(x.unfold(0, 2, 1))
    assert x.tolist() == expected
