"""Functions of Tensors under JAX's transformations; JAX functions as operators; modules as pytrees; arrays in and out."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import torchlike_autograd as torch
from sampling import sample
from torchlike_autograd import interop

X = jnp.arange(6.0).reshape(2, 3) / 6
W = jnp.full((3, 4), 1 / 3)


def ours(x, w):
    """Written for Tensors, with a write in place."""
    h = torch.tanh(x @ w)
    h[0] *= 2
    return h.sum()


def theirs(x, w):
    """The same for arrays."""
    h = jnp.tanh(x @ w)
    return h.at[0].multiply(2).sum()


def close(a, b):
    """Whether two trees agree to rounding."""
    jax.tree.map(lambda x, y: np.testing.assert_allclose(x, y, rtol=2e-5, atol=1e-6), a, b)


TRANSFORMED = {
    "plain": lambda f: f(X, W), "jit": lambda f: jax.jit(f)(X, W), "grad": lambda f: jax.grad(f, (0, 1))(X, W),
    "jit_grad": lambda f: jax.jit(jax.grad(f, 1))(X, W),
    "vmap": lambda f: jax.vmap(f, (0, None))(jnp.stack([X, 2 * X]), W), "hessian": lambda f: jax.hessian(f, 1)(X, W),
    "vmap_grad": lambda f: jax.jit(jax.vmap(jax.grad(f), (0, None)))(jnp.stack([X, 2 * X]), W), "jvp": lambda f: jax.jvp(f, (X, W), (X, W)),
    "checkpoint": lambda f: jax.grad(jax.checkpoint(f))(X, W),
    "scan": lambda f: jax.lax.scan(lambda c, _: (c + 0.1 * jax.grad(f)(c, W), f(c, W)), X, None, length=3)}


@pytest.mark.parametrize("name", TRANSFORMED)
def test_a_torch_function_in_jax(name):
    close(TRANSFORMED[name](interop.as_jax_function(ours)), TRANSFORMED[name](theirs))


def test_kinks_are_torchs_in_jax_too():
    f = interop.as_jax_function(lambda x: torch.clamp(x, 0.0, 1.0).sum() + x.abs().sum())
    assert jax.grad(f)(jnp.array([0.0, 1.0, 2.0])).tolist() == [1.0, 2.0, 1.0]


def test_a_step_with_backward_and_optimizer_is_pure():
    w = torch.ones(3, requires_grad=True)

    def step(w, x):
        w = w.clone().requires_grad_()
        optimizer = torch.optim.SGD([w], lr=0.1)
        (w * x).sum().backward()
        optimizer.step()
        return w.detach()

    close(jax.jit(interop.as_jax_function(step))(jnp.ones(3), jnp.arange(3.0)), jnp.array([1.0, 0.9, 0.8]))
    assert w.tolist() == [1.0, 1.0, 1.0] and (w * 2).sum().item() == 6.0


def test_what_it_closes_over_stays_concrete():
    p = torch.nn.Parameter(torch.tensor(np.ones(3, np.float32)))
    pending = p * 2
    jax.jit(interop.as_jax_function(lambda x: x * p + pending))(jnp.ones(3))
    jax.jit(lambda x: x + interop.as_jax_function(lambda: pending + p)())(jnp.ones(3))
    assert not isinstance(p._tl_v.array, jax.core.Tracer)
    assert p.tolist() == [1.0] * 3 and pending.tolist() == [2.0] * 3


def test_results_have_jaxs_widths():
    narrow = jax.jit(interop.as_jax_function(lambda x: (x.double(), x.argmax())))(X)
    assert [str(a.dtype) for a in narrow] == ["float32", "int32"]
    with jax.enable_x64(True):
        wide = jax.jit(interop.as_jax_function(lambda x: (x.double(), x.argmax())))(X)
    assert [str(a.dtype) for a in wide] == ["float64", "int64"]


def test_jaxs_integers_are_torchs_indices():
    i = jnp.array([0, 2])
    logits = X.reshape(2, 3)
    expected = -jax.nn.log_softmax(logits)[jnp.arange(2), i].mean()
    g = interop.as_jax_function(lambda x, i: torch.nn.functional.cross_entropy(x, i))
    close(g(logits, i), expected)
    close(jax.jit(g)(logits, i), expected)


@pytest.mark.parametrize(("f", "error"), [
    (lambda x: x if x.sum() > 0 else -x, jax.errors.TracerArrayConversionError), (lambda x: x * x.sum().item(), jax.errors.TracerArrayConversionError),
    (lambda x: x + torch.randn(3), RuntimeError), (lambda x: torch.nn.functional.dropout(x), RuntimeError)])
def test_what_cannot_be_traced_says_so(f, error):
    with pytest.raises(error):
        jax.jit(interop.as_jax_function(f))(X)
    assert (torch.ones(2) + 1).tolist() == [2.0, 2.0]


def test_random_numbers_where_they_are_allowed():
    f = jax.jit(interop.as_jax_function(lambda x: x + torch.randn(3), randomness="same"))
    assert f(X).tolist() == f(X).tolist()


def test_a_jax_function_is_an_operator():
    f = interop.from_jax_function(lambda x, a: {"y": jnp.sin(x) * a, "n": 3, "i": jnp.argmax(x)})
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    out = f(x, 2.0)
    assert out["n"] == 3 and out["i"].item() == 2 and not out["i"].requires_grad and out["y"].grad_fn is not None
    first, = torch.autograd.grad(out["y"].sum(), x, create_graph=True)
    second, = torch.autograd.grad(first.sum(), x, create_graph=True)
    third, = torch.autograd.grad(second.sum(), x)
    for order, found in enumerate((first, second, third), 1):
        close(found.detach().numpy(), np.array([2 * np.sin(v + order * np.pi / 2) for v in (1.0, 2.0, 3.0)], np.float32))
    (f(x, 3.0)["y"] * x.cos()).sum().backward()
    close(x.grad.numpy(), 3 * np.cos(2 * x.detach().numpy()))


def test_a_jax_function_in_torch_func():
    f = interop.from_jax_function(lambda x: jnp.sin(x) * x[0])
    x = torch.tensor([1.0, 2.0])
    close(torch.func.vmap(f)(torch.stack([x, 2 * x])).numpy(), np.stack([np.sin(x.numpy()), np.sin(2 * x.numpy()) * 2]))
    close(torch.func.grad(lambda x: f(x).sum())(x).numpy(), np.array([np.sin(1) + np.cos(1) + np.sin(2), np.cos(2)], np.float32))
    close(torch.func.jvp(f, (x,), (torch.ones(2),))[1].numpy(), np.array([np.cos(1) + np.sin(1), np.cos(2) + np.sin(2)], np.float32))


def test_jaxs_own_derivative_rules_are_kept():
    @jax.custom_vjp
    def clipped(x):
        return x

    clipped.defvjp(lambda x: (x, None), lambda _, g: (jnp.clip(g, -0.1, 0.1),))
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    (interop.from_jax_function(clipped)(x) * 5).sum().backward()
    assert x.grad.tolist() == pytest.approx([0.1, 0.1])


def test_floats_are_runtime_numbers_and_keys_may_be_passed(counts):
    f = interop.from_jax_function(lambda k, x, a: x * a + jax.random.normal(k, x.shape))
    x, key = torch.ones(3), jax.random.key(0)
    for _ in range(10):
        f(key, x, 1.0).tolist()
    with counts() as c:
        f(key, x, 2.5).tolist()
    assert c.compiles == 0
    close(f(key, x, 2.0).numpy(), np.asarray(jax.random.normal(key, (3,))) + 2)
    wide = interop.from_jax_function(jnp.cumsum)(torch.ones(3, dtype=torch.float64))
    assert wide.dtype is torch.float64 and interop.from_jax_function(jnp.ones)((2,)).dtype is torch.float32


def test_there_and_back():
    a = jnp.arange(3.0)
    t = interop.from_jax(a, requires_grad=True)
    assert interop.to_jax(t) is a and t.is_leaf
    with torch.no_grad():
        t += 1
    assert a.tolist() == [0.0, 1.0, 2.0] and t.tolist() == [1.0, 2.0, 3.0]
    assert interop.to_jax(torch.ones(2, dtype=torch.bfloat16)).dtype == jnp.bfloat16
    assert str(interop.to_jax(torch.ones(2, dtype=torch.float64)).dtype) == "float64"
    for wrong in (lambda: interop.from_jax([1.0]), lambda: interop.to_jax(a), lambda: interop.from_jax(jax.random.key(0))):
        with pytest.raises(TypeError):
            wrong()


def test_numpy_and_dlpack():
    n = np.arange(3.0, dtype=np.float32)
    assert torch.from_numpy(n).tolist() == torch.from_dlpack(n).tolist() == torch.from_dlpack(jnp.asarray(n)).tolist() == [0.0, 1.0, 2.0]
    t = torch.arange(3.0) * 2
    assert np.from_dlpack(t).tolist() == jnp.from_dlpack(t).tolist() == np.asarray(t).tolist() == jnp.asarray(t).tolist() == [0.0, 2.0, 4.0]
    assert torch.utils.dlpack.from_dlpack(torch.utils.dlpack.to_dlpack(t)).tolist() == [0.0, 2.0, 4.0]
    assert t.__dlpack_device__() == (1, 0)


def model():
    """A small module with a buffer."""
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.BatchNorm1d(4), torch.nn.ReLU(), torch.nn.Linear(4, 1))


def test_a_module_as_a_function():
    m = model()
    x = torch.randn(5, 3)
    apply, parameters = interop.functional(m.eval())
    close(jax.jit(apply)(parameters, interop.to_jax(x)), m(x).detach().numpy())
    m(x).square().sum().backward()
    grads = jax.grad(lambda p: (apply(p, interop.to_jax(x)) ** 2).sum())(parameters)
    close(grads, {k: p.grad.numpy() for k, p in m.named_parameters()})
    apply, parameters, buffers = interop.functional(m.train(), mutable=True)
    _, new = jax.jit(apply)(parameters, buffers, interop.to_jax(x))
    before = m[1].running_mean.clone()
    m(x)
    close(new["1.running_mean"], m[1].running_mean.numpy())
    assert before.tolist() == [0.0] * 4 and int(new["1.num_batches_tracked"]) == 1


def test_a_module_as_a_pytree():
    m = model()
    tree = interop.as_pytree(m)
    x = jnp.ones((5, 3)) * jnp.arange(5.0)[:, None]
    g = jax.jit(jax.grad(lambda m, x: (m(x) ** 2).sum()))(tree, x)
    assert type(g) is type(tree) and g.parameters.keys() == dict(m.named_parameters()).keys()
    interop.load(m, jax.tree.map(lambda p, g: p - 0.1 * g, tree, g))
    close(m[0].weight.detach().numpy(), tree.parameters["0.weight"] - 0.1 * g.parameters["0.weight"])
    with pytest.raises(KeyError, match="'nothing'"):
        interop.load(m, {"nothing": x})


def test_export():
    exported = interop.export(ours, torch.ones(2, 3), torch.ones(3, 4))
    assert exported.platforms == ("cpu", "cuda", "tpu")
    close(exported.call(X, W), theirs(X, W))

    def step(w, x):
        w = w.detach().requires_grad_()
        return torch.autograd.grad(torch.tanh(x @ w).sum(), w)[0]

    exported = interop.export(step, torch.ones(3, 4, dtype=torch.float64), torch.ones(2, 3, dtype=torch.float64), platforms=("cuda", "tpu"))
    assert exported.platforms == ("cuda", "tpu") and str(exported.out_avals[0].dtype) == "float64"


class Tenfold(torch.autograd.Function):
    """A square whose gradient is ten times what it should be, so that one sees who computed it."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, g):
        return g * 20 * ctx.saved_tensors[0]


