"""Python integers beyond int64, and structures too long to compile at first sight; PyTorch's answers."""

import pytest

import torchlike_autograd as torch
from torchlike_autograd._core import worth

CALLS = [lambda a, n: a + n, lambda a, n: n - a, lambda a, n: torch.add(a, n), lambda a, n: a.add_(n), lambda a, n: a > n, lambda a, n: a.clamp(0, n)]


@pytest.mark.parametrize("call", CALLS)
def test_too_big_is_refused_at_the_call(call):
    a = torch.ones(3)
    for _ in range(3):
        with pytest.raises(OverflowError, match="int too big to convert"):
            call(a, 2**70)
        with pytest.raises(OverflowError):
            call(a, -(2**70))
        assert (a * 2).tolist() == [2.0] * 3  # nothing is left behind


def test_beyond_int64_is_a_float_beside_floats():
    for _ in range(3):
        assert (torch.ones(1) + 2**63).item() == 2.0**63
        assert (torch.ones(1) + (2**64 - 1)).item() == 2.0**64
        assert (torch.ones(1, dtype=torch.int64) + 2**63).item() == -(2**63) + 1


def test_long_structures_wait_for_their_second_sight():
    def unrolled():
        h, w = torch.ones(2, 3), torch.full((3, 3), 0.1, requires_grad=True)
        for _ in range(worth.LONG // 8):
            h = torch.sin(h @ w) + h * 0.01
        h.sum().backward()
        return w.grad.sum().item()

    before = torch.stats()
    first = unrolled()
    after = torch.stats()
    assert after["compiles"] == before["compiles"] and after["op_by_op"] == before["op_by_op"] + 1
    mode = torch.set_execution("immediate")
    assert first == pytest.approx(unrolled(), rel=1e-5)
    torch.set_execution(mode)
