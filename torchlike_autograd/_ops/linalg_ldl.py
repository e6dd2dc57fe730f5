"""Symmetric indefinite factors (layer 2): Bunch and Kaufman's pivoting in the packed form of LAPACK's sytrf and hetrf, lower triangle."""

from __future__ import annotations

import math

import jax
import jax.numpy as jnp

from .._core import shapes
from .conventions import char_name
from .linalg_base import check_float, check_kernel, check_square, with_batch
from .linalg_solve import check_pair
from .memory import columns
from .registry import SMOOTH, UNIMPLEMENTED, at, call, fails, op, real
from .tracing import fori_loop, scan

_ALPHA = (1 + math.sqrt(17)) / 8
_NODE = "torch::autograd::NotImplemented"
_INDEFINITE = [at([[4.0, 1.0, 2.0], [1.0, 3.0, 0.5], [2.0, 0.5, -1.0]]), at([[0.0, 2.0, 1.0], [2.0, 0.0, 3.0], [1.0, 3.0, 0.0]]),
               at([[[1.0, 2.0], [2.0, 1.0]], [[3.0, 1.0], [1.0, 0.5]]]), at([[1 + 1j, 2 - 1j], [2 + 1j, 1.0]], dtype="complex128")]


def _size(x):
    return jnp.abs(jnp.real(x)) + jnp.abs(jnp.imag(x))


def _swapped(x, i, j):
    """Rows i and j exchanged."""
    return x.at[i].set(x[j]).at[j].set(x[i])


def _pivot(a, k, places):
    """(row to exchange, whether the pivot is a block of two, whether there is nothing to divide by) at step k."""
    own = _size(a[k, k])
    below = jnp.where(places > k, _size(a[:, k]), -1)
    row = jnp.argmax(below)
    largest = jnp.maximum(below[row], 0)
    others = jnp.max(jnp.where((places >= k) & (places != row), _size(a[row]), 0))
    nothing = jnp.maximum(own, largest) == 0
    stay = nothing | (own >= _ALPHA * largest) | (own * others >= _ALPHA * largest * largest)
    single = stay | (_size(a[row, row]) >= _ALPHA * others)
    return jnp.where(stay, k, row), ~single, nothing


def _block(a, k, two):
    """The pivot's inverse, as one of two rows."""
    last = a.shape[0] - 1
    d = jax.lax.dynamic_slice(jnp.pad(a, ((0, 1), (0, 1))), (k, k), (2, 2))
    one = jnp.zeros((2, 2), a.dtype).at[0, 0].set(1 / jnp.where(a[k, k] == 0, 1, a[k, k]))
    turned = jnp.array([[d[1, 1], -d[0, 1]], [-d[1, 0], d[0, 0]]]) / jnp.where(two, d[0, 0] * d[1, 1] - d[0, 1] * d[1, 0], 1)
    return jnp.where(two, turned, one), jnp.minimum(k + 1, last)


def _factored(a, hermitian):
    """(packed factors, pivots from 1, negative for blocks of two, first step without a pivot or 0) of one symmetric matrix."""
    n = a.shape[0]
    places = jnp.arange(n)
    turn = jnp.conj if hermitian else (lambda x: x)

    def step(state):
        a, packed, pivots, info, k = state
        row, two, nothing = _pivot(a, k, places)
        at_ = jnp.where(two, jnp.minimum(k + 1, n - 1), k)
        a = _swapped(_swapped(a, at_, row).T, at_, row).T
        inverse, following = _block(a, k, two)
        rest = places > jnp.where(two, k + 1, k)
        columns = jnp.stack([a[:, k], jnp.where(two, a[:, following], 0)], 1)
        below = jnp.where(rest[:, None], columns, 0)
        factor = below @ inverse
        a = jnp.where(nothing, a, a - factor @ turn(below).T)
        factor = jnp.where(nothing, 0, factor)
        first = jnp.where(rest, factor[:, 0], jnp.where(places >= k, columns[:, 0], 0))
        packed = packed.at[:, k].set(first)
        second = jnp.where(rest, factor[:, 1], jnp.where(places == following, columns[:, 1], 0))
        packed = packed.at[:, following].set(jnp.where(two, second, packed[:, following]))
        number = (row + 1).astype(jnp.int32)
        pivots = pivots.at[following].set(jnp.where(two, -number, pivots[following])).at[k].set(jnp.where(two, -number, number))
        info = jnp.where(nothing & (info == 0), jnp.asarray(k + 1, info.dtype), info).astype(jnp.int32)
        return a, packed, pivots, info, k + jnp.where(two, 2, 1)

    start = (a, jnp.zeros_like(a), jnp.zeros(n, jnp.int32), jnp.int32(0), jnp.int64(0))
    return jax.lax.while_loop(lambda s: s[4] < n, step, start)[1:4]


