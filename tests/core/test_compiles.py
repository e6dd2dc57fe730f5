"""Keys describe structure, never data: what compiles, and how often (counted, not timed)."""

import random

import numpy as np
import pytest

import torchlike_autograd as torch
from torchlike_autograd._core import config, execute, worth

pytestmark = pytest.mark.usefixtures("credit")


def _params(*shapes):
    rng = np.random.default_rng(0)
    return [torch.tensor(rng.standard_normal(s).astype(np.float32) * 0.3, requires_grad=True) for s in shapes]


def _mlp(ps, x):
    w1, b1, w2, b2 = ps
    return torch.tanh(x @ w1 + b1) @ w2 + b2


def _data(n=256):
    rng = np.random.default_rng(1)
    return torch.tensor(rng.standard_normal((n, 4)).astype(np.float32)), torch.tensor(rng.standard_normal((n, 1)).astype(np.float32))


def _loop(counts, step, n=12, warm=2, expected=0):
    for i in range(warm):
        step(i)
    with counts() as c:
        for i in range(warm, n):
            step(i)
    assert c.compiles == expected and c.op_by_op == 0, (c.compiles, c.op_by_op)
    return c


def _sgd(ps, lr):
    with torch.no_grad():
        for p in ps:
            p -= lr * p.grad
            p.grad = None


def test_decaying_learning_rate(counts):
    ps, (x, y) = _params((4, 8), (8,), (8, 1), (1,)), _data()

    def step(i):
        ((_mlp(ps, x) - y) ** 2).mean().backward()
        _sgd(ps, 0.1 / (1 + i))

    assert _loop(counts, step).flushes == 10


def test_moving_slice(counts):
    ps, (x, y) = _params((4, 8), (8,), (8, 1), (1,)), _data()

    def step(i):
        k = 16 * (i % 16)
        ((_mlp(ps, x[k:k + 16]) - y[k:k + 16]) ** 2).mean().backward()
        _sgd(ps, 0.1)

    _loop(counts, step)


def test_adam_step_count(counts):
    ps, (x, y) = _params((4, 8), (8,), (8, 1), (1,)), _data()
    m, v = [torch.zeros_like(p) for p in ps], [torch.zeros_like(p) for p in ps]

    def step(i):
        ((_mlp(ps, x) - y) ** 2).mean().backward()
        t = i + 1
        with torch.no_grad():
            for p, a, b in zip(ps, m, v):
                g = p.grad
                a.mul_(0.9).add_(g, alpha=0.1)
                b.mul_(0.999).addcmul_(g, g, value=0.001)
                p -= 0.01 * (a / (1 - 0.9**t)) / ((b / (1 - 0.999**t)).sqrt() + 1e-8)
                p.grad.zero_()

    _loop(counts, step, warm=2)


def test_unrolled_index(counts):
    w, u = _params((3, 5), (5, 5))
    xs = torch.tensor(np.random.default_rng(2).standard_normal((6, 2, 3)).astype(np.float32))

    def step(i):
        h = torch.zeros(2, 5)
        for t in range(6):
            h = torch.tanh(xs[t] @ w + h @ u)
        h.sum().backward()
        _sgd([w, u], 0.01)

    _loop(counts, step)


def test_train_and_eval_alternate(counts):
    ps, (x, y) = _params((4, 8), (8,), (8, 1), (1,)), _data()

    def step(i):
        ((_mlp(ps, x) - y) ** 2).mean().backward()
        _sgd(ps, 0.1)
        with torch.no_grad():
            ((_mlp(ps, x) - y) ** 2).mean().item()

    _loop(counts, step)


def test_loss_read_before_backward(counts):
    ps, (x, y) = _params((4, 8), (8,), (8, 1), (1,)), _data()

    def step(i):
        loss = ((_mlp(ps, x) - y) ** 2).mean()
        loss.item()
        loss.backward()
        _sgd(ps, 0.1 / (i + 1))

    _loop(counts, step)


def test_gradient_accumulation(counts):
    ps, (x, y) = _params((4, 8), (8,), (8, 1), (1,)), _data()

    def step(i):
        for k in range(4):
            ((_mlp(ps, x[k * 8:k * 8 + 8]) - y[k * 8:k * 8 + 8]) ** 2).mean().backward()
        _sgd(ps, 0.1)

    _loop(counts, step)


