"""Sparse gradients are part of the compiled step, and leave other gradients as they are."""

import torchlike_autograd as torch
from torchlike_autograd import nn


def _step(table, optimizer, rows):
    optimizer.zero_grad()
    loss = (table(rows) ** 2).sum()
    loss.backward()
    optimizer.step()
    return loss


def test_a_step_is_one_program_whatever_rows_come_twice():
    torch.manual_seed(0)
    for kind in (torch.optim.SparseAdam, torch.optim.SGD, torch.optim.Adagrad):
        table = nn.Embedding(40, 4, sparse=True)
        optimizer = kind(table.parameters(), lr=0.1)
        for turn in range(8):
            rows = torch.randint(0, 10 + 4 * turn, (16,))
            loss = _step(table, optimizer, rows)
            if turn == 4:
                loss.item()
                before = torch.stats()["compiles"]
        loss.item()
        assert torch.stats()["compiles"] == before, kind


def test_gradients_accumulate_in_place_where_the_first_was_sparse():
    w = nn.Parameter(torch.ones(3, 2))
    nn.functional.embedding(torch.tensor([1, 1]), w, sparse=True).sum().backward()
    assert w.grad.is_sparse
    (w * 2).sum().backward()
    (w * 3).sum().backward()
    assert not w.grad.is_sparse and w.grad.tolist() == [[5, 5], [7, 7], [5, 5]]


def test_dense_gradients_are_theirs_where_another_leaf_has_a_sparse_one():
    w, scale = nn.Parameter(torch.ones(3, 2)), nn.Parameter(torch.tensor(2.0))
    for _ in range(2):
        (nn.functional.embedding(torch.tensor([1, 1]), w, sparse=True) * scale).sum().backward()
    assert scale.grad.item() == 8 and w.grad.coalesce().values().tolist() == [[8, 8]]
