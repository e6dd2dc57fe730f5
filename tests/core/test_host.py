"""The host runs a traced operator as XLA runs it: primitive by primitive, also where indices do not fit and floats are no numbers."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

from torchlike_autograd._core import host_indexed, host_threads
from torchlike_autograd._core.host import program_function

RNG = np.random.default_rng(0)
X = RNG.standard_normal((5, 4)).astype(np.float32)
V = RNG.standard_normal((3, 4)).astype(np.float32)
W = RNG.standard_normal((4, 4)).astype(np.float32) * 0.3
OUT = np.array([-7, 4, 9], np.int64)  # -7 and 9 lie outside
TWICE = np.array([1, 4, 1], np.int64)
ODD = np.array([0.0, -0.0, 2.5, -1.0, np.inf, -np.inf, np.nan, 3e38, -2.0, 1e-30], np.float32)
BATCHED = RNG.integers(0, 4, (5, 2))


def _steps(x, v):
    h, hs = lax.scan(lambda h, a: (jnp.tanh(h @ W + a), h.sum()), x, v)
    return h, hs


def _gradient(x, v):
    return jax.grad(lambda x, v: lax.scan(lambda h, a: (jnp.tanh(h @ W + a), h[0]), x, v, reverse=True)[1].sum(), (0, 1))(x, v)


@jax.custom_batching.custom_vmap
def _mapped(x):
    return jnp.sin(x) + 1


@_mapped.def_vmap
def _(size, batched, x):
    return jnp.sin(x) + 1, True


def _windows(mode):
    numbers = lax.ScatterDimensionNumbers(update_window_dims=(1, 2), inserted_window_dims=(), scatter_dims_to_operand_dims=(0, 1))
    starts = np.array([[0, 1], [4, 2], [3, 3], [-1, 0]])
    return lambda x, u: lax.scatter_add(x, starts, u, numbers, mode=mode)


def _convolved(gradients=False, **options):
    """A convolution of two images of six channels (or its gradients), with what those of XLA need: dilated inputs, negative padding, other orders of dims."""

    def f(x, k):
        return lax.conv_general_dilated(x, k, precision=lax.Precision.HIGHEST, **options)

    return jax.grad(lambda x, k: jnp.sin(f(x, k)).sum(), (0, 1)) if gradients else f


IMAGES = RNG.standard_normal((2, 6, 7, 5))
KERNELS = {groups: RNG.standard_normal((12, 6 // groups, 3, 2)) * 0.2 for groups in (1, 2, 6)}
LINES = RNG.standard_normal((3, 9, 4)) * (1 + 0.5j)

CASES = {
    "unsigned_division": (lambda x, y: x.astype(jnp.uint32) // y.astype(jnp.uint32), np.array([7, 9, 5]), np.array([2, 0, 5])),
    "convolution": (_convolved(window_strides=(2, 1), padding=((1, 0), (2, 1)), rhs_dilation=(1, 2)), IMAGES, KERNELS[1]),
    "convolution_padded_less": (_convolved(window_strides=(1, 1), padding=((-1, 2), (0, -2)), lhs_dilation=(2, 3)), IMAGES, KERNELS[1]),
    "convolution_in_groups": (_convolved(window_strides=(1, 2), padding="SAME", feature_group_count=2), IMAGES, KERNELS[2]),
    "convolution_of_each": (_convolved(True, window_strides=(1, 2), padding="SAME", feature_group_count=6), IMAGES, KERNELS[6]),
    "convolution_gradients": (_convolved(True, window_strides=(2, 1), padding=((1, 0), (2, 1)), rhs_dilation=(1, 2)), IMAGES, KERNELS[1]),
    "convolution_gradients_in_groups": (_convolved(True, window_strides=(1, 2), padding=((2, 1), (0, 0)), feature_group_count=2), IMAGES, KERNELS[2]),
    "convolution_of_batches": (_convolved(window_strides=(1, 1), padding="VALID", batch_group_count=2), IMAGES, KERNELS[1]),
    "convolution_of_lines": (_convolved(window_strides=(2,), padding=((1, 1),), dimension_numbers=("NWC", "WIO", "NWC")), LINES, LINES[:, :4, :3] * 0.1),
    "take": (lambda x: jnp.take(x, OUT, axis=0, mode="clip"), X),
    "take_fill": (lambda x: x.at[OUT].get(mode="fill"), X),
    "take_fill_value": (lambda x: x.at[:, OUT].get(mode="fill", fill_value=-3.0), X),
    "take_ints_fill": (lambda x: x.at[OUT].get(mode="fill"), np.arange(5)),
    "take_along": (lambda x: jnp.take_along_axis(x, BATCHED, 1), X),
    "vmapped_gather": (jax.vmap(lambda x, i: x[i]), X, BATCHED),
    "add": (lambda x, v: x.at[TWICE].add(v), X, V),
    "add_outside": (lambda x, v: x.at[OUT].add(v), X, V),
    "add_clip": (lambda x, v: x.at[OUT].add(v, mode="clip"), X, V),
    "add_transposed": (lambda x, v: x.T.at[np.array([1, 3, 1, -9, 7])].add(v), X, RNG.standard_normal((5, 5)).astype(np.float32)),
    "add_rows_of_rows": (lambda x, v: x.at[BATCHED[:2]].add(v), X, RNG.standard_normal((2, 2, 4)).astype(np.float32)),
    "add_outside_of_volumes": (lambda x, v: x.at[OUT].multiply(v), RNG.standard_normal((5, 2, 3)), RNG.standard_normal((3, 2, 3))),
    "add_rows_without_columns": (lambda x, v: x.at[TWICE].add(v), X[:, :0], V[:, :0]),
    "choose_of_many": (lambda x, y: (jnp.where(x > 0, x, y), jnp.where(x > 0, 0.0, y), jnp.where(x < 1, x, -0.0), jnp.where(x != x, 1.5, y.T.reshape(x.shape))),
                       np.resize(ODD, (90, 50)), np.resize(ODD[::-1], (90, 50))),
    "choose_of_many_kinds": (lambda x: [jnp.where(x > 3, x.astype(t), jnp.asarray(-1, t)) for t in (np.int8, np.int64, np.float16, np.float64, np.complex64)],
                             np.arange(5000) % 7),
    "take_rows_of_rows": (lambda x: x.at[BATCHED].get(mode="fill", fill_value=7.0), X[:3]),
    "take_columns_of_volumes": (lambda x: x.at[:, BATCHED].get(mode="clip"), RNG.standard_normal((2, 3, 4))),
    "take_nothing": (lambda x: x[OUT[:0]], X),
    "set": (lambda x, v: x.at[np.array([1, 4, 0])].set(v), X, V),
    "set_columns": (lambda x: x.at[:, np.array([3, 0])].set(2.0), X),
    "mul": (lambda x, v: x.at[TWICE].multiply(v), X, V),
    "min": (lambda x, v: x.at[TWICE].min(v), X, V),
    "max": (lambda x, v: x.at[TWICE].max(v), X, V),
    "vmapped_scatter": (jax.vmap(lambda x, i, v: x.at[i].add(v)), X, BATCHED, RNG.standard_normal((5, 2)).astype(np.float32)),
    "windows_dropped": (_windows("drop"), X, RNG.standard_normal((4, 2, 2)).astype(np.float32)),
    "windows_moved": (_windows("clip"), X, RNG.standard_normal((4, 2, 2)).astype(np.float32)),
    "gradient_of_take": (jax.grad(lambda x: jnp.sin(x[TWICE]).sum()), X),
    "scan": (_steps, X[0], V),
    "scan_backward": (_gradient, X[0], V),
    "scan_of_nothing": (_steps, X[0], V[:0]),
    "cond": (lambda x: lax.switch(jnp.argmax(x[0]) % 3, [jnp.sin, jnp.cos, jnp.exp], x), X),
    "while": (lambda x, v: lax.while_loop(lambda s: (s[0].sum() < v[0, 0] + 50), lambda s: (s[0] + jnp.abs(v[0]) + 1, s[1] + 1), (x, 0)), X[0], V),
    "while_of_nothing": (lambda x: lax.while_loop(lambda a: a[0] > 1e9, jnp.sin, x), X[0]),
    "searchsorted": (lambda x: [jnp.searchsorted(jnp.sort(x), x[::-1], side=side) for side in ("left", "right")], ODD),
    "total_order": (lambda x: (lax.lt_to_p.bind(x, x[::-1]), lax.le_to_p.bind(x, x[::-1]), lax.lt_to_p.bind(x, -x)), ODD),
    "mapped_its_own_way": (_mapped, X),
    "top_k": (lambda x: lax.top_k(jnp.concatenate([x, -x]), 15), ODD),
    "top_k_of_columns": (lambda x: lax.top_k(x, 3, axis=0), X),
    "top_k_of_equals": (lambda x: lax.top_k(x, 4), np.array([3, 1, 2, 2, 3])),
    "sort": (lambda x: lax.sort((x, jnp.arange(x.size)), num_keys=1), ODD),
    "sort_columns": (lambda x: jnp.sort(x, 0), X),
    "pad": (lambda x: lax.pad(x, np.float32(7), ((1, 2, 1), (0, 1, 0))), X),
    "pad_less": (lambda x: lax.pad(x, np.float32(7), ((-1, 2, 2), (3, -2, 0))), X),
    "pad_least": (lambda x: lax.pad(x, np.float32(7), ((-2, -2, 0), (-1, -3, 1))), X),
    "to_int32": (lambda x: x.astype(jnp.int32), ODD),
    "to_int64": (lambda x: x.astype(jnp.int64), ODD.astype(np.float64) * 1e10),
    "to_uint8": (lambda x: x.astype(jnp.uint8), ODD),
    "tile": (lambda x: jnp.tile(x, (2, 3)), X),
    "unstack": (lambda x: jnp.unstack(x, axis=1), X),
    "bits": (lambda x: (lax.bitcast_convert_type(x, jnp.int32) >> 3) ^ (lax.bitcast_convert_type(x, jnp.int32) << 2), ODD),
    "lgamma": (lax.lgamma, ODD),
    "erf": (lambda x: (lax.erf(x), lax.erfc(x)), ODD),
    "sums_of_many": (lambda x: (x.sum(0), x.sum((0, 1))), RNG.random((300, 2, 700), np.float32)),
    "cholesky": (lax.linalg.cholesky, np.stack([W @ W.T + np.eye(4, dtype=np.float32), -np.eye(4, dtype=np.float32)])),
    "cholesky_of_complex": (lambda a: lax.linalg.cholesky(a @ a.conj().T + np.eye(4, dtype=a.dtype)), W + 1j * W.T),
    "triangular_solve": (lambda a, b: [lax.linalg.triangular_solve(a + 2 * np.eye(4, dtype=a.dtype), b, left_side=left, lower=lower, transpose_a=t,
                                                                   conjugate_a=c, unit_diagonal=unit)
                                       for left in (0, 1) for lower in (0, 1) for t in (0, 1) for c in (0, 1) for unit in (0, 1)], W + 1j * W.T, 1j * W[::-1]),
    "lu": (lax.linalg.lu, np.stack([W, W.T, W * 0])),
    "solve": (jnp.linalg.solve, W, X.T),
    "gradient_of_solve": (jax.grad(lambda a, b: jnp.linalg.solve(a, b).sum(), (0, 1)), W, X.T),
    "inverse_and_determinant": (lambda a: (jnp.linalg.inv(a), jnp.linalg.det(a)), np.stack([W, W.T])),
    "qr": (lambda a: (jnp.linalg.qr(a), jnp.linalg.qr(a.T), jnp.linalg.qr(a, mode="complete")), X),
    "qr_with_pivots": (lambda a: lax.linalg.qr(a, pivoting=True), X + 1j * X[::-1]),
    "householder_product": (lambda a: lax.linalg.householder_product(a, a[0] / 8), X),
    "eigh": (lambda a: (jnp.linalg.eigh(a + a.T), lax.linalg.eigh(a + jnp.inf)), W.astype(np.float64)),
    "svd": (lambda a: (jnp.linalg.svd(a), jnp.linalg.svd(a, full_matrices=False), jnp.linalg.svd(a * jnp.nan, compute_uv=False)), X.astype(np.float64)),
    "singular_values": (jax.grad(lambda a: jnp.linalg.svd(a, compute_uv=False).sum()), X),
    "fft": (lambda x: (jnp.fft.fft(x), jnp.fft.ifft2(x), jnp.fft.rfft(x, axis=0), jnp.fft.irfft(lax.complex(x, -x))), X),
    "platform": (lambda x: lax.platform_dependent(x, tpu=jnp.cos, cpu=jnp.sin, default=jnp.exp), X),
}


@pytest.mark.parametrize("name", CASES)
def test_host_and_xla_agree(name):
    f, *args = CASES[name]
    with jax.enable_x64(True):
        closed = jax.make_jaxpr(f)(*args)
        expected = jax.tree.leaves(jax.jit(f)(*args))
    run = program_function(closed)
    assert run is not None, closed
    with np.errstate(all="ignore"):
        seen = run(*args)
    assert [np.dtype(a.dtype) for a in seen] == [np.dtype(a.dtype) for a in expected]
    for a, b in zip(seen, expected, strict=True):
        np.testing.assert_allclose(a, np.asarray(b), rtol=2e-6, atol=1e-7)


def test_the_inverse_of_erf_has_the_digits_of_its_precision():
    x = np.linspace(-0.999, 0.999, 101).astype(np.float32)
    with jax.enable_x64(True):
        run, exact = program_function(jax.make_jaxpr(lax.erf_inv)(x)), lax.erf_inv(x.astype(np.float64))
    np.testing.assert_allclose(run(x)[0], exact, rtol=1e-6)


def test_a_batch_of_conditions_is_left_to_xla():
    with jax.enable_x64(True):
        assert program_function(jax.make_jaxpr(jax.vmap(lambda x: lax.while_loop(lambda a: a.sum() < 9, lambda a: a * 1.5 + 1, x)))(X)) is None


def test_what_is_large_is_left_to_xla():
    with jax.enable_x64(True):
        assert program_function(jax.make_jaxpr(jnp.sin)(jax.ShapeDtypeStruct(((1 << 13) + 1, 1 << 12), np.float64))) is None
        assert program_function(jax.make_jaxpr(lax.linalg.cholesky)(np.zeros((257, 2, 2)))) is None


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32, np.int64, np.uint8])
def test_rows_are_added_one_after_another(dtype):
    """By SciPy as by NumPy, to the last bit, also where numbers are none."""
    assert host_indexed._imported() is not None
    rows, new = (np.resize(ODD[:size].astype(dtype) if np.dtype(dtype).kind == "f" else np.arange(size).astype(dtype), (size, 30)) for size in (7, 9))
    numbers = np.array([6, 0, 6, 6, 1, 0, 6, 3, 3])
    one, other = rows.copy(), rows.copy()
    with np.errstate(all="ignore"):
        host_indexed.each(np.add)(one, (numbers[:, None], np.arange(30)), new)
        host_indexed._imported()(7, 9, 30, np.arange(10), numbers, np.ones(9, dtype), new.reshape(-1), other.reshape(-1))
    assert one.tobytes() == other.tobytes()


def test_scipy_is_imported_once_it_has_been_worth_that(monkeypatch):
    monkeypatch.setattr(host_indexed, "_added", [0])
    monkeypatch.delitem(host_indexed.sys.modules, "scipy.sparse", raising=False)
    assert host_indexed._products(host_indexed._WORTH - 1) is None
    assert host_indexed._products(1) is host_indexed._imported() is not None


def test_small_products_take_one_thread():
    """And leave the number of threads as it was, whatever happens."""
    if host_threads._blas() is None:
        pytest.skip("NumPy's BLAS is another library")
    count, limit = host_threads._blas()
    before, seen = count(), []

    def product(fails):
        seen.append(count())
        if fails:
            raise ZeroDivisionError
        return fails

    limit(2)
    try:
        two = count()  # 1 on a machine with one processor
        assert host_threads.alone(product, host_threads.FEW)(False) is False
        with pytest.raises(ZeroDivisionError):
            host_threads.alone(product, host_threads.FEW)(True)
        assert seen == [1, 1] and count() == two
        assert host_threads.alone(product, host_threads.MANY) is host_threads.alone(product, 5) is product
    finally:
        limit(before)
