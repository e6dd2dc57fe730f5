"""Loops in place of what a program repeats (`_core/turns.py`): the same values, far fewer operations, and what is left alone."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.extend.core import jaxpr_as_fun

import torchlike_autograd as torch
from sampling import sample
from torchlike_autograd._core import compiling, config, ends, execute, turns, worth
from torchlike_autograd._core.loops import parts


def _count(jaxpr):
    return sum(1 if not (inner := eqn.params.get("jaxpr")) else _count(inner.jaxpr) for eqn in jaxpr.eqns)


def _loops(jaxpr):
    return [eqn for eqn in jaxpr.eqns if eqn.primitive.name == "scan"]


def _checked(f, *args, rtol=1e-5):
    """The rolled program of f, after its results were compared with those of f."""
    closed = jax.make_jaxpr(f)(*args)
    out = turns.rolled(closed)
    leaves = jax.tree.leaves(args)
    for a, b in zip(jaxpr_as_fun(out)(*leaves), jaxpr_as_fun(closed)(*leaves), strict=True):
        assert a.dtype == b.dtype and a.shape == b.shape
        np.testing.assert_allclose(a, b, rtol=rtol, atol=1e-6)
    return closed.jaxpr, out.jaxpr


def _integrated(w, x, drive):
    total = 0.0
    for t in range(40):
        k = jnp.tanh(x @ w) + drive[t]
        x = x + 0.1 * jnp.tanh((x + 0.05 * k) @ w)
        total = total + (x**2).mean() * 0.9**t
    return total


W, X, DRIVE = (jnp.asarray(np.random.RandomState(k).randn(*shape) * 0.4, jnp.float32) for k, shape in enumerate([(4, 4), (3, 4), (40, 3, 4)]))


def test_forward_and_backward_become_loops():
    before, after = _checked(jax.value_and_grad(_integrated, (0, 1, 2)), W, X, DRIVE)
    assert [eqn.params["length"] for eqn in _loops(after)] == [40, 39]
    assert _count(after) * 5 < _count(before)


def test_second_derivatives():
    def f(w):
        return jax.grad(lambda w: _integrated(w, X, DRIVE))(w).ravel() @ W.ravel()

    before, after = _checked(jax.grad(f), W, rtol=1e-4)
    assert len(_loops(after)) >= 2 and _count(after) * 3 < _count(before)


def test_values_of_two_turns_ago():
    def f(w, x):
        before, last = x, x + 1
        for _ in range(60):
            before, last = last, last + 0.9 * (last - before) - 0.1 * (last @ w).sum(0, keepdims=True)
        return last, before

    (loop,) = _loops(_checked(f, W, X)[1])
    assert loop.params["length"] > 50


def test_each_turn_has_numbers_slices_and_results_of_its_own():
    def f(w, x, numbers):
        kept, laid = [], jnp.zeros((100, 4))
        for t in range(60):
            x = jnp.sin(x @ w * numbers[t]) + x[1:2] * t
            kept.append(x.sum(0))
            laid = laid + jnp.pad(x[:1], ((t, 99 - t), (0, 0)))
        return jnp.stack(kept[::-1]), kept[7], laid, x

    assert len(_loops(_checked(f, W, X, jnp.arange(60.0))[1])) == 1


def test_weights_of_their_own_are_stacked_while_they_are_small():
    def f(x, *weights):
        for w in weights:
            x = jnp.tanh(x @ w).sum(-1, keepdims=True) + jnp.cos(x - x.max()) * jnp.exp(-jnp.abs(x)).min()
        return x

    small = [W * k for k in range(100)]
    assert len(_loops(_checked(f, X, *small)[1])) == 1
    large = [jnp.eye(64) * k for k in range(100)]
    assert not _loops(_checked(f, jnp.ones((2, 64)), *large)[1])


def test_neighbours_that_do_not_depend_on_each_other():
    def f(*arrays):
        return [jnp.sort(a)[::-1].cumsum() + jnp.linalg.norm(a) * jnp.exp(a).prod() for a in arrays]

    _checked(f, *[X[0] + k for k in range(80)])


@pytest.mark.parametrize("odd", [0, 1, 25, 39])
def test_a_turn_that_differs_stays_outside(odd):
    def f(w, x):
        out = 0.0
        for t in range(40):
            x = 0.5 * jnp.tanh(x @ w) + 0.1 * jnp.tanh(x.sum(0, keepdims=True) * jnp.cos(x @ w.T).mean() - jnp.log1p(jnp.abs(x @ x.T)).sum())
            if t == odd:
                x = x @ jnp.linalg.inv(w) + 1
            out = out + x.sum()
        return out, x

    after = _checked(f, jnp.eye(4) + W * 0.1, X)[1]
    assert _loops(after) and sum(eqn.params["length"] for eqn in _loops(after)) >= 37


def test_chains_that_are_one_kernel_are_left_alone():
    def f(x):
        for _ in range(400):
            x = jnp.sin(x) * 1.01 + 0.1
        return x

    closed = jax.make_jaxpr(f)(X)
    assert turns.rolled(closed) is closed


def test_a_very_long_chain_is_a_loop(monkeypatch):
    monkeypatch.setattr(turns, "CHAIN", 1000)

    def chain(x):
        for _ in range(600):
            x = jnp.sin(x) - 0.5
        return x

    _, short = _checked(chain, jnp.ones(3), rtol=1e-3)
    assert _loops(short)


@pytest.mark.parametrize("turns_of_it", (8, 40))
def test_shifted_neighbours_are_a_loop(turns_of_it):
    """A stencil over a grid whose edge is laid around it anew in each turn: fused, each element would be computed several times over."""
    def heat(u, a):
        for _ in range(turns_of_it):
            near = u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1]
            u = jnp.pad(u[1:-1, 1:-1] + a * near, 1)
        return u

    def step(u, a):
        return jax.value_and_grad(lambda u, a: heat(u, a).sum(), (0, 1))(u, a)

    _, after = _checked(step, jnp.ones((8, 8)) * 0.3, jnp.full((6, 6), 0.1), rtol=1e-5)
    assert bool(_loops(after)) == (turns_of_it == 40)


@pytest.mark.parametrize("turns_of_it", (20, 100))
def test_loops_are_found_behind_the_numbers_of_their_turns(turns_of_it):
    """Each turn takes its numbers from where they come in; these stretches repeat too, with any multiple of the turn as period, and are no loops."""
    def f(x, numbers):
        taken = [[numbers[t * 12 + k] for k in range(12)] for t in range(turns_of_it)]
        for own in taken:
            y = jax.lax.dynamic_update_slice(x, jnp.sin(x[1:3]) * own[0], (2, 1))
            x = y + own[1] * x - sum(own[2:])
        return x

    _, after = _checked(f, jnp.ones((6, 5)) * 0.3, jnp.linspace(0, 1e-3, turns_of_it * 12), rtol=1e-4)
    assert _loops(after)


def test_programs_without_repetition_are_left_alone():
    random = np.random.RandomState(0)
    operators = [jnp.sin, jnp.cos, jnp.tanh, lambda x: x @ W, lambda x: x - x.mean(), lambda x: x[:, ::-1], lambda x: jnp.cumsum(x, 1)]

    def f(x):
        for k in random.randint(len(operators), size=600):
            x = operators[k](x)
        return x

    closed = jax.make_jaxpr(f)(X)
    assert turns.rolled(closed) is closed


OPERATORS = [
    lambda a, b, w: a @ w, lambda a, b, w: jnp.tanh(a) + b, lambda a, b, w: a * b, lambda a, b, w: a - b.mean(), lambda a, b, w: a + b,
    lambda a, b, w: jnp.sin(a).sum(0, keepdims=True) + b]


@pytest.mark.parametrize("seed", sample(range(8), 4))
def test_random_loops(seed, monkeypatch):
    """Loops of random operations that read random values: of this turn, of earlier ones, from outside."""
    monkeypatch.setattr(turns, "WORTH", 20)
    random = np.random.RandomState(seed)
    plan = [(random.randint(6), random.randint(8), random.randint(8), random.randint(1, 4)) for _ in range(random.randint(3, 9))]
    count, skip = random.randint(5, 20), random.randint(20)

    def f(w, x, rows):
        history, kept = [[x + k for k in range(len(plan))]] * 3, []
        for t in range(count):
            now = []
            for kind, a, b, ago in plan:
                left = now[a] if a < len(now) else history[-ago][a % len(plan)]
                right = (now[b] if b < len(now) else history[-1][b % len(plan)]) if kind % 2 else rows[t % 5 if kind == 4 else t]
                now.append(OPERATORS[kind](left, right, w))
            if t != skip:
                kept.append(now[-1][0])
            history = [*history[1:], now]
        return now, jnp.stack(kept), kept[len(kept) // 2]

    _checked(f, W, X, jnp.asarray(random.randn(20, 3, 4), jnp.float32))
    _checked(jax.grad(lambda *a: sum(v.sum() for v in f(*a)[0]) + f(*a)[1].sum(), (0, 1, 2)), W, X, jnp.asarray(random.randn(20, 3, 4), jnp.float32), rtol=1e-3)


def test_an_unrolled_training_step_is_compiled_as_loops(monkeypatch):
    made = []
    monkeypatch.setattr(compiling, "rolled", lambda closed: made.append(turns.rolled(closed)) or made[-1])

    def losses():
        torch.manual_seed(0)
        cell, head = torch.nn.LSTMCell(3, 4), torch.nn.Linear(4, 3)
        parameters = [*cell.parameters(), *head.parameters()]
        optimizer, out = torch.optim.SGD(parameters, 0.1), []
        for _ in range(5):
            x, h, c, loss = torch.randn(2, 3), torch.zeros(2, 4), torch.zeros(2, 4), 0
            for t in range(30):
                h, c = cell(x, (h, c))
                x = head(h)
                loss = loss + (x - t / 30).pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            out.append(loss.item())
        return out, [p.detach().numpy() for p in parameters]

    execute.clear_caches()
    with monkeypatch.context() as m:
        m.setattr(worth, "waits", lambda program: False)
        compiled = losses()
    assert any(len(_loops(closed.jaxpr)) >= 2 for closed in made)
    execute.clear_caches()
    with monkeypatch.context() as m:
        m.setattr(worth, "waits", lambda program: True)
        alone = losses()
    np.testing.assert_allclose(compiled[0], alone[0], rtol=1e-5)
    for a, b in zip(compiled[1], alone[1]):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-6)


def test_keys_of_random_numbers_are_carried():
    def f(key, x):
        for _ in range(60):
            key, own = jax.random.split(key)
            x = jnp.tanh(x + jax.random.normal(own, x.shape).sum() * x.sum())
        return x, jax.random.key_data(key)

    _checked(f, jax.random.key(0), X)


def test_what_only_the_last_turn_gives_is_not_stored():
    def f(w, x):
        for _ in range(100):
            y = jnp.tanh(x @ w) + x.mean()
            x = y - 0.1 * jnp.sin(y @ w)
        return x, y

    (loop,) = _loops(_checked(f, W, X)[1])
    assert all(v.aval.shape == X.shape for v in loop.outvars)


def _flushes(loop):
    execute.flush()
    before = execute.stats["flushes"]
    loop()
    execute.flush()
    return execute.stats["flushes"] - before


def test_a_loop_that_is_differentiated_may_be_longer_than_a_record(monkeypatch):
    monkeypatch.setattr(ends, "_LOOK", 64)
    torch.manual_seed(0)
    w, x = torch.randn(3, 3, requires_grad=True), torch.randn(2, 3)

    def turn(y):
        return torch.tanh(y @ w) + 0.5 * y

    def differentiated():
        y = x
        for _ in range(200):
            y = turn(y)
        return y

    def uneven():
        y = x
        for k in range(200):
            y = turn(y)
            if bin(k).count("1") % 2:
                y = y.sin()
        return y

    limit = config.get("record_limit")
    config.set("record_limit", 300)
    try:
        assert _flushes(differentiated) == 1
        assert _flushes(uneven) > 2
        with torch.no_grad():
            assert _flushes(differentiated) > 2
        config.set("record_limit", 64)
        assert _flushes(differentiated) == 2  # 8 times as much at most
    finally:
        config.set("record_limit", limit)


def _bytes(jaxpr):
    return sum(v.aval.size * v.aval.dtype.itemsize for loop in _loops(jaxpr) for v in loop.outvars)


def test_a_buffer_that_is_read_in_the_end_is_not_stored_for_each_turn():
    def f(rows):
        out, s = jnp.zeros((100, 500)), rows[0]
        for t in range(100):
            s = jnp.tanh(s + rows[t] * s.sum() * 0.01)
            out = out.at[t].set(s)
        return out

    _, after = _checked(f, jnp.asarray(np.random.RandomState(0).randn(100, 500) * 0.1, jnp.float32))
    assert len(_loops(after)) == 1
    assert _bytes(after) < 2 * 100 * 500 * 4


def test_the_last_turns_of_a_longer_recurrence_are_carried_out():
    def f(x):
        a, b, c = x, 2 * x, 3 * x
        for _ in range(120):
            a, b, c = b, c, jnp.tanh(a @ W + b.sum() * 0.1)
        return a, b, c

    _, after = _checked(f, X)
    (loop,) = _loops(after)
    assert parts(loop)[1] == len(loop.outvars)


def test_a_loop_that_would_store_much_that_nobody_reads_stays_as_it_is():
    def f(x):
        seen = None
        for t in range(120):
            x = jnp.tanh(x @ x * 0.01 + x.sum() * 1e-4)
            seen = x if t == 60 else seen
        return x, seen

    assert not _loops(_checked(f, jnp.ones((200, 200), jnp.float32) * 0.1)[1])


def test_what_is_read_in_the_last_turn_only_is_carried_out_though_no_turn_reads_it_from_the_one_before():
    def f(x):
        for _ in range(120):
            y = x @ x * 0.01
            x = jnp.tanh(y + x.sum() * 1e-4)
        return y, x

    (loop,) = _loops(_checked(f, jnp.ones((200, 200), jnp.float32) * 0.1)[1])
    assert parts(loop)[1] == len(loop.outvars)