def test_print_every_tenth(counts):
    ps, (x, y) = _params((4, 8), (8,), (8, 1), (1,)), _data()

    def step(i):
        loss = ((_mlp(ps, x) - y) ** 2).mean()
        if i % 10 == 9:
            str(loss)
        loss.backward()
        _sgd(ps, 0.1)

    with counts() as c:
        for i in range(12):
            step(i)
    first = c.compiles
    with counts() as c:
        for i in range(12, 38):
            step(i)
    assert c.compiles == 0, (first, c.compiles)


def test_batches_drawn_with_repetitions_are_one_structure(counts):
    """A replay buffer: states come twice in a batch, and the next state of one step is the state of another."""
    ps, rng = _params((4, 8), (8,), (8, 1), (1,)), np.random.default_rng(2)
    states = [torch.tensor(rng.standard_normal(4).astype(np.float32)) for _ in range(6)]

    def step(i):
        picked = rng.integers(0, 5, 8)
        now, then = torch.stack([states[k] for k in picked]), torch.stack([states[k + 1] for k in picked])
        with torch.no_grad():
            target = _mlp(ps, then)
        for p in ps:
            p.grad = None
        ((_mlp(ps, now) - target) ** 2).mean().backward()
        _sgd(ps, 0.01)
        x = np.stack([np.asarray(states[k]) for k in picked])
        assert np.array_equal(now.numpy(), x)

    _loop(counts, step)


@pytest.mark.parametrize("join", ("stack", "cat"))
def test_a_sample_of_data_is_joined_before_it_comes_into_a_program(join):
    from torchlike_autograd._core import record

    mean, var = torch.zeros(3), torch.ones(3)
    with torch.autocast("cpu"), torch.autograd.set_multithreading_enabled(False), torch.autograd.set_detect_anomaly(True):  # leave notes in the thread
        torch.ones(2, requires_grad=True).sum().backward()
    for call in (torch.func.grad(lambda x: torch.nn.functional.batch_norm(x, mean, var, training=True).sum()), torch.nn.BatchNorm1d(3)):
        call(torch.ones(4, 3))
    data = [torch.tensor([[float(k), 1.0]]) for k in range(20)]
    expected = getattr(np, {"stack": "stack", "cat": "concatenate"}[join])([x.numpy() for x in data], -1)
    record.flush()
    out = getattr(torch, join)(data, -1)
    assert not record.thread.state.tape.values, record.thread.state.extra
    assert out.grad_fn is None and not out.is_inference()
    assert out.dtype is torch.float32 and np.array_equal(out.numpy(), expected)
    with torch.inference_mode():
        assert getattr(torch, join)(data, -1).is_inference()
    data[3].add_(1)
    assert getattr(torch, join)(data, -1).sum() == expected.sum() + 2  # pending data is recorded
    data[4].requires_grad_()
    made = getattr(torch, join)(data, -1)
    made.sum().backward()
    assert made.requires_grad and data[4].grad.tolist() == [[1.0, 1.0]]
    for dim in (5, -5):
        with pytest.raises(IndexError, match="Dimension out of range"):
            getattr(torch, join)(data[5:], dim)
    mapped = torch.func.vmap(lambda x: getattr(torch, join)([x] * 17))(torch.ones(3, 2))
    assert mapped.shape[0] == 3 and mapped.sum() == 3 * 2 * 17


def test_same_structure_same_prefix_and_any_edit_another():
    from torchlike_autograd._core import record

    def prefix(f):
        for _ in range(2):  # what came once is forgotten
            record.flush()
            x = torch.ones(3)
            f(x)
            out = record.thread.state.tape.prefix
            record.flush()
        return out

    assert prefix(lambda x: x * 2.0 + 1.0) is prefix(lambda x: x * 3.0 + 7.0)
    base = prefix(lambda x: x * 2.0 + 1.0)
    assert base is not prefix(lambda x: x * 2 + 1.0)
    assert base is not prefix(lambda x: x + 2.0 + 1.0)
    assert base is not prefix(lambda x: x.double() * 2.0 + 1.0)


def test_what_is_no_training_step_waits_until_compiling_pays(counts, monkeypatch):
    table = torch.zeros(7, 7)

    def fill(n):
        for i in range(n):
            table[i, 6 - i] += i
        return table.sum().item()

    with counts() as c:
        assert fill(5) == 10.0
    assert (c.compiles, c.op_by_op) == (0, 1)
    with counts() as c:
        assert fill(5) == 20.0
    assert (c.compiles, c.op_by_op) == (0, 1)
    monkeypatch.setattr(worth, "spent", [1e-3, 1e12])
    with counts() as c:
        assert fill(5) == 30.0
        assert fill(5) == 40.0
    assert (c.compiles, c.hits) == (1, 1)


