"""Training steps of modules: one program each, nothing compiled after the second turn; a call of a module adds little."""

import pytest

import torchlike_autograd as torch
from torchlike_autograd._core import worth

nn = torch.nn


@pytest.fixture(autouse=True)
def credit():
    """Compiling is not held back by what other tests have spent."""
    before = worth.credit[0]
    worth.credit[0] = worth.CREDIT_START
    yield
    worth.credit[0] = before


def _step(model, loss_of, params):
    def step(i):
        loss_of(model).backward()
        with torch.no_grad():
            for p in params:
                p -= 0.1 / (1 + i) * p.grad
        model.zero_grad()

    return step


def _one_program(counts, model, loss_of, n=8):
    step = _step(model, loss_of, list(model.parameters()))
    for i in range(3):
        step(i)
    with counts() as c:
        for i in range(3, n):
            step(i)
    assert c.compiles == 0 and c.op_by_op == 0, (c.compiles, c.op_by_op)
    assert c.flushes <= n - 3 + 1, c.flushes


def test_perceptron(counts):
    x, y = torch.randn(16, 4), torch.randn(16, 1)
    model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Dropout(0.0), nn.Linear(8, 1))
    _one_program(counts, model, lambda m: nn.MSELoss()(m(x), y))


def test_dropout_draws_change_nothing(counts):
    x, y = torch.randn(16, 4), torch.randint(0, 3, (16,))
    model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Dropout(0.5), nn.Linear(8, 3))
    _one_program(counts, model, lambda m: nn.CrossEntropyLoss()(m(x), y))


def test_embedding_and_recurrent_layer(counts):
    x, y = torch.randint(0, 7, (5, 3)), torch.randn(5, 3, 4)

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.table, self.layer = nn.Embedding(7, 4), nn.LSTM(4, 4)

        def forward(self, x):
            return self.layer(self.table(x))[0]

    _one_program(counts, Net(), lambda m: ((m(x) - y) ** 2).mean())


def test_clipped_gradients(counts):
    x, y = torch.randn(16, 4), torch.randn(16, 1)
    model = nn.Linear(4, 1)

    def step(i):
        nn.functional.mse_loss(model(x), y).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 0.5)
        with torch.no_grad():
            for p in model.parameters():
                p -= 0.1 * p.grad
        model.zero_grad(set_to_none=True)

    for i in range(3):
        step(i)
    with counts() as c:
        for i in range(5):
            step(i)
    assert c.compiles == 0 and c.op_by_op == 0 and c.flushes <= 6, vars(c)


def test_converted_model_stays_one_program(counts):
    x, y = torch.randn(16, 4).double(), torch.randn(16, 1).double()
    model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1)).double()
    _one_program(counts, model, lambda m: nn.MSELoss()(m(x), y))


def test_hooks_only_where_somebody_has_one():
    calls = []

    class Net(nn.Module):
        def forward(self, x):
            return x * 2

    net, x = Net(), torch.ones(2)
    net(x)
    handle = net.register_forward_hook(lambda *a: calls.append(len(a)))
    net(x)
    handle.remove()
    net(x)
    assert calls == [3]