def _solved(packed, pivots, b, hermitian):
    """The solution with the factors of one matrix."""
    n = packed.shape[0]
    places = jnp.arange(n)
    turn = jnp.conj if hermitian else (lambda x: x)
    second = scan(lambda before, p: ((p < 0) & ~before, (p < 0) & before), False, pivots)[1]
    first = (pivots < 0) & ~second
    full = jnp.tril(packed) + turn(jnp.tril(packed, -1)).T

    def columns(k, two):
        rest = places > jnp.where(two, k + 1, k)
        following = jnp.minimum(k + 1, n - 1)
        return jnp.stack([jnp.where(rest, packed[:, k], 0), jnp.where(rest & two, packed[:, following], 0)], 1), following

    def down(k, b):
        two = first[k]
        below, following = columns(k, two)
        exchanged = _swapped(b, jnp.where(two, following, k), jnp.abs(pivots[k]) - 1)
        pair = jnp.stack([exchanged[k], jnp.where(two, exchanged[following], 0)])
        left = exchanged - below @ pair
        inverse = _block(full, k, two)[0]
        pair = inverse @ pair
        done = left.at[following].set(jnp.where(two, pair[1], left[following])).at[k].set(pair[0])
        return jnp.where(second[k], b, done)

    def up(i, b):
        k = n - 1 - i
        two = first[k]
        below, following = columns(k, two)
        back = turn(below).T @ b
        out = b.at[following].add(jnp.where(two, -back[1], 0)).at[k].add(-back[0])
        return jnp.where(second[k], b, _swapped(out, jnp.where(two, following, k), jnp.abs(pivots[k]) - 1))

    return fori_loop(0, n, up, fori_loop(0, n, down, b))


def _mapped(f, batch, *arrays):
    """`f` over stacks of matrices."""
    ranks = [x.ndim - len(batch) for x in arrays]
    out = jax.vmap(f)(*[x.reshape(-1, *x.shape[x.ndim - r:]) for x, r in zip(arrays, ranks)])
    return jax.tree.map(lambda x: x.reshape(*batch, *x.shape[1:]), out)


def _factors(a, hermitian):
    batch, n = a.shape[:-2], a.shape[-1]
    if a.size == 0:
        return a, jnp.zeros((*batch, n), jnp.int32), jnp.zeros(batch, jnp.int32)
    low = jnp.tril(a, -1)
    hermitian = hermitian and jnp.iscomplexobj(a)
    diagonal = jnp.tril(a) - low
    full = low + (jnp.real(diagonal).astype(a.dtype) + jnp.conj(low).mT if hermitian else diagonal + low.mT)
    return _mapped(lambda x: _factored(x, hermitian), batch, full)


def _code(self, *, hermitian, check_errors):
    return jnp.max(_factors(self, hermitian)[2], initial=0) if check_errors else 0


def _error(code, *_, check_errors, **__):
    name = "torch.linalg.ldl_factor_ex" if check_errors is True else check_errors
    return RuntimeError(f"{name}: Unknown error code: {code}.")