def test_what_is_called_a_few_times_has_the_same_digits(counts):
    """A saved and a loaded model are compared bit for bit: what NumPy and what XLA computes differs in the last one."""
    net, x = torch.nn.Sequential(torch.nn.Linear(20, 64), torch.nn.Tanh(), torch.nn.Linear(64, 5), torch.nn.Softmax(-1)), torch.randn(8, 20)
    with torch.no_grad(), counts() as c:
        first, *others = [net(x).numpy() for _ in range(5)]
    assert (c.compiles, c.op_by_op) == (0, 5)
    assert all((first == y).all() for y in others)


@pytest.mark.parametrize("dear", (False, True))
def test_new_structures_cannot_spend_what_a_few_hits_earn(counts, monkeypatch, dear):
    """A stream of structures that never repeat, with a repeated one in between, is not compiled again and again; that one is when it has paid for it."""
    monkeypatch.setattr(worth, "spent", [1e9, 1] if dear else [1e-3, 1e12])  # what compiling is taken to cost
    w = torch.tensor([0.5, 0.25], requires_grad=True)

    def once(shape):
        y = w
        for bit in shape:
            y = y * w if bit else y + w
        y.sum().backward()
        assert w.grad.tolist()
        w.grad = None

    worth.credit[0] = 0
    with counts() as c:
        for i in range(60):
            once([int(b) for b in f"{i:07b}"])
            once([1, 1, 1])
    if dear:
        assert (c.compiles, c.op_by_op) == (0, 120)
    else:
        assert 1 <= c.compiles <= 1 + c.hits // worth.COMPILE, (c.compiles, c.hits)  # the one that repeats, and what its hits pay for
        assert c.op_by_op == 60 + 2 - (c.compiles - 1)


def test_gradients_outside_loops_are_not_compiled_line_by_line(counts, credit):
    """A script that takes many different gradients once each, as a tutorial or a test does; in a loop they are."""
    known = {"w": torch.tensor([0.5, 0.25], requires_grad=True), "grad": torch.autograd.grad, "grads": []}
    lines = [f"grads.append(grad(({' * '.join(['w'] * (n + 2))}).sum(), w)[0].tolist())" for n in range(23)]
    with counts() as c:
        exec(compile("\n".join(lines[:20]), "script.py", "exec"), known)
    assert known["grads"][3] == [5 * 0.5**4, 5 * 0.25**4]
    assert (c.compiles, c.op_by_op) == (0, 20)
    with counts() as c:
        exec(compile("\n".join(["for _ in range(1):", *[f"    {line}" for line in lines[20:]]]), "loop.py", "exec"), known)
    assert (c.compiles, c.op_by_op) == (3, 0)
    assert known["grads"][22] == [24 * 0.5**23, 24 * 0.25**23]


def test_a_loop_in_text_without_a_file_is_a_loop(counts, credit):
    known = {"w": torch.tensor([0.5, 0.25], requires_grad=True), "grad": torch.autograd.grad}
    with counts() as c:
        exec(compile("for _ in range(3):\n    grad((w * w).sum(), w)[0].tolist()", "<string>", "exec"), known)
    assert (c.compiles, c.op_by_op) == (1, 0)


def test_a_variant_that_comes_now_and_then_is_not_compiled(counts):
    """Steps that print and hold their gradients meanwhile: what repeats is compiled in two turns, another loss too, a step that is looked
    at every tenth time is not.
    """
    w, x = torch.randn(4, 1, requires_grad=True), torch.randn(8, 4)

    def step(look, power=2):
        w.grad = None
        loss = (x @ w).tanh().pow(power).mean()
        loss.backward()
        with torch.no_grad():
            w.sub_(w.grad, alpha=0.1)
        return loss.item() if look else None

    for _ in range(2):
        step(False)
    with counts() as c:
        for i in range(1, 55):
            step(i % 10 == 0)
    assert (c.compiles, c.op_by_op) == (0, 5)
    with counts() as c:
        for _ in range(10):
            step(True)
    assert (c.compiles, c.op_by_op) == (1, 1)  # now they come one after the other
    with counts() as c:
        for _ in range(10):
            step(True, 4)
    assert (c.compiles, c.op_by_op) == (1, 0)


