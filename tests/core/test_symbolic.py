"""Programs written from symbolic ones: what JAX would trace, for sizes that were not seen, and for those where it would do something else."""

import gc
import random
import weakref

import jax
import numpy as np
import pytest

import torchlike_autograd as torch
from sampling import sample
from torchlike_autograd._core import execute, host, host_sizes
from torchlike_autograd._ops import spec, symbolic
from torchlike_autograd._ops.sizes import Relation, can, noting
from torchlike_autograd._ops.written import writer_of

F = torch.nn.functional


@pytest.fixture
def traces(monkeypatch):
    """How many operators and gradients JAX traces."""
    count = [0]

    def counted(f):
        def call(*args, **kwargs):
            count[0] += 1
            return f(*args, **kwargs)

        return call

    monkeypatch.setattr(symbolic, "traced", counted(symbolic.traced))
    monkeypatch.setattr(spec, "traced", counted(spec.traced))
    return count


def _layer(n, seed):
    """What a layer of attention and of a graph network computes, with its gradients."""
    torch.manual_seed(seed)
    w = [torch.randn(6, 6, requires_grad=True) for _ in range(3)]
    x = torch.randn(2, n, 6, requires_grad=True)
    q, k, v = (F.linear(x, p).view(2, n, 2, 3).transpose(1, 2) for p in w)
    y = F.layer_norm((torch.softmax(q @ k.transpose(-1, -2) / 3**0.5, -1) @ v).transpose(1, 2).reshape(2, n, 6) + x, (6,))
    rows = torch.arange(2 * n + 1) % n
    picked = torch.relu(y[0][rows]).index_add(0, rows[: n], y[1]) if n == 1 else torch.relu(y[0][rows])
    summed = torch.zeros(n, 6).index_add(0, rows, picked)
    parts = torch.cat([summed, y[1]], 0).split(n)
    loss = (parts[0] * parts[1]).mean(0).pow(2).sum() + y.mean() + y.var(1).sum()
    (g,) = torch.autograd.grad(loss, x, create_graph=True)
    (g * g).sum().backward()
    return [t.detach().numpy() for t in (y, loss, g, x.grad, w[0].grad)]


def test_sizes_that_were_not_seen_compute_what_tracing_gives(traces, monkeypatch):
    """Values and gradients of two orders are the same to the bit as when each size is traced, and hardly anything is traced."""
    lengths = sample(random.Random(1).sample(range(2, 60), 24), 2)
    written = {n: _layer(n, n) for n in lengths}
    before = traces[0]
    written |= {n: _layer(n, n) for n in (61, 62)}
    assert traces[0] - before < 40
    _forget()
    monkeypatch.setattr(symbolic, "_family_of", lambda form: (None, ()))
    before = traces[0]
    for n, results in written.items():
        for a, b in zip(results, _layer(n, n)):
            np.testing.assert_array_equal(a, b)
    assert traces[0] - before > 100 * len(written)


def _forget():
    """Forget all Forms."""
    for s in list(spec.SPECS):
        s.forms.clear()
        s.op.families.clear() if hasattr(s.op, "families") else None
    execute.clear_caches()


def test_relations():
    """Sizes that stay, factors, products and what is a little more; None where sizes below 2 change."""
    r = Relation.of((8, 5, 32, 40, 6, 25), (8, 7, 32, 56, 8, 49))
    assert r.terms == [8, (1, 0, 0), 32, (8, 0, 0), (1, 0, 1), ((1, 0, 0), (1, 0, 0))]
    assert r.values((8, 11, 32, 88, 12, 121)) == (11,)
    assert r.values((8, 11, 32, 88, 13, 121)) is None
    assert r.values((9, 11, 32, 88, 12, 121)) is None
    assert r.values((8, 1, 32, 8, 2, 1)) is None
    assert Relation.of((1, 3), (2, 4)) is None
    assert Relation.of((2, 3), (2, 3)) is None
    two = Relation.of((4, 9), (5, 7))
    assert two.values((6, 8)) == (6, 8)
    assert two.values((6, 6)) is None


