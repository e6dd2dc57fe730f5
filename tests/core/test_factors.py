"""A matrix that has a Cholesky factor is not eliminated column by column too; one that has none still is, as far as LAPACK goes."""

import numpy as np
import pytest

import torchlike_autograd as torch
from torchlike_autograd._ops import linalg_factor


@pytest.fixture
def eliminated(monkeypatch):
    """The turns of the elimination that ran."""
    import jax

    turns, run = [], linalg_factor.fori_loop

    def counted(first, last, step, start):
        def noted(i, state):
            jax.debug.callback(lambda: turns.append(1))
            return step(i, state)

        return run(first, last, noted, start)

    monkeypatch.setattr(linalg_factor, "fori_loop", counted)
    return turns


def _factor(a):
    import jax

    with jax.enable_x64(True):
        out = jax.jit(lambda x: linalg_factor._lower_factor(x))(a)
        jax.effects_barrier()
        return np.asarray(out)


def test_positive_matrices_are_factored_once(eliminated):
    a = np.stack([np.diag([4.0, 9.0, 16.0]), np.eye(3)])
    np.testing.assert_array_equal(np.tril(_factor(a)), np.sqrt(a))
    assert not eliminated


def test_a_matrix_of_a_batch_that_has_no_factor_is_eliminated(eliminated):
    a = np.stack([np.diag([4.0, 9.0, 16.0]), np.diag([4.0, -9.0, 16.0])])
    np.testing.assert_array_equal(np.tril(_factor(a)), [np.diag([2.0, 3.0, 4.0]), np.diag([2.0, -9.0, 16.0])])
    assert len(eliminated) == 3


def test_gradients_of_a_large_factor():
    a = (torch.eye(40, dtype=torch.float64) * 4).requires_grad_()
    torch.linalg.cholesky(a).sum().backward()
    np.testing.assert_allclose(a.grad.numpy(), np.full((40, 40), 0.25))
