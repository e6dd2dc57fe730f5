"""An optimizer's step belongs to the program of the training step: nothing is looked at, nothing compiles again, whatever its numbers do."""

import numpy as np
import pytest

import torchlike_autograd as torch
from sampling import sample
from torchlike_autograd._core import execute, record, worth


@pytest.fixture(autouse=True)
def credit():
    """Compiling is not held back by what other tests have spent."""
    before = worth.credit[0]
    worth.credit[0] = worth.CREDIT_START
    yield
    worth.credit[0] = before


def _model(n=2):
    rng = np.random.default_rng(0)
    shapes = [(4, 8), (8,), (8, 1), (1,)] * n
    return [torch.nn.Parameter(torch.tensor(rng.standard_normal(s).astype(np.float32) * 0.3)) for s in shapes[:4]]


def _loss(ps):
    rng = np.random.default_rng(1)
    x, y = [torch.tensor(rng.standard_normal(s).astype(np.float32)) for s in ((16, 4), (16, 1))]

    def loss():
        w1, b1, w2, b2 = ps
        return ((torch.tanh(x @ w1 + b1) @ w2 + b2 - y) ** 2).mean()

    return loss


KINDS = {
    "SGD": [{"lr": 0.1}, {"lr": 0.1, "momentum": 0.9, "dampening": 0.1, "weight_decay": 0.01}], "Adam": [{}, {"amsgrad": True}], "AdamW": [{}], "Adamax": [{}],
    "NAdam": [{}], "RAdam": [{}], "Adagrad": [{}], "Adadelta": [{}], "RMSprop": [{}, {"momentum": 0.9, "centered": True}], "Rprop": [{}], "ASGD": [{"t0": 3}],
    "Adafactor": [{}]}


@pytest.mark.parametrize(("name", "options"), sample([(k, o) for k, all_ in KINDS.items() for o in all_], 3))
def test_one_program_a_step_and_no_compile_after_the_second(counts, name, options):
    ps = _model()
    loss, opt = _loss(ps), getattr(torch.optim, name)(ps, **options)
    scheduler = torch.optim.lr_scheduler.ExponentialLR(opt, 0.9)

    def step():
        opt.zero_grad()
        loss().backward()
        tape, n = record.thread.state.tape, execute.stats["flushes"]
        opt.step()
        assert record.thread.state.tape is tape and execute.stats["flushes"] == n  # nothing ran inside
        scheduler.step()

    with counts() as first:
        step()
        step()
    assert first.compiles <= 2, first.compiles
    with counts() as c:
        for _ in range(10):
            step()
    assert (c.compiles, c.op_by_op, c.flushes) == (0, 0, 10)


def test_the_first_step_has_the_structure_of_all_others(counts):
    """States begin as plain data, so that starting costs one compile."""
    execute.clear_caches()  # what another loop has compiled would be shared
    ps = _model()
    loss, opt = _loss(ps), torch.optim.Adam(ps)
    with counts() as c:
        for _ in range(3):
            loss().backward()
            opt.step()
            opt.zero_grad()
    assert c.compiles == 1


def test_the_loss_may_be_read_in_every_step(counts):
    ps = _model()
    loss, opt = _loss(ps), torch.optim.Adam(ps, lr=0.05)
    seen = []

    def step():
        opt.zero_grad()
        now = loss()
        now.backward()
        opt.step()
        seen.append(now.item())

    step()
    step()
    with counts() as c:
        for _ in range(8):
            step()
    assert (c.compiles, c.op_by_op, c.flushes) == (0, 0, 8)
    assert seen[-1] < seen[0]


def test_step_counts_that_advance_together_are_one_value():
    ps = _model()
    loss, opt = _loss(ps), torch.optim.Adam(ps)
    for _ in range(3):
        opt.zero_grad()
        loss().backward()
        opt.step()
    steps = [opt.state[p]["step"] for p in ps]
    assert len({id(t) for t in steps}) == 4 and len({id(t._tl_v) for t in steps}) == 1
    steps[0].fill_(7.0)  # one of them alone
    assert [t.item() for t in steps] == [7.0, 3.0, 3.0, 3.0]
    loss().backward()
    opt.step()
    assert [t.item() for t in steps] == [8.0, 4.0, 4.0, 4.0]


def test_a_parameter_that_sits_out(counts):
    """Which parameters have gradients is structure; each pattern compiles once."""
    ps = _model()
    loss, opt = _loss(ps), torch.optim.Adam(ps)
    for i in range(6):
        opt.zero_grad()
        loss().backward()
        if i % 2:
            ps[3].grad = None
        opt.step()
    assert [opt.state[p]["step"].item() for p in ps] == [6.0, 6.0, 6.0, 3.0]


def test_accumulating_and_clipping_stay_one_program(counts):
    ps = _model()
    loss, opt = _loss(ps), torch.optim.SGD(ps, lr=0.1, momentum=0.9)

    def step():
        opt.zero_grad(set_to_none=False)
        loss().backward()
        loss().backward()
        with torch.no_grad():
            norm = torch.linalg.vector_norm(torch.stack([torch.linalg.vector_norm(p.grad) for p in ps]))
            for p in ps:
                p.grad.mul_(torch.clamp(1.0 / (norm + 1e-6), max=1.0))
        opt.step()

    for _ in range(2):  # the first step after a look begins with the zeros of its gradients
        with counts():
            for _ in range(3):
                step()
    with counts() as c:
        for _ in range(6):
            step()
    assert (c.compiles, c.op_by_op) == (0, 0)