def test_equalities_that_jax_denies_are_asked_of_the_sizes():
    """A function that does something else where sizes happen to be equal is not written for these."""
    r = Relation.of((4, 9), (5, 7))
    (a, b), x = r.symbols, np.float32

    def f(x):
        n, m = x.shape
        return x * 2 if n * 2 == m or n - 3 == 0 else x

    with noting(r):
        closed = jax.make_jaxpr(f)(jax.ShapeDtypeStruct((a, b), x))
    assert (a == b, len(closed.jaxpr.eqns)) == (False, 0)
    assert r.values((6, 9)) == (6, 9)
    assert r.values((6, 12)) is None
    assert r.values((3, 9)) is None


def test_a_program_that_is_not_the_traced_one_is_not_used():
    """The factor is another for each size: what is written from symbols differs from what JAX traces."""
    r = Relation.of((4,), (5,))
    types = [jax.ShapeDtypeStruct((n,), np.float32) for n in (4, 5, r.symbols[0])]

    def made(f):
        with noting(r):
            return [jax.make_jaxpr(f)(t) for t in types]

    four, five, symbolic = made(lambda x: x + x.shape[0])
    writer = writer_of(r, symbolic, [((4,), four), ((5,), five)])
    assert str(writer((9,))) == str(jax.make_jaxpr(lambda x: x + x.shape[0])(jax.ShapeDtypeStruct((9,), np.float32)))
    other = jax.make_jaxpr(lambda x: x + 7)(types[1])
    assert writer_of(r, symbolic, [((4,), four), ((5,), other)]) is None


@pytest.mark.parametrize("op, seen, shapes", [
    ("_einsum_view", lambda n: [(n, n + 26), (n + 26, 2 * n + 50), (2 * n + 50, 3 * n + 70)], [(40, 30), (30, 41), (41, 2)]),
    ("_bilinear", lambda n: [(n, n + 1), (n, n + 1), (2, n + 1, n + 1)], [(2, 3), (2, 3), (2, 3, 3)])])
def test_several_factors_are_multiplied_in_the_order_of_their_sizes(op, seen, shapes):
    """JAX orders three factors by their sizes, and symbolic ones as if all were alike."""
    def product(shapes):
        xs = [torch.ones(s) for s in shapes]
        return torch.einsum("ij,jk,kl->il", *xs) if op == "_einsum_view" else F.bilinear(*xs)

    for n in range(4, 12):
        product(seen(n))
    product(shapes)
    (form,) = [f for s in list(spec.SPECS) if s.op.name == op for avals, f in s.forms.items() if [a.shape for a in avals] == shapes]
    assert str(form.closed) == str(symbolic.traced(form.apply, *map(symbolic.abstract, form.avals)))


def test_this_jax_tells_sizes():
    """What is taken for granted of JAX holds for the versions that are tested; elsewhere all sizes are traced."""
    assert can()
    kind = type(jax.export.symbolic_shape("a")[0])
    assert "noted" not in kind.__eq__.__name__
    assert "__bool__" not in vars(kind)


def test_errors_are_those_of_the_sizes():
    """Sizes that do not fit are refused in torch's words, however many fitted."""
    w = torch.randn(3, 4)
    for n in range(2, 12):
        assert (torch.randn(n, 3) @ w).shape == (n, 4)
    with pytest.raises(RuntimeError, match=r"mat1 and mat2 shapes cannot be multiplied \(12x5 and 3x4\)"):
        torch.randn(12, 5) @ w
    for n in range(2, 12):
        assert torch.randn(n, 6).view(2 * n, 3).shape == (2 * n, 3)
    with pytest.raises(RuntimeError, match=r"shape '\[26, 3\]' is invalid for input of size 72"):
        torch.randn(12, 6).view(26, 3)


def test_nothing_is_held_by_what_was_tried(monkeypatch):
    """Errors that JAX meets with symbolic sizes, and catches, keep no frames: a tensor of the caller's dies with its last name."""
    tries = []
    monkeypatch.setattr(symbolic, "_symbolic", lambda *args, f=symbolic._symbolic: tries.append(0) or f(*args))

    def grown(n):
        x = torch.zeros(n, 7)
        x.copy_(torch.ones(n, 7))
        return weakref.ref(x)

    gc.collect()
    gc.disable()
    try:
        assert [grown(n)() for n in range(101, 116)] == [None] * 15
    finally:
        gc.enable()
    assert tries