def test_many_structures_that_only_look_are_compiled_when_that_pays(counts, monkeypatch):
    """Structures without a backward pass are compiled when their runs took as long as compiling will."""
    w = torch.ones(3)
    for cost, compiles in ((1e9, 0), (0.0, 20)):
        monkeypatch.setattr(worth, "spent", [cost, 1 if cost else 1e12])
        with counts() as c:
            for _ in range(3):
                for n in range(20):
                    assert (torch.cat([w] * (n + 1)) * 2 + cost).sum().item() > 0
        assert c.compiles == compiles
        assert c.compiles + c.op_by_op + c.hits == 60
        execute.clear_caches()


def test_an_operator_that_the_host_lacks_is_compiled_by_itself(counts):
    """Sizes that grow, as those of kept keys and values do: one operator without a function of NumPy does not compile each of these programs."""
    with counts() as c:
        for n in range(4, 16):
            x = torch.arange(n, dtype=torch.float64)
            for _ in range(20):
                x = x.sin() * 2
            assert torch.digamma(x).abs().sum().item() > 0
    assert (c.compiles, c.op_by_op) == (0, 12)


def test_episodes_of_any_length_are_not_compiled_each(counts):
    """A place whose programs never run again runs new ones op by op, whatever they are part of; one that is hit is trusted again."""
    w = torch.ones(4, requires_grad=True)

    def episode(n):
        logs = []
        for t in range(n):
            p = torch.softmax(w * (t + 1), 0)
            p.max().item()
            logs.append(torch.log(p[0]) * t)
        torch.stack(logs).sum().backward()
        with torch.no_grad():
            w.sub_(0.01 * w.grad)
        w.grad = None
        return w.sum().item()

    lengths = [3, 4, 5, 6, 7, 8, 9]
    first = [episode(n) for n in lengths]
    with torch.no_grad():
        w.fill_(1)
    np.testing.assert_allclose([episode(n) for n in lengths], first, rtol=1e-5)
    with counts() as c:
        for n in lengths:
            episode(n + 20)
    assert c.compiles <= 2
    assert c.op_by_op >= 5


def test_structures_that_alternate_at_random_are_seldom_compiled(counts, monkeypatch):
    """Where most structures are new and some come again now and then, a place compiles a few of them, not one after the other."""
    monkeypatch.setattr(worth, "spent", [1e9, 1])  # what compiling is taken to cost
    w, source = torch.tensor([0.5, 0.25], requires_grad=True), random.Random(0)

    def once(shape):
        y = w
        for bit in f"{shape:011b}":
            y = y * w if bit == "1" else y + w
        y.sum().backward()
        w.grad = None
        return y.sum().item()

    with counts() as c:
        for _ in range(1500):
            once(source.randrange(60 if source.random() < 0.3 else 2000))
    assert c.compiles <= 10
    assert c.compiles + c.op_by_op + c.hits >= 1500


def _lengths(w, lengths):
    """A training step at each length."""
    for n in lengths:
        loss = (torch.exp(torch.ones(n, 2) * w) * n).mean()
        loss.backward()
        with torch.no_grad():
            w.sub_(0.0001 * w.grad)
        w.grad = None
        assert loss.item() > 0


def test_sequences_of_many_lengths_are_compiled_once(counts):
    """Lengths that come again now and then, never often enough to earn a program each: the first turn is compiled, as any loop's."""
    w, source = torch.tensor([0.5, 0.25], requires_grad=True), random.Random(0)
    with counts() as c:
        _lengths(w, [source.randint(3, 60) for _ in range(150)])
    assert (c.compiles, c.compiles + c.hits + c.op_by_op) == (1, 150)


def test_lengths_that_take_turns_are_compiled_each(counts):
    """A few lengths, and one that stays after many."""
    w, source = torch.tensor([0.5, 0.25], requires_grad=True), random.Random(0)
    with counts() as c:
        _lengths(w, [5, 6, 7] * 6)
    assert c.compiles == 3
    assert c.op_by_op <= 8
    _lengths(w, [source.randint(20, 80) for _ in range(60)])
    with counts() as c:
        _lengths(w, [9] * 8)
    assert c.compiles == 1
    assert c.op_by_op <= 3


@pytest.mark.parametrize("turns", (61, 64))
def test_a_loop_without_gradients_is_cut_into_whole_turns(counts, turns):
    """Of a record that is full what comes before whole turns is a program, then some turns together are one each time, what is left in the end is the last."""
    torch.manual_seed(0)
    weights = [torch.randn(3, 3, 3, requires_grad=True) for _ in range(12)]

    def roll(x):
        for i in range(turns):
            y = x * (1 + i / turns)
            for w in weights:
                y = torch.tanh(torch.nn.functional.conv1d(y, w, padding=1))
            x = x - 0.1 * y
        return x

    before = config.get("record_limit")
    config.set("record_limit", 300)
    try:
        with torch.no_grad(), counts() as c:
            out = roll(torch.ones(1, 3, 8))
            assert out.shape == (1, 3, 8)
            assert out.sum().item()
    finally:
        config.set("record_limit", before)
    assert c.compiles <= 4, c.compiles
    assert c.hits >= turns // 5 - 4


