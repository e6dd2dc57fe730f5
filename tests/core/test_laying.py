"""Strides of results cost nothing where every operand lies row by row."""

import numpy as np
import pytest

import torchlike_autograd as torch
from torchlike_autograd._core import laying
from torchlike_autograd._ops import memory


def test_rows_are_not_asked_about():
    x, y = torch.ones(3, 4), torch.ones(4)
    laying._found.clear()
    for t in (x + y, x * 2, x.exp(), x[1:] + 1, x.view(2, 6) - 1, x.unsqueeze(0) * x, torch.cat([x, x]), x.expand(2, 3, 4) * 1, x.sum(0, keepdim=True) / x):
        assert t.is_contiguous() and t._tl_laid is None
    assert not laying._found
    assert (x.t() + 1).stride() == (1, 4)
    assert len(laying._found) == 1
    assert (x.t() + 1).stride() == (1, 4)
    assert len(laying._found) == 1


@pytest.mark.parametrize("seed", range(8))
def test_an_order_is_kept_by_every_way_of_calling(seed):
    order = np.random.default_rng(seed).permutation(4).tolist()
    x = torch.arange(120.0).reshape(2, 3, 4, 5).permute(order)
    expected = x.stride()
    for y in (x + 1, 1 + x, x * x, torch.exp(x), x.mul(x), torch.add(x, x, alpha=2), torch.where(x > 1, x, x), x.clone(), torch.zeros_like(x), x.double(), -x):
        assert y.stride() == expected
    assert torch.equal((x + 0).permute(*np.argsort(order).tolist()).reshape(-1), torch.arange(120.0))


def test_dims_that_no_operand_tells_apart_stay():
    assert memory.elementwise((2, 3), (((3,), (1,)), ((2, 1), (1, 1)))) == (3, 1)
    assert memory.elementwise((2, 3), (((2, 3), (0, 0)),)) == (3, 1)
    assert memory.elementwise((2, 3), (((2, 3), (1, 2)), ((2, 3), (3, 1)))) == (1, 2)
    assert memory.elementwise((2, 3), (((2, 3), (0, 0)), ((2, 3), (1, 2)))) == (1, 2)
