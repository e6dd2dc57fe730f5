"""Classes of tensors that would not be asked are refused, not ignored."""

import subprocess
import sys

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


def test_functions_of_a_program_do_not_pass_for_those_of_torch():
    """Public functions are known by their ids: one that was replaced while the package was imported would leave its id to a function of the program, and a
    module whose `__init__` had it would lose it as a method."""
    source = """
from types import FunctionType
import torchlike_autograd
from torchlike_autograd._core import overriding
def f(): pass
made = [FunctionType(f.__code__, {}) for _ in range(20000)]
print(sum(id(g) in overriding.PATHS for g in made))
"""
    done = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "0"