def test_what_only_small_sizes_would_deny_is_not_asked_of_large_ones(monkeypatch):
    """The first try, with symbols of at least 2, denied what is true of an example and then met an order that JAX cannot tell; the second denies nothing."""
    traced_at = symbolic._traced_at

    def at(form, relation):
        if relation.least == 2:
            relation.deny(relation.symbols[0], 53)
            raise jax.errors.InconclusiveDimensionOperation("")
        return traced_at(form, relation)

    monkeypatch.setattr(symbolic, "_traced_at", at)
    _forget()
    for n in range(50, 60):
        x = torch.arange(float(n), requires_grad=True)
        x.sin().sum().backward()
        assert torch.equal(x.grad, x.detach().cos())


def test_host_functions_are_compiled_once_for_all_sizes(monkeypatch):
    """A step of a new size compiles nothing for the host; what it runs is what compiling the program that is written for its sizes gives."""
    compiled, compared = [], []
    program_function, of_sizes = host.program_function, host_sizes.OfSizes.__call__

    def both(self, values):
        run, plain = of_sizes(self, values), program_function(self.sizes(values))
        assert run is not None

        def compare(*arrays):
            out = run(*arrays)
            for a, b in zip(out, plain(*arrays), strict=True):
                assert a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
            compared.append(self)
            return out

        return compare

    _forget()
    [_layer(n, n) for n in range(2, 12)]
    monkeypatch.setattr(host_sizes, "program_function", lambda closed: compiled.append(closed) or program_function(closed))
    monkeypatch.setattr(host_sizes.OfSizes, "__call__", both)
    [_layer(n, n) for n in (13, 15, 19)]
    assert len(compared) > 100 and len(compiled) * 20 < len(compared)


def test_arrays_of_new_sizes_are_let_go_after_their_last_use():
    """Whether memory is worth that depends on the sizes; the text, which is the same for all, lets go of it in any case."""
    _forget()
    for n in (3, 4, 5, 6, 7, 300, 8):
        x = torch.full((n, 100), 2.0, requires_grad=True)
        (x.exp() * x).sum().backward()
        x.softmax(1).sum().item()
        np.testing.assert_allclose(x.grad.numpy(), np.full((n, 100), 3 * np.exp(2.0)), rtol=1e-6)
    texts = [f.at[0].host.text for s in spec.SPECS for f in s.forms.values() if f.spec.op.name == "_softmax" and f.at and f.at[0].host]
    assert texts and all("".join(text.lines).count("del ") == len(text.lines) - 1 > 0 for text in texts)  # all but the result


def test_programs_that_were_written_are_let_go(traces):
    """What runs on the host keeps no program; who asks gets it written again, the same and not traced."""
    def step(n):
        x = torch.arange(float(n * 3)).view(n, 3).requires_grad_()
        (x.exp() * x).sum(0).softmax(0).prod().backward()
        return x.grad

    def forms():
        return {f for s in spec.SPECS for f in s.forms.values() if isinstance(f, spec.Form) and f.at is not None and f.at[0].writer is not None}

    _forget()
    [step(n) for n in range(2, 12)]
    gone = [f for f in forms() if f._closed is None]
    assert gone
    before = traces[0]
    texts = [str(f.closed) for f in gone]
    assert traces[0] == before
    for f, text in zip(gone, texts):
        assert [tuple(a.shape) for a in f.closed.in_avals] == [a.shape for a in f.avals] and text
        f._closed = None
        assert str(f.closed) == text


def test_what_was_let_go_is_written_by_what_wrote_it_first():
    """A written program is the example of a second symbolic one, which cannot be written: it still comes from the first."""
    _forget()
    for rows, columns, picked in ((3, 3, 3), (7, 7, 7), (4, 4, 4), (4, 4, 16), (4, 5, 20)):
        places = torch.arange(picked)
        x = torch.zeros(rows, columns, dtype=torch.float64)
        assert x[places % rows, places % columns].shape == (picked,)
    for form in [f for s in list(spec.SPECS) for f in s.forms.values() if s.op.name == "_index"]:
        symbolic.let_go(form)
        assert form.closed.jaxpr.outvars[0].aval.shape == form.out_avals[0].shape