def test_a_loop_whose_first_turns_are_others_is_compiled(counts):
    """The first turn has no gradients yet, the second no zeros to fill: both are compiled in vain, at the line that looks at every turn."""
    ps, (x, y) = _params((4, 8), (8,), (8, 1), (1,)), _data()

    def step(i):
        loss = ((_mlp(ps, x[i * 8 : i * 8 + 8]) - y[i * 8 : i * 8 + 8]) ** 2).mean()
        assert loss.item() > 0
        loss.backward()
        with torch.no_grad():
            for p in ps:
                p -= 0.01 / (1 + i) * p.grad
                p.grad.zero_()

    _loop(counts, step, warm=6)


def test_numbers_that_change_and_numbers_that_stay():
    """What was sent to the device for one run is not taken for another's numbers, zeros of both signs included."""
    w = torch.ones(3)
    for k in (0.5, 0.5, 0.5, -0.0, 0.0, 0.5, 0.25, 0.25, float("nan"), 3.0, 3.0, 3.0):
        out = w * k
        assert repr(out[1].item()) == repr(k)


def test_setting_up_is_no_part_of_the_first_step(counts):
    """The first step of a network has the structure of all others: one program is compiled for training, none for filling parameters."""
    with counts() as c:
        torch.manual_seed(0)
        net = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.LayerNorm(8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
        for p in net.parameters():
            torch.nn.init.uniform_(p, -0.5, 0.5)
        optimizer = torch.optim.AdamW(net.parameters())
        x = torch.rand(16, 4)
        for _ in range(4):
            optimizer.zero_grad()
            net(x).pow(2).mean().backward()
            optimizer.step()
        optimizer.zero_grad()  # else the last program gives the gradients too
    assert c.compiles == 1


def test_sequences_of_many_lengths_are_not_compiled_each(counts):
    """Names of four to ten letters: after four lengths, each further one runs op by op until it has earned its program."""
    w, start = torch.full((3, 3), 0.1, requires_grad=True), torch.ones(3)
    lengths = random.Random(0)

    def step():
        h = start
        for _ in range(lengths.randint(4, 10)):
            h = torch.tanh(h @ w)
        h.sum().backward()
        with torch.no_grad():
            w.sub_(0.01 * w.grad)
        w.grad = None
        return w.sum().item()

    with counts() as c:
        for _ in range(60):
            step()
    assert c.compiles <= 5
    for _ in range(20):  # one length from now on: it is compiled soon
        lengths = random.Random(7)
        step()
    with counts() as c:
        for _ in range(5):
            lengths = random.Random(7)
            step()
    assert (c.compiles, c.op_by_op) == (0, 0)


def test_a_second_length_is_no_reason_to_compile(counts):
    """The same calls with other sizes, at the place of a program that has not run again: they are compiled when a size comes back."""
    w = torch.ones(4, requires_grad=True)
    for n, expected in ((5, (1, 0)), (6, (0, 1)), (7, (0, 1)), (8, (0, 1)), (8, (1, 0)), (8, (0, 0))):
        with counts() as c:
            w.grad = None
            loss = (torch.ones(n, 4) @ w).sin().sum()
            loss.backward()
            with torch.no_grad():
                w -= 0.1 * w.grad
            assert abs(loss.item()) <= n
        assert (c.compiles, c.op_by_op) == expected, n


def test_what_is_compiled_and_hardly_runs_makes_compiling_dearer():
    w, x = torch.full((4, 4), 0.1, requires_grad=True), torch.ones(3, 4)
    execute.clear_caches()
    prices = []
    for n in range(1, 5):
        worth.credit[0] = worth.CREDIT_MAX
        for _ in range(3):  # at first sight in a loop; the others are hits
            h = x
            for _ in range(n):
                h = torch.tanh(h @ w)
            h.sum().backward()
            w.grad = None
        w.sum().item()
        prices.append(worth._price() // worth.COMPILE)
    compiled = [p for p in execute._programs.values() if p.compiled is not None]
    assert prices[-1] == 1 << max(min(len(compiled), 4) - 2, 0) > 1
    for p in compiled:
        p.runs = worth.REPEATED
    assert worth._price() == worth.COMPILE