def without_graph(x):
    with torch.no_grad():
        y = x * x
    return y * x


def written_and_watched(x):
    x.mul_(2)
    y = x * 1
    if y.requires_grad:
        y.register_hook(lambda g: g * 3)
    return y.detach() * y


def gradient_of_cube(x):
    x = x.detach().requires_grad_()
    return torch.autograd.grad((x ** 3).sum(), x)[0]


CUT = {"detach": lambda x: x.detach() * x, "straight through": lambda x: x + (x.round() - x).detach(), "function": Tenfold.apply, "no_grad": without_graph,
       "data": lambda x: x.data * x, "view": lambda x: x[1:].detach().sum() * x, "hook and write": written_and_watched,
       "gradient inside": lambda x: gradient_of_cube(x) * x}


@pytest.mark.parametrize("name", sample(CUT, 4))
def test_jaxs_gradients_are_torchs_where_torch_cuts(name):
    """JAX's own derivative of what is computed sees no detach, no no_grad and no backward of a Function."""
    x = jnp.array([0.5, -1.0, 2.0])
    f = interop.as_jax_function(lambda x: CUT[name](x).sum())

    t = torch.tensor(np.asarray(x)).requires_grad_()
    (first,) = torch.autograd.grad(CUT[name](t * 1).sum(), t, create_graph=True)
    close(jax.grad(f)(x), first.detach().numpy())
    close(jax.jit(jax.grad(f))(x), first.detach().numpy())
    close(jax.vmap(jax.grad(f))(jnp.stack([x, x])), np.stack([first.detach().numpy()] * 2))
    options = {"retain_graph": True, "allow_unused": True, "materialize_grads": True}
    rows = [torch.autograd.grad(g, t, **options)[0].numpy() if first.requires_grad else np.zeros(3) for g in first]
    close(jax.jacrev(jax.grad(f))(x), np.stack(rows))


def test_forward_mode_of_what_torch_cuts_says_so():
    f = interop.as_jax_function(lambda x: x.detach() * x)
    with pytest.raises(TypeError, match="forward-mode"):
        jax.jvp(f, (X,), (X,))
    close(jax.jvp(interop.as_jax_function(lambda x: x.detach() * x, derivatives="jax"), (X,), (X,))[1], 2 * X * X)
    close(jax.jvp(interop.as_jax_function(lambda x: x * x), (X,), (X,))[1], 2 * X * X)


def test_gradients_of_complex_numbers_that_torch_cuts():
    z = jnp.array([1 + 2j])
    f = interop.as_jax_function(lambda z: (z.detach() * z * (2 + 1j)).abs().sum())
    close(jax.grad(f)(z), jax.grad(lambda z: jnp.abs(jax.lax.stop_gradient(z) * z * (2 + 1j)).sum())(z))
