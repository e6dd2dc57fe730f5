"""Running log-sums of exponentials over short, long and cut dims."""

import numpy as np
import pytest

import torchlike_autograd as torch


@pytest.mark.parametrize(("shape", "dim"), [((1,), 0), ((33,), 0), ((5000,), 0), ((3, 1000), 1), ((70, 300), 0), ((70, 2), 0)])
def test_sums_and_gradients(shape, dim):
    values = np.random.default_rng(0).standard_normal(shape) * 30
    x = torch.tensor(values.tolist(), dtype=torch.float64, requires_grad=True)
    for _ in range(3):  # compiled by now
        out = torch.logcumsumexp(x, dim)
        grad, = torch.autograd.grad(out.sum(), x)
    want = np.logaddexp.accumulate(values, dim)
    np.testing.assert_allclose(out.detach().numpy(), want, rtol=1e-12)
    shares = np.flip(np.cumsum(np.flip(np.exp(values.max() - want), dim), dim), dim) * np.exp(values - values.max())
    np.testing.assert_allclose(grad.numpy(), shares, rtol=1e-9)


def test_what_is_no_number_stays():
    x = torch.tensor([-torch.inf] * 40 + [1.0] * 3 + [torch.inf, 2.0, torch.nan, 3.0])
    out = torch.logcumsumexp(x, 0).tolist()
    assert out[:40] == [-torch.inf] * 40 and out[43:45] == [torch.inf] * 2 and all(v != v for v in out[45:])
    np.testing.assert_allclose(out[40:43], 1 + np.log([1, 2, 3]), rtol=1e-6)
