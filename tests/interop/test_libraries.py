"""Parts of JAX's libraries inside a loop written for torch, where they are installed."""

import contextlib
import importlib

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import torchlike_autograd as torch
from torchlike_autograd import interop


@pytest.fixture(scope="module", autouse=True)
def loaded():
    """Import them before any test's state is noted: they install finders of modules."""
    for name in ("optax", "flax.linen", "equinox"):
        with contextlib.suppress(ImportError):
            importlib.import_module(name)


@pytest.fixture(autouse=True)
def usual_promotion():
    """The libraries are not written for JAX's strict modes."""
    with jax.numpy_dtype_promotion("standard"), jax.numpy_rank_promotion("allow"):
        yield


def data():
    """Inputs and targets of a small regression."""
    torch.manual_seed(0)
    x = torch.randn(32, 4)
    return x, x.sum(1, keepdim=True).sin()


def falls(losses):
    """Whether training went anywhere."""
    return losses[-1] < 0.5 * losses[0]


def test_optax_updates_a_torch_module():
    optax = pytest.importorskip("optax")
    x, y = data()
    net = torch.nn.Sequential(torch.nn.Linear(4, 16), torch.nn.Tanh(), torch.nn.Linear(16, 1))
    parameters = dict(net.named_parameters())
    optimizer = optax.adam(1e-2)
    state, losses = optimizer.init({k: interop.to_jax(p) for k, p in parameters.items()}), []
    for _ in range(60):
        loss = torch.nn.functional.mse_loss(net(x), y)
        net.zero_grad()
        loss.backward()
        updates, state = optimizer.update({k: interop.to_jax(p.grad) for k, p in parameters.items()}, state)
        interop.load(net, optax.apply_updates({k: interop.to_jax(p) for k, p in parameters.items()}, updates))
        losses.append(loss.item())
    assert falls(losses)


def test_optax_in_one_jitted_step():
    optax = pytest.importorskip("optax")
    x, y = map(interop.to_jax, data())
    tree = interop.as_pytree(torch.nn.Sequential(torch.nn.Linear(4, 16), torch.nn.Tanh(), torch.nn.Linear(16, 1)))
    optimizer = optax.adam(1e-2)

    @jax.jit
    def step(tree, state):
        loss, grads = jax.value_and_grad(lambda m: ((m(x) - y) ** 2).mean())(tree)
        updates, state = optimizer.update(grads, state)
        return optax.apply_updates(tree, updates), state, loss

    state, losses = optimizer.init(tree), []
    for _ in range(60):
        tree, state, loss = step(tree, state)
        losses.append(float(loss))
    assert falls(losses)


def test_a_flax_layer_in_a_torch_loop():
    linen = pytest.importorskip("flax.linen")
    x, y = data()
    layer = linen.Dense(16)
    start = layer.init(jax.random.key(0), interop.to_jax(x))["params"]
    own = {k: interop.from_jax(a, requires_grad=True) for k, a in start.items()}
    dense = interop.from_jax_function(lambda p, x: layer.apply({"params": p}, x))
    head = torch.nn.Linear(16, 1)
    optimizer = torch.optim.Adam([*own.values(), *head.parameters()], lr=1e-2)
    losses = []
    for _ in range(60):
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(head(torch.tanh(dense(own, x))), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert falls(losses)
    assert all(p.grad is not None for p in own.values())


def test_an_equinox_module_in_a_torch_loop():
    eqx = pytest.importorskip("equinox")
    x, y = data()
    arrays, rest = eqx.partition(eqx.nn.MLP(4, 1, 16, 1, activation=jnp.tanh, key=jax.random.key(0)), eqx.is_array)
    leaves, tree = jax.tree.flatten(arrays)
    own = [interop.from_jax(a, requires_grad=True) for a in leaves]
    call = interop.from_jax_function(lambda leaves, x: jax.vmap(eqx.combine(jax.tree.unflatten(tree, leaves), rest))(x))
    optimizer = torch.optim.Adam(own, lr=1e-2)
    losses = []
    for _ in range(60):
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(call(own, x), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert falls(losses)
    assert np.isfinite(losses).all()
