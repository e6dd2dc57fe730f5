"""Classes of tensors that would not be asked are refused, not ignored."""

import pytest

import torchlike_autograd as torch


class Dispatching(torch.Tensor):
    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        raise AssertionError("is not called")


@pytest.mark.parametrize("make", [lambda: torch.Tensor._make_subclass(Dispatching, torch.ones(2)), lambda: torch.ones(2).as_subclass(Dispatching),
                                  lambda: Dispatching([1.0, 2.0])], ids=["make", "as", "call"])
def test_dispatch_below_autograd_is_refused_by_name(make):
    with pytest.raises(NotImplementedError, match=r"Dispatching\.__torch_dispatch__"):
        make()