@op("linalg_ldl_factor_ex(Tensor self, *, bool hermitian=False, bool check_errors=False) -> (Tensor LD, Tensor pivots, Tensor info)", lies=columns(0), node=_NODE,
    derivative=UNIMPLEMENTED, names=("torch.linalg.ldl_factor_ex",), method=False, fields=("LD", "pivots", "info"), guard=_code, guard_error=_error,
    samples=[call(x) for x in _INDEFINITE] + [call(_INDEFINITE[3], hermitian=True), call(real(0, 0))], kinks=[call(at([[0.0, 0.0], [0.0, 0.0]])), call(real(3, 3))],
    errors=[fails(call(real(2, 3)), RuntimeError, "torch.linalg.ldl_factor_ex: A must be batches of square matrices, but they are 2 by 3 matrices"),
            fails(call(real(3)), RuntimeError, "torch.linalg.ldl_factor_ex: The input tensor A must have at least 2 dimensions."),
            fails(call(at([[1]], dtype="int64", grad=False)), RuntimeError, "torch.linalg.ldl_factor_ex: Expected a floating point or complex tensor as input. Got Long")])
def linalg_ldl_factor_ex(self, *, hermitian=False, check_errors=False):
    """L and D of A = L D L^T (or L^H) packed, their pivots, and for each matrix the first pivot that is 0; only the lower triangle is read."""
    check_square("torch.linalg.ldl_factor_ex", self)
    check_float("torch.linalg.ldl_factor_ex", self)
    check_kernel("ldl_factor_kernel_cpu", self, nothing=True)
    return _factors(self, hermitian)


@op("linalg_ldl_solve(Tensor LD, Tensor pivots, Tensor B, *, bool hermitian=False) -> Tensor", lies=columns(), node=_NODE, derivative=UNIMPLEMENTED,
    names=("torch.linalg.ldl_solve",), method=False,
    samples=[call(real(3, 3), at(1, 3, 3, dtype="int32", grad=False), real(3, 2)), call(real(3, 3), at(-2, -2, 3, dtype="int32", grad=False), real(3, 1)),
             call(real(2, 2, dtype="complex128"), at(-2, -2, dtype="int32", grad=False), real(2, 1, dtype="complex128"), hermitian=True)],
    kinks=SMOOTH, errors=[fails(call(real(2, 2), at(1, 2, 3, dtype="int32", grad=False), real(2, 1)), RuntimeError,
                                "torch.linalg.ldl_solve: Expected LD.shape[:-1] and pivots.shape to be the same, but got pivots with shape [3] instead"),
                          fails(call(real(2, 2), at(1, 2, dtype="int32", grad=False), real(3, 1)), RuntimeError,
                                "Incompatible matrix sizes for torch.linalg.ldl_solve: each A matrix is 2 by 2 but each b matrix is 3 by 1")])
def linalg_ldl_solve(LD, pivots, B, *, hermitian=False):
    """The solution of A X = B from the packed factors of A."""
    check_square("torch.linalg.ldl_solve", LD)
    if B.ndim < 2:
        raise IndexError(f"Dimension out of range (expected to be in range of [{-B.ndim}, {B.ndim - 1}], but got -2)")
    check_pair("torch.linalg.ldl_solve", B, LD)
    if pivots.shape != LD.shape[:-1]:
        raise RuntimeError(f"torch.linalg.ldl_solve: Expected LD.shape[:-1] and pivots.shape to be the same, but got pivots with shape {list(pivots.shape)} instead")
    if pivots.dtype.kind not in "iu":
        raise RuntimeError(f"torch.linalg.ldl_solve: Expected pivots to be integers. Got {char_name(pivots)}")
    check_kernel("ldl_solve_kernel_cpu", LD)
    batch = shapes.broadcast(tuple(B.shape[:-2]), tuple(LD.shape[:-2]))
    b = with_batch(B, batch)
    if b.size == 0:
        return b
    hermitian = hermitian and jnp.iscomplexobj(LD)
    pivots = jnp.broadcast_to(pivots, (*batch, pivots.shape[-1])).astype(jnp.int32)
    return _mapped(lambda a, p, x: _solved(a, p, x, hermitian), batch, with_batch(LD, batch), pivots, b)


__all__ = []
