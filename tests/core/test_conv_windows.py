"""Convolutions written as sums over windows give what XLA's own give, forwards and in both gradients; and a step with them holds no slow one."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from jax.extend.core import jaxpr_as_fun

import torchlike_autograd as torch
from sampling import sample
from torchlike_autograd._core import compiling
from torchlike_autograd._ops import conv_windows

# x, w, strides, padding, dilation of w, of x, groups, ways of the forward pass, the gradient of x and that of w
CASES = {
    "depthwise": ((2, 6, 7, 5), (6, 1, 3, 3), (1, 1), [(1, 1), (1, 1)], (1, 1), (1, 1), 6, ("taps", "taps", "results")),
    "strided": ((2, 6, 7, 5), (12, 2, 3, 2), (2, 1), [(1, 0), (0, 2)], (1, 2), (1, 1), 3, ("taps", "taps", "results")),
    "cropped": ((3, 10, 9), (10, 5, 2), (3,), [(-1, 2)], (2,), (1,), 2, ("taps", "taps", "results")),
    "volume": ((2, 3, 5, 4, 6), (4, 3, 2, 3, 2), (1, 2, 1), [(1, 1), (0, 1), (1, 0)], (1, 1, 2), (1, 1, 1), 1, ("taps", "taps_spread", "results")),
    "with holes": ((2, 3, 6, 5), (4, 3, 3, 2), (1, 1), [(1, 2), (1, 1)], (1, 1), (2, 3), 1, ("taps_spread", "taps", "swapped")),
    "holes and groups": ((2, 4, 5), (6, 2, 3), (1,), [(2, 1)], (1,), (2,), 2, ("taps", "taps", "results")),
    "plain": ((2, 3, 6, 5), (4, 3, 3, 2), (2, 1), [(1, 2), (1, 1)], (1, 1), (1, 1), 1, ("taps", "taps_spread", "results")),
    "of steps": ((2, 4, 9, 8), (3, 4, 2, 3), (1, 2), [(-1, 2), (3, -2)], (3, 2), (1, 1), 1, ("taps", "taps_spread", "results")),
    "with holes and many taps": ((1, 2, 15, 15), (2, 2, 12, 12), (1, 1), [(0, 0), (0, 0)], (1, 1), (2, 2), 1, ("taps_spread", None, "swapped")),
    "of one element": ((3, 4, 5, 6), (2, 4, 1, 1), (2, 3), [(0, 0), (1, 0)], (1, 1), (1, 1), 1, ("taps", "taps_spread", "results")),
    "smaller than the kernel": ((2, 4, 2), (5, 4, 3), (1,), [(1, 1)], (1,), (1,), 1, ("results", "taps_spread", "taps")),
    "much smaller than the kernel": ((3, 4, 3, 3), (5, 4, 9, 8), (1, 1), [(7, 7), (6, 6)], (1, 1), (1, 1), 1, ("swapped", "results", "swapped")),
    "large": ((4, 5, 13, 12), (6, 5, 12, 12), (1, 1), [(0, 0), (0, 1)], (1, 1), (1, 1), 1, ("results", "swapped", "taps")),
}


def _ways(closed):
    return [way[0].__name__.removeprefix("_").removeprefix("over_").removesuffix("_side_by_side") if (way := conv_windows._way(e)) else None
            for e in closed.jaxpr.eqns if e.primitive.name == "conv_general_dilated"]


@pytest.fixture
def always(monkeypatch):
    for name in ("FEW_LARGE", "FEW_TAPS", "FEW_PRODUCTS"):
        monkeypatch.setattr(conv_windows, name, 0)


@pytest.mark.parametrize("together", (True, False))
@pytest.mark.parametrize("name", sample(CASES, 4))
def test_windows_give_what_the_convolution_gives(name, together, always, monkeypatch):
    if not together:
        monkeypatch.setattr(conv_windows, "TOGETHER", 0)
    xs, ws, strides, padding, steps, holes, groups, expected = CASES[name]
    source = np.random.default_rng(0)
    with jax.enable_x64(True):
        x, w = source.standard_normal(xs), source.standard_normal(ws)

        def conv(x, w):
            return lax.conv_general_dilated(x, w, strides, padding, lhs_dilation=holes, rhs_dilation=steps, feature_group_count=groups)

        g = source.standard_normal(jax.eval_shape(conv, x, w).shape)
        programs = [conv, lambda x, w: jax.vjp(lambda x: conv(x, w), x)[1](g)[0], lambda x, w: jax.vjp(lambda w: conv(x, w), w)[1](g)[0]]
        for f, way in zip(programs, expected, strict=True):
            closed = jax.make_jaxpr(f)(x, w)
            assert _ways(closed)[-1] == ("taps" if way == "taps_spread" and len(xs) == 5 and not together else way)
            new = conv_windows.suited(closed)
            assert (new is closed) == (not any(_ways(closed)))
            if way != "swapped":
                assert not any(_ways(new))
            np.testing.assert_allclose(*[jax.jit(jaxpr_as_fun(c))(x, w)[0] for c in (new, closed)], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", sample([name for name, case in CASES.items() if case[6] == 1], 4))
@pytest.mark.parametrize("way", (conv_windows._taps_side_by_side, conv_windows._results_side_by_side, conv_windows._taps_spread))
def test_each_way_of_one_group_gives_what_the_convolution_gives(way, name):
    xs, ws, strides, padding, steps, holes, _, _ = CASES[name]
    if way is conv_windows._taps_spread:
        strides = (1,) * len(strides)
    source = np.random.default_rng(0)
    with jax.enable_x64(True):
        x, w = source.standard_normal(xs), source.standard_normal(ws)
        closed = jax.make_jaxpr(lambda x, w: lax.conv_general_dilated(x, w, strides, padding, lhs_dilation=holes, rhs_dilation=steps))(x, w)
        new = way(conv_windows._shape_of(closed.jaxpr.eqns[-1]), x, w)
        np.testing.assert_allclose(new, jaxpr_as_fun(closed)(x, w)[0], rtol=1e-12, atol=1e-12)


def test_the_weight_of_a_depthwise_convolution_of_small_images():
    """Its gradient has groups of the batch, for which XLA takes some 100 ns a product, however few the taps."""
    x, w = np.ones((8, 256, 2, 2), np.float32), np.ones((256, 1, 5, 5), np.float32)

    def conv(w):
        return lax.conv_general_dilated(x, w, (1, 1), [(2, 2), (2, 2)], feature_group_count=256)

    assert _ways(jax.make_jaxpr(lambda w: jax.vjp(conv, w)[1](x)[0])(w))[-1] == "taps"


def test_programs_inside_programs_are_written_anew(always):
    x, w = np.ones((4, 2, 4, 8), np.float32), np.arange(24, dtype=np.float32).reshape(4, 1, 6)

    @jax.jit
    def inner(c, x):
        return c + lax.conv_general_dilated(x, w, (1,), [(0, 0)], feature_group_count=4).sum(), None

    def f(x):
        return lax.scan(inner, jnp.float32(0), x)[0]

    closed = jax.make_jaxpr(f)(x)
    new = conv_windows.suited(closed)
    assert "conv_general_dilated" in str(closed)
    assert "conv_general_dilated" not in str(new)
    np.testing.assert_allclose(jaxpr_as_fun(new)(x)[0], jaxpr_as_fun(closed)(x)[0])


def test_gradients_of_each_sample_and_a_step_of_a_depthwise_net(always, credit, monkeypatch):
    """Through `vmap` the weights of each sample make groups: what is compiled holds no grouped convolution."""
    compiled = []
    monkeypatch.setattr(compiling, "suited", lambda closed: compiled.append(conv_windows.suited(closed)) or compiled[-1])
    torch.manual_seed(0)
    net = torch.nn.Conv2d(8, 8, 3, groups=8)
    x = torch.randn(6, 8, 14, 14)

    def loss(p, x):
        return (torch.func.functional_call(net, p, (x[None],)) ** 2).sum()

    each = torch.func.vmap(torch.func.grad(loss), (None, 0))(dict(net.named_parameters()), x)["weight"]
    (net(x) ** 2).sum().backward()
    torch.testing.assert_close(each.sum(0), net.weight.grad, rtol=1e-4, atol=1e-3)
    net.zero_grad()
    for _ in range(3):  # compiled by now
        (net(x) ** 2).sum().backward()
        assert net.weight.grad.sum().item()
    assert compiled
    assert "feature_group_count=8" not in "".join(map(str, compiled))
