"""The incomplete gamma functions where series lose digits, against values of scipy.special 1.17 (PyTorch's have fewer digits at some)."""

import numpy as np
import pytest

import torchlike_autograd as torch

_NEAR = [(30, 25, 0.1821039159774551, 0.8178960840225449), (25, 28, 0.740095812922737, 0.259904187077263), (1e3, 1e3, 0.5042052441802155, 0.4957947558197845),
         (210, 199, 0.22673600400473662, 0.7732639959952634), (21, 15, 0.0829709100314602, 0.9170290899685397),
         (1e6, 1.001e6, 0.8413447863683402, 0.15865521363165971), (1e10, 1.00001e10, 0.8413447460725758, 0.15865525392742422)]
_SMALL = [(1e-5, 0.5, 5.597765285422659e-06), (1e-30, 0.5, 5.597735947761619e-31), (0.02, 0.9, 0.005301370241015204), (0.3, 0.4, 0.22361941898336418)]


@pytest.mark.parametrize(("dtype", "rtol"), [(torch.float64, 1e-11), (torch.float32, 2e-5)])
def test_near_a(dtype, rtol):
    # the last digits of x / a - 1 count sqrt(a) times: in float32 only moderate a can be asked
    a, x, p, q = np.array([row for row in _NEAR if dtype == torch.float64 or row[0] < 1e4]).T
    a, x = torch.tensor(a, dtype=dtype), torch.tensor(x, dtype=dtype)
    np.testing.assert_allclose(torch.igamma(a, x).numpy(), p, rtol=rtol)
    np.testing.assert_allclose(torch.igammac(a, x).numpy(), q, rtol=rtol)


def test_small_a():
    a, x, q = np.array(_SMALL).T
    np.testing.assert_allclose(torch.igammac(torch.tensor(a), torch.tensor(x)).numpy(), q, rtol=1e-12)


def test_huge_arguments_come_back():
    a = torch.tensor([1e300, 1e300, 1e20, 1e20], dtype=torch.float64)
    x = torch.tensor([1e300, 1.5e300, 1e20, 1e25], dtype=torch.float64)
    assert torch.igamma(a, x).tolist() == [0.5, 1.0, pytest.approx(0.5), 1.0]
    assert torch.igammac(a, x).tolist() == [0.5, 0.0, pytest.approx(0.5), 0.0]
