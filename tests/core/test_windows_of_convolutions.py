"""Convolutions written anew are those that XLA computes: every group, stride, hole, step and padding, also less than none."""

import jax
import numpy as np
import pytest
from jax import lax
from jax.extend.core import jaxpr_as_fun

from torchlike_autograd._ops import conv_windows

RNG = np.random.default_rng(0)
CASES = {  # x, w, strides, padding, holes, steps, groups, groups of the batch
    "depthwise": ((2, 3, 7, 6), (6, 1, 3, 2), (2, 1), ((1, 2), (0, 3)), (1, 1), (1, 2), 3, 1),
    "grouped, cropped": ((2, 12, 9), (4, 6, 3), (1,), ((-2, -1),), (2,), (2,), 2, 1),
    "grouped, large kernel": ((3, 12, 5, 4), (4, 6, 6, 5), (1, 2), ((2, 1), (4, 3)), (1, 3), (1, 1), 2, 1),
    "groups of the batch": ((6, 5, 7), (6, 5, 4), (3,), ((3, 3),), (1,), (1,), 1, 3),
    "groups of the batch, few results": ((6, 2, 7), (6, 2, 6), (1,), ((1, 0),), (1,), (1,), 1, 3),
    "three dimensions": ((2, 5, 4, 3, 5), (3, 5, 2, 3, 2), (1, 2, 2), ((1, 1), (2, 0), (0, 1)), (1, 1, 1), (1, 1, 2), 1, 1),
    "three dimensions, holes": ((2, 2, 3, 3, 2), (3, 2, 2, 2, 2), (1, 1, 1), ((1, 1), (1, 0), (-1, 2)), (2, 2, 3), (1, 1, 1), 1, 1),
    "many rows": ((33, 4, 6), (4, 2, 5), (1,), ((0, 1),), (1,), (1,), 2, 1),
    "exchanged": ((2, 3, 4, 5), (4, 3, 6, 8), (1, 1), ((1, 2), (0, 2)), (2, 3), (1, 1), 1, 1),
}


@pytest.mark.parametrize("together", [0, 1 << 24])
@pytest.mark.parametrize("terms", [0, 256])
@pytest.mark.parametrize("name", CASES)
def test_the_same_as_xla(monkeypatch, name, terms, together):
    x, w, strides, padding, holes, steps, groups, batch_groups = CASES[name]
    for limit in ("FEW_LARGE", "FEW_TAPS", "FEW_PRODUCTS"):
        monkeypatch.setattr(conv_windows, limit, 1)
    monkeypatch.setattr(conv_windows, "TERMS", terms)
    monkeypatch.setattr(conv_windows, "TOGETHER", together)
    x, w = (RNG.standard_normal(s).astype(np.float32) for s in (x, w))

    def convolution(x, w):
        return lax.conv_general_dilated(x, w, strides, padding, holes, steps, feature_group_count=groups, batch_group_count=batch_groups,
                                        precision=lax.Precision.HIGHEST)

    closed = jax.make_jaxpr(convolution)(x, w)
    anew = conv_windows.suited(closed)
    assert anew is not closed
    want, (got,) = jax.jit(convolution)(x, w), jax.jit(jaxpr_as_fun(anew))(x, w)
    assert got.dtype == want.dtype
    np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)
