"""Gathers and scatters whose index is a spread vector: written by rows, with the numbers of those of single elements."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.extend.core import jaxpr_as_fun

import torchlike_autograd as torch
from sampling import sample
from torchlike_autograd._ops.places import elements, elements_added, lattice
from torchlike_autograd._ops.rows import by_rows

SHAPES = [((7, 5), (9, 5)), ((7, 5), (7, 9)), ((7, 5), (9, 3)), ((4, 6, 5), (4, 8, 5)), ((4, 6, 5), (3, 8, 5)), ((1, 5), (6, 5)), ((5, 1), (6, 1))]


def _spread(rng, have, wanted, d, kept):
    own = [n if k == d or k in kept else 1 for k, n in enumerate(wanted)]
    return rng.integers(0, have[d], own)


def _named(closed, name):
    return [e for e in closed.jaxpr.eqns if e.primitive.name == name]


@pytest.mark.parametrize(("have", "wanted"), sample(SHAPES, 2))
def test_same_numbers(have, wanted):
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal(have).astype("f"), rng.standard_normal(wanted).astype("f")
    for d in range(len(have)):
        if any(k != d and m > n for k, (n, m) in enumerate(zip(have, wanted))):
            continue
        for kept in itertools.chain.from_iterable(itertools.combinations([k for k in range(len(have)) if k != d], r) for r in range(len(have))):
            index = _spread(rng, have, wanted, d, kept)

            def both(x, i, y, d=d):
                i = jnp.broadcast_to(i, y.shape)
                found, pull = jax.vjp(lambda x: elements(x, lattice(i, d)), x)
                more, back = jax.vjp(lambda x, y: elements_added(x, lattice(i, d), y), x, y)
                return found, *pull(y), more, *back(x), x.at[lattice(i, d)].max(y, mode="clip"), x.at[lattice(i, d)].multiply(y, mode="clip")

            with jax.enable_x64(True):
                closed = jax.make_jaxpr(both)(x, index, y)
                new = by_rows(closed)
                for a, b in zip(jax.jit(jaxpr_as_fun(closed))(x, index, y), jax.jit(jaxpr_as_fun(new))(x, index, y)):
                    np.testing.assert_array_equal(a, b)
            rows = [e.params["dimension_numbers"].update_window_dims for e in _named(new, "scatter-add")]
            assert all(len(w) == len(have) - 1 - len(kept) for w in rows) if 1 not in have else rows


def test_others_stay():
    """An index that differs along each dim, one spread over what is not in its place, a program called with both."""
    rng = np.random.default_rng(0)
    x, i = rng.standard_normal((5, 4)).astype("f"), rng.integers(0, 4, (5, 4))
    taken = jax.jit(lambda x, i: elements(x, (i, i[:, ::-1])))

    def program(x, i):
        return elements(x, lattice(i, 0)), taken(x, i), taken(x, jnp.broadcast_to(i[:1], i.shape)), elements(x, (jnp.arange(5)[:, None], i[:1]))

    with jax.enable_x64(True):
        closed = jax.make_jaxpr(program)(x, i)
        new = by_rows(closed)
        for a, b in zip(jax.jit(jaxpr_as_fun(closed))(x, i), jax.jit(jaxpr_as_fun(new))(x, i)):
            np.testing.assert_array_equal(a, b)
    assert by_rows(jax.make_jaxpr(lambda x: x * 2)(x)).jaxpr.eqns[0].primitive.name == "mul"


@pytest.mark.parametrize("reduce", ["sum", "mean", "prod", "amax", "amin"])
def test_scatter_reduce_over_rows_and_elements(reduce):
    """The gradients over an expanded index are those over the same index laid out."""
    torch.manual_seed(0)
    index = torch.randint(0, 4, (9,))
    results = []
    for laid in (False, True):
        torch.manual_seed(1)
        x, y = torch.randn(4, 3, requires_grad=True), torch.randn(9, 3).round(decimals=1).requires_grad_()
        where = index[:, None].expand_as(y)
        where = torch.tensor(where.tolist()) if laid else where
        for _ in range(3):  # compiled by then
            out = x.scatter_reduce(0, where, y, reduce)
            grads = torch.autograd.grad((out * out).sum(), (x, y))
        results.append([t.tolist() for t in (out, *grads)])
    assert results[0] == results[1]


def test_an_expanded_index_is_checked_at_the_call():
    index = torch.tensor([0, 7, 1, 9])
    with pytest.raises(RuntimeError, match="index 7 is out of bounds for dimension 0 with size 5"):
        torch.zeros(5, 3).scatter_add(0, index[:, None].expand(4, 3), torch.ones(4, 3))
    with pytest.raises(RuntimeError, match="index 7 is out of bounds for dimension 0 with size 5"):
        torch.zeros(5, 3).gather(0, index.view(-1, 1).expand(4, 3))
    assert torch.zeros(5, 3).gather(0, index.view(-1, 1).expand(4, 0)).shape == (4, 0)


def test_gathers_of_known_rows_stay_apart():
    places, x = np.arange(60) // 2, np.ones((30, 200), np.float32)
    few = places[:9]
    with jax.enable_x64(True):
        closed = by_rows(jax.make_jaxpr(lambda x: jnp.take(x, jnp.asarray(places), axis=0, mode="clip") * 2)(x))
        assert "optimization_barrier" in str(closed)
        np.testing.assert_array_equal(jaxpr_as_fun(closed)(x)[0], x[places] * 2)
        assert "optimization_barrier" not in str(by_rows(jax.make_jaxpr(lambda x, i: jnp.take(x, i, axis=0, mode="clip"))(x, places)))
        assert "optimization_barrier" not in str(by_rows(jax.make_jaxpr(lambda x: jnp.take(x, jnp.asarray(few), axis=0))(x)))


@pytest.mark.filterwarnings("ignore:index_reduce")
@pytest.mark.parametrize("size", [1, 2, 3, 5, 8, 33])
def test_products_of_zeros_keep_their_sign(size):
    """As each multiplication does: -1 times 0 is -0."""
    index = torch.arange(size)
    signs = torch.where(index % 2 == 0, -1.0, 1.0)
    for out in (signs.scatter_reduce(0, index, torch.zeros(size), "prod"), signs.index_reduce(0, index, torch.zeros(size), "prod")):
        assert out.abs().sum() == 0 and torch.signbit(out).tolist() == [i % 2 == 0 for i in range(size)]


def test_complex_rows_are_added_as_they_are():
    """Elements of a vector are multiplied by alpha first, where infinity times 1 + 0j has a part that is NaN."""
    x, source, index = torch.ones(2, dtype=torch.complex64), torch.tensor([complex(float("inf"), 0.5), 1j]), torch.tensor([0, 1])
    assert str(x[:, None].index_add(0, index, source[:, None])[0].item()) == "(inf+0.5j)"
    assert all(str(out[0].item()) == "(inf+nanj)" for out in (x.index_add(0, index, source), x[:, None].index_add(0, index, source[:, None], alpha=2)[:, 0]))
