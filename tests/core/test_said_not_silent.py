"""What cannot be as in PyTorch says so: gradients that a class keeps elsewhere, sparse gradients."""

import pytest

import torchlike_autograd as torch
from torchlike_autograd.nn import Embedding, Parameter


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


def test_a_sparse_embedding_says_that_its_gradient_is_dense():
    table = Embedding(5, 2, sparse=True)
    before = torch.is_warn_always_enabled()
    torch.set_warn_always(True)
    try:
        with pytest.warns(UserWarning, match="dense gradient of the same values"):
            table(torch.tensor([1, 1])).sum().backward()
    finally:
        torch.set_warn_always(before)
    assert table.weight.grad.tolist() == [[0, 0], [2, 2], [0, 0], [0, 0], [0, 0]]
