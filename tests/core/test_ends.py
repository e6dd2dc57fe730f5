"""Records that end elsewhere, are divided, or share what was compiled (_core/ends.py, cuts.py, execute.py)."""

import copy

import numpy as np
import pytest

import torchlike_autograd as torch
from torchlike_autograd._core import execute


@pytest.fixture(autouse=True)
def fresh():
    execute.clear_caches()
    yield
    execute.clear_caches()


def test_programs_of_one_text_take_their_arguments_in_one_order():
    """An argument that nothing reads is not in the text; here once `a` comes first and once `b`."""
    w = torch.tensor([1.0, 2.0], requires_grad=True)
    a, b = torch.tensor([2, 2]), torch.tensor([3, 3])

    def step(early):
        u = w * 1.5
        if early:
            b.neg()
        y = torch.isfinite(a) * b
        (y * u).sum().backward()
        grad, w.grad = w.grad.tolist(), None
        return grad

    assert [step(k) for k in (False, True, False, True)] == [[4.5, 4.5]] * 4


@pytest.mark.parametrize("numbers", [np.array([0.1, 1e300]), np.array([1 << 40, -3]), np.array([0.1 + 2j])])
def test_a_copied_parameter_keeps_the_bits_of_its_data(numbers):
    expected = numbers.tolist()
    p = torch.nn.Parameter(torch.tensor(expected, dtype=torch.from_numpy(numbers).dtype), requires_grad=False)
    q = copy.deepcopy(p)
    p.zero_()
    assert q.dtype is p.dtype and q.numpy().dtype == numbers.dtype and q.tolist() == expected
