"""Sparse tensors: gradients of their own operators to second order, and what only this package says of them."""

import subprocess
import sys

import pytest

import torchlike_autograd as torch

PLACES = torch.tensor([[1, 0, 1, 1], [2, 1, 0, 2]])


def matrix(values=None):
    values = torch.tensor([0.5, 1.5, 2.5, 1.0], dtype=torch.float64) if values is None else values
    return torch.sparse_coo_tensor(PLACES, values, (2, 3))


@pytest.mark.parametrize("f", [
    lambda s, d: torch.sparse.mm(s, d), lambda s, d: s @ d[:, 0], lambda s, d: s.to_dense() * d.t(),
    lambda s, d: torch.sparse.softmax(s, 1).to_dense(),
    lambda s, d: torch.sparse.log_softmax(s, 0).to_dense(),
    lambda s, d: torch.sparse.sum(s * s, 1).to_dense(), lambda s, d: torch.sparse.mm(s, s.t()).to_dense(),
    lambda s, d: torch.cat([s, s.sin()], 1).select(0, 1).to_dense(), lambda s, d: (s * d.t()).coalesce().values(),
    lambda s, d: torch.bmm(torch.stack([s, s]), torch.stack([d, d])), lambda s, d: torch.sparse.mm(s.to_sparse_csr().t(), d[:2])])
def test_gradients_agree_with_differences(f):
    values = torch.tensor([0.5, 1.5, 2.5, 1.0], dtype=torch.float64, requires_grad=True)
    d = (torch.arange(6.0, dtype=torch.float64).reshape(3, 2) / 3).requires_grad_()

    def dense(values, d):
        return f(matrix(values), d)

    assert torch.autograd.gradcheck(dense, (values, d))
    assert torch.autograd.gradgradcheck(dense, (values, d))


def test_a_place_outside_is_refused_without_being_asked():
    with pytest.raises(RuntimeError, match="for dim 1, size is 2 but found index 2"):
        torch.sparse_coo_tensor(PLACES, torch.ones(4), (2, 2))
    with pytest.raises(RuntimeError, match="found negative index -1 for dim 0"):
        torch.sparse_coo_tensor(-PLACES, torch.ones(4), (2, 3))


@pytest.mark.parametrize("call", [lambda s: s.exp(), lambda s: s.mean(), lambda s: torch.cumsum(s, 0), lambda s: torch.linalg.inv(s), lambda s: s.view(6),
                                  lambda s: torch.nn.functional.conv1d(s, s), lambda s: torch.einsum("ij->ji", s), lambda s: s.T.max()])
def test_what_has_no_entry_is_refused_by_name(call):
    with pytest.raises(NotImplementedError, match=r"aten::.* with arguments from the 'SparseCPU' backend"):
        call(matrix())


def test_a_graph_that_does_not_change_compiles_once():
    adjacency, d = matrix(), torch.ones(3, 2, dtype=torch.float64, requires_grad=True)

    def step():
        d.grad = None
        torch.sparse.mm(adjacency, d).pow(2).sum().backward()
        with torch.no_grad():
            d.sub_(0.1 * d.grad)
        return d.sum().item()

    for _ in range(4):
        step()
    before = torch.stats()["compiles"]
    for _ in range(5):
        step()
    assert torch.stats()["compiles"] == before


def test_csr_of_a_transpose_is_in_order():
    turned = matrix().to_sparse_csr().t()
    assert turned.crow_indices().tolist() == [0, 1, 2, 3] and turned.col_indices().tolist() == [1, 0, 1]
    assert turned.to_dense().tolist() == matrix().to_dense().t().tolist()


def test_a_write_to_one_with_a_history_is_refused():
    values = torch.ones(4, requires_grad=True)
    with pytest.raises(NotImplementedError, match="history"):
        matrix(values).mul_(2)


@pytest.mark.parametrize("first, said", [("", 1), ("torch.sparse.check_sparse_tensor_invariants.disable()", 0), ("torch.set_warn_always(True)", 2)])
def test_a_process_that_says_nothing_of_checks_is_told_once(first, said):
    program = f"""
import warnings
import torchlike_autograd as torch
{first}
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    torch.sparse_coo_tensor([[0]], [1.0], (2,), check_invariants=False)
    assert not told
    for _ in range(2):
        torch.sparse_coo_tensor([[0]], [1.0], (2,))
print(len(told), all("implicitly disabled" in str(w.message) for w in told))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=False)
    assert done.stdout.split() == [str(said), "True"], done.stderr
