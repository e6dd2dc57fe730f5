"""What cannot be as in PyTorch says so: gradients that a class keeps elsewhere."""

import pytest

import torchlike_autograd as torch
from torchlike_autograd.nn import Parameter


class Kept(Parameter):
    """A parameter whose values and gradient are those of another tensor."""

    def __new__(cls, kept):
        out = torch.Tensor._make_subclass(cls, torch.zeros(2), True)
        out.kept = kept
        return out

    @property
    def grad(self):
        return self.kept.grad


@pytest.mark.parametrize("name", ["SGD", "Adam", "Adagrad"])
def test_an_optimizer_refuses_a_parameter_whose_gradient_is_elsewhere(name):
    x = torch.ones(2, requires_grad=True)
    optimizer = getattr(torch.optim, name)([Kept(x)], lr=0.1)
    optimizer.step()  # no gradient yet
    (x * x).sum().backward()
    with pytest.raises(NotImplementedError, match=f"torch.optim.{name} of a parameter of class Kept"):
        optimizer.step()
